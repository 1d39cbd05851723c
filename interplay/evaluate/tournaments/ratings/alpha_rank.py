"""Alpha-rank: how often evolution would visit each strategy, also if strategies beat each other in a circle.

Omidshafiei et al. 2019, "Alpha-Rank: Multi-Agent Evaluation by Evolution", Scientific Reports 9:9937. Populations of m
individuals play one strategy each until a mutant takes one over; the chain of such take-overs, every mutant as frequent as the
others, has a stationary distribution pi, which is the ranking. Nothing is lost where A beats B beats C beats A: each gets a third.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from interplay.core.errors import UserError


def alpha_rank(payoffs: np.ndarray, alpha: float = 10.0, m: int = 50) -> np.ndarray:
    """The ranking in one population that plays against itself.

    Args:
        payoffs: (S, S), payoffs[r, s] = payoff of r against s, e.g. its win rate.
        alpha: intensity of selection, in units of 1 / payoff; if large, the better one nearly always takes over.
        m: individuals of the population, at least 2.

    Returns:
        (S,) pi, sums to 1.

    Example:
        >>> alpha_rank(np.array([[0.0, -1.0, 1.0], [1.0, 0.0, -1.0], [-1.0, 1.0, 0.0]])).round(3).tolist()
        [0.333, 0.333, 0.333]
    """
    payoffs = np.asarray(payoffs, np.float64)
    if payoffs.ndim != 2 or payoffs.shape[0] != payoffs.shape[1] or not np.isfinite(payoffs).all():
        raise UserError(f"alpha-rank: payoffs {payoffs.shape} must be a square matrix of finite numbers")
    count = len(payoffs)
    log_move = np.full((count, count), -np.inf)
    for s, r in product(range(count), repeat=2):
        if s != r:
            log_move[s, r] = _takes_over(payoffs, r, s, alpha, m)
    return stationary(log_move)


def stationary(log_move: np.ndarray) -> np.ndarray:
    """The stationary distribution of a chain, by elimination without subtraction, in logarithms.

    Cancellation or underflow would otherwise ruin chains with moves of e^-5000 among moves of 1. Source: Grassmann, Taksar, Heyman
    1985, "Regenerative analysis and steady state distributions".

    Args:
        log_move: (S, S), logarithm of the probability or rate from i to j; the diagonal is ignored. The chain is irreducible.

    Returns:
        (S,).

    Example:
        >>> stationary(np.log([[1.0, 0.2], [0.1, 1.0]])).round(6).tolist()
        [0.333333, 0.666667]
    """
    a = np.array(log_move, np.float64)
    count = len(a)
    for n in range(count - 1, 0, -1):
        a[:n, n] -= np.logaddexp.reduce(a[n, :n])
        a[:n, :n] = np.logaddexp(a[:n, :n], a[:n, n, None] + a[n, :n])
    log_pi = np.zeros(count)
    for n in range(1, count):
        log_pi[n] = np.logaddexp.reduce(log_pi[:n] + a[:n, n])
    return np.exp(log_pi - np.logaddexp.reduce(log_pi))


def _takes_over(payoffs: np.ndarray, r: int, s: int, alpha: float, m: int) -> float:
    """log rho, the log-probability that one r takes over a population of m - 1 s."""
    rs = np.arange(1, m)  # individuals that already play r
    ours = ((rs - 1) * payoffs[r, r] + (m - rs) * payoffs[r, s]) / (m - 1)
    theirs = ((m - rs - 1) * payoffs[s, s] + rs * payoffs[s, r]) / (m - 1)
    return _fixation(alpha * (ours - theirs))


def _fixation(gains: np.ndarray) -> float:
    """log rho, rho = 1 / (1 + sum_l prod_{p <= l} e^-gain_p), with l = 1 .. m - 1.

    Args:
        gains: (m - 1,) alpha times the mutant's advantage while p individuals play it.
    """
    return -float(np.logaddexp.reduce(np.concatenate([[0.0], -np.cumsum(gains)])))
