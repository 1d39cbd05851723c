"""Entropy, mutual information and Jensen-Shannon distance of tables of counts."""

from __future__ import annotations

import numpy as np

from interplay.core.world import Array


def entropy(counts: Array, base: float = np.e) -> Array:
    """-sum p log p along the last axis, with p = counts / their sum; 0 for a row without counts.

    Example:
        >>> entropy(np.array([[1, 1], [2, 0]]), base=2).tolist()
        [1.0, 0.0]
    """
    counts = np.asarray(counts, np.float64)
    total = counts.sum(axis=-1, keepdims=True)
    p = counts / np.maximum(total, 1e-300)
    logs = np.log(p, out=np.zeros_like(p), where=p > 0)
    return np.abs((p * logs).sum(axis=-1)) / np.log(base)


def mutual_information(counts: Array) -> float:
    """I(k;x) = sum p(k,x) ln(p(k,x) / (p(k) p(x))) of counts n[k, x], in nats; at most H(k).

    Example:
        >>> round(mutual_information(np.array([[3, 0], [0, 3]])), 4), mutual_information(np.ones((2, 2)))
        (0.6931, 0.0)
    """
    counts = np.asarray(counts, np.float64)
    total = counts.sum()
    if total == 0:
        return 0.0
    # The same sum with log p as differences; empty cells, most of a large map, cost nothing.
    within = _n_log_n(counts) - _n_log_n(counts.sum(axis=1)) - _n_log_n(counts.sum(axis=0))
    return max(float((within + total * np.log(total)) / total), 0.0)


def mean_distance(counts: Array) -> float:
    """Mean pairwise Jensen-Shannon distance (base 2) of the rows of n[k, x]: 0 = alike, 1 = nothing in common.

    d(p, q) = sqrt(H((p + q) / 2) - (H(p) + H(q)) / 2), Lin (1991). Rows without counts are left out; fewer than two
    rows give 0.
    """
    counts = np.asarray(counts, np.float64)
    counts = counts[counts.sum(axis=1) > 0]
    if len(counts) < 2:
        return 0.0
    p = counts / counts.sum(axis=1, keepdims=True)
    # A cell with counts in one row only adds half that row's share to each of its pairs.
    shared = p[:, (counts > 0).sum(axis=0) > 1]
    alone = 1 - shared.sum(axis=1)
    own = _bits(shared).sum(axis=1)
    distances = []
    for i in range(len(p) - 1):  # row by row, to stay in the cache
        mixed = _bits((shared[i] + shared[i + 1 :]) / 2).sum(axis=1)
        divergence = mixed - (own[i] + own[i + 1 :]) / 2 + (alone[i] + alone[i + 1 :]) / 2
        distances.append(np.sqrt(np.clip(divergence, 0, 1)))
    return float(np.concatenate(distances).mean())


def _bits(p: Array) -> Array:
    """-p log2 p, 0 for 0."""
    # A logarithm of every element is many times faster than one under a mask.
    return -p * np.log2(np.maximum(p, 1e-300))


def _n_log_n(counts: Array) -> float:
    some = counts[counts > 0]
    return float((some * np.log(some)).sum())
