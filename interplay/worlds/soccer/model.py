"""The physical model as MJCF text, and the places of walls and goals for pitches of other sizes (specification 8.1)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from interplay.worlds.soccer.config import (
    BALL_FRICTION,
    BALL_MASS,
    BALL_RADIUS,
    BODY_DENSITY,
    BODY_FRICTION,
    BODY_RADIUS,
    GOAL_DEPTH,
    GOAL_WIDTH,
    HEAD_HEIGHT,
    HEAD_MASS,
    KICK_DAMPING,
    KICK_GEAR,
    KICK_REACH,
    NECK,
    NOSLIP,
    POST,
    ROLL_DAMPING,
    ROLL_GEAR,
    STEER_DAMPING,
    STEER_GEAR,
    SUPPORT,
    TIMESTEP,
    TOP_POST,
)

# Ends of each post of a goal in the box of -1 .. 1 that opens towards +x, and its radius as a share of a goalpost's.
POSTS: dict[str, tuple[tuple[float, ...], float]] = {
    "right_post": ((1, -1, -1, 1, -1, 1), 1.0),
    "left_post": ((1, 1, -1, 1, 1, 1), 1.0),
    "top_post": ((1, -1, 1, 1, 1, 1), TOP_POST),
    "right_base": ((1, -1, -1, -1, -1, -1), 1.0),
    "left_base": ((1, 1, -1, -1, 1, -1), 1.0),
    "back_base": ((-1, -1, -1, -1, 1, -1), 1.0),
    "right_support": ((-1, -1, -1, 0.2, -1, 1), SUPPORT),
    "right_top_support": ((0.2, -1, 1, 1, -1, 1), TOP_POST * SUPPORT),
    "left_support": ((-1, 1, -1, 0.2, 1, 1), SUPPORT),
    "left_top_support": ((0.2, 1, 1, 1, 1, 1), TOP_POST * SUPPORT),
}
WALLS = (  # direction from the centre, and the axes of the plane that faces it
    ((0, -1), (-1, 0, 0, 0, 0, 1)),
    ((0, 1), (1, 0, 0, 0, 0, 1)),
    ((-1, 0), (0, 1, 0, 0, 0, 1)),
    ((1, 0), (0, -1, 0, 0, 0, 1)),
)
FIRST_POST = 1 + len(WALLS)  # geoms before it: the ground and the walls
FIXED = FIRST_POST + 2 * len(POSTS)  # geoms that never move during a match
_ENDS = np.array([ends for ends, _ in POSTS.values()]).reshape(-1, 2, 3)
_RADII = np.array([share for _, share in POSTS.values()])
_FACING = np.array(
    [[1.0, 1.0, 1.0], [-1.0, -1.0, 1.0]]
)  # the home goal opens towards +x, the other is turned


class Furniture(NamedTuple):
    """Places and sizes of the fixed geoms of W pitches."""

    place: np.ndarray  # (W, FIXED, 3) m, centres
    radius: np.ndarray  # (W, posts) m
    half: np.ndarray  # (W, posts) m, half of the length of a post's straight part


def goal_sizes(size: np.ndarray) -> np.ndarray:
    """Half-depth, half-width and half-height of the goals of pitches with these half-sizes: (W, 2) -> (W, 3)."""
    width = size[:, 1] * GOAL_WIDTH
    return np.stack([np.full_like(width, GOAL_DEPTH), width, np.full_like(width, GOAL_DEPTH)], axis=-1)


def goal_centres(size: np.ndarray) -> np.ndarray:
    """Centres of the home and the away goal: (W, 2 goals, 3)."""
    centres = np.zeros((len(size), 2, 3))
    centres[:, 1, 0] = size[:, 0] - GOAL_DEPTH
    centres[:, 0, 0] = -centres[:, 1, 0]
    centres[..., 2] = GOAL_DEPTH
    return centres


def furnish(size: np.ndarray) -> Furniture:
    """Walls and goals of pitches with half-sizes `size` (W, 2)."""
    scale = goal_sizes(size)
    place = np.zeros((len(size), FIXED, 3))
    place[:, 1:FIRST_POST, :2] = size[:, None] * [wall for wall, _ in WALLS]
    ends = _ends(size)
    place[:, FIRST_POST:] = ends.mean(axis=-2).reshape(len(size), -1, 3)
    half = np.linalg.norm(ends[..., 1, :] - ends[..., 0, :], axis=-1).reshape(len(size), -1) / 2
    radius = scale.mean(axis=-1)[:, None] * POST * _RADII
    return Furniture(place, np.tile(radius, 2), half)


def _ends(size: np.ndarray) -> np.ndarray:
    """Both ends of every post: (W, 2 goals, posts, 2 ends, 3)."""
    scale = goal_sizes(size)[:, None, None, None] * _FACING[:, None, None]
    return _ENDS * scale + goal_centres(size)[:, :, None, None]


def build_mjcf(players: int, contacts: bool, size: tuple[float, float]) -> str:
    """MJCF of a match with `players` a side on a pitch of these half-sizes."""
    names = [f"{team}{number}" for team in ("home", "away") for number in range(players)]
    return f"""<mujoco model="soccer">
  <compiler angle="radian" boundmass="1e-5" boundinertia="1e-11"/>
  <option timestep="{TIMESTEP}" cone="elliptic" noslip_iterations="{NOSLIP}" noslip_tolerance="0">
    <flag midphase="disable"/>
  </option>
  <default>
    <default class="player">
      <geom contype="{int(contacts)}" condim="4" friction="{_row(BODY_FRICTION)}"/>
    </default>
  </default>
  <worldbody>
{_pitch(np.array([size]))}
    <body name="ball">
      <freejoint name="ball"/>
      <geom name="ball" type="sphere" pos="0 0 {BALL_RADIUS}" size="{BALL_RADIUS}" mass="{BALL_MASS}" condim="6" priority="1" friction="{_row(BALL_FRICTION)}"/>
    </body>
{"".join(map(_player, names))}
  </worldbody>
  <sensor>
{"".join(f'    <accelerometer name="{name}" site="{name}"/>' for name in names)}
  </sensor>
  <actuator>
{"".join(map(_motors, names))}
  </actuator>
