"""Standings from synthetic matches."""

from __future__ import annotations

import json
from itertools import combinations

import numpy as np
import pytest

from interplay.core import seeding
from interplay.evaluate.results import results
from interplay.evaluate.tournaments.matches import Match
from interplay.evaluate.tournaments.ratings.standings import rate_players


def made_up(strength, matches: int, seed: int = 0) -> list[Match]:
    """Every pair plays; the score is strength plus noise."""
    rng = seeding.generator(seed, 77)
    return [
        Match(pair, number, tuple(float(strength[p] + rng.gumbel()) for p in pair), {})
        for pair in combinations(range(len(strength)), 2)
        for number in range(matches)
    ]


def test_the_order_of_lines_does_not_matter():
    played = made_up([0.0, 0.5, 1.0], 20)
    a, b = rate_players("abc", played, 2), rate_players("abc", played[::-1], 2)
    assert json.dumps(a.to_dict()) == json.dumps(b.to_dict())
    assert [a.names[i] for i in a.order] == ["c", "b", "a"]
    assert (a.wins + a.wins.T)[0, 1] == 20


def test_intervals_cover_the_truth_about_as_often_as_they_say():
    # The difference of two Gumbel draws is logistic: strengths are log odds, and 1 is 173.7 points.
    inside = []
    for seed in range(40):
        found = rate_players("ab", made_up([1.0, 0.0], 60, seed), 1, seed)
        low, high = found.interval[0]
        inside.append(low <= 173.7 / 2 <= high)
    assert 0.8 <= np.mean(inside) <= 1.0


def test_more_matches_make_narrower_intervals():
    few, many = (rate_players("ab", made_up([0.5, 0.0], n), 1).interval[0] for n in (20, 500))
    assert many[1] - many[0] < 0.5 * (few[1] - few[0])


def test_who_won_every_match_is_not_taken_to_win_always():
    few, many = (
        rate_players("ab", [Match((0, 1), n, (1.0, 0.0), {}) for n in range(count)], 1)
        for count in (10, 1_000)
    )
    for found in (few, many):
        low, high = found.interval[0]
        assert 0 < low < found.elo[0] < high < 2_000
    assert many.interval[0, 0] > few.interval[0, 1] / 2 > few.interval[0, 0]


def test_circles_are_seen():
    beats = {(0, 1): (1.0, 0.0), (1, 2): (1.0, 0.0), (0, 2): (0.0, 1.0)}
    played = [Match(pair, n, scores, {}) for pair, scores in beats.items() for n in range(4)]
    found = rate_players(("rock", "scissors", "paper"), played, 1)
    assert found.circles == (("rock", "scissors", "paper"),)
    assert found.elo == pytest.approx([0, 0, 0], abs=1e-6)
    assert found.alpha_rank == pytest.approx([1 / 3] * 3)
    assert rate_players("abc", made_up([0, 5, 10], 8), 1).circles == ()


def test_draws_count_half():
    found = rate_players("ab", [Match((0, 1), 0, (3.0, 3.0), {})], 1)
    assert found.wins.tolist() == [[0, 0.5], [0.5, 0]]
    assert found.draws.tolist() == [[0, 1], [1, 0]]
    assert found.elo == pytest.approx([0, 0])


def test_a_match_of_three_is_one_between_each_two():
    found = rate_players("abc", [Match((0, 1, 2), 0, (1.0, 3.0, 2.0), {})], 3)
    assert found.wins.tolist() == [[0, 0, 0], [1, 0, 1], [1, 0, 0]]
    assert Match((0, 1, 2), 0, (1.0, 3.0, 1.0), {}).ranks == (2, 1, 2)


def test_a_match_of_three_counts_once_in_the_shares():
    """In the same four matches the first player wins and the others are level, or all are at a limit."""
    won = [Match((0, 1, 2), n, (1.0, -1.0, -1.0), {}) for n in range(4)]
    even = [Match((0, 1, 2), n, (0.0, 0.0, 0.0), {"truncated": n > 4}) for n in range(4, 7)]
    rows = {row["player"]: row for row in rate_players("abc", won, 3, score="outcome").to_dict()["players"]}
    names = ("matches", "won", "lost", "drawn", "cut")
    assert [rows["a"][name] for name in names] == [4, 4, 0, 0, 0]
    assert [rows[name]["lost"] for name in "bc"] == [rows[name]["matches"] for name in "bc"] == [4, 4]
    assert rows["b"]["shares"]["lost"]["share"] == 1.0
    mixed = rate_players("abc", won + even, 3, score="outcome").to_dict()["players"]
    assert [[row[name] for name in names] for row in mixed] == [[7, 4, 0, 1, 2], *[[7, 0, 4, 1, 2]] * 2]


