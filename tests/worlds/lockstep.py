"""Kernels and objects side by side: a `GridWorld` against the `SimulationWorld` of the same manager, bit for bit."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from interplay.core.policy import RandomPolicy
from interplay.gridworld.world import GridWorld
from interplay.sim.adapt import SimulationWorld
from interplay.sim.managers import SimulationManager


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
        _compare(x, y, t)
        if x.over.any():
            which = x.over.copy()
            ended += int(which.sum())
            x, y = fast.reset(which), slow.reset(which)
            _compare(x, y, t)
        action = player.act(x)
        x, y = fast.step(action), slow.step(action)
    return ended


def play_in_step(make: Callable[[], SimulationManager], steps: int = 2500, worlds: int = 4) -> int:
    """`march_together` with steps of the batch."""
    return march_together(make, steps * worlds, worlds)


def _compare(x: Any, y: Any, t: int) -> None:
    for name in ("reward", "acting", "terminated", "truncated", "over"):
        assert np.array_equal(getattr(x, name), getattr(y, name)), f"step {t}: {name}"
    assert (x.action_mask is None) == (y.action_mask is None)
    mine, theirs = (
        {**dict(_leaves(z.observation)), **dict(_leaves(z.action_mask or {}, "mask"))} for z in (x, y)
    )
    assert mine.keys() == theirs.keys()
    for name, values in mine.items():
        assert values.dtype == theirs[name].dtype, name
        assert np.array_equal(values, theirs[name]), f"step {t}: {name}"


def _leaves(tree: Any, path: str = "observation") -> Iterator[tuple[str, np.ndarray]]:
    if isinstance(tree, Mapping):
        for key, part in tree.items():
            yield from _leaves(part, f"{path}/{key}")
    else:
        yield path, np.asarray(tree)
