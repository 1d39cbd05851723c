"""The form of observations, actions and the global state: one vector, or dm_control's keys (specification 8.2)."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from itertools import product

import numpy as np
from gymnasium import spaces

from interplay.core.controls import Controls
from interplay.core.guides import Guide, Guides
from interplay.worlds.soccer.config import SoccerSettings
from interplay.worlds.soccer.observe import (
    BALL,
    OTHER,
    OWN,
    PITCH,
    Motion,
    see_ball,
    see_others,
    see_own,
    see_pitch,
)
from interplay.worlds.soccer.state import (
    BALL_POSITIONS,
    BALL_SPEEDS,
    HEADING,
    KICKED,
    SoccerState,
    bodies,
    results,
)

# Fields of each part, with their lengths, in the order of the vector.
OWN_FIELDS = {
    "body_height": 1,
    "end_effectors_pos": 3,
    "joints_pos": 1,
    "joints_vel": 1,
    "prev_action": 3,
    "sensors_accelerometer": 3,
    "sensors_gyro": 3,
    "sensors_velocimeter": 3,
    "world_zaxis": 3,
}
BALL_FIELDS = {"ball_ego_position": 3, "ball_ego_linear_velocity": 3, "ball_ego_angular_velocity": 3}
OTHER_FIELDS = {"ego_linear_velocity": 3, "ego_position": 3, "ego_orientation": 9}
PITCH_FIELDS = {
    f"{owner}_{place}": size
    for owner, places in (
        ("team", {"goal_back_right": 2, "goal_mid": 3, "goal_front_left": 2}),
        ("field", {"front_left": 2}),
        ("opponent", {"goal_back_left": 2, "goal_mid": 3, "goal_front_right": 2}),
        ("field", {"back_right": 2}),
    )
    for place, size in places.items()
}
STATISTIC_FIELDS = (
    *("stats_vel_to_ball", "stats_closest_vel_to_ball", "stats_veloc_forward", "stats_vel_ball_to_goal"),
    *("stats_home_avg_teammate_dist", "stats_teammate_spread_out", "stats_home_score", "stats_away_score"),
)
CHOICES = {
    "roll": ("forward", "no roll", "backward"),
    "steer": ("left", "straight", "right"),
    "kick": ("draw in", "no kick", "kick"),
}
CONTROLS = Controls(
    {
        "ArrowUp": {"roll": "forward"},
        "ArrowDown": {"roll": "backward"},
        "ArrowLeft": {"steer": "left"},
        "ArrowRight": {"steer": "right"},
        " ": {"kick": "kick"},
    },
    {"roll": "no roll", "steer": "straight", "kick": "no kick"},
)
STATE, PLAYER = 12, 11  # numbers of the global state: pitch, ball and time; each player


def box(size: int) -> spaces.Box:
    """Any `size` numbers."""
    return spaces.Box(-np.inf, np.inf, (size,), np.float32)


def action_space(settings: SoccerSettings) -> spaces.Space:
    """Roll, steer and kick: numbers from -1 to 1, or 0, 1, 2 for -1, 0, 1."""
    if settings.actions == "continuous":
        return spaces.Box(-1.0, 1.0, (3,), np.float32)
    return spaces.MultiDiscrete([3, 3, 3])


def action_names(settings: SoccerSettings) -> Mapping[str, tuple[str, ...]]:
    """Names of the choices."""
    return {"move": tuple(CHOICES)} if settings.actions == "continuous" else CHOICES


def observation_space(settings: SoccerSettings) -> spaces.Dict:
    """Space of one player's observation."""
    if settings.layout == "numbers":
        return spaces.Dict(numbers=box(OWN + BALL + OTHER * (2 * settings.players - 1) + PITCH))
    return spaces.Dict(OrderedDict((key, box(size)) for key, size in _library_sizes(settings.players)))


