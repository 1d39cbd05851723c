"""Role probe: AUC of models that predict the hidden team from public history (specification 17).

Models are fitted to one part of the games and tested on the other. A shared code transfers to other runs (`transfer`); a private
password does not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from interplay.core import seeding
from interplay.core.errors import UserError
from interplay.evaluate.communication.gru import fit_gru
from interplay.evaluate.communication.histories import Histories, read_histories, summaries
from interplay.evaluate.communication.null import PERMUTATIONS, beside_null
from interplay.evaluate.communication.table import Array, Talk
from interplay.evaluate.statistics import logistic
from interplay.kernels.permuted import permuted_rank_sums

RIDGE = 1.0  # penalty on squared weights of standardised features, in units of one row's loss
LEAST_GAMES = 10
STEPS = 25  # of Newton's method, at most

Scorer = Callable[[Histories], Array]  # to (G, D, n), larger for likelier wolves


class Probed(NamedTuple):
    """AUC of one model.

    Attributes:
        model: ``"logistic"`` or ``"gru"``.
        day: history up to its end; None: all days, the mean weighted by their pairs.
        seats: tested living seats.
        observed: AUC.
        null_mean, null_95, null_05, p, permutations: with roles permuted among the living seats of each game.
    """

    model: str
    day: int | None
    seats: int
    observed: float
    null_mean: float
    null_95: float
    null_05: float
    p: float
    permutations: int

    @property
    def above(self) -> bool:
        """Whether the AUC exceeds the null's 95 % quantile."""
        return self.observed > self.null_95


def probe_roles(
    talk: Talk,
    other: Talk | None = None,
    *,
    models: tuple[str, ...] = ("logistic", "gru"),
    permutations: int = PERMUTATIONS,
    seed: int = 0,
) -> list[Probed]:
    """Fits models to half of the games and tests them on the other half, or on all games of another run.

    Args:
        other: games of another run of the same form, for transfer.
        models: ``"logistic"``: of means over the history; ``"gru"``: of the boards in their order.
    """
    if len(talk) < LEAST_GAMES:
        raise UserError(
            f"role probe: {len(talk)} games are too few to fit and test; record at least {LEAST_GAMES}"
        )
    if other is not None and (other.about.symbols, other.seats) != (talk.about.symbols, talk.seats):
        raise UserError(
            f"role probe: {other.about.world} has other words or seats than {talk.about.world}; "
            "transfer needs runs of one variant"
        )
    chosen = seeding.generator(seed, 0x5917).permutation(len(talk)) < len(talk) // 2
    fitting = read_histories(talk.select(chosen) if other is None else talk)
    tested = read_histories(talk.select(~chosen) if other is None else other)
    found = []
    for model in models:
        scorer = _fit(model, fitting, seed)
        found += evaluate(model, scorer(tested), tested, permutations, seed)
    return found


def evaluate(
    model: str, score: Array, histories: Histories, permutations: int, seed: int = 0
) -> list[Probed]:
    """AUC of scores (G, D, n), over all days and for every day, each with its null."""
    living, label = histories.living, histories.label[:, None] & histories.living
    ranks = np.zeros(score.shape)
    for day in range(score.shape[1]):
        ranks[:, day][living[:, day]] = mid_ranks(score[:, day][living[:, day]])
    wolves, seats = label.sum(axis=(0, 2)), living.sum(axis=(0, 2))
    null = np.zeros((permutations, score.shape[1]))
    permuted_rank_sums(
        ranks,
        living,
        label.sum(axis=2).astype(np.int64),
        np.uint64(seed),
        1,
        np.zeros(score.shape[2], np.int64),
        null,
    )
    pairs = wolves * (seats - wolves)
    days = np.flatnonzero(pairs > 0)
    if not len(days):
        return []
    sums = np.where(label, ranks, 0).sum(axis=(0, 2))
    lowest = wolves * (wolves + 1) / 2
    area = (sums - lowest)[days] / pairs[days]
    areas = (null - lowest)[:, days] / pairs[days]
    share = pairs[days] / pairs[days].sum()
    found = [Probed(model, None, int(seats[days].sum()), **beside_null(float(area @ share), areas @ share))]
    for i, day in enumerate(days.tolist()):
        found.append(Probed(model, day, int(seats[day]), **beside_null(float(area[i]), areas[:, i])))
    return found


def mid_ranks(score: Array) -> Array:
    """Ranks from 1; equal scores share the mean of their ranks."""
    _, at, counts = np.unique(score, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    return (last - (counts - 1) / 2)[at.reshape(-1)]


class Logistic:
    """Logistic regression on standardised features, fitted by Newton's method (iteratively reweighted least squares).

    Args:
        x: (N, F) features.
        y: (N,) bool.
        ridge: penalty, not on the constant.

    Attributes:
        weights: (F + 1,) float64, the constant last, of the standardised features.
    """

    def __init__(self, x: Array, y: Array, ridge: float = RIDGE) -> None:
        self._mean, spread = x.mean(axis=0, dtype=np.float64), x.std(axis=0, dtype=np.float64)
        self._spread = np.where(spread > 0, spread, 1.0)
        design = self._design(x)
        penalty = np.full(design.shape[1], ridge)
        penalty[-1] = 1e-9
        self.weights = np.zeros(design.shape[1])
        for _ in range(STEPS):
            p = logistic(design @ self.weights)
            gradient = design.T @ (p - y) + penalty * self.weights
            curvature = (design * (p * (1 - p))[:, None]).T @ design + np.diag(penalty)
            step = np.linalg.solve(curvature, gradient)
            self.weights -= step
            if np.abs(step).max() < 1e-8:
                break

    def __call__(self, x: Array) -> Array:
        """Log odds (N,)."""
        return self._design(x) @ self.weights

    def _design(self, x: Array) -> Array:
        return np.append((x - self._mean) / self._spread, np.ones((len(x), 1)), axis=1)


def _fit(model: str, histories: Histories, seed: int) -> Scorer:
    if model == "gru":
        return fit_gru(histories, seed)
    if model != "logistic":
        raise UserError(f"role probe: no model {model!r}; choose from logistic, gru")
    seen = histories.living
    label = np.broadcast_to(histories.label[:, None], seen.shape)[seen]
    fitted = Logistic(summaries(histories)[seen], label)

    def score(other: Histories) -> Array:
        x = summaries(other)
        return fitted(x.reshape(-1, x.shape[-1])).reshape(x.shape[:-1])

    return score
