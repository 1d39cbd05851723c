"""Sums by side worked by hand; the law of zero sums; what an earlier checkpoint lacks."""

from __future__ import annotations

import numpy as np
import pytest

from interplay.evaluate.episodes import EpisodeTable
from interplay.train.run.episodes import BEGINS, Windows
from interplay.train.run.records import _Balance
from interplay.train.run.side_sums import SHARES, Balance, LoggedSides, SideSums

TWO = LoggedSides(("red", "blue"), 2, ("red",))
RED, BLUE = [True, True, False, False], [False, False, True, True]
ALL, NONE = [True] * 4, [False] * 4


def read(
    sums: SideSums, episodes: list[tuple[list[list[float]], bool, list[bool]]], balance: Balance
) -> dict:
    """What is logged of episodes: values of the metrics, cut by a limit, slots of the learner."""
    values = np.array([one[0] for one in episodes], np.float64)
    learner = np.array([one[2] for one in episodes])
    sides = [np.broadcast_to(np.array(side), learner.shape) for side in (RED, BLUE)][: sums.sides.parts]
    members = np.stack([learner, *sides])
    told = sums.of_episodes(values, np.array([one[1] for one in episodes]), members)
    assert told.shape == (len(episodes), sums.size)
    return sums.read(told.sum(axis=0), balance)


def test_means_are_over_agents_and_then_over_episodes() -> None:
    """An agent without a number does not count, nor does an episode without any."""
    nan = np.nan
    episodes = [
        ([[4, 2, 10, 20], [1, nan, 5, 5]], False, RED),
        ([[0, 0, 8, 0], [nan, nan, 3, nan]], False, ALL),
        ([[7, 7, 7, 6], [9, 9, 9, 9]], False, NONE),
    ]
    logged = read(SideSums(["episode_return", "kills"], TWO), episodes, Balance())
    assert logged["episode_return"] == (3 + 2) / 2
    assert logged["episode_return[red]"] == (3 + 0 + 7) / 3
    assert logged["episode_return[blue]"] == (15 + 4 + 6.5) / 3
    assert logged["kills"] == (1 + 3) / 2
    assert logged["kills[red]"] == (1 + 9) / 2
    assert logged["kills[blue]"] == (5 + 3 + 9) / 3
    assert logged["episodes_with_others"] == 1


def test_four_shares_sum_to_one_and_count_only_with_others() -> None:
    won, lost, even = [1, 1, -1, -1], [-1, -1, 1, 1], [0, 0, 0, 0]
    episodes = [
        ([won], False, RED),
        ([won], True, RED),
        ([lost], False, RED),
        ([even], True, RED),
        ([even], False, RED),
    ]
    episodes += [([lost], False, ALL)] * 3  # against itself
    logged = read(SideSums(["outcome"], TWO), episodes, Balance())
    assert [logged[share] for share in SHARES] == pytest.approx([2 / 5, 1 / 5, 1 / 5, 1 / 5])
    assert [logged[f"{share}[red]"] for share in SHARES] == pytest.approx([2 / 8, 4 / 8, 1 / 8, 1 / 8])
    assert [logged[f"{share}[blue]"] for share in SHARES] == pytest.approx([4 / 8, 2 / 8, 1 / 8, 1 / 8])
    assert logged["outcome"] is None
    alone = read(SideSums(["outcome"], TWO._replace(learner=None)), [([won], False, ALL)], Balance())
    assert [alone[share] for share in SHARES] == [None] * 4


def test_an_episode_without_a_winner_is_cut_by_a_limit_or_drawn() -> None:
    for outcome, cut, shares in (
        ([0, 0, 1, 1], True, [0, 0, 0, 1]),
        ([0, 0, -1, -1], False, [0, 0, 1, 0]),
        ([np.nan, np.nan, 0, 0], False, [0, 0, 0, 1]),
    ):
        logged = read(SideSums(["outcome"], TWO), [([outcome], cut, RED)], Balance())
        assert [logged[f"{share}[red]"] for share in SHARES] == shares