def test_a_place_in_the_middle_is_drawn_as_in_an_evaluation():
    """Places of eight sides, in turn: two won, three drawn or cut at a limit, three lost."""
    places = np.array([1.0, 1.0, 0.0, 0.0, 0.0, -1.0, -1.0, -1.0])
    limit = np.arange(8) >= 6
    rows = [np.roll(places, n) for n in range(8)]
    played = [Match(tuple(range(8)), n, tuple(rows[n].tolist()), {"truncated": limit[n]}) for n in range(8)]
    tally = rate_players("abcdefgh", played, 8, resamples=2, score="outcome", apart=True).tally
    for player in range(8):
        own = results(np.array([row[player] for row in rows]), limit)
        assert tally[player].tolist() == [round(float(part.sum())) for part in own]
    shared = rate_players("abcdefgh", played, 8, resamples=2, score="outcome").tally
    assert shared.tolist() == [[2, 6, 0, 0]] * 8


def test_openskill_agrees_on_the_order():
    pytest.importorskip("openskill", reason="ratings by openskill need the extra tournament")
    found = rate_players("abc", made_up([0.0, 1.0, 2.0], 40), 1)
    assert found.skill is not None
    mu = [skill.mu for skill in found.skill]
    assert mu[0] < mu[1] < mu[2]
    assert all(0 < skill.sigma < 25 / 3 for skill in found.skill)
    assert found.to_dict()["players"][0]["openskill"]["mu"] == mu[2]


def test_a_round_is_drawn_whole():
    """If every round is one win and one loss, the bootstrap has no variance."""
    seats = [Match((0, 1), n, (1.0, 0.0) if n % 2 else (0.0, 1.0), {}) for n in range(400)]
    rounds, alone = (rate_players("ab", seats, together).interval[0] for together in (2, 1))
    assert rounds[1] - rounds[0] < 0.25 * (alone[1] - alone[0])


def test_rounds_that_repeat_themselves_count_once_each():
    """Identical matches of one seed count as one: the interval is that of half as many."""
    won = [n % 3 > 0 for n in range(150)]
    twice = [
        Match((0, 1), 2 * n + k, (float(w), float(not w)), {}) for n, w in enumerate(won) for k in (0, 1)
    ]
    once = [Match((0, 1), n, (float(w), float(not w)), {}) for n, w in enumerate(won)]
    wide, same = rate_players("ab", twice, 2).interval[0], rate_players("ab", once, 1).interval[0]
    narrow = rate_players("ab", twice, 1).interval[0]
    assert wide == pytest.approx(same, abs=6)
    assert narrow[1] - narrow[0] < 0.85 * (wide[1] - wide[0])


@pytest.mark.parametrize("rounds_alike", [False, True])
def test_copies_of_one_player_overlap_after_six_matches(rounds_alike: bool):
    """Identical weights under two names: intervals of 3 rounds overlap in 95 of 100 tries, whether a round's matches are identical or not."""
    rng, apart = np.random.default_rng(4), 0
    for seed in range(100):
        won = np.repeat(rng.random(3) < 0.5, 2) if rounds_alike else rng.random(6) < 0.5
        played = [Match((0, 1), n, (float(w), float(not w)), {}) for n, w in enumerate(won)]
        (low, high), (other_low, other_high) = rate_players("ab", played, 2, seed).interval
        apart += high < other_low or other_high < low
    assert apart <= 5


def test_copies_overlap_among_others_too():
    rng, apart = np.random.default_rng(5), 0
    for seed in range(100):
        played = [
            Match((i, j), n, (float(w), float(not w)), {})
            for i, j, odds in ((0, 1, 0.5), (0, 2, 0.9), (1, 2, 0.9))
            for n, w in enumerate(rng.random(6) < odds)
        ]
        found = rate_players("abc", played, 2, seed)
        assert found.rounds.tolist() == [6, 6, 6]
        apart += found.interval[0, 1] < found.interval[1, 0] or found.interval[1, 1] < found.interval[0, 0]
    assert apart <= 5
