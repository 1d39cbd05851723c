"""Every adapter that makes a batch of a simulation passes on worlds, seed, manager and limit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from gymnasium.spaces import Box, Dict

from interplay.core.errors import UserError
from interplay.core.world import World
from interplay.gridworld.smart import SmartGridWorldSimulation
from interplay.registry import make_world
from interplay.sim.adapt import SimulationWorld
from interplay.sim.batch.layout import Leaf
from interplay.sim.batch.leaf_column import fitted
from interplay.sim.managers import SimulationManager, TurnBasedManager
from interplay.worlds.corridor.simulation import MultiCorridor
from tests.gridworld.boards import named, walker

AGENTS, CHOICES, STEPS = 3, 3, 8


def corridor() -> MultiCorridor:
    return MultiCorridor(end=8, num_agents=AGENTS)


def grid() -> SmartGridWorldSimulation:
    """Walkers that step across a grid from anywhere."""
    return SmartGridWorldSimulation.build_sim(
        5,
        6,
        agents=named(*(walker(f"agent{i}") for i in range(AGENTS))),
        states=["PositionState"],
        actors=["CrossMoveActor"],
        observers=["AbsolutePositionObserver"],
        dones=["ActiveDone"],
        rewards=["MoveReward"],
    )


def in_turns() -> SimulationManager:
    """A factory that settings may name."""
    return TurnBasedManager(corridor(), time_limit=STEPS)


Adapter = Callable[..., World]
ADAPTERS: dict[str, Adapter] = {
    "a simulation": lambda **asked: corridor().vectorize(manager=TurnBasedManager, time_limit=STEPS, **asked),
    "a manager": lambda **asked: TurnBasedManager(corridor(), time_limit=STEPS).vectorize(**asked),
    "the class": lambda **asked: SimulationWorld(in_turns, **asked),
    "a name": lambda **asked: make_world("tests.sim.test_vectorize:in_turns", **asked),
    "a grid": lambda **asked: grid().vectorize(manager=TurnBasedManager, time_limit=STEPS, **asked),
    "a grid's manager": lambda **asked: TurnBasedManager(grid(), time_limit=STEPS).vectorize(**asked),
}


def played(world: World, first: int) -> list[tuple[Any, ...]]:
    """What every step says, with actions that follow from the world's number."""
    told = []
    step = world.reset()
    for t in range(STEPS):
        action = np.random.default_rng(t).integers(0, CHOICES, (9, AGENTS))[first : first + world.num_worlds]
        told.append((world.hash().copy(), step.acting.copy(), step.reward.copy(), step.over.copy()))
        step = world.step({"move": action} if isinstance(world.action_space, Dict) else action)
    told.append((world.hash().copy(), step.acting.copy(), step.reward.copy(), step.over.copy()))
    return told


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_an_adapter_hands_on_what_it_was_told(adapter):
    whole, part, other = (
        ADAPTERS[adapter](num_worlds=number, seed=seed, first_world=first)
        for number, seed, first in ((4, 5, 0), (2, 5, 2), (4, 6, 0))
    )
    assert part.first_world == 2
    everybody, some, others = played(whole, 0), played(part, 2), played(other, 0)
    for all_of_them, mine in zip(everybody, some, strict=True):
        for theirs, ours in zip(all_of_them, mine, strict=True):
            np.testing.assert_array_equal(theirs[2:], ours)
    assert len(set(everybody[0][0].tolist())) == 4  # each world has an episode of its own
    assert not set(everybody[0][0].tolist()) & set(others[0][0].tolist())
    assert (everybody[0][1].sum(axis=1) == 1).all()  # one after another
    assert [bool(step[3].all()) for step in everybody] == [False] * STEPS + [True]  # no longer than that
    for world in (whole, part, other):
        world.close()


def test_without_a_manager_all_act():
    for sim in (corridor(), grid()):
        world = sim.vectorize(2)
        assert world.reset().acting.all()
        world.close()


@pytest.mark.parametrize(
    ("given", "dtype", "holds"),
    [
        (np.int64(100), np.int8, True),
        (np.int64(300), np.int8, False),
        (np.int16(-1), np.uint8, False),
        (np.uint8(200), np.int8, False),
        (np.uint8(200), np.int16, True),
        (np.float64(0.5), np.int32, False),
        (np.float64(7.0), np.int32, True),
        (np.float64(1 / 3), np.float32, True),
        (np.int64(2**40), np.int32, False),
    ],
)
def test_numbers_are_kept_or_refused(given, dtype, holds):
    limits = np.iinfo(dtype) if np.issubdtype(dtype, np.integer) else np.finfo(dtype)
    leaf = Leaf("load", (), Box(limits.min, limits.max, (1,), dtype))
    if holds:
        assert fitted(leaf, np.array([given]), "a").tolist() == [dtype(given)]
    else:
        with pytest.raises(UserError, match=f"is {given} "):
            fitted(leaf, np.array([given]), "a")
