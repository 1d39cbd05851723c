"""Where pictures of a world are taken: after every reset and step, to the end or the limit of each episode."""

from __future__ import annotations

import numpy as np

from interplay.core.policy import RandomPolicy
from interplay.view.stepping import stands
from tests.checker.sound_worlds import Camp


class Minded(RandomPolicy):
    """Records calls of restarts."""

    def start(self, world, seed=0):
        super().start(world, seed)
        self.restarts = []

    def forget(self, which):
        self.restarts.append((np.array(which).tolist(), int(self.world.state.clock.max())))


def test_every_episode_begins_at_its_reset_and_ends_at_its_limit():
    world, policy = Camp(2), Minded()
    seen = [
        (*stand[:3], int(world.state.clock[0])) for stand in stands(world, policy, 2, max_steps=3, seed=1)
    ]
    one = [(step, step == 3, step) for step in range(4)]
    assert seen == [(episode, *rest) for episode in (0, 1) for rest in one]


def test_players_are_told_of_every_restart_after_the_first():
    world, policy = Camp(2), Minded()
    for _ in stands(world, policy, 3, max_steps=2, seed=1):
        pass
    assert policy.restarts == [([True, True], 0)] * 2  # after the reset


def test_an_episode_is_left_where_its_own_world_is_over():
    world = Camp(2)
    *_, last = stands(world, RandomPolicy(), seed=1, index=1)
    assert last.last
    assert world.timestep.over[1]
