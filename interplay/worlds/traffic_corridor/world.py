"""The traffic corridor under a manager, as a world."""

from __future__ import annotations

from typing import Any

import numpy as np

from interplay.sim.managers import AllStepManager
from interplay.worlds.traffic_corridor.config import ROWS, TrafficCorridorSettings
from interplay.worlds.traffic_corridor.simulation import (
    TargetAgent,
    TrafficAgent,
    TrafficCorridorSimulation,
    WallAgent,
)

LEFT, RIGHT, WALLS = 1, 2, 3  # encodings: the team that starts left, the other, walls
COLOURS = {LEFT: "blue", RIGHT: "red"}


def manager(settings: TrafficCorridorSettings) -> AllStepManager:
    """A new corridor under a new manager, which shuffles the actions."""
    return AllStepManager(corridor(settings), time_limit=settings.time_limit, randomize_action_input=True)


def corridor(settings: TrafficCorridorSettings) -> TrafficCorridorSimulation:
    """A new corridor: teams in the corners, targets at the ends of the middle row, walls along it."""
    view = settings.view_range
    registry: dict[str, Any] = {
        "l": lambda n: _traveller(f"left{n}", LEFT, view),
        "r": lambda n: _traveller(f"right{n}", RIGHT, view),
        "R": lambda n: _target("right_target", RIGHT),
        "L": lambda n: _target("left_target", LEFT),
        "W": lambda n: WallAgent(
            id=f"wall{n}", encoding=WALLS, render_shape="s", render_size=400, render_color="#5b5e66"
        ),
    }
    cells = np.full((ROWS, settings.cols), "W")
    cells[1] = "_"
    cells[:, 0], cells[:, -1] = ["l", "R", "l"], ["r", "L", "r"]
    return TrafficCorridorSimulation.build_sim_from_array(
        cells, registry, overlapping={LEFT: {LEFT}, RIGHT: {RIGHT}}
    )


def _traveller(name: str, team: int, view_range: int) -> TrafficAgent:
    return TrafficAgent(id=name, encoding=team, view_range=view_range, render_color=COLOURS[team])


def _target(name: str, team: int) -> TargetAgent:
    return TargetAgent(id=name, encoding=team, render_shape="D", render_color=COLOURS[team])
