"""A small recurrent model of a seat's public history, board by board, in NumPy.

Gated recurrent unit (Cho et al. 2014), one layer, trained by Adam on the cross-entropy of the role at every day's end.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from interplay.core import seeding
from interplay.evaluate.communication.histories import Histories
from interplay.evaluate.communication.table import Array
from interplay.evaluate.statistics import logistic

UNITS = 16
EPOCHS = 20
BATCH = 512  # seats
RATE = 5e-3  # of Adam
DECAY = 1e-3  # on squared weights

Weights = dict[str, Array]


def fit_gru(histories: Histories, seed: int = 0) -> Callable[[Histories], Array]:
    """Fits the model to games.

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
