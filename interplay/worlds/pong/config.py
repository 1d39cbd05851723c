"""Every number of Pong once. Source: specification 2.

Lengths are pixels of the picture, y grows downward, times are steps.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from interplay.core.settings import Settings

WIDTH, HEIGHT = 160, 210  # the picture
TOP, BOTTOM = 34, 194  # of the field, which is as wide as the picture
BALL_WIDTH, BALL_HEIGHT = 2, 4
BAT_WIDTH, BAT_HEIGHT = 4, 16
BATS = (16, 140)  # left edges
SEATS = 2  # 0 plays on the left

# Actions and the share of a bat's top speed that they take or give (specification 2.2).
GLIDE, BRAKE, DOWN, UP, DOWN_GENTLY, UP_GENTLY = range(6)
GLIDING, BRAKING, PUSH, GENTLE_PUSH = 0.1, 0.5, 0.25, 0.1

FOLLOWING = 1.25  # times the ball's speed: speed of a following bat (specification 2.6)
FLAT = 0.25  # of half a bat: a hit nearer to the middle returns the ball level (specification 2.3)
SIDEWAYS, SMASH = 2, 3  # times the ball's speed: vertical off a moving bat, horizontal off a bat's end
VARIETY = (1.0, 5.0)  # times the ball's speed: a bat's top speed with `randomize` (specification 2.4)
FAST_SERVES = 0.1  # share of the serves that are three times as fast, with `randomize`

SIDE = 84  # pixels of the small picture, either way (specification 2.5)

BatSpeed = Annotated[float, Field(gt=0, le=BOTTOM - TOP)]


class PongSettings(Settings):
    """Settings of one game."""

    read_with: ClassVar[Mapping[str, tuple[str, Any]]] = {"frames": ("see", "pictures")}

    ball_speed: Annotated[float, Field(gt=0, le=16)] = 4.0  # s, pixels per step
    bat_speeds: tuple[BatSpeed, BatSpeed] = (16.0, 16.0)  # v: top speeds of the left and the right bat
    rounds: Annotated[int, Field(ge=1, le=99)] = 20  # of an episode; scores have two digits
    round_steps: Annotated[int, Field(ge=1, le=1_000_000)] = 1_000  # a longer round ends without a point
    randomize: bool = False  # draws serves, top speeds and the bats' first positions
    follow: Literal["none", "left", "right"] = "none"  # the bat that the game moves
    classic_quirks: bool = False  # errors of the published code, see the specification
    see: Literal["numbers", "pictures"] = "numbers"  # observation of both players
    frames: Annotated[int, Field(ge=1, le=16)] = 4  # pictures in an observation, the newest last


VARIANTS: dict[str, dict[str, Any]] = {"2p": {}, "2p-pictures": {"see": "pictures"}}
"""The named variants: name -> settings that differ from the defaults."""
