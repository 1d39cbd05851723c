"""A 64-bit hash of each world's state: equal states have equal hashes, in any batch."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from functools import lru_cache

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
    """Hash of row w of all arrays together.

    Each field's bytes are read as 64-bit words. A word is mixed with a key made of the field's name and its place
    in the field, and the hash is the mixed sum. So a value that moves to another place or field changes the hash.

    Args:
        arrays: name -> (W, ...) array of numbers, in any order.

    Returns:
        (W,) uint64; the hash of a row depends neither on W nor on its position.
    """
    names = sorted(arrays)
    if not names:
        return np.zeros(0, np.uint64)
    num_worlds = len(arrays[names[0]])
    rows = [np.ascontiguousarray(arrays[name]).reshape(num_worlds, -1).view(np.uint8) for name in names]
    widths = tuple(-(-row.shape[1] // 8) for row in rows)
    packed = np.zeros((num_worlds, 8 * sum(widths)), np.uint8)
    start = 0
    for row, width in zip(rows, widths, strict=True):
        packed[:, start : start + row.shape[1]] = row
        start += 8 * width
    keys = _word_keys(tuple(names), widths)
    mixed: np.ndarray = mix64(mix64(packed.view(np.uint64) + keys) ^ keys)
    return mix64(mixed.sum(axis=1, dtype=np.uint64) + _GOLDEN)


@lru_cache(maxsize=256)
def _word_keys(names: tuple[str, ...], widths: tuple[int, ...]) -> np.ndarray:
    """A key for each 64-bit word of a row, from the field's name and the word's place in the field."""
    keys = [
        mix64(
            mix64(np.array([zlib.crc32(name.encode())], np.uint64) * _GOLDEN)
            + np.arange(width, dtype=np.uint64)
        )
        for name, width in zip(names, widths, strict=True)
    ]
    return np.concatenate(keys)
