"""The simulations: declared components only. Source: manual 4.1, specification 9.6.

Attacks come before moves. Foragers win when the resources are gone, hunters when the foragers are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np

from interplay.gridworld.board import Board
from interplay.gridworld.smart import SmartGridWorldSimulation
from interplay.worlds.foragers import config
from interplay.worlds.foragers.config import FORAGER, HUNTER, RESOURCE
from interplay.worlds.foragers.measures import count_active, mean_distance


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
