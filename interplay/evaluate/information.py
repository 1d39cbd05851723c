"""What one variable tells about another, from tables of counts."""

from __future__ import annotations

import numpy as np

from interplay.evaluate.tick import Array


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
    found: Array = np.abs((p * logs).sum(axis=-1)) / np.log(base)
    return found


def mutual_information(counts: Array) -> float:
    """I(k;x) = sum p(k,x) ln(p(k,x) / (p(k) p(x))) of counts n[k, x], in nats; at most H(k).

    Example:
        >>> mutual_information(np.array([[3, 0], [0, 3]])) == np.log(2), mutual_information(np.ones((2, 2)))
        (True, 0.0)
    """
    counts = np.asarray(counts, np.float64)
    # The same sum as H(k) + H(x) - H(k, x), which needs no case for empty cells.
    found = entropy(counts.sum(axis=1)) + entropy(counts.sum(axis=0)) - entropy(counts.ravel())
    return max(float(found), 0.0)


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
    own = entropy(p, 2)
    i, j = np.triu_indices(len(p), 1)
    divergence = entropy((p[i] + p[j]) / 2, 2) - (own[i] + own[j]) / 2
    return float(np.sqrt(np.clip(divergence, 0, 1)).mean())
