"""Tables and pictures of tournaments: no number is lost, whatever the names are."""

from __future__ import annotations

import io
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console

from interplay.evaluate.tournaments.matches import Match
from interplay.evaluate.tournaments.merge_results import LifeCell, MergeResults
from interplay.evaluate.tournaments.ratings.standings import rate_players
from interplay.view.standings_picture import plot_results
from interplay.view.standings_tables import print_results

LONG = tuple(f"/scratch/experiments/forage/runs/cap-128-seed-{n}" for n in range(6))


def made_up(names):
    pairs = [(i, j) for i in range(len(names)) for j in range(i + 1, len(names))]
    return rate_players(
        names, [Match(pair, n, (float(pair[0]), 3.0), {}) for pair in pairs for n in range(4)], 2
    )


def cell(home, other, life=100.0, lives=10):
    return LifeCell(
        home,
        other,
        16,
        life,
        (life - 1, life + 1),
        lives,
        1,
        0.5,
        (4.0,),
        {"lava": 1.0},
        {"food": 2.0, "kills": [1, 2]},
    )


def printed(results, width=80) -> str:
    stream = io.StringIO()
    print_results(results, Console(file=stream, width=width))
    return stream.getvalue()


@pytest.mark.parametrize("names", [("a", "b", "c"), LONG])
def test_every_number_is_shown_in_80_columns(names):
    found = made_up(names)
    text = printed(found)
    for i in found.order:
        assert f"{found.elo[i]:+z.0f}" in text  # who is weaker by less than half a point has +0, never -0
        assert f"{found.interval[i, 0]:+z.0f} .. {found.interval[i, 1]:+z.0f}" in text
    matrix = text.split("points against")[1].splitlines()[2:]
    shares = [word for row in matrix for word in row.split()[2:] if word.isdecimal()]
    assert len(shares) == len(names) * (len(names) - 1)


def test_merges_show_who_lives_beside_whom():
    names = ("small", "large")
    cells = (
        cell("small", "small"), cell("small", "large", 60.0), cell("large", "small", 140.0),
        cell("large", "large", float("nan"), 0),
    )  # fmt: skip
    text = printed(MergeResults(names, (16,), cells, made_up(names)))
    assert "60 (59 .. 61)" in text
    assert "140 (139 .. 141)" in text
    assert "no births" in text
    assert "1 / 2" in text
    assert "a home has only 1 lives in one of these cells" in text


def test_a_mean_of_one_map_is_shown_without_an_interval():
    names = ("small", "large")
    cells = tuple(replace(cell(a, b, 60.0), interval=(np.nan, np.nan)) for a in names for b in names)
    lives = printed(MergeResults(names, (16,), cells, made_up(names))).split("lives of each home")[0]
    assert [line.split()[-2:] for line in lives.splitlines()[-2:]] == [["60", "60"]] * 2


def test_circles_are_told():
    beats = {(0, 1): (1.0, 0.0), (1, 2): (1.0, 0.0), (0, 2): (0.0, 1.0)}
    found = rate_players(("rock", "scissors", "paper"), [Match(p, 0, s, {}) for p, s in beats.items()], 1)
    assert "circle: rock beats scissors beats paper beats rock" in printed(found)


def test_pictures_are_written_whole(tmp_path):
    pytest.importorskip("matplotlib", reason="pictures of tournaments need the extra plot")
    names = ("small", "large", LONG[0])
    cells = tuple(cell(a, b, 10.0 + len(a)) for a in names for b in names)
    out = plot_results(MergeResults(names, (16,), cells, made_up(names)), tmp_path / "a.png")
    assert out.read_bytes().startswith(b"\x89PNG")
    assert plot_results(made_up(LONG), tmp_path / "b.png").stat().st_size > 10_000
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.png", "b.png"]


def test_unplayed_pairs_are_empty():
    found = rate_players("abc", [Match((0, 1), 0, (1.0, 0.0), {})], 1)
    assert np.isnan(found.win_share[0, 2])
    assert "nan" not in printed(found)


def test_dollars_in_names_are_no_formula(tmp_path):
    names = ("runs/$\\frac$", "$a_$", "plain")
    assert plot_results(made_up(names), tmp_path / "cup.png").stat().st_size


def test_no_player_is_rated_minus_nothing():
    """Two equal players with ratings of 0 but for rounding."""
    standings = made_up(("a", "b"))
    standings = replace(
        standings, elo=np.array([0.0, -1e-9]), interval=np.array([[-0.2, 0.2], [-1e-9, -0.0]])
    )
    stream = io.StringIO()
    print_results(standings, Console(file=stream, width=200))
    assert "-0 " not in stream.getvalue()
    assert "-0<" not in standings._repr_html_()