def test_agents_without_an_outcome_are_left_out_as_in_an_evaluation() -> None:
    """Red wins by its one known agent; blue has one win, one loss and one unknown agent, then no outcome at all."""
    nan, teams = np.nan, {"red": (0, 1), "blue": (2, 3, 4)}
    outcome = np.array([[1, nan, 1, -1, nan], [-1, -1, nan, nan, nan]])
    truncated = np.array([True, False])
    members = np.zeros((3, 2, 5), bool)
    for number, slots in enumerate(teams.values(), 1):
        members[number][:, slots] = True
    members[0] = members[1]
    sums, names = SideSums(["outcome"], TWO), [f"player_{slot}" for slot in range(5)]
    logged = sums.read(sums.of_episodes(outcome[:, None], truncated, members).sum(axis=0), Balance())
    expected = {"red": [0.5, 0.5, 0, 0], "blue": [0.25, 0.25, 0, 0.5]}
    assert [logged[share] for share in SHARES] == expected["red"]
    columns = {"steps": np.ones(2), "truncated": truncated, "outcome": outcome}
    summary = EpisodeTable("toys", "random", 0, names, columns, teams=teams).summary()
    for side, shares in expected.items():
        assert [logged[f"{share}[{side}]"] for share in SHARES] == shares
        assert [summary[f"{share}[{side}]"].mean for share in SHARES] == shares


def test_one_episode_breaks_the_law_for_good() -> None:
    """A metric that never moved is shown where nothing is won; a record goes on with what was seen."""
    sums, balance = SideSums(["episode_return"], LoggedSides(("red", "blue"), 2, None, True)), Balance()
    zero, third = [0.0] * 4, 1 / 3
    assert read(sums, [([zero], False, ALL)], balance) == {}  # the mean over all agents stands
    unequal = [third, third, -third, -third * (1 + 1e-9)]
    logged = read(sums, [([unequal], False, ALL)], balance)
    assert logged["episode_return"] is None
    assert logged["episode_return[red]"] == pytest.approx(third)
    again = Balance()
    again.load(balance.describe())
    assert read(sums, [([zero], False, ALL)], again)["episode_return"] is None
    assert read(sums, [([[3.0, 1.0, -3.0, 1.0]], False, ALL)], again) == {}
    assert read(sums, [([unequal], False, ALL)], again) == {}
    _Balance.model_validate(again.describe()["balance"])
    with pytest.raises(ValueError, match="moved"):
        _Balance.model_validate({"moved": "x"})


def test_sides_of_unlike_sizes_cancel_by_their_means() -> None:
    sides = LoggedSides(("red", "blue"), 2, None)
    sums, balance = SideSums(["episode_return"], sides), Balance()
    told = sums.of_episodes(
        np.array([[[2.0, -2.0, -2.0]]]),
        np.array([False]),
        np.array([[[1, 1, 1]], [[1, 0, 0]], [[0, 1, 1]]], bool),
    )
    assert sums.read(told[0], balance) == {
        "episode_return": None,
        "episode_return[red]": 2,
        "episode_return[blue]": -2,
    }


def test_who_wins_together_has_shares_of_its_own() -> None:
    """All agents on one side of a contest with the world: there is nothing that cancels."""
    sums, balance = SideSums(["outcome"], LoggedSides(("a", "b"), 2, None, True)), Balance()
    together = [([[1, 1, 1, 1]], False, ALL), ([[-1, -1, -1, -1]], False, ALL)]
    logged = read(sums, together, balance)
    assert logged["won"] == logged["lost"] == 0.5
    alone = read(
        sums, [([[1, -1, -1, -1]], False, ALL)], Balance()
    )  # one of four wins: no sum is zero, still a contest
    assert alone["won"] is None
    assert alone["won[a]"] == 0.5


@pytest.mark.parametrize(("parts", "agents"), [(0, 1), (1, 3)])
def test_a_single_side_shows_its_matches_from_the_first_one(parts: int, agents: int) -> None:
    """An engine's own players are the other side: nothing cancels, also before a match is won."""
    sums, balance = SideSums(["episode_return", "outcome"], LoggedSides(("team",) * parts, parts)), Balance()
    for outcome, cut, shares in (
        (0.0, True, [0, 0, 0, 1]),
        (0.0, False, [0, 0, 1, 0]),
        (1.0, False, [1, 0, 0, 0]),
    ):
        values = np.full((1, 2, agents), outcome)
        told = sums.of_episodes(values, np.array([cut]), np.ones((1 + parts, 1, agents), bool))
        logged = sums.read(told[0], balance)
        assert [logged[share] for share in SHARES] == shares


def test_windows_of_an_earlier_version_begin_anew() -> None:
    """They counted other numbers of an episode: those that are under way are not told."""
    old, new = Windows(2, 3), Windows(2, 5)
    old.of[:] = old.current
    assert not new.fits(old.save())
    new.load(old.save(), "a checkpoint of an earlier version")
    new.of[new.of == BEGINS] = new.current
    new.end(np.array([True, True]), np.ones((2, 5)))
    assert not new.sums.any()
    assert new.fits(new.save())
