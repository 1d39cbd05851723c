"""Views of agents of the persistent world, written by hand, for tests of players."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
from gymnasium import spaces

from interplay.core.world import TimeStep
from interplay.worlds.mmo.config import COLUMNS, MOVES, STYLES, MmoSettings
from interplay.worlds.mmo.tiles import FOREST, GRASS, LAVA, SCRUB, STONE, WATER

LETTERS = {"L": LAVA, "w": WATER, ".": GRASS, ",": SCRUB, "f": FOREST, "#": STONE}
GROUND = (GRASS, SCRUB, FOREST)
STEPS = ((0, 0), (0, 1), (1, 0), (0, -1), (-1, 0))  # pass, east, south, west, north: rows down, columns right
HEALTHY: dict[str, Any] = {
    "life": 50,
    "health": 10,
    "food": 20,
    "water": 20,
    "row": 40,
    "col": 40,
    "freeze": 0,
    "same": False,
    "down": 0,
    "right": 0,
}


def view(text: str) -> np.ndarray:
    """A crop from lines of letters: L lava, w water, . grass, comma scrub, f forest, # stone."""
    return np.array([[LETTERS[letter] for letter in line] for line in text.split()], np.uint8)


def meadow(vision: int = 7) -> np.ndarray:
    """A crop of grass."""
    return np.full((2 * vision + 1, 2 * vision + 1), GRASS, np.uint8)


def entity(settings: MmoSettings, **values: Any) -> np.ndarray:
    """An entity row (specification 7), in the form that the settings say."""
    v = HEALTHY | values
    if settings.compact:
        life = min(v["life"] // 8, 127)
        places = [round(254 * v[k] / (settings.side - 1) - 127) for k in ("row", "col")]
        whole = [
            life,
            v["health"],
            v["food"],
            v["water"],
            *places,
            v["down"],
            v["right"],
            0,
            int(v["same"]),
            v["freeze"],
        ]
        return np.array(whole, np.int8)
    ground = settings.side - settings.border
    mosts = (100, settings.health, settings.food, settings.water, ground, ground)
    keys = ("life", "health", "food", "water", "row", "col")
    scaled = [(v[key] - most / 2) / most for key, most in zip(keys, mosts, strict=True)]
    return np.array(
        [*scaled, v["down"], v["right"], -0.5, v["same"] - 0.5, (v["freeze"] - 1) / 2], np.float32
    )


class Sight:
    """The time step of W x A agents with the given views; no others, all grass."""

    def __init__(self, num_worlds: int = 1, agents: int = 1, **options: Any) -> None:
        self.settings = MmoSettings(slots=128, **options)
        s, lead = self.settings, (num_worlds, agents)
        rows = [s.rows] * STYLES if s.targeting == "learned" else []
        self.heads = [MOVES, STYLES + s.no_attack, *rows]
        whole = np.full((num_worlds + 1, agents, s.view, s.view), GRASS, np.uint8)
        whole[-1] = WATER  # in memory behind the crops: nobody may see it
        self.tiles = whole[:-1]
        self.entities = np.zeros((*lead, s.rows, COLUMNS), np.int8 if s.compact else np.float32)
        self.entities[..., 0, :] = entity(s)
        self.count = np.ones(lead, np.int16)
        self.mask = np.zeros((*lead, sum(self.heads)), bool)
        self.acting = np.ones(lead, bool)
        self.world: Any = SimpleNamespace(
            settings=s, num_worlds=num_worlds, action_space=spaces.MultiDiscrete(self.heads), first_world=0
        )

    def put(self, w: int, a: int, tiles: np.ndarray, *rows: dict[str, Any]) -> None:
        """Shows an agent these tiles and entity rows, its own first; masks follow by the rules."""
        s = self.settings
        own = HEALTHY | (rows[0] if rows else {})
        self.tiles[w, a] = tiles
        self.count[w, a] = max(len(rows), 1)
        self.entities[w, a] = 0
        for i, row in enumerate(rows or ({},)):
            self.entities[w, a, i] = entity(s, **row)
        middle, mask = s.vision, self.mask[w, a]
        mask[:] = False
        mask[0] = True
        for move, (down, right) in enumerate(STEPS[1:], 1):
            mask[move] = tiles[middle + down, middle + right] not in (WATER, STONE) and own["freeze"] <= 1
        if s.no_attack:
            mask[MOVES] = True
        first = MOVES + s.no_attack
        for style, reach in enumerate(s.reach):
            for i, row in list(enumerate(rows))[1:]:
                other = HEALTHY | row
                if max(abs(other["down"]), abs(other["right"])) <= reach and not (
                    other["same"] and not s.friendly_fire
                ):
                    mask[first + style] = True
                    if s.targeting == "learned":
                        mask[len(mask) - (STYLES - style) * s.rows + i] = True
        if not s.no_attack and not mask[first : first + STYLES].any():
            mask[first : first + STYLES] = True  # no target: all styles are legal

    def timestep(self) -> TimeStep:
        """The time step."""
        w, a = self.acting.shape
        nothing = np.zeros((w, a), bool)
        return TimeStep(
            {"tiles": self.tiles, "entities": self.entities, "count": self.count},
            np.zeros((w, a), np.float32),
            self.acting,
            nothing,
            nothing,
            np.zeros(w, bool),
            {"action": self.mask},
        )


def choose(player: Any, tiles: np.ndarray, *rows: dict[str, Any], **options: Any) -> list[int]:
    """What a player does that sees these tiles and entity rows."""
    sight = Sight(**{**options, "vision": len(tiles) // 2})
    sight.put(0, 0, tiles, *rows)
    policy = player()
    policy.start(sight.world, 0)
    chosen: list[int] = policy.act(sight.timestep())[0, 0].tolist()
    return chosen
