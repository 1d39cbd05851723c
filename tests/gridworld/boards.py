"""Agents and small set-ups that the tests of grid worlds share."""

from __future__ import annotations

from typing import Any

import numpy as np

from interplay.gridworld.agents import (
    AmmoAgent,
    AttackingAgent,
    GridObservingAgent,
    GridWorldAgent,
    MovingAgent,
    OrientationAgent,
)
from interplay.gridworld.grid import Grid
from interplay.gridworld.smart import SmartGridWorldSimulation
from interplay.gridworld.states import PositionState


class Walker(GridObservingAgent, MovingAgent):
    """Sees and moves."""


class Soldier(GridObservingAgent, MovingAgent, AttackingAgent, AmmoAgent, OrientationAgent):
    """Does everything."""


def walker(name: str = "a", encoding: int = 1, **kwargs: Any) -> Walker:
    return Walker(id=name, encoding=encoding, **{"view_range": 1, "move_range": 1, **kwargs})


def soldier(name: str = "a", encoding: int = 1, **kwargs: Any) -> Soldier:
    reach = {"view_range": 2, "move_range": 1, "attack_range": 1}
    power = {"attack_strength": 1.0, "attack_accuracy": 1.0, "initial_ammo": 5}
    return Soldier(id=name, encoding=encoding, **{**reach, **power, **kwargs})


def thing(name: str = "x", encoding: int = 1, at: tuple[int, int] | None = None, **kwargs: Any) -> Any:
    """A grid agent that does nothing."""
    return GridWorldAgent(
        id=name, encoding=encoding, initial_position=None if at is None else np.array(at), **kwargs
    )


def named(*agents: Any) -> dict[str, Any]:
    return {agent.id: agent for agent in agents}


def seeded(grid: Grid, seed: int) -> Grid:
    """The grid, whose random stream begins at a seed."""
    grid.board.stream[0] = seed, 0, 0
    return grid


def placed(grid: Grid, *agents: Any, seed: int = 0) -> PositionState:
    """Places agents in a grid."""
    state = PositionState(agents=named(*agents), grid=seeded(grid, seed))
    state.reset()
    return state


def walking(*agents: Any, rows: int = 4, cols: int = 5, **kwargs: Any) -> SmartGridWorldSimulation:
    """A declared simulation of walkers."""
    parts = {
        "states": ["PositionState"],
        "actors": ["MoveActor"],
        "observers": ["PositionCenteredEncodingObserver"],
        "dones": ["ActiveDone"],
    }
    return SmartGridWorldSimulation.build_sim(rows, cols, agents=named(*agents), **{**parts, **kwargs})


def chi_square(counts: Any, expected: Any) -> float:
    """The statistic; compare it with the 99.9 % point for the degrees of freedom."""
    counts, expected = np.asarray(counts, float), np.asarray(expected, float)
    return float(((counts - expected) ** 2 / expected).sum())


# 99.9 % points of chi-square, by degrees of freedom.
CHI_999 = {1: 10.83, 2: 13.82, 3: 16.27, 8: 26.12, 9: 27.88, 11: 31.26, 19: 43.82}
