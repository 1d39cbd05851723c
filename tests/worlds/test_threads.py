"""Grid worlds in two threads: chunks of worlds, and components with arrays of their own, change no bit."""

from __future__ import annotations

import numpy as np
import pytest

import interplay
from interplay.core.policy import RandomPolicy

IDS = ["gridworld/broadcast", "gridworld/hunters-foragers", "gridworld/pacman", "gridworld/pacman-simple"]


@pytest.mark.parametrize("world_id", IDS)
def test_threads_change_no_bit(world_id):
    worlds = [
        interplay.make_world(world_id, num_worlds=5, seed=2, threads=threads, time_limit=25)
        for threads in (1, 2)
    ]
    policies = [RandomPolicy(), RandomPolicy()]
    for world, policy in zip(worlds, policies, strict=True):
        world.reset()
        policy.start(world, 7)
    for _ in range(60):
        for world, policy in zip(worlds, policies, strict=True):
            if world.timestep.over.any():
                world.reset(world.timestep.over)
            world.step(policy.act(world.timestep))
    assert np.array_equal(worlds[0].hash(), worlds[1].hash())
    for world in worlds:
        world.close()
