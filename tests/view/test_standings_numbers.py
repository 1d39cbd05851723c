"""Every cell of a tournament's tables and pictures is the number that was computed, in its row and its column."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from rich.table import Table

from interplay.evaluate.tournaments.merge_results import LifeCell, MergeResults
from interplay.evaluate.tournaments.payoff import Payoff
from interplay.evaluate.tournaments.ratings.league_table import LeagueTable
from interplay.evaluate.tournaments.ratings.standings import Standings
from interplay.view import standings_picture, standings_tables
from tests.view.figures import held, lines, ticks, titled, titled_by_x, written

NAMES = ("weak", "strong", "middle")
ORDER = ("strong", "middle", "weak")


def standings(**changes: Any) -> Standings:
    """Three players with different numbers: a share won is no share lost, a row is no column."""
    wins = np.array([[0.0, 1.0, 2.0], [7.0, 0.0, 4.5], [6.0, 3.5, 0.0]])
    given: dict[str, Any] = {
        "names": NAMES,
        "matches": 24,
        "wins": wins,
        "draws": np.array([[0, 0, 0], [0, 0, 1], [0, 1, 0]]),
        "cut": np.zeros((3, 3), np.int64),
        "tally": np.array([[3, 13, 0, 0], [11, 4, 1, 0], [9, 6, 1, 0]]),
        "mean_score": np.array([-1.5, 2.25, 0.125]),
        "elo": np.array([-300.0, 210.0, 90.0]),
        "interval": np.array([[-340.0, -270.0], [150.0, 260.0], [40.0, 130.0]]),
        "rounds": np.array([30, 31, 32]),
        "alpha_rank": np.array([0.051, 0.782, 0.167]),
        "skill": None,
        "circles": (),
    }
    return Standings(**{**given, **changes})


def rows(table: Table) -> list[list[str]]:
    """The cells, row by row."""
    return [list(map(str, row)) for row in zip(*(column.cells for column in table.columns), strict=True)]


def test_ratings_stand_beside_their_player():
    assert rows(standings_tables.ratings_table(standings())) == [
        ["1", "strong", "+210", "+150 .. +260", "0.782", "2.25"],
        ["2", "middle", "+90", "+40 .. +130", "0.167", "0.125"],
        ["3", "weak", "-300", "-340 .. -270", "0.051", "-1.5"],
    ]


def test_results_are_told_apart_by_hand():
    """Of weak against strong, 8 matches: the weak one won 0, 2 were cut; of strong against middle 1 was drawn."""
    found = standings(
        score="outcome",
        cut=np.array([[0, 2, 0], [2, 0, 0], [0, 0, 0]]),
        tally=np.array([[2, 12, 0, 2], [10, 3, 1, 2], [9, 6, 1, 0]]),
        actions=("greedy", "", "sampled"),
        rounds=np.array([8, 8, 8]),
    )
    assert [found.counts(player) for player in range(3)] == [
        {"won": 2, "lost": 12, "drawn": 0, "cut": 2},
        {"won": 10, "lost": 3, "drawn": 1, "cut": 2},
        {"won": 9, "lost": 6, "drawn": 1, "cut": 0},
    ]
    table = standings_tables.results_table(found)
    assert [str(column.header) for column in table.columns][2:] == ["won", "lost", "drawn", "cut"]
    assert [[cell.split()[0] for cell in row[2:]] for row in rows(table)] == [
        ["62", "19", "6", "12"],  # of 16
        ["56", "38", "6", "0"],
        ["12", "75", "0", "12"],
    ]
    assert [row[1] for row in rows(table)] == ["strong", "middle, sampled", "weak, greedy"]
    assert rows(table)[0][2] == "62 [31, 86]", "Wilson's interval of 5 of 8 rounds"
    told = {row["player"]: row for row in found.to_dict()["players"]}
    assert {told["weak"][name] for name in ("won", "drawn")} == {2, 0}
    assert told["weak"]["actions"] == "greedy"
    plain = standings_tables.results_table(standings())
    assert [str(column.header) for column in plain.columns][2:] == ["won", "lost", "drawn"]


def test_wins_stand_in_the_row_of_who_won():
    table = standings_tables.win_table(standings())
    assert [str(column.header) for column in table.columns][2:] == list(ORDER)
    assert rows(table) == [
        ["1", "strong", "", "56", "88"],
        ["2", "middle", "44", "", "75"],
        ["3", "weak", "12", "25", ""],
    ]


def test_payoffs_of_a_league_stand_in_the_rows_of_their_players(monkeypatch):
    """The weak one won 1 of 4 against the strong one and 8 of 10 against the middle one, which never met the strong one."""
    met = np.array([[0.0, 4.0, 10.0], [4.0, 0.0, 0.0], [10.0, 0.0, 0.0]])
    total = np.array([[0.0, -2.0, 6.0], [0.0] * 3, [0.0] * 3])
    figures = held(monkeypatch, standings_picture)
    elo, since = np.array([-300.0, 210.0, 90.0]), np.array([500, 700, 900])
    table = LeagueTable(
        "w",
        999,
        NAMES,
        ("", "a", "a"),
        since,
        elo,
        "weak",
        Payoff(total, np.triu(met)),
        np.zeros(3),
        "return",
    )
    standings_picture.plot_league(table, "league.png")
    axes = titled(figures[0], "won against")
    assert ticks(axes, "x") == ticks(axes, "y") == list(ORDER)
    assert written(axes) == {(0, 2): "75", (2, 0): "25", (1, 2): "20", (2, 1): "80"}


def test_ratings_of_a_league_are_drawn_over_the_steps_of_their_copies(monkeypatch):
    """A learner comes after the copy that was made last; who learns nothing is a line across."""
    figures = held(monkeypatch, standings_picture)
    names, learner = ("main-2", "random", "main", "rival", "main-1"), ("main", "", "main", "rival", "main")
    since, elo = np.array([900, 0, 900, 400, 300]), np.array([20.0, -200.0, 80.0, -70.0, 60.0])
    met = Payoff(np.zeros((5, 5)), np.triu(np.ones((5, 5)), 1))
    standings_picture.plot_league(
        LeagueTable("w", 999, names, learner, since, elo, "random", met, np.zeros(5), "return"), "league.png"
    )
    axes = titled(figures[0], "ratings over time")
    drawn = {line.get_label(): [list(part) for part in line.get_data()] for line in axes.lines}
    assert drawn["main"] == [[300, 900, 900], [60, 20, 80]]
    assert drawn["rival"] == [[400], [-70]]
    assert [y for label, (_, y) in drawn.items() if label not in ("main", "rival")] == [[-200, -200]]
    assert [(text.get_text(), text.get_position()[1]) for text in axes.texts] == [("random", -200)]


def cell(home: str, other: str, cap: int, life: float, lives: int, **more: Any) -> LifeCell:
    given = {
        "interval": (life - 2, life + 3),
        "cut": 0,
        "share": 0.5,
        "standing": (4.0,),
        "causes": {},
        "per_life": {},
    }
    return LifeCell(home, other, cap, life, lives=lives, **{**given, **more})


def merges(**changes: Any) -> MergeResults:
    """Two homes at two caps; one lived ten times as often in one company as in the other."""
    small = {"causes": {"lava": 1.0}, "per_life": {"food": 1.0, "kills": [0.0, 4.0]}, "cut": 3}
    large = {"causes": {"lava": 0.25, "thirst": 0.75}, "per_life": {"food": 12.0, "kills": [11.0, 15.0]}}
    cells = [
        cell("a", "a", 8, 50.0, 10, **small, share=1.0),
        cell("a", "b", 8, 60.0, 100, **large, share=0.2),
        cell("b", "a", 8, 70.0, 0, share=0.8),
        cell("b", "b", 8, float("nan"), 0, share=1.0),
        *(cell(one, other, 16, 200.0 + 10 * i, 0) for i, (one, other) in enumerate(("aa", "ab", "ba", "bb"))),
    ]
    return MergeResults(("a", "b"), (8, 16), tuple(cells), standings(), **changes)


def test_lives_stand_beside_their_company_at_their_cap():
    assert rows(standings_tables.life_table(merges(), 8)) == [
        ["1", "a", "50 (48 .. 53)", "60 (58 .. 63)"],
        ["2", "b", "70 (68 .. 73)", "no births"],
    ]
    assert [row[2:] for row in rows(standings_tables.life_table(merges(), 16))] == [
        ["200 (198 .. 203)", "210 (208 .. 213)"],
        ["220 (218 .. 223)", "230 (228 .. 233)"],
    ]


def test_means_over_company_weigh_lives_and_not_cells():
    table = standings_tables.company_table(merges())
    assert [str(column.header) for column in table.columns] == ["", "a", "b"]
    found = {row[0]: row[1:] for row in rows(table)}
    assert found["lives"] == ["110", "0"]
    assert found["cut"] == ["3", "0"]
    assert found["share of the living"] == [
        "35 %",
        "65 %",
    ]  # beside others, both caps: 0.2 and 0.5; 0.8 and 0.5
    assert found["died: lava"] == ["31.8 %", ""]  # (10 + 25) of 110
    assert found["died: thirst"] == ["68.2 %", ""]  # 75 of 110
    assert found["food per life"] == ["11", ""]  # (10 + 1200) / 110
    assert found["kills per life"] == ["10 / 14", ""]


@pytest.mark.parametrize(("lives", "cut", "enough"), [(5000, 0, True), (4000, 1000, True), (4998, 1, False)])
def test_who_has_too_few_lives_is_told(lives, cut, enough, capsys):
    """5,000 lives per home and cell; those that were not followed to their end count too."""
    cells = tuple(cell(one, other, 8, 50.0, lives, cut=cut) for one in "ab" for other in "ab")
    standings_tables.print_results(MergeResults(("a", "b"), (8,), cells, standings()))
    assert ("has only 4,999 lives" in capsys.readouterr().out) == (not enough)


@pytest.mark.parametrize(("rounds", "few"), [([30, 19, 31], True), ([20, 40, 30], False)])
def test_few_rounds_are_told(rounds, few, capsys):
    standings_tables.print_results(standings(rounds=np.array(rounds)))
    assert ("only 19 rounds" in capsys.readouterr().out) == few


@pytest.mark.parametrize(
    ("actions", "unlike"),
    [
        (("greedy", "", "sampled"), True),
        (("greedy", "", "greedy"), False),
        (("", "", ""), False),
        ((), False),
    ],
)
def test_unlike_rules_of_play_are_a_warning(actions, unlike, capsys):
    standings_tables.print_results(standings(actions=actions))
    assert ("are greedy" in capsys.readouterr().out) == unlike


def test_pictures_hold_the_same_numbers(monkeypatch, tmp_path):
    pytest.importorskip("matplotlib", reason="pictures of tournaments need the extra plot")
    figures = held(monkeypatch, standings_picture)
    standings_picture.plot_results(merges(), tmp_path / "a.png")
    ratings, wins = titled(figures[0], "ratings over 24"), titled(figures[0], "points against")
    assert ticks(ratings, "y") == list(ORDER)
    drawn = lines(ratings)
    for place, player in enumerate((1, 2, 0)):
        bar, point = drawn[2 * place : 2 * place + 2]
        assert bar[0].tolist() == standings().interval[player].tolist()
        assert point[0].tolist() == [standings().elo[player]]
        assert {*bar[1], *point[1]} == {place}
    shares = titled_by_x(figures[0], "share of matches")
    assert ticks(shares, "y") == list(ORDER)
    bars = [group[0] for group in shares.containers]
    # Of 16 matches each: won, drawn and lost, side by side.
    np.testing.assert_allclose(
        np.reshape([bar.get_width() * 16 / 100 for bar in bars], (3, 3)), [[11, 1, 4], [9, 1, 6], [3, 0, 13]]
    )
    np.testing.assert_allclose(
        np.reshape([bar.get_x() * 16 / 100 for bar in bars], (3, 3)), [[0, 11, 12], [0, 9, 10], [0, 3, 3]]
    )
    for place, (player, line) in enumerate(zip((1, 2, 0), lines(shares), strict=True)):
        won = standings().shares(player)["won"]
        np.testing.assert_allclose(line, [[100 * won.low, 100 * won.high], [place, place]])
    figures[0].canvas.draw()
    above = shares.get_legend().get_window_extent().y0 - shares.get_window_extent().y1
    assert 0 <= above < 15, "pixels"
    assert ticks(wins, "x") == ticks(wins, "y") == list(ORDER)
    np.testing.assert_allclose(
        np.ma.filled(wins.images[0].get_array(), np.nan),
        [[np.nan, 56.25, 87.5], [43.75, np.nan, 75.0], [12.5, 25.0, np.nan]],
    )
    shown = {(0, 1): "56", (0, 2): "88", (1, 0): "44", (1, 2): "75", (2, 0): "12", (2, 1): "25"}
    assert written(wins) == shown
    few, many = titled(figures[0], "8 places"), titled(figures[0], "16 places")
    assert written(few) == {(0, 0): "50", (0, 1): "60", (1, 0): "70"}
    assert written(many) == {(0, 0): "200", (0, 1): "210", (1, 0): "220", (1, 1): "230"}
    assert ticks(few, "x") == ticks(few, "y") == ["a", "b"]
