"""The state and the rules of the matrix games: cues are drawn, choices are made at once and paid.

All games have the same arrays. Axes: W worlds, A agents. Payments are pure functions of cues and choices.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from interplay.core import seeding
from interplay.core.world import Outputs
from interplay.kernels.philox import draw_integers
from interplay.worlds.matrix.config import CLIMBING, ROCK_PAPER_SCISSORS

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


# -- phases -----------------------------------------------------------------------------------------


def begin_episodes(state: MatrixState, which: np.ndarray, seeds: np.ndarray | None) -> None:
    """Resets the worlds in `which` (W,); `draw_cues` draws the cues."""
    seeding.begin_episode(state.stream, which, seeds)
    for array in (state.steps, state.cue, state.hits, state.joint, state.returns):
        array[which] = 0
    state.last[which] = NONE


def draw_cues(state: MatrixState, which: np.ndarray, cues: int) -> None:
    """Draws a cue for each agent of the worlds in `which`, uniform and independent."""
    state.cue[which] = draw_integers(state.stream, which, state.cue.shape[1], cues)


def pay(
    state: MatrixState,
    outputs: Outputs,
    action: np.ndarray,
    reward: np.ndarray,
    right: np.ndarray,
    length: int,
) -> np.ndarray:
    """Records one joint choice in every world that is not over; returns the worlds that continue, (W,) bool.

    Args:
        action, reward: (W, A).
        right: (W, A) bool, correct choices.
        length: steps of an episode.
    """
    played = ~outputs.over
    outputs.reward[played] = reward[played]
    state.last[played] = action[played]
    state.returns[played] += reward[played]
    state.hits[played] += right[played]
    state.joint[played] += right[played].all(axis=1)
    state.steps[played] += 1
    ended = played & (state.steps == length)
    outputs.terminated[ended] = True
    outputs.over[ended] = True
    outputs.acting[ended] = False
    return played & ~ended


# -- payments ---------------------------------------------------------------------------------------


def recall_reward(cue: np.ndarray, action: np.ndarray, choosing: np.ndarray) -> np.ndarray:
    """1 for naming the cue in the last step (`choosing`, (W,) bool), else 0: (W, A)."""
    return ((action == cue) & choosing[:, None]).astype(np.float64)


def climbing_reward(action: np.ndarray) -> np.ndarray:
    """The entry of the climbing game's matrix, (W, 2): the same for both.

    Example:
        >>> climbing_reward(np.array([[0, 0], [0, 1], [1, 2]])).tolist()
        [[11.0, 11.0], [-30.0, -30.0], [6.0, 6.0]]
    """
    paid = np.array(CLIMBING)[action[:, 0], action[:, 1]]
    return np.repeat(paid[:, None], 2, axis=1)


def rock_paper_scissors_reward(action: np.ndarray) -> np.ndarray:
    """1 for the winner, -1 for the loser, 0 for a draw: (W, 2).

    Example:
        >>> rock_paper_scissors_reward(np.array([[1, 0], [2, 2], [0, 1]])).tolist()
        [[1.0, -1.0], [0.0, 0.0], [-1.0, 1.0]]
    """
    paid = np.array(ROCK_PAPER_SCISSORS)[action[:, 0], action[:, 1]]
    return np.stack([paid, 0.0 - paid], axis=1)


def credit_reward(cue: np.ndarray, action: np.ndarray, cues: int, offset: float) -> np.ndarray:
    """The share of correct cues plus the offset of all cues: (W, A), the same for all agents."""
    right = (action == cue).mean(axis=1)
    paid: np.ndarray = right + credit_offset(cue, cues, offset)
    return np.repeat(paid[:, None], cue.shape[1], axis=1)


def credit_offset(cue: np.ndarray, cues: int, deviation: float) -> np.ndarray:
    """The part of the team's reward that depends on the cues alone, not on actions: (W,).

        offset = deviation / sqrt(P) * sum over pairs i < j of z_i z_j,   P = N (N - 1) / 2

    z is the cue c in 0 .. K-1, centred and scaled: z = (2 c - K + 1) / sqrt((K^2 - 1) / 3), mean 0 and deviation 1. So the
    offset has mean 0 and the given deviation over all cues, and mean 0 given any one agent's cue. One agent's observation
    explains none of it, the team's observations all of it. It is computed by 2 sum_{i<j} z_i z_j = (sum z)^2 - sum z^2.

    Args:
        cue: (W, N) cues.
        cues: K, how many there are.
        deviation: standard deviation of the offset over all cues.

    Example:
        >>> credit_offset(np.array([[0, 0], [0, 1]]), cues=2, deviation=3.0).tolist()
        [3.0, -3.0]
    """
    agents = cue.shape[1]
    z = (2 * cue - cues + 1) / np.sqrt((cues**2 - 1) / 3)
    pairs = (z.sum(axis=1) ** 2 - (z**2).sum(axis=1)) / 2
    scaled: np.ndarray = deviation / np.sqrt(agents * (agents - 1) / 2) * pairs
    return scaled
