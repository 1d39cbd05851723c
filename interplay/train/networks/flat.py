"""Flattens an observation to one row of numbers, embeds its discrete numbers and normalises the others."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from gymnasium import spaces

EMBEDDING = 32  # size of an embedding
_TABLES = 0xE3BD  # folded into the key of a network's other weights


class Embedded(spaces.MultiDiscrete):
    """The space of a leaf of choices, counted from 0, for tables of embeddings."""


class Embeddings(eqx.Module):
    """Replaces the numbers of `Embedded` leaves in a flat row by rows of tables.

    Args:
        parts: leaves in the order of the row.
        key: jax random key of the network's other weights.

    Attributes:
        tables: (choices, `EMBEDDING`) float32 for each embedded number, standard normal at first.
        columns: of the embedded numbers in the row.
        size: of the resulting row.
    """

    tables: tuple[jax.Array, ...]
    columns: tuple[int, ...] = eqx.field(static=True)
    size: int = eqx.field(static=True)

    def __init__(self, parts: Iterable[spaces.Space], *, key: jax.Array) -> None:
        parts = list(parts)
        ends = np.cumsum([0, *(math.prod(part.shape or ()) for part in parts)]).tolist()
        found = [
            (at + column, int(count))
            for part, at in zip(parts, ends, strict=False)
            if isinstance(part, Embedded)
            for column, count in enumerate(part.nvec.ravel())
        ]
        keys = jax.random.split(jax.random.fold_in(key, _TABLES), max(len(found), 1))
        self.columns = tuple(column for column, _ in found)
        self.tables = tuple(
            jax.random.normal(own, (count, EMBEDDING), jnp.float32)
            for own, (_, count) in zip(keys, found, strict=False)
        )
        self.size = ends[-1] + len(found) * (EMBEDDING - 1)

    def __call__(self, row: jax.Array) -> jax.Array:
        """(B, numbers) -> (B, size)."""
        if not self.tables:
            return row
        found = [
            jnp.take(
                table, jnp.clip(row[:, column].astype(jnp.int32), 0, len(table) - 1), axis=0, mode="clip"
            )
            for column, table in zip(self.columns, self.tables, strict=True)
        ]
        cuts = [0, *itertools.chain(*((column, column + 1) for column in self.columns)), row.shape[1]]
        others = [row[:, a:b] for a, b in zip(cuts[::2], cuts[1::2], strict=True)]
        pairs = itertools.zip_longest(others, found)
        return jnp.concatenate([part for pair in pairs for part in pair if part is not None], axis=1)


def flat_size(observation_space: spaces.Dict) -> int:
    """Numbers in `flatten`'s row."""
    return sum(math.prod(part.shape or ()) for part in observation_space.spaces.values())


def flatten(observation: Mapping[str, jax.Array]) -> jax.Array:
    """(B, ...) of every key -> (B, `flat_size`)."""
    return jnp.concatenate([leaf.reshape(leaf.shape[0], -1) for leaf in observation.values()], axis=1)


def is_picture(part: spaces.Space) -> bool:
    """Whether a leaf is a picture: height x width x channels, or channels first, of uint8 in 0..255."""
    if not (isinstance(part, spaces.Box) and part.dtype == np.uint8 and len(part.shape) == 3):
        return False
    return bool((part.low == 0).all() and (part.high == 255).all())


MOST = 10.0  # deviations from the mean at which inputs are clipped
UNKNOWN = 1e30  # deviation before the first rows: the first update reads zeros
_SMALL, _RELATIVE = (
    1e-8,
    1e-6,
)  # least deviation, absolute and relative to the mean; constant numbers become 0


class Normaliser(eqx.Module):
    """Brings the Box numbers of a flat row to mean 0 and deviation 1 (`network.normalise`); other numbers stay.

    The moments are parameters without gradient.

    Args:
        parts: keys and spaces of the leaves in the order of the row.

    Attributes:
        mean, deviation: (n,) float32.
        count: (1,) float32, number of rows so far.
        keys: of the leaves.
        boxed: for each number, whether it is of a Box, and not of a one-hot.
    """

    mean: jax.Array
    deviation: jax.Array
    count: jax.Array
    keys: tuple[str, ...] = eqx.field(static=True)
    boxed: tuple[bool, ...] = eqx.field(static=True)

    def __init__(self, parts: Iterable[tuple[str, spaces.Space]]) -> None:
        parts = list(parts)
        self.keys = tuple(key for key, _ in parts)
        self.boxed = tuple(_counts(part) for _, part in parts for _ in range(math.prod(part.shape or ())))
        self.mean = jnp.zeros(len(self.boxed), jnp.float32)
        self.deviation = jnp.asarray(np.where(self.boxed, UNKNOWN, 1.0), jnp.float32)
        self.count = jnp.zeros(1, jnp.float32)

    def __call__(self, row: jax.Array) -> jax.Array:
        """(B, n) -> (B, n)."""
        mean, deviation = jax.lax.stop_gradient((self.mean, self.deviation))
        scaled = jnp.clip((row - mean) / deviation, -MOST, MOST)
        return scaled if all(self.boxed) else jnp.where(np.array(self.boxed), scaled, row)


class OneHot(spaces.Box):
    """The space of a one-hot leaf."""


def _counts(part: spaces.Space) -> bool:
    return isinstance(part, spaces.Box) and not isinstance(part, OneHot | Embedded)


def merged(
    mean: np.ndarray, deviation: np.ndarray, count: np.ndarray, sums: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Merges moments of Q populations with those of more rows (Chan, Golub, LeVeque 1983).

    Args:
        mean, deviation: (Q, n).
        count: (Q, 1).
        sums: (Q, 1 + 2 n) float64: rows, sums and sums of squares.

    Returns:
        Mean, deviation and count, float32; unchanged for populations without rows.

    Example:
        >>> sums = np.array([[2.0, 4.0, 10.0]])  # of 1 and 3
        >>> [part.tolist() for part in merged(np.zeros((1, 1)), np.ones((1, 1)), np.zeros((1, 1)), sums)]
        [[[2.0]], [[1.0]], [[2.0]]]
    """
    m, d, c = (part.astype(np.float64) for part in (mean, deviation, count))
    rows, total, squares = sums[:, :1], *np.split(sums[:, 1:], 2, axis=1)
    new = np.maximum(rows, 1.0)
    own = total / new
    spread = np.maximum(squares / new - own * own, 0.0)
    whole = np.maximum(c + rows, 1.0)
    away = own - m
    variance = (c * np.where(c > 0, d, 0.0) ** 2 + rows * spread + away**2 * c * rows / whole) / whole
    middle = m + away * rows / whole
    least = np.maximum(_SMALL, _RELATIVE * np.abs(middle))
    found = (middle, np.maximum(np.sqrt(variance), least), c + rows)
    return tuple(  # type: ignore[return-value]
        np.where(rows > 0, part, was).astype(np.float32) for part, was in zip(found, (m, d, c), strict=True)
    )
