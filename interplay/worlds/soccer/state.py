"""The match's arrays, one line each. Axes: W worlds, A players (home first), S substeps."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from interplay.core import seeding

BALL_POSITIONS, BALL_SPEEDS = (
    7,
    6,
)  # of `qpos`: place, quaternion; of `qvel`: velocity, spin in the ball's frame
BODY = 6  # numbers of a player in `qpos` and `qvel`
X, Y, Z, HEADING, KICKED, ROLLED = range(BODY)  # of a player: place, joints (heading turns clockwise)
STATISTICS = 6  # means over a match, see `statistics`


class SoccerState(NamedTuple):
    """The saved state of W matches besides the outputs, which `ArrayWorld` keeps."""

    stream: np.ndarray  # (W, 3) uint64, see core.seeding
    size: np.ndarray  # (W, 2) m, half-length and half-width of the pitch
    qpos: np.ndarray  # (W, 7 + 6 A) positions of MuJoCo: the ball, then each player
    qvel: np.ndarray  # (W, 6 + 6 A) velocities
    warmstart: np.ndarray  # (W, 6 + 6 A) accelerations from which the next step's solver begins
    felt: np.ndarray  # (W, A, 3) m/s^2, accelerometers of the last substep
    action: np.ndarray  # (W, A, 3) float32, of the last step
    steps: np.ndarray  # (W,) int64, of this match
    throw_ins: np.ndarray  # (W,) int64, of this match
    result: np.ndarray  # (W,) int8, 1 after a goal of home, -1 after one of away, else 0
    sums: np.ndarray  # (W, A, STATISTICS) float64, statistics summed over the steps of this match


def allocate_state(num_worlds: int, players: int) -> SoccerState:
    """The arrays of W matches of `players` players in all, before the first reset."""
    slots = (num_worlds, players)
    speeds = (num_worlds, BALL_SPEEDS + BODY * players)
    return SoccerState(
        stream=seeding.new_stream(num_worlds),
        size=np.ones((num_worlds, 2)),
        qpos=np.zeros((num_worlds, BALL_POSITIONS + BODY * players)),
        qvel=np.zeros(speeds),
        warmstart=np.zeros(speeds),
        felt=np.zeros((*slots, 3)),
        action=np.zeros((*slots, 3), np.float32),
        steps=np.zeros(num_worlds, np.int64),
        throw_ins=np.zeros(num_worlds, np.int64),
        result=np.zeros(num_worlds, np.int8),
        sums=np.zeros((*slots, STATISTICS)),
    )


def bodies(array: np.ndarray, first: int) -> np.ndarray:
    """The players' part of `qpos` or `qvel`, a view (W, A, 6); `first` is the length of the ball's part."""
    return array[:, first:].reshape(len(array), -1, BODY)


def results(state: SoccerState) -> np.ndarray:
    """(W, A) int8: 1 for players of the team that scored, -1 for the others, 0 without a goal."""
    side = np.repeat(np.array([1, -1], np.int8), state.action.shape[1] // 2)
    return np.asarray(state.result[:, None] * side)
