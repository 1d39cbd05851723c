"""Measures for a study of foragers, over the agents (W, A) of a batch."""

from __future__ import annotations

import numpy as np


def count_active(agents: np.ndarray, encoding: int) -> np.ndarray:
    """Number of active agents of an encoding, (W,)."""
    counts: np.ndarray = (agents["active"] & (agents["encoding"] == encoding)).sum(axis=1)
    return counts


def mean_distance(agents: np.ndarray, encoding: int) -> np.ndarray:
    """Mean Chebyshev distance, in cells, over pairs of active agents of an encoding, (W,); 0 without pairs."""
    members = np.flatnonzero(agents["encoding"][0] == encoding)
    row, col = agents["row"][:, members], agents["col"][:, members]
    here = agents["active"][:, members]
    pairs = here[:, :, None] & here[:, None, :] & ~np.eye(len(members), dtype=bool)
    apart = np.maximum(abs(row[:, :, None] - row[:, None, :]), abs(col[:, :, None] - col[:, None, :]))
    total: np.ndarray = np.where(pairs, apart, 0).sum(axis=(1, 2)) / np.maximum(pairs.sum(axis=(1, 2)), 1)
    return total
