"""Ratings that `interplay tournament` prints and writes against results.jsonl, read and counted here."""

from __future__ import annotations

import json
from itertools import combinations, permutations

import numpy as np
import pytest
from scipy import stats

from interplay.core import seeding
from interplay.evaluate.tournaments.ratings.alpha_rank import alpha_rank
from tests.cli.command import typed
from tests.evaluate.roads import ratings, table, visited, wilson

LINE = tuple(f"tests.evaluate.roads:{name}" for name in ("Left", "Stay", "Right"))
CUPS = {  # name -> players, other words, players of a match
    "cut": (("random", "attack_move", "hit_and_run", "still"), "--world battle/3m --matches 14 --max-steps 30", 2),
    "three": ((*LINE, "random"), "--world tests.connect.toys:Line --matches 9 --per-match 3", 3),
}  # fmt: skip


@pytest.fixture(params=CUPS, scope="module")
def folder(request, tmp_path_factory):
    return request.param, tmp_path_factory.mktemp("cups") / "cup"


@pytest.fixture
def told(capsys, folder):
    """Players, players of a match, lines of results.jsonl, ratings.json and what was printed."""
    kind, out = folder
    players, words, together = CUPS[kind]
    new = ("--resume",) if out.exists() else (*players, *words.split(), "--seed", "3")
    code, text, errors = typed(capsys, "tournament", *new, "--out", out)
    assert code == 0, errors
    lines = [json.loads(line) for line in (out / "results.jsonl").read_text().splitlines()]
    return players, together, lines, json.loads((out / "ratings.json").read_text()), text


def numbered(text, title):
    """The rows of a ranking, without its head and the ends of folded names."""
    return [row for row in table(text, title) if row[0].isdigit() and not row[1].isdigit()]


def pairs(lines):
    """(matchup, number, i, j, points of i against j) of each two players of each match, in the order of the matches."""
    found = []
    for line in lines:
        matchup, _, number = line["key"].partition("/")
        who = [int(player) for player in matchup.split("-")]
        for (i, a), (j, b) in permutations(zip(who, line["scores"], strict=True), 2):
            found.append((matchup, int(number), i, j, 1.0 if a > b else 0.5 if a == b else 0.0))
    return found


