"""Equilibrium mixtures of players in a zero-sum game (specification interfaces 11.3)."""

from __future__ import annotations

import numpy as np

from interplay.core.errors import UserError

_CLOSE = 1e-6


def nash(payoff: np.ndarray) -> np.ndarray:
    """A mixture of players that no player beats, by a linear programme.

    Args:
        payoff: (N, N) antisymmetric, of the row against the column, see `Payoff.merged`.

    Returns:
        (N,) float64, weights that sum to 1.

    Example:
        >>> nash(np.array([[0.0, -1.0, 1.0], [1.0, 0.0, -1.0], [-1.0, 1.0, 0.0]])).round(6).tolist()
        [0.333333, 0.333333, 0.333333]
    """
    payoff = np.asarray(payoff, np.float64)
    square = payoff.ndim == 2 and payoff.shape[0] == payoff.shape[1] and len(payoff) > 0
    if not square or not np.isfinite(payoff).all() or np.abs(payoff + payoff.T).max() > _CLOSE:
        raise UserError(
            f"Nash: payoffs {payoff.shape} must be an antisymmetric square matrix of finite numbers, as Payoff.merged gives"
        )
    from scipy.optimize import linprog

    count = len(payoff)
    # Maximise v with x^T payoff >= v for every column; the value of an antisymmetric game is 0.
    above = np.hstack([-payoff.T, np.ones((count, 1))])
    sums = np.append(np.ones(count), 0.0)[None]
    found = linprog(
        np.append(np.zeros(count), -1.0),
        above,
        np.zeros(count),
        sums,
        [1.0],
        [(0.0, 1.0)] * count + [(None, None)],
        method="highs",
    )
    if found.status != 0:
        raise UserError(f"Nash: the linear programme of {count} players has no solution ({found.message})")
    weights = np.maximum(found.x[:count], 0.0)
    return weights / weights.sum()


def exploitability(mixture: np.ndarray, payoff: np.ndarray) -> float:
    """Payoff of the best single player against a mixture; 0 at an equilibrium.

    Args:
        mixture: (N,) weights that sum to 1.
        payoff: (N, N) of the row against the column.

    Example:
        >>> exploitability(np.array([1.0, 0.0, 0.0]), np.array([[0.0, -1.0, 1.0], [1.0, 0.0, -1.0], [-1.0, 1.0, 0.0]]))
        1.0
    """
    return float((np.asarray(payoff) @ np.asarray(mixture)).max())
