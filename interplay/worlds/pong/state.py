"""The game's arrays, one line each. Axes: W worlds, A = 2 seats, K frames of an observation."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from interplay.core import seeding
from interplay.core.jit import records
from interplay.worlds.pong.config import FOLLOWING, SEATS, VARIETY, PongSettings

BAT = np.dtype(
    [
        ("y", np.float64),  # pixels, top edge
        ("speed", np.float64),  # pixels per step, down is positive
        ("top_speed", np.float64),  # pixels per step, v of this episode
        ("points", np.int32),  # of this episode
    ],
    align=True,
)
BALL = np.dtype(
    [
        ("x", np.float64),  # pixels, left edge
        ("y", np.float64),  # pixels, top edge
        ("vx", np.float64),  # pixels per step, never 0
        ("vy", np.float64),
        ("rounds", np.int32),  # of this episode that have ended
        ("round_step", np.int32),  # steps of this round
    ],
    align=True,
)
# Columns of `PongState.frames`, in whole pixels; all but BALL_Y have one for each seat.
BALL_X, BALL_Y, BAT_Y, SCORE, FRAME = 0, 2, 3, 5, 7


class PongState(NamedTuple):
    """The saved state of W games besides the outputs, which `ArrayWorld` keeps."""

    bat: np.ndarray  # (W, A) BAT
    ball: np.ndarray  # (W,) BALL
    frames: np.ndarray  # (W, K, FRAME) int16, the last pictures, newest last; K = 0 without
    stream: np.ndarray  # (W, 3) uint64, see core.seeding


class Sight(NamedTuple):
    """Observations, computed from the state; either numbers or pictures."""

    numbers: np.ndarray  # (W, A, 11) float32, see observe.py
    pictures: np.ndarray  # (W, A, 84, 84, K) uint8, see pictures.py
    scores: np.ndarray  # (2, points, rows, 42) uint8, picture of each score in either half
    scratch: np.ndarray  # (threads, FRAME) int16, the frame that is being shown


class Rules(NamedTuple):
    """Settings as kernels read them."""

    ball_speed: float
    left_speed: float
    right_speed: float
    rounds: int
    round_steps: int
    randomize: bool
    follow_left: bool
    follow_right: bool
    classic_quirks: bool
    speed_scale: float  # pixels per step, the fastest possible bat


def rules_of(settings: PongSettings) -> Rules:
    """Converts the settings for the kernels."""
    left, right = settings.bat_speeds
    fastest = settings.ball_speed * VARIETY[1] if settings.randomize else max(left, right)
    return Rules(
        ball_speed=settings.ball_speed,
        left_speed=left,
        right_speed=right,
        rounds=settings.rounds,
        round_steps=settings.round_steps,
        randomize=settings.randomize,
        follow_left=settings.follow == "left",
        follow_right=settings.follow == "right",
        classic_quirks=settings.classic_quirks,
        speed_scale=max(fastest, FOLLOWING * settings.ball_speed),
    )


def allocate_state(num_worlds: int, frames: int) -> PongState:
    """The arrays of W games before the first reset; `frames` is 0 without pictures."""
    return PongState(
        bat=records((num_worlds, SEATS), BAT),
        ball=records(num_worlds, BALL),
        frames=np.zeros((num_worlds, frames, FRAME), np.int16),
        stream=seeding.new_stream(num_worlds),
    )
