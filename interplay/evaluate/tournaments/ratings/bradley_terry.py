"""Ratings of players from wins and losses: the model of Bradley and Terry on Elo's scale, by maximum likelihood."""

from __future__ import annotations

import math

import numpy as np

from interplay.evaluate.statistics import logistic

ELO = 400.0 / math.log(10.0)  # points per unit of log odds: 400 points are odds of 10 to 1
DRAWS = 1.0  # drawn matches added to every pair that met: half a win each
_STEPS, _CLOSE = 100, 1e-10


def elo(wins: np.ndarray, draws: float = DRAWS) -> np.ndarray:
    """Maximum-likelihood ratings.

    Player i beats j with probability 1 / (1 + 10^((r_j - r_i) / 400)); a draw counts as half a win for each. `draws` drawn
    matches are added to every pair that met, so that a player without a loss has a finite rating; with many matches their effect
    vanishes. Source: Bradley and Terry 1952, "Rank analysis of incomplete block designs"; Elo 1978.

    Args:
        wins: (..., P, P), wins[i, j] = matches that i won against j, draws half for each; the diagonal is ignored.
        draws: drawn matches added to each pair, at least 0.

    Returns:
        (..., P) float64 Elo points with mean 0. Players without a chain of matches between them form separate groups, each with
        mean 0.

    Example:
        >>> elo(np.array([[0.0, 30.0], [10.0, 0.0]]), draws=0.0).round(1).tolist()
        [95.4, -95.4]
    """
    wins = np.array(wins, np.float64)
    players = wins.shape[-1]
    wins[..., np.arange(players), np.arange(players)] = 0.0
    met = (wins + np.swapaxes(wins, -1, -2)) > 0
    wins = wins + 0.5 * draws * met
    played = wins + np.swapaxes(wins, -1, -2)
    theta = np.zeros(wins.shape[:-1])
    for _ in range(_STEPS):
        gap = theta[..., :, None] - theta[..., None, :]
        expected = played * logistic(gap)
        gradient = (wins - expected).sum(axis=-1)
        step = _newton_step(played * logistic(gap) * logistic(-gap), gradient)
        # Steps are limited to one unit of log odds: the likelihood is flat far from its maximum.
        step /= np.maximum(np.abs(step).max(axis=-1, keepdims=True), 1.0)
        theta += step
        if np.abs(step).max(initial=0.0) < _CLOSE:
            break
    return ELO * (theta - _group_means(theta, met))


def win_probability(rating: float, other: float) -> float:
    """Win probability of a player with Elo `rating` against one with `other`.

    Example:
        >>> round(win_probability(400.0, 0.0), 3)
        0.909
    """
    return float(logistic(np.asarray((rating - other) / ELO)))


def _newton_step(weight: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """H^-1 g with H the graph Laplacian of the weights; its null space (each group's mean) is left unchanged."""
    players = weight.shape[-1]
    hessian = -weight
    diagonal = np.arange(players)
    hessian[..., diagonal, diagonal] = weight.sum(axis=-1)
    return (np.linalg.pinv(hessian, rcond=1e-12, hermitian=True) @ gradient[..., None])[..., 0]


def _group_means(theta: np.ndarray, met: np.ndarray) -> np.ndarray:
    """(..., P), the mean over all players connected with each player by matches."""
    players = theta.shape[-1]
    reach = met | np.eye(players, dtype=bool)
    for _ in range(max(players.bit_length(), 1)):
        reach = (reach.astype(np.float32) @ reach.astype(np.float32)) > 0
    return (reach * theta[..., None, :]).sum(axis=-1) / reach.sum(axis=-1)
