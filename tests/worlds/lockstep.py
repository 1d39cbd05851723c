"""Kernels and objects side by side: a `GridWorld` against the `SimulationWorld` of the same manager, bit for bit."""

from __future__ import annotations

from collections.abc import Callable

from interplay.core.policy import RandomPolicy
from interplay.gridworld.world import GridWorld
from interplay.sim.adapt import SimulationWorld
from interplay.sim.managers import SimulationManager
from tests.gridworld.lockstep import assert_equal


def march_together(
    make: Callable[[], SimulationManager], steps: int, num_worlds: int = 4, seed: int = 5
) -> int:
    """Steps both with equal random actions, ``steps`` steps of one world in total.

    Returns:
        How many episodes ended.

    Raises:
        AssertionError: at the first difference, naming step and field.
    """
    fast = make().vectorize(num_worlds, seed=seed)
    slow = SimulationWorld(make, num_worlds, seed=seed)
    assert isinstance(fast, GridWorld), "the simulation is not purely declared"
    assert fast.kinds == slow.kinds
    player = RandomPolicy()  # which keeps to the masks
    player.start(fast, seed=seed)
    x, y = fast.reset(), slow.reset()
    ended = 0
    for t in range(steps // num_worlds):
        assert_equal(x, y, f"at step {t}")
        if x.over.any():
            which = x.over.copy()
            ended += int(which.sum())
            x, y = fast.reset(which), slow.reset(which)
            assert_equal(x, y, f"at step {t}")
        action = player.act(x)
        x, y = fast.step(action), slow.step(action)
    return ended
