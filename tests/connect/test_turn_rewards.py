"""Environments in turns are paid what PettingZoo's loop over ``last()`` pays, however they book it."""

from __future__ import annotations

import numpy as np
import pytest
from pettingzoo.utils import parallel_to_aec

from interplay.connect.parallel_world import ParallelEnvWorld
from interplay.core.errors import UserError
from tests.connect.foreign_envs import Leaving
from tests.connect.turn_games import Rounds, paid_by_last


def played(make, number):
    """The world's time steps of an episode in which all say the same."""
    world = ParallelEnvWorld(make, 1)
    steps = [copied(world.reset())]
    while not steps[-1].over.all():
        steps.append(copied(world.step(np.full((1, len(world.agents)), number))))
        assert len(steps) < 40
    return world, steps


def copied(step):
    return type(step)(*[part if isinstance(part, dict | None) else part.copy() for part in step])


@pytest.mark.parametrize("number", [0, 3])
@pytest.mark.parametrize("book", Rounds.books)
def test_returns_are_what_last_pays(book, number):
    world, _ = played(lambda: Rounds(book), number)
    right = paid_by_last(Rounds(book), number)
    assert world.metrics["episode_return"][0].tolist() == [right[name] for name in world.agents]
    assert right["ann"] + 4 == (7 if book == "at reset" else 0)


def test_a_reward_is_credited_in_the_step_that_earns_it():
    _, steps = played(Rounds, 3)
    rewards = np.array([step.reward[0] for step in steps])
    assert rewards[[1, 2]].tolist() == [[0, 0, 0]] * 2
    assert rewards[3].tolist() == [-1, 3, 0.25]


def test_an_agent_that_waits_to_be_stepped_out_goes_on_earning():
    """bob has finished in step 6 and is stepped with None at the end, as its turn never comes before."""
    for book, ends in (("tidy", 6), ("late", 10)):
        world, steps = played(lambda book=book: Rounds(book), 3)
        assert [t for t, step in enumerate(steps) if step.terminated[0, 1]] == [ends]
        assert not any(step.acting[0, 1] for step in steps[6:])
        assert world.metrics["episode_return"][0, 1] == 3 * (2 if book == "tidy" else 4)


def test_turns_are_played_in_worker_processes_too():
    world = ParallelEnvWorld("tests.connect.turn_games:Rounds", 1, processes=1)
    try:
        world.reset()
        for _ in range(3):
            step = world.step(np.full((1, 3), 3))
        assert step.reward.tolist() == [[-1.0, 3.0, 0.25]]
    finally:
        world.close()


def test_a_parallel_environment_in_turns_pays_the_same():
    def make():
        return parallel_to_aec(Leaving(terminated=True, listed=False))

    world, _ = played(make, 1)
    right = paid_by_last(make(), 1)
    assert world.metrics["episode_return"][0].tolist() == [right["ann"], right["bob"]] == [1.0, 3.0]


@pytest.mark.parametrize(("book", "step"), Rounds.wrong.items())
def test_rewards_that_are_not_paid_are_refused_in_the_first_such_step(book, step):
    with pytest.raises(UserError, match=f"step {step}: .*_cumulative_rewards"):
        played(lambda: Rounds(book), 3)


class Silent(Rounds):
    """Its finished agents are never taken out."""

    def _was_dead_step(self, action):
        return None


class Bare(Rounds):
    def reset(self, seed=None, options=None):
        super().reset()
        del self._cumulative_rewards


@pytest.mark.parametrize(("make", "key"), [(Silent, "_was_dead_step"), (Bare, "_cumulative_rewards")])
def test_what_pettingzoo_cannot_play_is_refused(make, key):
    with pytest.raises(UserError, match=key):
        played(make, 1)
