"""Standings against a slow twin that counts pair by pair, match by match."""

from __future__ import annotations

import json
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interplay.evaluate.tournaments.matches import Match
from interplay.evaluate.tournaments.ratings.standings import rate_players


@st.composite
def tournaments(draw):
    """Names, matches and players per match; few distinct scores, so that draws and circles are common."""
    names = "abcd"[: draw(st.integers(2, 4))]
    together = draw(st.integers(2, min(len(names), 3)))
    matchups = list(combinations(range(len(names)), together))
    played = draw(st.lists(st.sampled_from(matchups), min_size=1, unique=True))
    score = st.sampled_from([0.0, 1.0, 2.5])
    matches = [
        Match(matchup, number, tuple(draw(score) for _ in matchup), {})
        for matchup in played
        for number in range(together * draw(st.integers(1, 2)))
    ]
    return names, matches, together


def pairs_of(matches, i, j):
    """The scores of i and j in each common match."""
    found = []
    for match in matches:
        if {i, j} <= set(match.matchup):
            score = dict(zip(match.matchup, match.scores, strict=True))
            found.append((score[i], score[j]))
    return found


@settings(max_examples=60)
@given(tournaments())
def test_every_figure_of_the_report_is_what_counting_gives(case):
    names, matches, together = case
    found = rate_players(names, matches, together, resamples=5)
    report = json.loads(json.dumps(found.to_dict()))
    players = range(len(names))
    met = {(i, j): pairs_of(matches, i, j) for i, j in permutations(players, 2)}
    points = {pair: sum((a > b) + (a == b) / 2 for a, b in scores) for pair, scores in met.items()}
    assert report["matches"] == len(matches)
    assert report["names"] == list(names)
    assert [row["elo"] for row in report["players"]] == sorted(found.elo.tolist(), reverse=True)
    assert sorted(row["player"] for row in report["players"]) == sorted(names)
    for row in report["players"]:
        i = names.index(row["player"])
        scores = [dict(zip(m.matchup, m.scores, strict=True))[i] for m in matches if i in m.matchup]
        assert row["points"] == sum(points[i, j] for j in players if j != i)
        ranks = [dict(zip(m.matchup, m.ranks, strict=True)) for m in matches if i in m.matchup]
        even = sum(set(rank.values()) == {1} for rank in ranks)
        won = sum(rank[i] == 1 for rank in ranks) - even
        assert row["matches"] == len(ranks)
        assert (row["won"], row["lost"], row["drawn"]) == (won, len(ranks) - won - even, even)
        if together == 2:
            assert row["matches"] == sum(len(met[i, j]) for j in players if j != i)
            assert won == sum(a > b for j in players if j != i for a, b in met[i, j])
        assert row["mean_score"] == pytest.approx(np.mean(scores) if scores else 0.0)
        assert (row["elo"], row["alpha_rank"]) == (found.elo[i], found.alpha_rank[i])
        assert row["elo_interval"] == found.interval[i].tolist()
        assert row["elo_interval"][0] <= row["elo_interval"][1]
    for i, j in permutations(players, 2):
        assert report["points"][i][j] == points[i, j]
        assert report["draws"][i][j] == sum(a == b for a, b in met[i, j])
        if met[i, j]:
            assert found.win_share[i, j] == points[i, j] / len(met[i, j])
        else:
            assert np.isnan(found.win_share[i, j])


@settings(max_examples=60)
@given(tournaments())
def test_a_circle_is_three_of_whom_each_beats_the_next_more_often_than_not(case):
    names, matches, together = case
    expected = set()
    for ring in permutations(range(len(names)), 3):
        steps = [pairs_of(matches, ring[k], ring[(k + 1) % 3]) for k in range(3)]
        shares = [np.mean([(a > b) + (a == b) / 2 for a, b in scores]) if scores else 0.5 for scores in steps]
        if ring[0] == min(ring) and all(share > 0.5 for share in shares):
            expected.add(tuple(names[player] for player in ring))
    assert set(rate_players(names, matches, together, resamples=2).circles) == expected
