"""The dilemma's arrays, one line each. Axes: W worlds, A = 2 agents."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from interplay.core import seeding

AGENTS = 2
COOPERATE, DEFECT = range(2)  # actions
NONE = -1  # the last move of who has not moved yet


class DilemmaState(NamedTuple):
    """The whole state of W games, outputs included: whatever a snapshot has to hold."""

    stream: np.ndarray  # (W, 3) uint64, the world's random stream, see core.seeding
    rounds: np.ndarray  # (W,) int64, played in this episode
    last: np.ndarray  # (W, A) int64, the last move, or NONE
    cooperations: np.ndarray  # (W, A) int64, rounds of this episode in which the agent cooperated
    reward: np.ndarray  # (W, A) float32, earned in this step
    acting: np.ndarray  # (W, A) bool
    terminated: np.ndarray  # (W, A) bool, ended by the rules in this step
    truncated: np.ndarray  # (W, A) bool, cut by the limit in this step
    over: np.ndarray  # (W,) bool


def allocate_state(num_worlds: int) -> DilemmaState:
    """The arrays of W games before the first reset."""
    slots = (num_worlds, AGENTS)
    return DilemmaState(
        stream=seeding.new_stream(num_worlds),
        rounds=np.zeros(num_worlds, np.int64),
        last=np.full(slots, NONE, np.int64),
        cooperations=np.zeros(slots, np.int64),
        reward=np.zeros(slots, np.float32),
        acting=np.zeros(slots, bool),
        terminated=np.zeros(slots, bool),
        truncated=np.zeros(slots, bool),
        over=np.zeros(num_worlds, bool),
    )
