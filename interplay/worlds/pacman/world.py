"""The simulations under a manager, as worlds."""

from __future__ import annotations

from collections.abc import Callable

from interplay.gridworld.agents import GridWorldAgent
from interplay.sim.managers import AllStepManager
from interplay.worlds.pacman.agents import (
    BaddieAgent,
    FoodAgent,
    PacmanAgent,
    ScriptedBaddieAgent,
    WallAgent,
)
from interplay.worlds.pacman.config import PacmanSettings
from interplay.worlds.pacman.simulation import PacmanSim, PacmanSimSimple


def manager(settings: PacmanSettings) -> AllStepManager:
    """A new game under a new manager."""
    rules = PacmanSim if settings.learning_baddies else PacmanSimSimple
    sim = rules.build_sim_from_array(rules.example_grid, legend(settings))
    return AllStepManager(sim, time_limit=settings.time_limit)


def legend(settings: PacmanSettings) -> dict[str, Callable[[int], GridWorldAgent]]:
    """Letters of a map, for `build_sim_from_array`."""
    view = settings.view_range

    def baddie(number: int) -> GridWorldAgent:
        if settings.learning_baddies:
            return BaddieAgent(id=f"baddie{number}", view_range=view)
        return ScriptedBaddieAgent(id=f"baddie{number}")

    return {
        "P": lambda number: PacmanAgent(id="pacman", view_range=view),
        "B": baddie,
        "F": lambda number: FoodAgent(id=f"food{number}"),
        "W": lambda number: WallAgent(id=f"wall{number}"),
    }
