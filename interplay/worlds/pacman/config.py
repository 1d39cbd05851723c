"""Every number of the worlds of pacman once, and the map. Source: specification 9.4; map, views and time limit are our own choice."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from pydantic import Field

from interplay.core.settings import Settings

PACMAN, WALL, FOOD, BADDIE = 1, 2, 3, 4  # encodings
OVERLAPPING = {PACMAN: {FOOD, BADDIE}, BADDIE: {FOOD, BADDIE}}

REWARDS = {
    "bad_move": -0.1,  # for a move against a wall or off the map
    "entropy": -0.01,  # for any other move; a move costs one or the other
    "eat_food": 0.1,  # for each piece
    "kill": 1.0,  # for a baddie that catches pacman
    "die": -1.0,  # for pacman when it is caught
}


class PacmanSettings(Settings):
    """Settings of one game."""

    learning_baddies: bool = True  # False: baddies walk their rounds
    view_range: Annotated[int, Field(ge=1, le=20)] = 4  # cells that pacman and baddies see in each direction
    time_limit: Annotated[int, Field(ge=1)] | None = 500  # steps after which an episode is cut


VARIANTS: dict[str, dict[str, Any]] = {"pacman": {}, "pacman-simple": {"learning_baddies": False}}

# 21 rows, 19 columns: W wall, F food, B baddie, P pacman. Without dead ends; row 10 is a tunnel.
EXAMPLE_GRID = np.array(
    [
        list(row)
        for row in (
            "WWWWWWWWWWWWWWWWWWW",
            "WFFFFFFFFFFFFFFFFFW",
            "WFWWFWWWFWFWWWFWWFW",
            "WFWFFWFFFBFFFWFFWFW",
            "WFWFWWFWWFWWFWWFWFW",
            "WFFBWFFFFFFFFFWBFFW",
            "WFWFWFWWFWFWWFWFWFW",
            "WFWFFFFFFWFFFFFFWFW",
            "WFWWWWFWFWFWFWWWWFW",
            "WFFFFFFWFFFWFFFFFFW",
            "FFWWFWFWWFWWFWFWWFF",
            "WFWFFWFFBFFFFWFFWFW",
            "WFWFWWFWFWFWFWWFWFW",
            "WFFFFFFWFWFWFBFFFFW",
            "WFWWFWFWFWFWFWFWWFW",
            "WFWFFWFFFFFFFWFFWFW",
            "WFWFWWFWWFWWFWWFWFW",
            "WFFFWFFFFFFFFFWFFFW",
            "WFWFWFWWFWFWWFWFWFW",
            "WFFFFFFFFPFFFFFFFFW",
            "WWWWWWWWWWWWWWWWWWW",
        )
    ]
)

# Rounds of scripted baddies on that map, in the order of its letters: repeated moves that end where they began.
ROUNDS = (
    "DDLLLUURRR",
    "DDRRRDDLLLLLUUUURR",
    "DDLLLDDRRRRRUUUULL",
    "LLDDDDRRUUUU",
    "LUUUURRDDRDDLL",
)
CODES = {".": 0, "L": 1, "D": 2, "R": 3, "U": 4}  # of a drift move
