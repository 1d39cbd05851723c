"""What players observe, computed from the state in NumPy for the whole batch (specification 8.2).

Frames: a player's x axis points forward, y to its left, z up. Axes: W worlds, A players, O = A - 1 others (team-mates first).
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from interplay.worlds.soccer.config import BALL_RADIUS, GOAL_DEPTH, GOAL_WIDTH, HEAD_HEIGHT, SIDE, SPREAD
from interplay.worlds.soccer.state import (
    BALL_POSITIONS,
    BALL_SPEEDS,
    HEADING,
    KICKED,
    SoccerState,
    Z,
    bodies,
)

OWN, BALL, OTHER, PITCH = 21, 9, 15, 18  # numbers of each part


class Motion(NamedTuple):
    """Places and velocities of heads and ball in the pitch's frame."""

    place: np.ndarray  # (W, A, 3) m
    speed: np.ndarray  # (W, A, 3) m/s
    cos: np.ndarray  # (W, A) of the direction that a player faces, from +x anticlockwise
    sin: np.ndarray  # (W, A)
    turn: np.ndarray  # (W, A) rad/s, anticlockwise
    ball: np.ndarray  # (W, 3) m, the centre
    ball_speed: np.ndarray  # (W, 3) m/s, of the centre
    ball_spin: np.ndarray  # (W, 3) rad/s


def motion(state: SoccerState) -> Motion:
    """Places and velocities of heads and ball."""
    body, rate = bodies(state.qpos, BALL_POSITIONS), bodies(state.qvel, BALL_SPEEDS)
    place = body[..., : Z + 1].copy()
    place[..., Z] += HEAD_HEIGHT
    heading = body[..., HEADING]  # clockwise from -y
    axes = rotation(state.qpos[:, 3:BALL_POSITIONS])
    spin = state.qvel[:, 3:BALL_SPEEDS]
    around = np.stack([spin[:, 1], -spin[:, 0]], axis=-1) * BALL_RADIUS  # spin x (0, 0, radius)
    return Motion(
        place=place,
        speed=rate[..., : Z + 1],
        cos=-np.sin(heading),
        sin=-np.cos(heading),
        turn=-rate[..., HEADING],
        ball=state.qpos[:, :3] + BALL_RADIUS * axes[..., 2],
        ball_speed=state.qvel[:, :3] + np.einsum("wij,wj->wi", axes[..., :2], around),
        ball_spin=np.einsum("wij,wj->wi", axes, spin),
    )


