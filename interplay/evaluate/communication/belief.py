"""Brier and log scores of beliefs about the hidden team, alone and against an exact posterior."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from interplay.core.errors import UserError
from interplay.evaluate.communication.table import Array
from interplay.evaluate.statistics import Estimate, estimate

SMALLEST = 1e-6  # lower bound of the probability in a log score
BINS = 10


class Calibration(NamedTuple):
    """Scores of a belief; smaller is better.

    Attributes:
        beliefs: number of scored probabilities.
        brier: mean of (p - truth)^2; estimates are over games.
        log_score: mean of -log2 of the probability of the truth, bits.
        base_brier, base_log_score: of a constant belief, the share of wolves among a game's scored seats, mean over games.
        against_brier, against_log_score: belief minus exact posterior, paired by game; None without one.
        divergence: mean KL of the exact posterior from the belief, bits, per number; None without one.
        reliability: (BINS, 3): mean belief, share of wolves, count, by tenths of the belief.
    """

    beliefs: int
    brier: Estimate
    log_score: Estimate
    base_brier: float
    base_log_score: float
    against_brier: Estimate | None
    against_log_score: Estimate | None
    divergence: float | None
    reliability: Array


class Beliefs(NamedTuple):
    """Two beliefs about the same seats at the same moments.

    Attributes:
        own: of the players.
        exact: of an observer with the same observations, which enumerates all possible packs (`worlds.werewolf.theory.belief.Belief`).
    """

    own: Calibration
    exact: Calibration


def calibrate(belief: Array, wolf: Array, counted: Array, exact: Array | None = None) -> Calibration:
    """Scores beliefs that seats are wolves.

    Args:
        belief: (games, days, seats) probabilities.
        wolf: (games, seats) bool, the truth.
        counted: (games, days, seats) bool, scored seats, e.g. other living players.
        exact: (games, days, seats), the exact posterior, e.g. of `BayesVillager`.
    """
    belief, counted = np.asarray(belief, np.float64), np.asarray(counted, bool)
    truth = np.broadcast_to(np.asarray(wolf, bool)[:, None], belief.shape)
    for name, array in (("belief", belief), ("counted", counted), ("exact", exact)):
        if array is not None and np.shape(array) != belief.shape:
            raise UserError(
                f"{name}: shape {np.shape(array)}, the beliefs have {belief.shape}; give one per game, day and seat"
            )
    if not counted.any():
        raise UserError("belief: nothing to score; mark at least one seat in `counted`")
    for name, array in (("belief", belief), ("exact", exact)):
        if array is not None and not ((array >= 0) & (array <= 1))[counted].all():
            raise UserError(f"{name}: not all are probabilities from 0 to 1; give P(wolf)")
    share = estimate(_by_game(truth.astype(np.float64), counted)).mean
    base = np.full(belief.shape, share)
    brier, logs = _brier(belief, truth), _log_score(belief, truth)
    against_brier = against_logs = divergence = None
    if exact is not None:
        exact = np.asarray(exact, np.float64)
        against_brier = estimate(_by_game(brier - _brier(exact, truth), counted))
        against_logs = estimate(_by_game(logs - _log_score(exact, truth), counted))
        divergence = float(_divergence(exact, belief)[counted].mean())
    return Calibration(
        int(counted.sum()),
        estimate(_by_game(brier, counted)),
        estimate(_by_game(logs, counted)),
        estimate(_by_game(_brier(base, truth), counted)).mean,
        estimate(_by_game(_log_score(base, truth), counted)).mean,
        against_brier,
        against_logs,
        divergence,
        reliability(belief[counted], truth[counted]),
    )


def reliability(belief: Array, truth: Array) -> Array:
    """(BINS, 3): mean belief, share of true ones, count; NaN for empty bins."""
    at = np.minimum((belief * BINS).astype(np.int64), BINS - 1)
    count = np.bincount(at, minlength=BINS).astype(np.float64)
    some = np.where(count > 0, count, np.nan)
    sums = [np.bincount(at, weights, minlength=BINS) / some for weights in (belief, truth.astype(np.float64))]
    return np.stack([*sums, count], axis=1)


def _brier(p: Array, truth: Array) -> Array:
    return (p - truth) ** 2


def _log_score(p: Array, truth: Array) -> Array:
    given = np.where(truth, p, 1 - p)
    return -np.log2(np.maximum(given, SMALLEST))


def _divergence(p: Array, q: Array) -> Array:
    """KL of two Bernoulli distributions, bits."""

    def part(a: Array, b: Array) -> Array:
        ratio = np.maximum(a, SMALLEST) / np.maximum(b, SMALLEST)
        return np.where(a > 0, a * np.log2(ratio), 0.0)

    return part(p, q) + part(1 - p, 1 - q)


def _by_game(score: Array, counted: Array) -> Array:
    """Mean score per game with counted seats; scores within a game are not independent."""
    some = counted.any(axis=(1, 2))
    return np.where(counted, score, 0).sum(axis=(1, 2))[some] / counted.sum(axis=(1, 2))[some]