def observation(
    state: SoccerState, settings: SoccerSettings, seen: Motion, now: np.ndarray
) -> dict[str, np.ndarray]:
    """Field -> (W, A, n) float32, new arrays; `now` (W, A, 6) are the statistics."""
    own, ball, others, pitch = (
        see_own(state, seen),
        see_ball(seen),
        see_others(seen),
        see_pitch(state.size, seen),
    )
    if settings.layout == "numbers":
        flat = others.reshape(*others.shape[:2], -1)
        return {"numbers": np.concatenate([own, ball, flat, pitch], axis=-1, dtype=np.float32)}
    found = _split(OWN_FIELDS, own) | _split(BALL_FIELDS, ball) | _split(PITCH_FIELDS, pitch)
    for number, prefix in enumerate(_prefixes(settings.players)):
        parts = _split(OTHER_FIELDS, others[:, :, number])
        found |= {f"{prefix}_{key}": part for key, part in parts.items()}
        # A player's end effector is its head.
        found[f"{prefix}_ego_end_effectors_pos"] = parts["ego_position"]
        found[f"{prefix}_end_effectors_pos"] = np.zeros_like(parts["ego_position"])
    scored = results(state)
    numbers = np.concatenate([now, (scored > 0)[..., None], (scored < 0)[..., None]], axis=-1)
    found |= _split(dict.fromkeys(STATISTIC_FIELDS, 1), numbers)
    return {key: found[key].astype(np.float32) for key, _ in _library_sizes(settings.players)}


def global_state(state: SoccerState, settings: SoccerSettings, seen: Motion) -> np.ndarray:
    """The pitch, the ball, the time left and every player in the pitch's frame: (W, 12 + 11 A) float32."""
    body, rate = bodies(state.qpos, BALL_POSITIONS), bodies(state.qvel, BALL_SPEEDS)
    left = 1.0 - state.steps[:, None] / settings.steps
    joints = [body[..., KICKED], rate[..., KICKED], rate[..., HEADING]]
    own = np.stack([seen.cos, seen.sin, *joints], axis=-1)
    players = np.concatenate([seen.place, seen.speed, own], axis=-1).reshape(len(left), -1)
    parts = [state.size, seen.ball, seen.ball_speed, seen.ball_spin, left, players]
    return np.concatenate(parts, axis=-1, dtype=np.float32)


def guides(settings: SoccerSettings) -> Guides:
    """Names of the numbers of the vector."""
    if settings.layout != "numbers":
        return {}
    others = {
        f"{prefix} {key}": size
        for prefix, (key, size) in product(_prefixes(settings.players), OTHER_FIELDS.items())
    }
    fields = (OWN_FIELDS | BALL_FIELDS | others | PITCH_FIELDS).items()
    names = [f"{key} {number + 1}" if size > 1 else key for key, size in fields for number in range(size)]
    return {"numbers": (Guide(names=names),)}


def _prefixes(players: int) -> list[str]:
    mates = [f"teammate_{number}" for number in range(players - 1)]
    return [*mates, *(f"opponent_{number}" for number in range(players))]


def _library_sizes(players: int) -> Iterator[tuple[str, int]]:
    """Keys of dm_control 1.0.50 in its order, with their lengths."""
    yield from OWN_FIELDS.items()
    yield from (("ball_ego_angular_velocity", 3), ("ball_ego_position", 3), ("ball_ego_linear_velocity", 3))
    for prefix in _prefixes(players):
        yield f"{prefix}_ego_end_effectors_pos", 3
        yield from ((f"{prefix}_{key}", size) for key, size in OTHER_FIELDS.items())
        yield f"{prefix}_end_effectors_pos", 3
    yield from PITCH_FIELDS.items()
    yield from dict.fromkeys(STATISTIC_FIELDS, 1).items()


def _split(fields: dict[str, int], part: np.ndarray) -> dict[str, np.ndarray]:
    """Views of the fields of a part (..., n)."""
    edges = np.cumsum(list(fields.values()))
    return dict(zip(fields, np.split(part, edges[:-1], axis=-1), strict=True))