def rotation(quaternion: np.ndarray) -> np.ndarray:
    """Rotation matrices (..., 3, 3) of unit quaternions (..., 4), real part first."""
    w, x, y, z = np.moveaxis(quaternion, -1, 0)
    rows = [
        [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
    ]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def ball_centres(track: np.ndarray) -> np.ndarray:
    """Centres of balls, (..., 3), from their part of `qpos`, `track` (..., 7)."""
    w, x, y, z = np.moveaxis(track[..., 3:], -1, 0)
    up = np.stack([2 * (x * z + w * y), 2 * (y * z - w * x), w * w - x * x - y * y + z * z], axis=-1)
    return track[..., :3] + BALL_RADIUS * up


def turned(vectors: np.ndarray, cos: np.ndarray, sin: np.ndarray) -> np.ndarray:
    """Vectors (..., 2 or 3) of the pitch's frame in the frames of players that face (cos, sin) (...)."""
    result = vectors.copy()
    result[..., 0] = cos * vectors[..., 0] + sin * vectors[..., 1]
    result[..., 1] = cos * vectors[..., 1] - sin * vectors[..., 0]
    return result


def carried(place: np.ndarray, turn: np.ndarray) -> np.ndarray:
    """Velocity (..., 3) at `place` (..., 3) of a frame that turns around z at `turn` (...)."""
    result = np.zeros_like(place)
    result[..., 0], result[..., 1] = -turn * place[..., 1], turn * place[..., 0]
    return result


def see_own(state: SoccerState, seen: Motion) -> np.ndarray:
    """(W, A, 21): height, end effector, kick joint, last action, accelerometer, gyro, velocimeter, world's up."""
    body, rate = bodies(state.qpos, BALL_POSITIONS), bodies(state.qvel, BALL_SPEEDS)
    own = np.zeros((*seen.cos.shape, OWN))  # the end effector is the head itself
    own[..., 0] = seen.place[..., Z]
    own[..., 4], own[..., 5] = body[..., KICKED], rate[..., KICKED]
    own[..., 6:9], own[..., 9:12] = state.action, state.felt
    own[..., 14] = seen.turn
    own[..., 15:18] = turned(seen.speed, seen.cos, seen.sin)
    own[..., 20] = 1.0
    return own


def see_ball(seen: Motion) -> np.ndarray:
    """(W, A, 9): place, velocity and spin of the ball, relative to the player and its frame, which turns."""
    away = seen.ball[:, None] - seen.place
    speed = seen.ball_speed[:, None] - seen.speed - carried(away, seen.turn)
    spin = np.repeat(seen.ball_spin[:, None], seen.cos.shape[1], axis=1)
    spin[..., Z] -= seen.turn
    cos, sin = seen.cos, seen.sin
    return np.concatenate([turned(part, cos, sin) for part in (away, speed, spin)], axis=-1)


def see_others(seen: Motion) -> np.ndarray:
    """(W, A, O, 15): velocity, place and the three axes of each other player."""
    others = others_of(seen.cos.shape[1])
    cos, sin = seen.cos[:, :, None], seen.sin[:, :, None]
    away = seen.place[:, others] - seen.place[:, :, None]
    speed = seen.speed[:, others] - seen.speed[:, :, None] - carried(away, seen.turn[:, :, None])
    parts = np.zeros((*away.shape[:3], OTHER))
    parts[..., :3], parts[..., 3:6] = turned(speed, cos, sin), turned(away, cos, sin)
    parts[..., 6] = parts[..., 10] = cos * seen.cos[:, others] + sin * seen.sin[:, others]
    parts[..., 7] = cos * seen.sin[:, others] - sin * seen.cos[:, others]
    parts[..., 9] = -parts[..., 7]
    parts[..., 14] = 1.0
    return parts


def see_pitch(size: np.ndarray, seen: Motion) -> np.ndarray:
    """(W, A, 18): back corner, middle and front corner of the own goal, a corner of the field, and the same opposite."""
    agents = seen.cos.shape[1]
    points = np.stack([landmarks(size, facing) for facing in (1, -1)], axis=1)  # (W, 2 teams, 8, 2)
    away = np.repeat(points, agents // 2, axis=1) - seen.place[:, :, None, :2]
    flat = turned(away, seen.cos[..., None], seen.sin[..., None])
    up = GOAL_DEPTH - seen.place[..., Z, None]
    corners = flat.reshape(*flat.shape[:2], -1)
    return np.concatenate([corners[..., :4], up, corners[..., 4:12], up, corners[..., 12:]], axis=-1)


def landmarks(size: np.ndarray, facing: int) -> np.ndarray:
    """The eight points of a team that plays towards +x (1) or -x (-1): (W, 8, 2)."""
    length, width, goal = size[:, 0], size[:, 1], size[:, 1] * GOAL_WIDTH
    own = [
        (-length, -goal),
        (GOAL_DEPTH - length, np.zeros_like(goal)),
        (2 * GOAL_DEPTH - length, goal),
        (length - SIDE, width - SIDE),
    ]
    points = np.stack([np.stack(point, axis=-1) for point in own], axis=1)
    return np.concatenate([points, -points], axis=1) * facing


def statistics(size: np.ndarray, seen: Motion) -> np.ndarray:
    """(W, A, 6): speed to the ball, the same if closest of the team, forward speed, ball's speed to the goal, mates, spread."""
    agents = seen.cos.shape[1]
    away = seen.ball[:, None] - seen.place
    flat = away[..., :2] / (np.linalg.norm(away[..., :2], axis=-1, keepdims=True) + 1e-7)
    to_ball = (flat * seen.speed[..., :2]).sum(axis=-1)
    far = np.linalg.norm(away, axis=-1).reshape(-1, 2, agents // 2)
    closest = far.argmin(axis=-1)[..., None] == np.arange(agents // 2)
    goals = np.zeros((len(size), 2, 3))
    goals[:, 0, 0] = size[:, 0] - GOAL_DEPTH
    goals[:, 1, 0] = -goals[:, 0, 0]
    goals[..., Z] = GOAL_DEPTH
    to_goal = goals - seen.ball[:, None]
    to_goal /= np.maximum(np.linalg.norm(to_goal, axis=-1, keepdims=True), 1e-12)
    ball = np.repeat((to_goal * seen.ball_speed[:, None]).sum(axis=-1), agents // 2, axis=1)
    mates = mean_mate_distance(seen.place)
    return np.stack(
        [
            to_ball,
            np.where(closest.reshape(to_ball.shape), to_ball, 0.0),
            seen.cos * seen.speed[..., 0] + seen.sin * seen.speed[..., 1],
            ball,
            mates,
            mates > SPREAD,
        ],
        axis=-1,
    )


def mean_mate_distance(place: np.ndarray) -> np.ndarray:
    """(W, A) m, mean distance to the team-mates; 0 without."""
    teams = place.reshape(len(place), 2, -1, 3)
    side = teams.shape[2]
    apart = np.linalg.norm(teams[:, :, :, None] - teams[:, :, None], axis=-1)
    return (apart.sum(axis=-1) / max(side - 1, 1)).reshape(len(place), -1)


@lru_cache
def others_of(agents: int) -> np.ndarray:
    """(A, O) int64, the slots that each player observes: team-mates, then opponents, both in player order."""
    side = agents // 2
    rows = []
    for slot in range(agents):
        team = slot // side
        mates = [other for other in range(team * side, (team + 1) * side) if other != slot]
        rows.append([*mates, *range((1 - team) * side, (2 - team) * side)])
    return np.array(rows, np.int64)
