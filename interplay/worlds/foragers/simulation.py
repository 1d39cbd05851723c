"""Foragers and hunters: agents, simulations of declared components, and the worlds. Source: manual 4.1, specification 9.6.

Attacks come before moves. Foragers win when the resources are gone, hunters when the foragers are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np

from interplay.gridworld.agents import AttackingAgent, GridObservingAgent, GridWorldAgent, MovingAgent
from interplay.gridworld.board import Board
from interplay.gridworld.smart import SmartGridWorldSimulation
from interplay.sim.managers import AllStepManager
from interplay.worlds.foragers import config
from interplay.worlds.foragers.config import FORAGER, HUNTER, RESOURCE, ForagersSettings


class ResourceAgent(GridWorldAgent):
    """Stands on a cell until it is collected.

    Example:
        >>> ResourceAgent(id="resource0").encoding
        1
    """

    def __init__(self, **kwargs: Any) -> None:
        given = {"encoding": config.RESOURCE, "initial_health": 1.0, "render_color": "green"}
        super().__init__(**{**given, "render_shape": "s", "render_size": 120, **kwargs})


class _Walker(MovingAgent, AttackingAgent, GridObservingAgent):
    """The shared defaults of foragers and hunters."""

    GIVEN: ClassVar[dict[str, Any]] = {}

    def __init__(self, **kwargs: Any) -> None:
        shared: dict[str, Any] = {
            "initial_health": 1.0,
            "view_range": config.VIEW_RANGE,
            "move_range": config.MOVE_RANGE,
            "attack_strength": 1.0,
            "attack_accuracy": 1.0,
        }
        super().__init__(**{**shared, **self.GIVEN, **kwargs})


class ForagerAgent(_Walker):
    """Collects resources.

    Attributes:
        kind: separates foragers from hunters, which have the same spaces, so that they do not share a network.
    """

    kind = "forager"
    GIVEN: ClassVar[dict[str, Any]] = {
        "encoding": config.FORAGER,
        "attack_range": config.FORAGE_RANGE,
        "render_color": "blue",
    }


class HunterAgent(_Walker):
    """Chases foragers; arguments as of `ForagerAgent`."""

    kind = "hunter"
    GIVEN: ClassVar[dict[str, Any]] = {
        "encoding": config.HUNTER,
        "attack_range": config.HUNT_RANGE,
        "render_color": "red",
        "render_shape": "D",
    }


class PreyAgent(ForagerAgent):
    """A forager under the name of the Abmarl release."""


class PredatorAgent(HunterAgent):
    """A hunter under the name of the Abmarl release."""


def count_active(agents: np.ndarray, encoding: int) -> np.ndarray:
    """Number of active agents of an encoding, (W,)."""
    counts: np.ndarray = (agents["active"] & (agents["encoding"] == encoding)).sum(axis=1)
    return counts


def mean_distance(agents: np.ndarray, encoding: int) -> np.ndarray:
    """Mean Chebyshev distance, in cells, over pairs of active agents of an encoding, (W,); 0 without pairs."""
    members = np.flatnonzero(agents["encoding"][0] == encoding)
    row, col = agents["row"][:, members], agents["col"][:, members]
    here = agents["active"][:, members]
    pairs = here[:, :, None] & here[:, None, :] & ~np.eye(len(members), dtype=bool)
    apart = np.maximum(abs(row[:, :, None] - row[:, None, :]), abs(col[:, :, None] - col[:, None, :]))
    total: np.ndarray = np.where(pairs, apart, 0).sum(axis=(1, 2)) / np.maximum(pairs.sum(axis=(1, 2)), 1)
    return total


class _Rules(SmartGridWorldSimulation):
    """The shared components of both simulations; keyword arguments replace any of them.

    Attributes:
        PREY: encoding -> encoding that it attacks; removing all of it is its success.
        OVERLAPPING: encoding -> encodings with which it may share a cell.
    """

    PREY: ClassVar[dict[int, int]] = {}
    OVERLAPPING: ClassVar[dict[int, set[int]]] = {}

    @classmethod
    def build_sim(cls, rows: int, cols: int, agents: Any = None, **kwargs: Any) -> Self:
        return super().build_sim(rows, cols, agents=agents, **{"overlapping": cls.OVERLAPPING, **kwargs})

    def __init__(self, **kwargs: Any) -> None:
        mapping = kwargs.get("attack_mapping", self.PREY)
        attack = {"kill": config.KILL, "killed": config.KILLED, "failed": config.FAILED_ATTACK}
        given: dict[str, Any] = {
            "states": ["PositionState", "HealthState"],
            "actors": ["BinaryAttackActor", "MoveActor"],
            "observers": ["PositionCenteredEncodingObserver"],
            "dones": ["ActiveDone", ("TargetEncodingInactiveDone", {"target_mapping": mapping})],
            "rewards": [
                ("AttackReward", attack),
                ("MoveReward", {"failed": config.FAILED_MOVE}),
                ("StepPenalty", {"amount": config.ENTROPY}),
            ],
            "attack_mapping": mapping,
        }
        super().__init__(**{**given, **kwargs})
        self.finalize()

    def measure(self, board: Board) -> Mapping[str, np.ndarray]:
        """``resources`` and ``foragers`` left (W,), and the foragers' mean ``distance`` (W,)."""
        return {
            "resources": count_active(board.agents, RESOURCE),
            "foragers": count_active(board.agents, FORAGER),
            "distance": mean_distance(board.agents, FORAGER),
        }


class ForagingSim(_Rules):
    """One or more foragers, and resources.

    Args:
        **kwargs: from a builder; components and `attack_mapping` replace the default ones.

    Example:
        >>> from interplay.worlds import ForagerAgent, ForagingSim, ResourceAgent
        >>> agents = [ForagerAgent(id="forager0"), ResourceAgent(id="resource0")]
        >>> sim = ForagingSim.build_sim(3, 3, agents={agent.id: agent for agent in agents})
        >>> sim.reset()
        >>> sim.get_done("forager0")
        False
    """

    PREY: ClassVar[dict[int, int]] = {FORAGER: RESOURCE}
    OVERLAPPING: ClassVar[dict[int, set[int]]] = {FORAGER: {RESOURCE, FORAGER}}


class HunterForagerSim(_Rules):
    """Foragers, hunters and resources; arguments as of `ForagingSim`."""

    PREY: ClassVar[dict[int, int]] = {FORAGER: RESOURCE, HUNTER: FORAGER}
    OVERLAPPING: ClassVar[dict[int, set[int]]] = {RESOURCE: {HUNTER}, FORAGER: {RESOURCE, FORAGER, HUNTER}}


class PredatorPreyResourcesSim(HunterForagerSim):
    """`HunterForagerSim` under the name of the Abmarl release."""


_SIGHT = {
    "encoding": "PositionCenteredEncodingObserver",
    "stacked": "StackedPositionCenteredEncodingObserver",
}


def manager(settings: ForagersSettings) -> AllStepManager:
    """A new map under a new manager, which shuffles the order of actions."""
    members: list[GridWorldAgent] = [ResourceAgent(id=f"resource{i}") for i in range(settings.resources)]
    members += [ForagerAgent(id=f"forager{i}") for i in range(settings.foragers)]
    members += [HunterAgent(id=f"hunter{i}") for i in range(settings.hunters)]
    rules = HunterForagerSim if settings.hunters else ForagingSim
    sim = rules.build_sim(
        settings.rows,
        settings.cols,
        agents={agent.id: agent for agent in members},
        observers=[_SIGHT[settings.sight]],
    )
    return AllStepManager(sim, time_limit=settings.time_limit, randomize_action_input=True)
