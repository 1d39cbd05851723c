"""Finds the entities in an observation, and packs the visible ones to the front.

A key with rows, (R, F) per agent, and a companion ``<key>_mask`` of shape (R,) is a type of entity; mask 1 means hidden or absent. All
other keys describe the agent itself and are flattened.

Most entities are hidden most of the time, so a sample's visible rows of all types are moved to the front of one array, and attention
reads the first few rows only (`attention.py`). The last column of a row is its type; rows after the visible ones are zeros of type
`EMPTY`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import jax
import jax.numpy as jnp
from gymnasium import spaces

EMPTY = -1.0  # the type of padding rows


class EntityType(NamedTuple):
    """One type of entity: its key, rows R and numbers per row F."""

    key: str
    rows: int
    features: int


class Layout(NamedTuple):
    """The parts of a kind's observation.

    Attributes:
        own: keys that describe the agent itself, in the order of the space.
        own_size: their numbers.
        types: the entity types.
    """

    own: tuple[str, ...]
    own_size: int
    types: tuple[EntityType, ...]

    @property
    def rows(self) -> int:
        """Entity rows of one sample, including hidden ones."""
        return sum(entity.rows for entity in self.types)

    @property
    def features(self) -> int:
        """Numbers of the widest entity row."""
        return max((entity.features for entity in self.types), default=0)


class Packed(NamedTuple):
    """Observations prepared for `EntityEncoder`; B samples.

    Attributes:
        own: (B, own_size) float32, the agent itself.
        rows: (B, R, features + 1) float32, entities; the last column is the type's index or `EMPTY`.
        attended: (B,) int32, number of leading rows in the attention.
        hidden: (B, R) bool, rows that are attended although hidden (additive mask), or None.
    """

    own: jax.Array
    rows: jax.Array
    attended: jax.Array
    hidden: jax.Array | None


def find_layout(space: spaces.Dict) -> Layout:
    """Divides an observation space into the agent itself and its entities."""
    types = tuple(
        EntityType(key, *part.shape)
        for key, part in space.spaces.items()
        if part.shape is not None
        and len(part.shape) == 2
        and f"{key}_mask" in space.spaces
        and space.spaces[f"{key}_mask"].shape == part.shape[:1]
    )
    taken = {entity.key for entity in types} | {f"{entity.key}_mask" for entity in types}
    own = tuple(key for key in space.spaces if key not in taken)
    own_size = sum(math.prod(space.spaces[key].shape or ()) for key in own)
    return Layout(own, own_size, types)


def pack(layout: Layout, observation: Mapping[str, jax.Array], keep_hidden: bool) -> Packed:
    """Moves visible entities to the front; reads no parameters, so a rollout is packed once for all epochs.

    Args:
        observation: key -> (B, ...).
        keep_hidden: leave all rows in place and return the hidden ones (for the additive mask).
    """
    batch = next(iter(observation.values())).shape[0]
    own = [observation[key].reshape(batch, -1) for key in layout.own]
    own_rows = jnp.concatenate(own, axis=1) if own else jnp.zeros((batch, 0), jnp.float32)
    if not layout.types:
        empty = jnp.zeros((batch, 0, 1), jnp.float32)
        return Packed(own_rows, empty, jnp.zeros(batch, jnp.int32), None)
    rows = jnp.concatenate([_typed(layout, observation, i) for i in range(len(layout.types))], axis=1)
    masks = jnp.concatenate([observation[f"{entity.key}_mask"] for entity in layout.types], axis=1)
    visible = masks == 0
    if keep_hidden:
        return Packed(own_rows, rows, jnp.full(batch, layout.rows, jnp.int32), ~visible)
    return Packed(own_rows, _to_front(rows, visible), visible.sum(axis=1, dtype=jnp.int32), None)


def _typed(layout: Layout, observation: Mapping[str, jax.Array], index: int) -> jax.Array:
    """The rows of one type, padded to the widest type and marked: (B, R_type, features + 1)."""
    entity = layout.types[index]
    rows = observation[entity.key]
    wide = jnp.pad(rows, ((0, 0), (0, 0), (0, layout.features - entity.features)))
    mark = jnp.full((*rows.shape[:2], 1), float(index), jnp.float32)
    return jnp.concatenate([wide, mark], axis=2)


def _to_front(rows: jax.Array, visible: jax.Array) -> jax.Array:
    """Moves visible rows to the front, in order: the k-th one's index is the count of rows with at most k before."""
    batch, total, width = rows.shape
    seen = jnp.cumsum(visible, axis=1)
    source = (seen[:, None, :] <= jnp.arange(total)[None, :, None]).sum(axis=-1)
    nothing = jnp.broadcast_to(jnp.array([0.0] * (width - 1) + [EMPTY], jnp.float32), (batch, 1, width))
    return jnp.take_along_axis(jnp.concatenate([rows, nothing], axis=1), source[:, :, None], axis=1)
