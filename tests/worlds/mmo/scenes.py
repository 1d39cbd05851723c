"""Small scenes of the persistent world: a meadow, a few agents where a test puts them, and what becomes of them.

A test is written once against `Scene` and runs on the naive world and on the real one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any

import numpy as np

from interplay.worlds.mmo.config import MmoSettings
from interplay.worlds.mmo.tiles import GRASS
from interplay.worlds.mmo.world import MmoWorld
from tests.naive.mmo import MmoTwin
from tests.naive.mmo_things import Agent

PASS, EAST, SOUTH, WEST, NORTH = range(5)
MELEE, RANGE, MAGE = range(3)
NOTHING = -1  # no attack; under no_attack = False there is no such choice, mage stands in
MIDDLE = 17  # row or column in the middle of the meadow

QUIET: dict[str, Any] = {
    "interior": 16,
    "slots": 40,
    "npop": 2,
    "cap_draw": "fixed",
    "respawn": "none",
    "regrow": 0.0,
    "no_attack": True,
}


class Scene(ABC):
    """An empty meadow of 16 x 16 tiles from row and column 9 to 24, lava around, no births."""

    def __init__(self, **options: Any) -> None:
        self.settings = MmoSettings(**{**QUIET, **options})
        self.placed = 0

    @abstractmethod
    def paint(self, tile: int, *places: tuple[int, int]) -> None:
        """Makes tiles of the given kind."""

    @abstractmethod
    def place(self, row: int = MIDDLE, col: int = MIDDLE, population: int = 0, **stats: int) -> int:
        """An agent in the next slot, born after those placed before; full and just born where `stats` say nothing."""

    @abstractmethod
    def act(self, actions: Mapping[int, tuple[int, ...]] | None = None) -> None:
        """One tick; actions are (move, style, rows ...), other slots pass and do not attack."""

    @abstractmethod
    def agent(self, slot: int) -> Any:
        """The living agent: row, col, life, health, food, water, freeze, damage; None after its death."""

    @abstractmethod
    def ended(self, slot: int) -> Any:
        """The life that ended in the last tick: life in ticks survived, cause, kills; None if it did not."""

    @abstractmethod
    def reward(self, slot: int) -> float: ...

    @abstractmethod
    def over(self) -> bool: ...

    @abstractmethod
    def tile(self, row: int, col: int) -> int: ...

    @abstractmethod
    def sees(self, slot: int) -> Mapping[str, Any]:
        """Its observation: tiles, occupancy, entities, count."""

    @abstractmethod
    def legal(self, slot: int) -> list[bool]:
        """Its mask: five moves, styles, rows."""

    def wait(self, ticks: int) -> None:
        for _ in range(ticks):
            self.act()

    def styles(self, slot: int) -> list[bool]:
        """Its mask of melee, range and mage."""
        first = 5 + self.settings.no_attack
        return self.legal(slot)[first : first + 3]

    def actions(self, given: Mapping[int, tuple[int, ...]] | None) -> list[list[int]]:
        """Of every slot, as the action space counts them."""
        learned = self.settings.targeting == "learned"
        table = []
        for slot in range(self.settings.slots):
            move, style, *rows = (given or {}).get(slot, (PASS, NOTHING))
            head = style + 1 if self.settings.no_attack else style % 3
            table.append([move, head, *(rows or [0] * 3 * learned)])
        return table


class NaiveScene(Scene):
    """On the slow twin."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.world = MmoTwin(self.settings, seed=3)
        self.world.reset()
        self.world.agents = [None] * self.settings.slots
        b, n = self.settings.border, self.settings.interior
        self.world.tiles[b : b + n, b : b + n] = GRASS
        self.world.visited.clear()

    def paint(self, tile: int, *places: tuple[int, int]) -> None:
        for place in places:
            self.world.tiles[place] = tile
        self.world.look()

    def place(self, row: int = MIDDLE, col: int = MIDDLE, population: int = 0, **stats: int) -> int:
        s, slot = self.settings, self.placed
        self.placed += 1
        agent = Agent(slot, slot, population, row, col, s.health, s.food, s.water)
        agent.survived = stats.get("life", 0)
        for name, value in stats.items():
            setattr(agent, name, value)
        self.world.agents[slot] = agent
        self.world.visited.add((population, row, col))
        self.world.look()
        return slot

    def act(self, actions: Mapping[int, tuple[int, ...]] | None = None) -> None:
        self.world.step(self.actions(actions))

    def agent(self, slot: int) -> Any:
        return self.world.agents[slot]

    def ended(self, slot: int) -> Any:
        agent = self.world.ended.get(slot)
        return agent and SimpleNamespace(life=agent.survived, cause=agent.cause, kills=agent.kills)

    def reward(self, slot: int) -> float:
        return float(np.float32(self.world.reward[slot]))

    def over(self) -> bool:
        return self.world.over

    def tile(self, row: int, col: int) -> int:
        return self.world.tile(row, col)

    def sees(self, slot: int) -> Mapping[str, Any]:
        return self.world.seen[slot]

    def legal(self, slot: int) -> list[bool]:
        return list(self.world.legal[slot])


