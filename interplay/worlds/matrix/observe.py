"""Observations of the matrix games and their global states; new float32 arrays from 0 to 1."""

from __future__ import annotations

import numpy as np
from gymnasium import spaces

from interplay.worlds.matrix.state import MatrixState


def unit_box(*shape: int) -> spaces.Box:
    """Numbers between 0 and 1."""
    return spaces.Box(0.0, 1.0, shape, np.float32)


def one_hot(values: np.ndarray, size: int) -> np.ndarray:
    """(..., size) float32."""
    return np.eye(size, dtype=np.float32)[values]


def see_recall(state: MatrixState, cues: int, length: int) -> dict[str, np.ndarray]:
    """``cue``, in the first step only, and ``choose``: 1 in the step of the choice."""
    shown = one_hot(state.cue, cues) * (state.steps == 0)[:, None, None]
    choosing = np.broadcast_to(state.steps[:, None, None] == length - 1, (*state.cue.shape, 1))
    return {"cue": shown, "choose": choosing.astype(np.float32)}


def see_climbing(state: MatrixState, choices: int, rounds: int) -> dict[str, np.ndarray]:
    """``own`` and ``other``: the last choice, column 0 before the first; ``round``: the share of rounds played."""
    last = one_hot(state.last + 1, choices + 1)
    return {"own": last, "other": last[:, ::-1].copy(), "round": share(state, rounds)[:, None].repeat(2, 1)}


def whole_recall(state: MatrixState, cues: int, length: int) -> np.ndarray:
    """All cues and the share of steps played, (W, A * cues + 1)."""
    return np.hstack([flat(one_hot(state.cue, cues)), share(state, length)])


def whole_climbing(state: MatrixState, choices: int, rounds: int) -> np.ndarray:
    """Both last choices and the share of rounds played, (W, 2 * (choices + 1) + 1)."""
    return np.hstack([flat(one_hot(state.last + 1, choices + 1)), share(state, rounds)])


def flat(array: np.ndarray) -> np.ndarray:
    """(W, A, ...) as (W, n)."""
    return array.reshape(len(array), -1)


def share(state: MatrixState, length: int) -> np.ndarray:
    """(W, 1) float32, the share of an episode's steps that were played."""
    return (state.steps / length).astype(np.float32)[:, None]
