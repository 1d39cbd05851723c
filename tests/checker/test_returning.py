"""An agent that leaves an environment and comes back is no fault, and its lives are told apart."""

from __future__ import annotations

import numpy as np

from interplay.checker import check_world
from interplay.connect.parallel_world import ParallelEnvWorld
from tests.connect.returning import Returning


def test_an_agent_that_comes_back_breaks_no_law():
    report = check_world(lambda num_worlds, seed: ParallelEnvWorld(Returning, num_worlds, seed), steps=40)
    assert report.ok, str(report)


def test_each_of_its_lives_ends_once():
    world = ParallelEnvWorld(Returning)
    world.reset()
    acting, ends, paid = [], [], 0.0
    for _ in range(8):
        step = world.step(np.zeros((1, 2), int))
        acting.append(bool(step.acting[0, 1]))
        ends.append(bool(step.terminated[0, 1] or step.truncated[0, 1]))
        paid += step.reward[0, 1]
    assert acting == [True, True, False, True, True, False, True, False]
    assert ends == [False, False, True, False, False, True, False, True]
    assert paid == 6.0, "it is absent in two of the eight steps"
