"""Recorded beliefs against an exact observer's: planted beliefs, unchanged games."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from interplay.core.policy import RandomPolicy
from interplay.evaluate import play
from interplay.evaluate.communication.werewolf.believing import BeliefRecorder, Beliefs
from interplay.registry import make_policy, make_world
from interplay.worlds.werewolf.theory.belief import Ways

GAMES = 300
OWN = (0,)  # villagers


class Constant:
    """A constant belief."""

    def __init__(self, chance: float) -> None:
        self.chance = chance
        self.asked: list[Any] = []

    def beliefs(self, observation: Mapping[str, np.ndarray], population: np.ndarray) -> np.ndarray:
        self.asked.append({name: leaf.copy() for name, leaf in observation.items()})
        assert not population.any()
        return np.full((len(population), observation["status_map"].shape[1]), self.chance)


class Knowing:
    """Believes the truth, or its negation."""

    def __init__(self, world: Any, lie: bool = False) -> None:
        self.world, self.lie, self.row = world, lie, 0

    def beliefs(self, observation: Mapping[str, np.ndarray], population: np.ndarray) -> np.ndarray:
        # Those who vote are asked world by world: whose view this is can be told from the day's board.
        world = self.world
        wolf = np.asarray(world.population) == 1
        voting = world.timestep.acting & ~wolf
        w, a = np.nonzero(voting)
        np.testing.assert_array_equal(observation["own_id"], a)
        truth = wolf[w].astype(np.float64)
        return 1 - truth if self.lie else truth


def record(believer: Any, world: Any = None, ways: Ways | None = None, games: int = GAMES) -> tuple[Any, Any]:
    world = world or make_world("werewolf/9", num_worlds=16, seed=4)
    recorder = BeliefRecorder(RandomPolicy(), believer, OWN, ways)
    return recorder, play(world, recorder, games, 7, on_step=recorder.add)


def test_games_are_played_as_without_it() -> None:
    _, table = record(Constant(0.5))
    plain = play(make_world("werewolf/9", num_worlds=16, seed=4), RandomPolicy(), GAMES, 7)
    np.testing.assert_array_equal(table["win_vil"], plain["win_vil"])
    np.testing.assert_array_equal(table["tot_days"], plain["tot_days"])


def test_half_and_half_has_the_scores_of_a_coin() -> None:
    believer = Constant(0.5)
    recorder, table = record(believer)
    scores: Beliefs = recorder.scores()
    assert scores.own.brier.mean == pytest.approx(0.25)
    assert scores.own.log_score.mean == pytest.approx(1.0)
    assert scores.own.brier.n == len(table["win_vil"])  # every game has a vote by day
    assert all(
        (seen["status_map"][np.arange(len(seen["own_id"])), seen["own_id"]] == 1).all()
        for seen in believer.asked
    )


def test_who_knows_scores_nothing_and_who_lies_scores_all() -> None:
    for lie, brier in ((False, 0.0), (True, 1.0)):
        world = make_world("werewolf/9", num_worlds=16, seed=4)
        recorder, _ = record(Knowing(world, lie), world)
        scores = recorder.scores()
        assert scores.own.brier.mean == brier
        assert scores.own.against_brier.mean == pytest.approx(brier - scores.exact.brier.mean)


def test_only_living_others_are_counted() -> None:
    """On the first day seven or eight of nine live: a voter has beliefs about the others."""
    recorder, _ = record(Constant(0.5), games=16)
    game, _, _, truth, counted = (np.concatenate(column) for column in zip(*recorder._rows, strict=True))
    assert (truth.sum(axis=1) == 3).all()
    first = [np.flatnonzero(game == each)[0] for each in np.unique(game)]
    assert set(counted[first].sum(axis=1).tolist()) == {7}  # one was eaten in the night before
    assert (np.bincount(game)[np.unique(game)] >= 5).all()  # five villagers vote on the first day


def test_an_exact_observer_is_calibrated_and_better_than_the_base_rate() -> None:
    """Wolves that never name each other become identifiable; the exact beliefs are calibrated."""
    world = make_world("werewolf/9", num_worlds=64, seed=2)
    wolves = make_policy(world.id, "avoid_wolves")
    recorder = BeliefRecorder(wolves, Constant(0.375), OWN, Ways(wolves=("avoid_wolves",)))
    play(world, recorder, 4_000, 3, on_step=recorder.add)
    scores = recorder.scores()
    exact = scores.exact
    assert exact.brier.mean < exact.base_brier - 5 * exact.brier.standard_error
    assert exact.log_score.mean < exact.base_log_score
    for believed, came, number in exact.reliability:
        if number > 2_000:
            # Rows of one game share its wolves, so the error is that of games: at least number / 40 of them.
            assert came == pytest.approx(believed, abs=4 * np.sqrt(0.25 / (number / 40))), believed
    assert scores.own.divergence > 0


def test_games_that_do_not_count_are_left_out() -> None:
    recorder, _ = record(Constant(0.5), games=20)
    assert set(np.unique(np.concatenate([row[0] for row in recorder._rows])).tolist()) <= set(range(20))
