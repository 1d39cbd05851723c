"""What a player observes (specification 7.3)."""

from __future__ import annotations

import numpy as np
from gymnasium import spaces

from interplay.worlds.doom.config import DoomSettings
from interplay.worlds.doom.engine import CLASSES

PICTURES = ("screen", "labels", "enemies", "depth", "automap")


def observation_space(settings: DoomSettings) -> spaces.Dict:
    """Of one player; pictures are (height, width, channels) uint8."""
    channels = 3 if settings.colour else 1
    most = dict.fromkeys(PICTURES, 255) | {"labels": len(CLASSES) - 1}
    depth_of = dict.fromkeys(PICTURES, 1) | {"screen": channels, "automap": channels}
    shown = ["screen", *(name for name in PICTURES[1:] if getattr(settings, name))]
    pictures = {name: spaces.Box(0, most[name], (*settings.size, depth_of[name]), np.uint8) for name in shown}
    variables = spaces.Box(0.0, 1.0, (len(settings.variables),), np.float32)
    return spaces.Dict({**pictures, "variables": variables})


def allocate(settings: DoomSettings, num_worlds: int) -> dict[str, np.ndarray]:
    """The observation of all players: field -> (W, A, ...)."""
    spaces_of = observation_space(settings).spaces.items()
    return {
        name: np.zeros((num_worlds, settings.players, *(space.shape or ())), space.dtype)
        for name, space in spaces_of
    }
