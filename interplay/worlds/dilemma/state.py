"""The dilemma's arrays, one line each. Axes: W worlds, A = 2 agents."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from interplay.core import seeding

AGENTS = 2
COOPERATE, DEFECT = range(2)  # actions
NONE = -1  # no move yet


class DilemmaState(NamedTuple):
    """The saved state of W games besides the outputs, which `ArrayWorld` keeps."""

    stream: np.ndarray  # (W, 3) uint64, the world's random stream, see core.seeding
    rounds: np.ndarray  # (W,) int64, played in this episode
    last: np.ndarray  # (W, A) int64, the last move, or NONE
    cooperations: np.ndarray  # (W, A) int64, rounds of this episode in which the agent cooperated


def allocate_state(num_worlds: int) -> DilemmaState:
    """The arrays of W games before the first reset."""
    slots = (num_worlds, AGENTS)
    return DilemmaState(
        stream=seeding.new_stream(num_worlds),
        rounds=np.zeros(num_worlds, np.int64),
        last=np.full(slots, NONE, np.int64),
        cooperations=np.zeros(slots, np.int64),
    )
