"""Traffic corridor: two teams swap sides through a corridor in which they cannot pass each other. Source: specification 9.4."""

from __future__ import annotations

from typing import Any

import numpy as np

from interplay.gridworld.actors import MoveActor
from interplay.gridworld.agents import GridObservingAgent, GridWorldAgent, MovingAgent
from interplay.gridworld.dones import TargetAgentOverlapDone
from interplay.gridworld.observers import PositionCenteredEncodingObserver
from interplay.gridworld.rewards import MoveReward, TargetReward
from interplay.gridworld.smart import SmartGridWorldSimulation, with_defaults
from interplay.gridworld.states import PositionState
from interplay.sim.checks import require
from interplay.sim.managers import AllStepManager
from interplay.worlds.traffic_corridor.config import ROWS, TrafficCorridorSettings


class TrafficAgent(GridObservingAgent, MovingAgent):
    """Moves one cell a step and sees three far; its encoding is its team."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"move_range": 1, "view_range": 3, **kwargs})


class TargetAgent(GridWorldAgent):
    """The goal of the team with the same encoding."""


class WallAgent(GridWorldAgent):
    """Blocks movement and view."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"blocking": True, **kwargs})


class TrafficCorridorSimulation(SmartGridWorldSimulation):
    """A failed move costs 0.1, standing on the own target is worth 1; over when all do.

    Args:
        agents: id -> agent; each team, an encoding, with one target.
        **kwargs: grid, from a builder; ``states``, ``observers``, ``dones``, ``actors`` and ``rewards`` replace the default
            components; and keyword arguments of the components.
    """

    def __init__(self, agents: Any = None, **kwargs: Any) -> None:
        mapped = {"target_mapping": _own_targets(agents if isinstance(agents, dict) else {})}
        usual = {
            "states": [PositionState],
            "observers": [PositionCenteredEncodingObserver],
            "dones": [(TargetAgentOverlapDone, mapped)],
            "actors": [MoveActor],
            "rewards": [MoveReward, (TargetReward, {"exactly": False, **mapped})],
        }
        super().__init__(agents=agents, **with_defaults(kwargs, usual))
        self.finalize()


def _own_targets(agents: dict[str, Any]) -> dict[str, str]:
    """Id of each traffic agent -> id of its team's target."""
    targets: dict[int, str] = {}
    for name, agent in agents.items():
        if isinstance(agent, TargetAgent):
            other = targets.setdefault(agent.encoding, name)
            require(
                other == name, f"team {agent.encoding} has two targets, {other} and {name}; leave one out"
            )
    travellers = {name: agent for name, agent in agents.items() if isinstance(agent, TrafficAgent)}
    for name, agent in travellers.items():
        require(
            agent.encoding in targets,
            f"agent {name}: its team, encoding {agent.encoding}, has no target; add a TargetAgent of that encoding",
        )
    return {name: targets[agent.encoding] for name, agent in travellers.items()}


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
