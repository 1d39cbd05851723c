"""Encodes Discrete observations for flat networks: one-hots, or an embedding if there are many values.

Rows hold a leaf of Discrete or MultiDiscrete as its numbers. `encode` turns them into a network's input, and `input_space` gives the
space of that input. Leaves of MultiBinary are 0 and 1 already.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from gymnasium import spaces

from interplay.train.networks.entities import find_layout
from interplay.train.networks.flat import Embedded
from interplay.train.networks.normaliser import OneHot
from interplay.train.settings import NetworkGroup

ONE_HOT = 256  # most one-hot numbers of an observation; larger leaves are embedded
FLAT = ("attention", "mlp", "pictures")  # networks that flatten leaves


class Names(NamedTuple):
    """The encoding of a leaf.

    Attributes:
        start: least value of each number, (columns,) int64.
        sizes: choices of each number.
        one_hot: if false the numbers, counted from 0, are embedded.
    """

    start: np.ndarray
    sizes: tuple[int, ...]
    one_hot: bool

    @property
    def width(self) -> int:
        """Numbers of the encoded leaf."""
        return sum(self.sizes) if self.one_hot else len(self.sizes)


def find_names(space: spaces.Dict, settings: NetworkGroup) -> dict[str, Names]:
    """The leaves that `network.discrete` encodes; tables of entities stay numbers.

    Example:
        >>> space = spaces.Dict(room=spaces.Discrete(16), word=spaces.Discrete(5000))
        >>> {key: names.one_hot for key, names in find_names(space, NetworkGroup(kind="mlp")).items()}
        {'room': True, 'word': False}
    """
    if settings.kind not in FLAT or settings.discrete == "number":
        return {}
    own = find_layout(space).own if settings.kind == "attention" else tuple(space.spaces)
    sizes = {key: _sizes(space[key]) for key in own}
    sizes = {key: each for key, each in sizes.items() if each}
    small, used = set(), 0
    for key in sorted(sizes, key=lambda key: sum(sizes[key])):
        used += sum(sizes[key])
        if settings.discrete == "one_hot" or (settings.discrete == "auto" and used <= ONE_HOT):
            small.add(key)
    return {
        key: Names(np.resize(space[key].start, len(each)), each, key in small)  # type: ignore[attr-defined]
        for key, each in sizes.items()
    }


def input_space(space: spaces.Dict, settings: NetworkGroup) -> spaces.Dict:
    """The space of a network's input."""
    names = find_names(space, settings)
    return spaces.Dict([(key, _seen(names[key]) if key in names else part) for key, part in space.items()])


def encode(leaf: jax.Array, names: Names) -> jax.Array:
    """(B, ...) whole numbers -> (B, sum of sizes) of one-hots, or (B, columns) counted from 0; float32."""
    flat = leaf.reshape(leaf.shape[0], -1).astype(jnp.int32) - jnp.asarray(names.start, jnp.int32)
    if not names.one_hot:
        return flat.astype(jnp.float32)
    if len(set(names.sizes)) == 1:
        hot = flat[:, :, None] == jnp.arange(names.sizes[0])
        return hot.astype(jnp.float32).reshape(leaf.shape[0], -1)
    each = [flat[:, i : i + 1] == jnp.arange(size) for i, size in enumerate(names.sizes)]
    return jnp.concatenate(each, axis=1).astype(jnp.float32)


def encode_all(leaves: Mapping[str, jax.Array], names: Mapping[str, Names]) -> dict[str, jax.Array]:
    """Encodes the leaves that are in `names`."""
    return {key: encode(leaf, names[key]) if key in names else leaf for key, leaf in leaves.items()}


def _sizes(part: spaces.Space) -> tuple[int, ...]:
    """Choices of each number of a leaf; empty if it is not discrete."""
    if isinstance(part, spaces.Discrete):
        return (int(part.n),)
    return tuple(int(size) for size in part.nvec.ravel()) if isinstance(part, spaces.MultiDiscrete) else ()


def _seen(names: Names) -> spaces.Space:
    if names.one_hot:
        return OneHot(0.0, 1.0, (sum(names.sizes),), np.float32)
    return Embedded(np.array(names.sizes))
