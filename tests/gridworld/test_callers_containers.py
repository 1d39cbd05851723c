"""What a caller hands over stays the caller's: a dict, list, set or array that is changed afterwards changes no simulation."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from interplay.gridworld.actors import BinaryAttackActor
from interplay.gridworld.dones import (
    TargetAgentInactiveDone,
    TargetAgentOverlapDone,
    TargetEncodingInactiveDone,
)
from interplay.gridworld.grid import Grid
from interplay.gridworld.observers import TargetObserver
from interplay.gridworld.rewards import TargetReward
from interplay.gridworld.states import MazePlacementState, TargetBarriersFreePlacementState
from interplay.sim.wrappers import SuperAgentWrapper
from interplay.worlds.pacman.simulation import PacmanSim
from tests.gridworld.boards import named, soldier
from tests.sim.toys import Countdown


def parts(kind: type, name: str, **more: Any) -> Callable[[Any], Any]:
    """A component of three soldiers that is given a value by this name."""
    agents = named(*(soldier(f"s{i}", i + 1) for i in range(3)))
    return lambda value: kind(agents=agents, grid=Grid(4, 4), **{name: value}, **more)


def super_agents(value: Any) -> SuperAgentWrapper:
    return SuperAgentWrapper(Countdown(dict.fromkeys("abcd", 5)), value)


IDS, CODES = {"s0": "s1", "s1": "s2"}, {1: {2}, 2: {1, 3}}
GIVEN: dict[str, tuple[Callable[[Any], Any], str, Any]] = {
    "super agents": (super_agents, "super_agent_mapping", {"ab": ["a", "b"], "c+": ["c"]}),
    "overlapping": (lambda value: Grid(2, 2, overlapping=value), "overlapping", CODES),
    "attacks": (parts(BinaryAttackActor, "attack_mapping"), "attack_mapping", CODES),
    "ends of encodings": (parts(TargetEncodingInactiveDone, "target_mapping"), "target_mapping", CODES),
    "overlaps": (parts(TargetAgentOverlapDone, "target_mapping"), "target_mapping", IDS),
    "ends of targets": (parts(TargetAgentInactiveDone, "target_mapping"), "target_mapping", IDS),
    "rewards": (parts(TargetReward, "target_mapping"), "target_mapping", IDS),
    "directions": (parts(TargetObserver, "target_mapping"), "target_mapping", IDS),
    "barriers": (
        parts(TargetBarriersFreePlacementState, "barrier_encodings", target_agent="s0"),
        "barrier_encodings",
        {2, 3},
    ),
    "free": (parts(MazePlacementState, "free_encodings", target_agent="s0"), "free_encodings", {2, 3}),
    "scheme": (
        lambda value: type("Scheme", (), {"reward_scheme": PacmanSim._full_scheme(value)}),
        "reward_scheme",
        {"kill": 3.0},
    ),
    "a place": (lambda value: soldier(initial_position=value), "initial_position", np.array([1, 2])),
}


def spoil(value: Any) -> None:
    """Changes a container, and what it holds, in place."""
    if isinstance(value, np.ndarray):
        value += 1
    elif isinstance(value, dict):
        for part in value.values():
            if isinstance(part, dict | list | set):
                spoil(part)
        value.pop(next(iter(value)))
    elif isinstance(value, list):
        value.append("d")
    else:
        value.add(1)


@pytest.mark.parametrize("name", GIVEN)
def test_what_was_handed_over_can_be_changed_afterwards(name):
    make, attribute, value = GIVEN[name]
    given = copy.deepcopy(value)
    owner = make(given)
    read = copy.deepcopy(getattr(owner, attribute))
    assert str(given) == str(value), "making it changes nothing either"
    spoil(given)
    assert str(given) != str(value)
    np.testing.assert_equal(getattr(owner, attribute), read)
    settable = getattr(type(owner), attribute, None)
    if isinstance(settable, property) and settable.fset is not None:  # nor when it is set anew
        again = copy.deepcopy(value)
        setattr(owner, attribute, again)
        spoil(again)
        np.testing.assert_equal(getattr(owner, attribute), read)
