"""Every number of soccer once. Source: specification 8.1, with the digits of dm_control 1.0.50's compiled model.

Metres, kilograms, seconds, radians. The pitch lies around the origin; home defends the negative end of x.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isclose
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, model_validator

from interplay.core.settings import Settings

TIMESTEP = 0.005  # s, of the physics
NOSLIP = 5  # iterations of the solver against slip, with elliptic cones of friction
SIDE = 32 / 6  # the field of play is inset by it on every side
GOAL_DEPTH = SIDE / 2  # half-depth and half-height of a goal
GOAL_WIDTH = 0.33  # half-width of a goal, share of the pitch's half-width
POST = 0.07  # radius of a goalpost, share of the mean of the goal's three half-sizes
TOP_POST, SUPPORT = 1.01, 0.75  # times that radius: posts at the top; posts that support

BALL_RADIUS, BALL_MASS = 0.35, 0.045
BALL_FRICTION = (0.7, 0.075, 0.075)  # sliding, spinning, rolling
BALL_HEIGHT = 0.5  # of the ball's origin at the start and at a throw-in; its centre is a radius higher
SPAWN = 0.6  # of the pitch's half-size: where ball and players start
THROW_IN = (0.7, 0.9)  # share of its place that a ball keeps at a throw-in, drawn for x and y

BODY_RADIUS, BODY_DENSITY = 0.35, 100
BODY_FRICTION = (0.5, 0.02, 0.02)
HEAD_HEIGHT, HEAD_MASS = 1.0, 20  # above the ground; the head is a box
NECK = 0.7  # from the torso down to the sphere and the arms
STEER_GEAR, STEER_DAMPING = 55, 4
ROLL_GEAR, ROLL_DAMPING = -60, 2
KICK_GEAR, KICK_DAMPING, KICK_REACH = 1200, 100, 0.4

ROLL, STEER, KICK = range(3)  # the numbers of an action
SPREAD = 5.0  # m, mean distance of team-mates above which a team counts as spread out (specification 8.2)

Metres = Annotated[float, Field(ge=20, le=100)]
Weight = Annotated[float, Field(ge=-1_000, le=1_000)]


class SoccerSettings(Settings):
    """Settings of one match."""

    read_with: ClassVar[Mapping[str, tuple[str, Any]]] = {"weights": ("reward", "shaped")}

    players: Annotated[int, Field(ge=1, le=11)] = 2  # a side
    decision: Annotated[float, Field(ge=TIMESTEP, le=1)] = 0.05  # s between two actions, whole physics steps
    seconds: Annotated[float, Field(gt=0, le=3_600)] = 45.0  # length of a match without a goal
    length: tuple[Metres, Metres] = (32.0, 48.0)  # m, half of the pitch's length is drawn from it
    width: tuple[Metres, Metres] = (24.0, 36.0)  # m, half of the pitch's width
    contacts: bool = False  # players touch each other; otherwise they pass through each other
    actions: Literal["continuous", "discrete"] = (
        "continuous"  # three numbers from -1 to 1, or -1, 0 and 1 alone
    )
    layout: Literal["numbers", "dm_control"] = "numbers"  # 93 numbers for 2v2, or the library's keys
    reward: Literal["plain", "shaped"] = "plain"  # +1 and -1 for a goal, or the weighted events below
    weights: tuple[Weight, Weight, Weight, Weight] = (
        *(1.0, 1.0),  # own goals scored; goals of the opponents, negative
        *(1e-4, 5e-4),  # m/s towards the ball; m/s of the ball towards the goal
    )

    @model_validator(mode="after")
    def _fits(self) -> SoccerSettings:
        if not isclose(self.substeps * TIMESTEP, self.decision):
            raise ValueError(
                f"decision = {self.decision:g} is no multiple of {TIMESTEP} s; take 0.05 or 0.025"
            )
        for name, (low, high) in (("length", self.length), ("width", self.width)):
            if low > high:
                raise ValueError(f"{name} = ({low:g}, {high:g}) descends; write the smaller number first")
        return self

    @property
    def substeps(self) -> int:
        """Physics steps of a decision."""
        return round(self.decision / TIMESTEP)

    @property
    def steps(self) -> int:
        """Decisions of a match without a goal, at least 1."""
        return max(1, round(self.seconds / self.decision))


VARIANTS: dict[str, dict[str, Any]] = {
    f"{players}v{players}": {} if players == 2 else {"players": players} for players in (1, 2, 3, 11)
}
"""The named variants: name -> settings that differ from the defaults; `players` gives every other size."""
