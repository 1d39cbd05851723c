"""Several batches of the same thing, stepped with the same actions and compared bit for bit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from interplay.core.spaces import sample_actions

FLAGS = ("reward", "acting", "terminated", "truncated", "over")


def fields(timestep: Any) -> dict[str, np.ndarray]:
    """A time step's arrays by name."""
    found = {name: np.asarray(getattr(timestep, name)) for name in FLAGS}
    for name, tree in (("observation", timestep.observation), ("mask", timestep.action_mask or {})):
        found |= dict(_leaves(name, tree))
    return found


def _leaves(name: str, value: Any) -> Iterator[tuple[str, np.ndarray]]:
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from _leaves(f"{name}/{key}", part)
    else:
        yield name, np.asarray(value)


def assert_equal(one: Any, other: Any, when: str) -> None:
    mine, theirs = fields(one), fields(other)
    assert mine.keys() == theirs.keys()
    for name, array in mine.items():
        assert array.dtype == theirs[name].dtype, (name, when)
        assert np.array_equal(array, theirs[name]), f"{name} {when}"


def actions(world: Any, rng: np.random.Generator) -> Any:
    """Random actions for all agents, of one kind or by kind."""
    drawn = {
        kind.name: sample_actions(kind.action_space, rng, (world.num_worlds, len(kind.slots)))
        for kind in world.kinds
    }
    return drawn if len(drawn) > 1 else next(iter(drawn.values()))


def play(worlds: list[Any], steps: int, seed: int = 0) -> dict[str, float]:
    """Steps all worlds together; worlds that are over begin anew.

    Returns:
        How much has happened: steps of worlds that went on, episodes, sum of |reward|, flags, agents that could not act.
    """
    first = worlds[0]
    rng = np.random.default_rng(seed)
    steps_of = [world.reset() for world in worlds]
    seen = {"steps": 0.0, "episodes": 0.0, "reward": 0.0, "terminated": 0.0, "truncated": 0.0, "waiting": 0.0}
    for t in range(steps):
        for other in steps_of[1:]:
            assert_equal(steps_of[0], other, f"at step {t}")
        now = steps_of[0]
        seen["reward"] += float(np.abs(now.reward).sum())
        seen["terminated"] += float(now.terminated.sum())
        seen["truncated"] += float(now.truncated.sum())
        seen["waiting"] += float((~now.acting).sum())
        if now.over.any() and rng.random() < 0.8:  # else a world that is over is stepped on
            which = now.over.copy()
            seen["episodes"] += int(which.sum())
            steps_of = [world.reset(which) for world in worlds]
            continue
        seen["steps"] += float((~now.over).sum())
        action = actions(first, rng)
        steps_of = [world.step(action) for world in worlds]
    return seen
