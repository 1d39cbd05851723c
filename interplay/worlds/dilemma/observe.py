"""Observations of the agents and the critic; new float32 arrays with numbers from 0 to 1."""

from __future__ import annotations

import numpy as np
from gymnasium import spaces

from interplay.worlds.dilemma.config import DilemmaSettings
from interplay.worlds.dilemma.state import AGENTS, DilemmaState

_MOVES = 3  # none yet, cooperated, defected


def observation_space() -> spaces.Dict:
    """Of one agent."""
    return spaces.Dict(
        own=spaces.Box(0.0, 1.0, (_MOVES,), np.float32),  # its own last move, one-hot
        other=spaces.Box(0.0, 1.0, (_MOVES,), np.float32),  # the other's
        round=spaces.Box(0.0, 1.0, (1,), np.float32),  # share of the rounds played
    )


def state_space() -> spaces.Box:
    """Of one world: both last moves and the share of the rounds."""
    return spaces.Box(0.0, 1.0, (AGENTS * _MOVES + 1,), np.float32)


def observe(state: DilemmaState, settings: DilemmaSettings) -> dict[str, np.ndarray]:
    """Field -> (W, A, ...), as the space declares."""
    last = _last_moves(state)
    share = np.repeat(_share(state, settings)[:, None], AGENTS, axis=1)
    return {"own": last, "other": last[:, ::-1].copy(), "round": share}


def global_state(state: DilemmaState, settings: DilemmaSettings) -> np.ndarray:
    """(W, 7)."""
    return np.hstack([_last_moves(state).reshape(len(state.last), -1), _share(state, settings)])


def _last_moves(state: DilemmaState) -> np.ndarray:
    """(W, A, 3) one-hot."""
    return np.eye(_MOVES, dtype=np.float32)[state.last + 1]


def _share(state: DilemmaState, settings: DilemmaSettings) -> np.ndarray:
    """(W, 1)."""
    return (state.rounds / settings.rounds).astype(np.float32)[:, None]