</mujoco>"""


def _row(numbers: object) -> str:
    return " ".join(repr(float(number)) for number in np.ravel(np.asarray(numbers)))


def _pitch(size: np.ndarray) -> str:
    """The ground, four walls and two goals."""
    length, width = size[0]
    lines = [f'    <geom name="ground" type="plane" size="{_row((length, width, 1))}"/>']
    for wall, axes in WALLS:
        lines.append(
            f'    <geom type="plane" size="1e-7 1e-7 1e-7" pos="{_row((*(size[0] * wall), 0))}" xyaxes="{_row(axes)}"/>'
        )
    radius = furnish(size).radius[0]
    for team, posts in zip(("home", "away"), _ends(size)[0], strict=True):
        lines.append(f'    <body name="{team}_goal">')
        for number, name in enumerate(POSTS):
            lines.append(
                f'      <geom name="{team}_{name}" type="capsule" size="{_row(radius[number])}" fromto="{_row(posts[number])}"/>'
            )
        lines.append("    </body>")
    return "\n".join(lines)


def _player(name: str) -> str:
    """A sphere that rolls, a torso with two arms that slides down to kick, a head that turns."""
    slides = "".join(
        f'<joint name="{name}_{axis}" type="slide" axis="{direction}"/>'
        for axis, direction in (("x", "1 0 0"), ("y", "0 1 0"), ("z", "0 0 1"))
    )
    arms = "".join(
        f'<geom name="{name}_{arm}" class="player" type="capsule" size="0.1" density="10" fromto="0 {0.35 * side} {-NECK} 0.03 {0.8 * side} {-NECK}"/>'
        for arm, side in (("arm_l", 1), ("arm_r", -1))
    )
    return f"""
    <body name="{name}">
      {slides}
      <body name="{name}_head" pos="0 0 {HEAD_HEIGHT}" quat="1 0 0 -1">
        <joint name="{name}_steer" axis="0 0 -1" damping="{STEER_DAMPING}"/>
        <geom name="{name}_head" class="player" type="box" size="0.2 0.2 0.1" mass="{HEAD_MASS}"/>
        <site name="{name}"/>
        <body name="{name}_eyes" pos="0 0 0.4" xyaxes="0 -1 0 0 0 1"><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body>
        <body name="{name}_torso" pos="0 0 0.05">
          <joint name="{name}_kick" type="slide" axis="0 0 -1" damping="{KICK_DAMPING}" range="0 {KICK_REACH}" springref="{-KICK_REACH}" solimplimit="0.95 0.99 0.001"/>
          {arms}
          <body name="{name}_wheel" pos="0 0 {-NECK}">
            <joint name="{name}_roll" axis="0 1 0" damping="{ROLL_DAMPING}"/>
            <geom name="{name}_shell" class="player" type="sphere" size="{BODY_RADIUS}" density="{BODY_DENSITY}"/>
          </body>
        </body>
      </body>
    </body>"""


def _motors(name: str) -> str:
    gears = (("roll", ROLL_GEAR), ("steer", STEER_GEAR), ("kick", KICK_GEAR))
    return "".join(
        f'<motor name="{name}_{joint}" joint="{name}_{joint}" gear="{gear}" ctrlrange="-1 1"/>'
        for joint, gear in gears
    )