class KernelScene(Scene):
    """On the real world, whose arrays are written from outside."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.world = MmoWorld(self.settings, num_worlds=1, seed=3)
        self.world.reset()
        state = self.world.state
        for field in state.agent.dtype.names:
            state.agent[field] = 0
        for empty in (state.heads, state.standing, state.visits, state.acting):
            empty[:] = 0
        for field in ("living", "depleted", "births", "tick"):
            state.room[field] = 0
        b, n = self.settings.border, self.settings.interior
        state.tiles[0, b : b + n, b : b + n] = GRASS
        self.world.refresh()

    def paint(self, tile: int, *places: tuple[int, int]) -> None:
        for place in places:
            self.world.state.tiles[0][place] = tile
        self.world.refresh()

    def place(self, row: int = MIDDLE, col: int = MIDDLE, population: int = 0, **stats: int) -> int:
        s, slot, state = self.settings, self.placed, self.world.state
        self.placed += 1
        born = {"life_id": slot, "row": row, "col": col, "population": population, "alive": True}
        full = {"health": s.health, "food": s.food, "water": s.water, "struck": -1, "style": -1}
        born["birth"] = state.room["tick"][0] - stats.get("life", 0)
        for name, value in {**born, **full, **stats}.items():
            state.agent[name][0, slot] = value
        state.acting[0, slot] = True
        state.heads[0, row, col] += 1
        state.standing[0, population] += 1
        state.room["living"] += 1
        state.room["births"] += 1
        if s.count_visits:
            state.visits[0, population, row, col] += 1
        self.world.refresh()
        return slot

    def act(self, actions: Mapping[int, tuple[int, ...]] | None = None) -> None:
        self.world.step(np.array([self.actions(actions)]))

    def agent(self, slot: int) -> Any:
        record = self.world.state.agent[0, slot]
        if not record["alive"]:
            return None
        return SimpleNamespace(**{name: record[name].item() for name in record.dtype.names})

    def ended(self, slot: int) -> Any:
        step = self.world.timestep
        if not step.terminated[0, slot] and not step.truncated[0, slot]:
            return None
        return SimpleNamespace(**{name: int(array[0, slot]) for name, array in self.world.ended.items()})

    def reward(self, slot: int) -> float:
        return float(self.world.timestep.reward[0, slot])

    def over(self) -> bool:
        return bool(self.world.timestep.over[0])

    def tile(self, row: int, col: int) -> int:
        return int(self.world.state.tiles[0, row, col])

    def sees(self, slot: int) -> Mapping[str, Any]:
        return {name: array[0, slot] for name, array in self.world.timestep.observation.items()}

    def legal(self, slot: int) -> list[bool]:
        return self.world.timestep.action_mask["action"][0, slot].tolist()