def test_shares_and_points_are_those_of_the_lines(told):
    players, together, lines, report, text = told
    met = pairs(lines)
    by_outcome = report["score"] == "outcome"
    cells = [row[2:] for row in numbered(text, "share of matches")]
    matrix = numbered(text, "points against")
    order = [row["player"] for row in report["players"]]
    kinds = set()
    for place, row in enumerate(report["players"]):
        i = players.index(row["player"])
        played, count = 0, dict.fromkeys(("won", "lost", "drawn", "cut"), 0)
        for line in lines:
            rank = dict(zip(line["key"].split("/")[0].split("-"), line["ranks"], strict=True))
            if str(i) in rank:
                played += 1
                even = "cut" if by_outcome and line["truncated"] else "drawn"
                one = "lost" if rank[str(i)] > 1 else even if set(rank.values()) == {1} else "won"
                count[one] += 1
        assert row["matches"] == played == sum(count.values())
        kinds |= {name for name, number in count.items() if number}
        own = [one for one in met if one[2] == i]
        rounds = len({(one[0], one[1] // together) for one in own})
        assert row["rounds"] == rounds
        expected = []
        for name, number in count.items():
            if name == "cut" and not by_outcome:
                assert "cut" not in row
                continue
            assert row[name] == number
            low, high = wilson(number * rounds / played, rounds)
            share = row["shares"][name]
            assert (share["share"], share["n"]) == (pytest.approx(number / played), rounds)
            assert (share["low"], share["high"]) == pytest.approx((low, high), abs=1e-6)
            expected.append(
                f"{100 * number / played:.0f} [{100 * low:.0f}, {100 * high:.0f}]".replace("-0", "0")
            )
        assert cells[place] == expected
        shown = [
            f"{100 * np.mean([one[4] for one in own if one[3] == players.index(other)]):.0f}"
            for other in order
            if other != row["player"]
        ]
        assert matrix[place][2:] == shown
    assert kinds == ({"won", "lost", "drawn", "cut"} if by_outcome else {"won", "lost"})


def test_ratings_are_those_of_the_lines(told):
    players, together, lines, report, text = told
    met, count = pairs(lines), len(players)
    shown = [row[2:] for row in numbered(text, "ratings over")]
    assert text.startswith(f"ratings over {len(lines)} matches, by {report['score']}")
    wins = np.zeros((count, count))
    for _, _, i, j, points in met:
        wins[i, j] += points
    played = wins + wins.T
    elo = ratings(wins, 1.0)
    rank = visited(np.where(played > 0, wins / np.where(played > 0, played, 1), 0.5))
    # The bootstrap: a Gamma(1) weight for each round, in the order of match and matchup, and Gamma(1/2) wins for both of a pair.
    ordered = sorted({(number, matchup) for matchup, number, *_ in met})
    rounds = list(dict.fromkeys((matchup, number // together) for number, matchup in ordered))
    each = np.zeros((len(rounds), count, count))
    for matchup, number, i, j, points in met:
        each[rounds.index((matchup, number // together)), i, j] += points
    rng = seeding.generator(3, 0x70003)
    weights, unseen = rng.gamma(1.0, size=(400, len(rounds))), rng.gamma(0.5, size=(400, count, count))
    drawn = np.array([
        ratings((weight[:, None, None] * each).sum(axis=0) + np.maximum(more, 1e-4), 0.0)
        for weight, more in zip(weights, unseen, strict=True)
    ])  # fmt: skip
    for row, cells in zip(report["players"], shown, strict=True):
        i = players.index(row["player"])
        scores = [
            s
            for line in lines
            for p, s in zip(line["key"].split("/")[0].split("-"), line["scores"], strict=True)
            if int(p) == i
        ]
        assert row["elo"] == pytest.approx(elo[i], abs=1e-3)
        assert row["alpha_rank"] == pytest.approx(rank[i], abs=1e-9)
        assert row["mean_score"] == pytest.approx(np.mean(scores))
        n = row["rounds"]
        wide = stats.t.ppf(0.975, n - 1) / stats.norm.ppf(0.975) * np.sqrt(n / (n - 1))
        low, middle, high = np.quantile(drawn[:, i], (0.025, 0.5, 0.975))
        assert row["elo_interval"] == pytest.approx(
            [middle - wide * (middle - low), middle + wide * (high - middle)], abs=0.01
        )
        assert cells[0] == f"{elo[i]:+.0f}"
        assert cells[1] == "{:+.0f} .. {:+.0f}".format(*row["elo_interval"])
        assert cells[2:4] == [f"{rank[i]:.3f}", f"{np.mean(scores):.4g}"]


def test_results_by_seat_are_those_of_the_lines(told):
    """By the rule of docs/tournaments.md."""
    players, together, lines, report, _ = told
    wins, matches = np.zeros((2, len(players), len(players)))
    for line in lines:
        matchup, number = line["key"].split("/")
        numbers, m = [int(player) for player in matchup.split("-")], int(number)
        seated = list(zip(numbers, line["scores"], strict=True))
        if m // together % 2:
            seated.reverse()
        seated = seated[m % together :] + seated[: m % together]
        for (i, a), (j, b) in combinations(seated, 2):
            wins[i, j] += 1.0 if a > b else 0.5 if a == b else 0.0
            matches[i, j] += 1
    assert report["names"] == list(players)
    assert report["seats"] == {"wins": wins.tolist(), "matches": matches.tolist()}


@pytest.mark.parametrize(("alpha", "m"), [(0.5, 20), (4.0, 7)])
def test_the_visits_of_any_payoffs_are_those_of_the_chain(alpha, m):
    payoffs = np.random.default_rng(m).random((4, 4))
    assert alpha_rank(payoffs, alpha, m) == pytest.approx(visited(payoffs, alpha, m), abs=1e-9)


def test_seats_are_those_in_which_the_matches_were_played(capsys, tmp_path):
    """Ten against eleven: the eleven win whatever two players sit there, so the winner of a match has the second seat."""
    players = ("attack_move", "hit_and_run", "focus_weakest")
    out = tmp_path / "cup"
    words = ("--world", "battle/10m_vs_11m", "--matches", "6", "--max-steps", "60", "--seed", "1")
    assert typed(capsys, "tournament", *players, *words, "--out", out)[0] == 0
    for i, j in combinations(range(3), 2):
        code, text, _ = typed(
            capsys, "evaluate", players[i], "--roles", f"blue={players[j]}", "--world", "battle/10m_vs_11m", "--episodes", "5",
        )  # fmt: skip
        assert code == 0
        assert "blue won 1.00" in text
    seats = json.loads((out / "ratings.json").read_text())["seats"]
    assert np.array_equal(seats["wins"], np.zeros((3, 3)))
    assert np.array_equal(seats["matches"], 3 * (1 - np.eye(3)))
