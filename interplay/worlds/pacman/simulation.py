"""The simulations, declared components alone, and the worlds of them. Source: specification 9.4.

In a step pacman moves, dies if it meets a baddie, else eats. Then baddies move and may catch it, and all acting agents are rewarded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self

import numpy as np

from interplay.gridworld.agents import GridWorldAgent
from interplay.gridworld.board import Array, Board
from interplay.gridworld.smart import SmartGridWorldSimulation
from interplay.sim.checks import is_exactly, require
from interplay.sim.managers import AllStepManager
from interplay.worlds.pacman import config
from interplay.worlds.pacman.components import (
    BaddieAgent,
    EatActor,
    FoodAgent,
    MeetActor,
    PacmanAgent,
    PacmanReward,
    RoundsActor,
    RoundsState,
    ScriptedBaddieAgent,
    TunnelDriftActor,
    WallAgent,
    is_baddie,
    is_pacman,
)
from interplay.worlds.pacman.config import PacmanSettings


class PacmanSim(SmartGridWorldSimulation):
    """Pacman, with the id ``pacman``, and baddies that learn to catch it.

    The simulation is over when pacman dies or the last food is eaten. A tunnel joins the ends of a row where neither is a wall.

    Args:
        reward_scheme: event -> number; missing events take the default.
        **kwargs: from a builder; observers and dones replace the default ones.

    Attributes:
        example_grid: (21, 19) letters, for `build_sim_from_array`: W wall, F food, B baddie, P pacman.
        REWARDS: the default scheme.
    """

    example_grid: ClassVar[Array] = config.EXAMPLE_GRID
    REWARDS: ClassVar[dict[str, float]] = config.REWARDS

    @classmethod
    def build_sim(cls, rows: int, cols: int, agents: Any = None, **kwargs: Any) -> Self:
        return super().build_sim(rows, cols, agents=agents, **{"overlapping": config.OVERLAPPING, **kwargs})

    def __init__(self, reward_scheme: Mapping[str, float] | None = None, **kwargs: Any) -> None:
        self.reward_scheme = self._full_scheme(reward_scheme)
        name, agents = type(self).__name__, kwargs.get("agents") or {}
        require(
            isinstance(agents.get("pacman"), PacmanAgent),
            f"{name}: no PacmanAgent has the id 'pacman'; add one",
        )
        given: dict[str, Any] = {
            "states": ["PositionState", "HealthState", "OrientationState"],
            "actors": [
                (TunnelDriftActor, {"only": is_pacman}),
                MeetActor,
                EatActor,
                *self._baddies_turn(kwargs),
                MeetActor,
            ],
            "observers": ["PositionCenteredEncodingObserver"],
            "dones": ["ActiveDone", ("TargetEncodingInactiveDone", {"target_mapping": _targets(agents)})],
            "rewards": [(PacmanReward, {"reward_scheme": self.reward_scheme, **self._payees()})],
        }
        super().__init__(**{**given, **kwargs})
        require(self._is_batched, f"{name}: actors and rewards must be of the library's Board classes")
        self.finalize()

    def _baddies_turn(self, kwargs: dict[str, Any]) -> list[Any]:
        return [(TunnelDriftActor, {"only": is_baddie})]

    def _payees(self) -> dict[str, Any]:
        return {}

    @classmethod
    def _full_scheme(cls, given: Any) -> dict[str, float]:
        require(
            given is None or is_exactly(given, dict),
            f"{cls.__name__}: reward_scheme {given!r} is no dict; give event -> number",
        )
        for event, amount in (given or {}).items():
            require(
                event in cls.REWARDS,
                f"{cls.__name__}: reward_scheme has the unknown event {event!r}; known are {', '.join(cls.REWARDS)}",
            )
            fits = isinstance(amount, int | float | np.number) and not isinstance(amount, bool)
            require(fits, f"{cls.__name__}: reward_scheme[{event!r}] {amount!r} is no number; give one")
        return {**cls.REWARDS, **(given or {})}

    def measure(self, board: Board) -> Mapping[str, Array]:
        """``food`` left, (W,)."""
        slots = [self.grid.slot_of(agent) for agent in self.agents.values() if isinstance(agent, FoodAgent)]
        return {"food": board.agents["active"][:, slots].sum(axis=1)}


class PacmanSimSimple(PacmanSim):
    """Only pacman learns; baddies walk rounds, and actions sent for them are ignored.

    Args:
        reward_scheme: as of `PacmanSim`, without ``kill``.
        rounds: of `RoundsActor`. The default is five rounds in the order of the baddies, made for `example_grid`.
        **kwargs: as of `PacmanSim`.
    """

    REWARDS: ClassVar[dict[str, float]] = {
        event: paid for event, paid in config.REWARDS.items() if event != "kill"
    }

    def _baddies_turn(self, kwargs: dict[str, Any]) -> list[Any]:
        state = RoundsState(agents=kwargs["agents"], grid=kwargs["grid"])
        kwargs.setdefault("states", ["PositionState", "HealthState", "OrientationState"])
        kwargs["states"] = [*kwargs["states"], state]
        return [(RoundsActor, {"rounds": kwargs.get("rounds", config.ROUNDS), "rounds_state": state})]

    def _payees(self) -> dict[str, Any]:
        return {"only": {"pacman"}}


def _targets(agents: Mapping[str, Any]) -> dict[int, set[int]]:
    """Encoding -> encodings of its opponents; their end is its success."""
    pacman = agents["pacman"].encoding
    food = {agent.encoding for agent in agents.values() if isinstance(agent, FoodAgent)}
    baddies = {
        agent.encoding for agent in agents.values() if isinstance(agent, BaddieAgent | ScriptedBaddieAgent)
    }
    return {**({pacman: food} if food else {}), **{baddie: {pacman} for baddie in baddies}}


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
