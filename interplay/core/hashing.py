"""A 64-bit hash of each world's state: equal states have equal hashes, in any batch."""

from __future__ import annotations

import zlib
from collections.abc import Mapping

import numpy as np

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def mix64(x: np.ndarray) -> np.ndarray:
    """Finaliser of SplitMix64 (Steele, Lea, Flood 2014): a bijection on uint64 that scatters every bit."""
    x = x ^ (x >> np.uint64(30))
    x = x * np.uint64(0xBF58476D1CE4E5B9)
    x = x ^ (x >> np.uint64(27))
    x = x * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def hash_rows(arrays: Mapping[str, np.ndarray]) -> np.ndarray:
    """Hashes row w of all arrays together.

    Args:
        arrays: name -> (W, ...) array; names and their order do not matter, only sorted names with contents do.

    Returns:
        (W,) uint64. The same row gives the same hash whatever W is and wherever the row stands.
    """
    names = sorted(arrays)
    num_worlds = len(arrays[names[0]]) if names else 0
    total = np.full(num_worlds, _GOLDEN)
    for name in names:
        rows = np.ascontiguousarray(arrays[name]).reshape(num_worlds, -1).view(np.uint8)
        padded = np.zeros((num_worlds, -(-rows.shape[1] // 8) * 8), np.uint8)
        padded[:, : rows.shape[1]] = rows
        words = padded.view(np.uint64)
        position = np.arange(words.shape[1], dtype=np.uint64) * _GOLDEN
        label = np.array([zlib.crc32(name.encode())], np.uint64)
        with np.errstate(over="ignore"):
            field = mix64(mix64(words + position) + position).sum(axis=1, dtype=np.uint64)
            total = mix64(total * _GOLDEN + field + mix64(label))
    return total
