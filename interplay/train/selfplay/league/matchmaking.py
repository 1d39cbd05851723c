"""Weights over a league's players as a learner's opponents (specification interfaces 11.2).

Sources: prioritised fictitious self-play and exploiters, Vinyals et al. 2019, "Grandmaster level in StarCraft II"; response oracles, Lanctot
et al. 2017, "A unified game-theoretic approach to multiagent reinforcement learning"; Elo matching, Jaderberg et al. 2019, "Human-level
performance in 3D multiplayer games with population-based reinforcement learning".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

# x: the learner's own win rate against a candidate.
PRIORITIES: Mapping[str, Callable[[np.ndarray], np.ndarray]] = {
    "linear": lambda x: 1.0 - x,
    "squared": lambda x: (1.0 - x) ** 2,
    "half": lambda x: np.minimum(0.5, 1.0 - x),
    "variance": lambda x: x * (1.0 - x),
    "variance_0.1": lambda x: np.maximum(x * (1.0 - x), 0.1),
    "variance_0.05": lambda x: np.maximum(x * (1.0 - x), 0.05),
}


def prioritised(win_rates: np.ndarray, priority: str = "squared") -> np.ndarray:
    """Prioritised fictitious self-play: prefers stronger or equal candidates; (N,) weights that sum to 1.

    Args:
        win_rates: (N,) of the learner against each candidate.
        priority: of `PRIORITIES`; if it gives only zeros, the weights are equal.

    Example:
        >>> prioritised(np.array([1.0, 0.5, 0.0])).tolist()
        [0.0, 0.2, 0.8]
    """
    return _shared(PRIORITIES[priority](np.asarray(win_rates, np.float64)))


def near_in_strength(win_rates: np.ndarray, deviation: float = 0.2) -> np.ndarray:
    """Elo matching: (N,) weights by a normal density of the predicted win rates (N,) around one half."""
    away = (np.asarray(win_rates, np.float64) - 0.5) / deviation
    return _shared(np.exp(-0.5 * away * away))


def _shared(weights: np.ndarray) -> np.ndarray:
    total = weights.sum()
    shares: np.ndarray = weights / total if total > 0 else np.full(len(weights), 1.0 / max(len(weights), 1))
    return shares
