"""The screens of a match side by side, and the keys for people."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from interplay.core.controls import Controls
from interplay.core.scene import Canvas
from interplay.worlds.doom.buttons import HELD, RELEASED, first_button, names_of
from interplay.worlds.doom.config import DoomSettings
from interplay.worlds.doom.player import Player
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
    canvas: Canvas, screens: np.ndarray, agents: Sequence[str], players: Sequence[Player]
) -> None:
    """Draws all screens (A, H, L, channels) as one picture, and a table of the players."""
    canvas.picture(side_by_side(screens))
    rows = [
        [name, *(int(max(player.values[COLUMN[key]], 0)) for key in ("health", "ammo", "armour"))]
        + [int(player.gained(key)) for key in ("frags", "deaths")]
        for name, player in zip(agents, players, strict=True)
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


def keys_of(settings: DoomSettings) -> Controls:
    """Keys of the choices; only with actions = "buttons" does nothing happen without a key."""
    names = names_of(settings)
    if settings.actions == "buttons":
        keys = {KEYS[name]: {name: HELD} for name in names if name in KEYS}
        return Controls(keys, dict.fromkeys(names, RELEASED))
    (head, choices), *_ = names.items()
    return Controls({KEYS[first_button(name)]: {head: name} for name in choices})
