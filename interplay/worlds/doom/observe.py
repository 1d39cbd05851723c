"""What a player observes (specification 7.3), and the arrays that a world shares with the processes of its matches."""

from __future__ import annotations

import numpy as np
from gymnasium import spaces

from interplay.worlds.doom.buttons import buttons_of
from interplay.worlds.doom.config import DoomSettings
from interplay.worlds.doom.engine import CLASSES
from interplay.worlds.doom.variables import variables_of

PICTURES = ("screen", "labels", "depth", "automap")


def observation_space(settings: DoomSettings) -> spaces.Dict:
    """Of one player; pictures are (height, width, channels) uint8."""
    channels = 3 if settings.colour else 1
    most = {"screen": 255, "labels": len(CLASSES) - 1, "depth": 255, "automap": 255}
    depth_of = {"screen": channels, "labels": 1, "depth": 1, "automap": channels}
    shown = ["screen", *(name for name in PICTURES[1:] if getattr(settings, name))]
    pictures = {name: spaces.Box(0, most[name], (*settings.size, depth_of[name]), np.uint8) for name in shown}
    variables = spaces.Box(0.0, 1.0, (len(settings.variables),), np.float32)
    return spaces.Dict({**pictures, "variables": variables})


def shared_shapes(settings: DoomSettings, num_worlds: int) -> dict[str, tuple[tuple[int, ...], type]]:
    """Shape and dtype of each shared array; the axes are worlds, players."""
    slots = (num_worlds, settings.players)
    pictures = {
        name: ((*slots, *space.shape), np.uint8)
        for name, space in observation_space(settings).spaces.items()
        if name in PICTURES and space.shape
    }
    return {
        **pictures,
        "variables": ((*slots, variables_of(settings)), np.float64),  # the engine's, not scaled
        "presses": ((*slots, len(buttons_of(settings))), np.float64),
        "tic": (slots, np.int64),  # of the episode
        "dead": (slots, np.bool_),
        "ended": (slots, np.bool_),  # by the map's rules
        "paid": (slots, np.float64),  # the engine's own reward
        "seed": (slots, np.int64),  # of the next episode
    }
