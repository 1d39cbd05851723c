"""The screens of a match side by side, and the keys of a person who plays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from interplay.core.controls import Controls
from interplay.core.scene import Canvas
from interplay.worlds.doom.config import DoomSettings
from interplay.worlds.doom.variables import COLUMN

GAP = 4  # pixels between screens
_GREY = 40

KEYS = {
    "attack": " ",
    "move forward": "ArrowUp",
    "move backward": "ArrowDown",
    "turn left": "ArrowLeft",
    "turn right": "ArrowRight",
    "move left": "a",
    "move right": "d",
}


def draw_screens(
    canvas: Canvas, screens: np.ndarray, agents: Sequence[str], variables: np.ndarray
) -> None:
    """Draws all screens (A, H, L, channels) as one picture, and a table of the players."""
    canvas.picture(side_by_side(screens))
    rows = [
        [name, *(int(max(variables[a, COLUMN[key]], 0)) for key in ("health", "ammo", "armour"))]
        + [int(variables[a, COLUMN[key]]) for key in ("frags", "deaths")]
        for a, name in enumerate(agents)
    ]
    canvas.table("players", ["player", "health", "ammo", "armour", "frags", "deaths"], rows)


def side_by_side(screens: np.ndarray) -> np.ndarray:
    """Screens in rows of the least number that makes a square, (height, width, 3) uint8."""
    count, height, width, channels = screens.shape
    columns = int(np.ceil(np.sqrt(count)))
    rows = -(-count // columns)
    sheet = np.full((rows * (height + GAP) - GAP, columns * (width + GAP) - GAP, 3), _GREY, np.uint8)
    for index, screen in enumerate(screens):
        row, column = divmod(index, columns)
        y, x = row * (height + GAP), column * (width + GAP)
        sheet[y : y + height, x : x + width] = screen if channels == 3 else np.repeat(screen, 3, axis=2)
    return sheet


def keys_of(settings: DoomSettings) -> Controls | None:
    """Keys of the sets of single choices; without a key the last choice of the set is not held, but its first."""
    return None
