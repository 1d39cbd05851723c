"""Flattens an observation to one row of numbers, and embeds its discrete numbers."""

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
