"""Alpha-rank: how often evolution would visit each strategy, also where the strategies beat each other in a circle.

Omidshafiei et al. 2019, "Alpha-Rank: Multi-Agent Evaluation by Evolution", Scientific Reports 9:9937. Populations of m
individuals play one strategy each until a mutant takes one over; the chain of such take-overs has a stationary distribution
pi, which is the ranking. Nothing is lost where A beats B beats C beats A: each gets a third.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from interplay.core.errors import UserError

_LEAST = 1e-250  # fixation probabilities below count as this: the chain stays connected


def alpha_rank(payoffs: np.ndarray, alpha: float = 10.0, m: int = 50) -> np.ndarray:
    """The ranking in one population whose members meet each other.

    Args:
        payoffs: (S, S), payoffs[r, s] = what r earns against s, e.g. shares of matches won.
        alpha: intensity of selection, in units of 1 / payoff; large: the better one nearly always takes over.
        m: individuals of the population, at least 2.

    Returns:
        (S,) pi, sums to 1.

    Raises:
        UserError: if the payoffs are not a finite square matrix.

    Example:
        >>> alpha_rank(np.array([[0.0, -1.0, 1.0], [1.0, 0.0, -1.0], [-1.0, 1.0, 0.0]])).round(3).tolist()
        [0.333, 0.333, 0.333]
    """
    payoffs = np.asarray(payoffs, np.float64)
    if payoffs.ndim != 2 or payoffs.shape[0] != payoffs.shape[1] or not np.isfinite(payoffs).all():
        raise UserError(f"alpha-rank: payoffs {payoffs.shape} must be a square matrix of finite numbers")
    count = len(payoffs)
    move = np.zeros((count, count))
    for s, r in product(range(count), repeat=2):
        if s != r:
            move[s, r] = _takes_over(payoffs, r, s, alpha, m) / (count - 1)
    return stationary(move)


def alpha_rank_roles(payoffs: Sequence[np.ndarray], alpha: float = 10.0, m: int = 50) -> np.ndarray:
    """The ranking of profiles where each of K roles is played by a population of its own.

    Args:
        payoffs: K tensors (S_1, ..., S_K), payoffs[k][s_1, ..., s_K] = what role k earns in that profile.
        alpha: intensity of selection.
        m: individuals of each population.

    Returns:
        (S_1, ..., S_K) pi, sums to 1.

    Raises:
        UserError: if the tensors do not fit each other.
    """
    tables = [np.asarray(table, np.float64) for table in payoffs]
    shape = tables[0].shape
    if any(table.shape != shape for table in tables) or len(shape) != len(tables):
        raise UserError(
            f"alpha-rank: {len(tables)} payoff tables of shapes {[t.shape for t in tables]}; give one per role, "
            "each with one axis per role"
        )
    rate = 1.0 / max(sum(size - 1 for size in shape), 1)
    number = np.arange(int(np.prod(shape))).reshape(shape)
    move = np.zeros((number.size, number.size))
    for profile in np.ndindex(shape):
        for k, size in enumerate(shape):
            for strategy in range(size):
                if strategy == profile[k]:
                    continue
                other = (*profile[:k], strategy, *profile[k + 1 :])
                gain = alpha * (tables[k][other] - tables[k][profile])
                move[number[profile], number[other]] = rate * _fixation(np.full(m - 1, gain))
    return stationary(move).reshape(shape)


def stationary(move: np.ndarray) -> np.ndarray:
    """The stationary distribution of a chain, by elimination without subtraction.

    Differences of nearly equal numbers would ruin chains with moves of 1e-200 among moves of 1; this way each element is right to
    nearly all digits. Source: Grassmann, Taksar, Heyman 1985, "Regenerative analysis and steady state distributions".

    Args:
        move: (S, S), move[i, j] = probability or rate from i to j; the diagonal is ignored.

    Returns:
        (S,).

    Example:
        >>> stationary(np.array([[0.0, 0.2], [0.1, 0.0]])).round(6).tolist()
        [0.333333, 0.666667]
    """
    a = np.array(move, np.float64)
    count = len(a)
    for n in range(count - 1, 0, -1):
        a[:n, n] /= a[n, :n].sum()
        a[:n, :n] += np.outer(a[:n, n], a[n, :n])
    pi = np.ones(count)
    for n in range(1, count):
        pi[n] = pi[:n] @ a[:n, n]
    return pi / pi.sum()


def _takes_over(payoffs: np.ndarray, r: int, s: int, alpha: float, m: int) -> float:
    """rho: the chance that one r among m - 1 of s takes the population over."""
    rs = np.arange(1, m)  # individuals that play r already
    ours = ((rs - 1) * payoffs[r, r] + (m - rs) * payoffs[r, s]) / (m - 1)
    theirs = ((m - rs - 1) * payoffs[s, s] + rs * payoffs[s, r]) / (m - 1)
    return _fixation(alpha * (ours - theirs))


def _fixation(gains: np.ndarray) -> float:
    """rho = 1 / (1 + sum_l prod_{p <= l} e^-gain_p), with l = 1 .. m - 1, in logarithms.

    Args:
        gains: (m - 1,) alpha times the mutant's advantage while p individuals play it.
    """
    exponents = np.concatenate([[0.0], -np.cumsum(gains)])
    top = exponents.max()
    return max(float(np.exp(-top) / np.exp(exponents - top).sum()), _LEAST)
