"""The matrix games' arrays, one line each. Axes: W worlds, A agents. All games have the same arrays."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from interplay.core import seeding

NONE = -1  # no choice yet


class MatrixState(NamedTuple):
    """The whole state of W games besides the outputs."""

    stream: np.ndarray  # (W, 3) uint64, random stream of the cues
    steps: np.ndarray  # (W,) int64, joint choices made in this episode
    cue: np.ndarray  # (W, A) int64, the choice to name; 0 in games without cues
    last: np.ndarray  # (W, A) int64, the last choice, or NONE
    hits: np.ndarray  # (W, A) int64, choices of this episode that were right
    joint: np.ndarray  # (W,) int64, steps of this episode in which all chose right
    returns: np.ndarray  # (W, A) float64, rewards of this episode


def allocate_state(num_worlds: int, agents: int) -> MatrixState:
    """The arrays of W games of A agents, before the first reset."""
    slots = (num_worlds, agents)
    return MatrixState(
        stream=seeding.new_stream(num_worlds),
        steps=np.zeros(num_worlds, np.int64),
        cue=np.zeros(slots, np.int64),
        last=np.full(slots, NONE, np.int64),
        hits=np.zeros(slots, np.int64),
        joint=np.zeros(num_worlds, np.int64),
        returns=np.zeros(slots, np.float64),
    )
