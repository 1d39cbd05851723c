"""Role probe: AUC of models that predict the hidden team from public history (specification 17).

Models are fitted to one part of the games and tested on the other. A shared code transfers to other runs (`transfer`); a private
password does not.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from interplay.core import seeding
from interplay.core.errors import UserError
from interplay.evaluate.communication.histories import Histories, read_histories, summaries
from interplay.evaluate.communication.null import LEAST, PERMUTATIONS, beside_null
from interplay.evaluate.communication.table import Array, Talk
from interplay.evaluate.statistics import logistic
from interplay.kernels.permuted import permuted_rank_sums

UNITS, EPOCHS = 16, 20  # of the recurrent model
BATCH = 512  # seats
RATE = 5e-3  # of Adam
DECAY = 1e-3  # on squared weights
RIDGE = 1.0  # penalty on squared weights of standardised features, in units of one row's loss
LEAST_GAMES = 10
STEPS = 25  # of Newton's method, at most

Weights = dict[str, Array]
Scorer = Callable[[Histories], Array]  # to (G, D, n), larger for likelier wolves


def fit_gru(histories: Histories, seed: int = 0) -> Callable[[Histories], Array]:
    """Fits a small recurrent model of a seat's public history, board by board.

    Gated recurrent unit (Cho et al. 2014), one layer, trained by Adam on the cross-entropy of the role at every day's end.

    Returns:
        Histories -> (G, D, n) log odds.
    """
    rng = seeding.generator(seed, 0x6A0)
    x, weight, label = _sequences(histories)
    weights = first_weights(x.shape[2], rng)
    moments = [{name: np.zeros_like(w) for name, w in weights.items()} for _ in range(2)]
    number = 0
    for _ in range(EPOCHS):
        order = rng.permutation(len(x))
        for start in range(0, len(x), BATCH):
            rows = order[start : start + BATCH]
            _, gradient = loss_and_gradient(weights, x[rows], weight[rows], label[rows])
            number += 1
            _adam(weights, gradient, moments, number)

    def score(other: Histories) -> Array:
        g, t, n = other.features.shape[:3]
        odds = forward(weights, _by_seat(other.features))[0].reshape(g, n, t)
        at = np.maximum(other.until - 1, 0)[:, None, :]
        found: Array = np.take_along_axis(odds, np.broadcast_to(at, (g, n, at.shape[2])), axis=2)
        return found.transpose(0, 2, 1)

    return score


def first_weights(features: int, rng: np.random.Generator, units: int = UNITS) -> Weights:
    """Random weights: ``in`` (F, 3H), ``on`` (H, 3H), ``bias`` (3H,), ``out`` (H,), ``constant`` (1,); gates z, r, candidate."""
    return {
        "in": rng.normal(0, 1 / np.sqrt(features), (features, 3 * units)).astype(np.float32),
        "on": rng.normal(0, 1 / np.sqrt(units), (units, 3 * units)).astype(np.float32),
        "bias": np.zeros(3 * units, np.float32),
        "out": rng.normal(0, 1 / np.sqrt(units), units).astype(np.float32),
        "constant": np.zeros(1, np.float32),
    }


def forward(weights: Weights, x: Array) -> tuple[Array, list[Any]]:
    """Log odds (N, T) of sequences (N, T, F), and the intermediate values for the gradient.

    z, r = sigmoid(x W + h U + b); c = tanh(x W + r h U + b); h' = (1 - z) h + z c.
    """
    units = len(weights["out"])
    h = np.zeros((len(x), units), x.dtype)
    gates, candidate = weights["on"][:, : 2 * units], weights["on"][:, 2 * units :]
    odds, kept = np.zeros(x.shape[:2], x.dtype), []
    for t in range(x.shape[1]):
        a = x[:, t] @ weights["in"] + weights["bias"]
        both = logistic(a[:, : 2 * units] + h @ gates)
        z, r = both[:, :units], both[:, units:]
        c = np.tanh(a[:, 2 * units :] + (r * h) @ candidate)
        kept.append((h, z, r, c))
        h = (1 - z) * h + z * c
        odds[:, t] = h @ weights["out"] + weights["constant"]
    return odds, kept


def loss_and_gradient(weights: Weights, x: Array, weight: Array, label: Array) -> tuple[float, Weights]:
    """Weighted cross-entropy of sequences and its gradient.

    Args:
        x: (N, T, F).
        weight: (N, T), of each step's prediction.
        label: (N,) 0 or 1.

    Returns:
        Weighted mean loss in nats with the penalty, and its gradient.
    """
    odds, kept = forward(weights, x)
    total = max(float(weight.sum()), 1.0)
    p = logistic(odds)
    y = label[:, None]
    loss = float((weight * (np.logaddexp(0, odds) - y * odds)).sum()) / total
    loss += 0.5 * DECAY * sum(float((w**2).sum()) for w in weights.values())
    gradient = {name: DECAY * w for name, w in weights.items()}
    units = len(weights["out"])
    gates, candidate = weights["on"][:, : 2 * units], weights["on"][:, 2 * units :]
    wrong = weight * (p - y) / total
    back = np.zeros_like(kept[0][0])
    for t in range(x.shape[1] - 1, -1, -1):
        h, z, r, c = kept[t]
        after = (1 - z) * h + z * c
        gradient["out"] = gradient["out"] + after.T @ wrong[:, t]
        gradient["constant"] = gradient["constant"] + wrong[:, t].sum()
        back = back + wrong[:, t, None] * weights["out"]
        to_c = back * z * (1 - c**2)
        through = to_c @ candidate.T
        to_z = back * (c - h) * z * (1 - z)
        to_r = through * h * r * (1 - r)
        a = np.concatenate([to_z, to_r, to_c], axis=1)
        gradient["in"] = gradient["in"] + x[:, t].T @ a
        gradient["bias"] = gradient["bias"] + a.sum(axis=0)
        on = np.concatenate([h.T @ a[:, : 2 * units], (r * h).T @ to_c], axis=1)
        gradient["on"] = gradient["on"] + on
        back = back * (1 - z) + through * r + a[:, : 2 * units] @ gates.T
    return loss, gradient


def _sequences(histories: Histories) -> tuple[Array, Array, Array]:
    """Every seat's history (N, T, F), weights of steps (N, T), and labels (N,)."""
    g, t, n, _ = histories.features.shape
    weight = np.zeros((g, n, t), np.float32)
    game, day = np.nonzero(histories.until > 0)
    weight[game, :, histories.until[game, day] - 1] = histories.living[game, day]
    label = histories.label.reshape(-1).astype(np.float32)
    return _by_seat(histories.features), weight.reshape(g * n, t), label


def _by_seat(features: Array) -> Array:
    g, t, n, f = features.shape
    return np.ascontiguousarray(features.transpose(0, 2, 1, 3).reshape(g * n, t, f))


def _adam(weights: Weights, gradient: Weights, moments: list[Weights], number: int) -> None:
    """One step of Adam (Kingma and Ba 2015), in place."""
    first, second = moments
    for name, g in gradient.items():
        first[name] += 0.1 * (g - first[name])
        second[name] += 0.001 * (g * g - second[name])
        mean, square = first[name] / (1 - 0.9**number), second[name] / (1 - 0.999**number)
        weights[name] -= (RATE * mean / (np.sqrt(square) + 1e-8)).astype(weights[name].dtype)


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
    """AUC of scores (G, D, n), over all days and for every day with enough seats, each with its null."""
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
        if seats[day] >= LEAST:
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
