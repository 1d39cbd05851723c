"""Networks for agents that see a square of tiles and rows of other agents, after Suarez et al. (2019).

The paper's network embeds every tile in 7 numbers, appends the tile's head count, and applies one linear layer to all. This is linear in
the table of embeddings, so a tile of material m at place p adds row (p, m) of a table that depends on the weights only,

    table[p, m] = embedding[m] W[p]        tiles = sum over p of table[p, m_p] + occupancy_p w[p]

and is computed once per update (`precompute`). The sum is one product per material with the 0/1 matrix of its places: on a CPU half the
time of a gather, and a third of one product with all one-hots, which XLA is slow to make. Material 0 is in the constant part.

Rows of agents are maximised over the first `count` of them; row 0 is the observer itself. Pointing heads (`interplay.core.pointing`)
compare each row with a query of their trunk (`Pointer`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from gymnasium import spaces

from interplay.core.errors import UserError
from interplay.core.spaces import action_choices
from interplay.train.networks.layers import ACTIVATIONS, is_branchless
from interplay.train.networks.pointer import Pointer, pointing_heads
from interplay.train.settings import NetworkGroup

EMBEDDING = 7  # numbers per material (paper)
MATERIALS = 7  # rows of the embedding if the space does not bound them
Table = tuple[jax.Array, jax.Array]  # rows of agents (B, R, columns), and their numbers of filled rows (B,)
FEW = 8  # rows of agents that are computed if no sample of a block has more


class View(NamedTuple):
    """The sizes of an observation.

    Attributes:
        places: tiles in view.
        materials: kinds of tiles.
        occupancy: whether it has a head count per tile.
        rows: rows of agents, including the observer's own.
        columns: numbers per row.
        compact: whether rows are int8, to be scaled here.
    """

    places: int
    materials: int
    occupancy: bool
    rows: int
    columns: int
    compact: bool


class TileInput(NamedTuple):
    """A batch of B observations; keys as in the observation space.

    Attributes:
        tiles: (B, places).
        occupancy: (B, places), or None.
        entities: (B, rows, columns).
        filled: (B,), number of filled rows; `count` in the space.
    """

    tiles: jax.Array
    occupancy: jax.Array | None
    entities: jax.Array
    filled: jax.Array


class Linear(eqx.Module):
    """x W + b, both initially uniform within 1 / sqrt(inputs), as in torch and the paper's code."""

    weight: jax.Array
    bias: jax.Array

    def __init__(self, inputs: int, outputs: int, *, key: jax.Array) -> None:
        if isinstance(key, jax.core.Tracer):  # only the shape is needed (`room`)
            self.weight, self.bias = jnp.zeros((inputs, outputs)), jnp.zeros(outputs)
            return
        rng = np.random.default_rng(np.asarray(jax.random.key_data(key)))
        limit = 1.0 / math.sqrt(inputs)
        self.weight = jnp.asarray(rng.uniform(-limit, limit, (inputs, outputs)), jnp.float32)
        self.bias = jnp.asarray(rng.uniform(-limit, limit, outputs), jnp.float32)

    def __call__(self, x: jax.Array) -> jax.Array:
        """(B, inputs) -> (B, outputs)."""
        return x @ self.weight + self.bias


class TileTable(eqx.Module):
    """A `TileLayer` computed for every material at every place.

    Attributes:
        differences: (materials - 1, places, width), material m > 0 minus material 0.
        occupancy: (places, width), or None.
        constant: (width,), material 0 everywhere and the bias.
    """

    differences: jax.Array
    occupancy: jax.Array | None
    constant: jax.Array

    def __call__(self, seen: TileInput) -> jax.Array:
        """(B, places) -> (B, width)."""
        total = jnp.broadcast_to(self.constant, (seen.tiles.shape[0], self.constant.size))
        for material, added in enumerate(self.differences, start=1):
            total += (seen.tiles == material).astype(jnp.float32) @ added
        if self.occupancy is not None and seen.occupancy is not None:
            total += seen.occupancy.astype(jnp.float32) @ self.occupancy
        return total


class TileLayer(eqx.Module):
    """Embedding of tiles and one linear layer over all of them: (B, places) -> (B, width)."""

    embedding: jax.Array
    linear: Linear
    places: int = eqx.field(static=True)

    def __init__(self, view: View, width: int, *, key: jax.Array) -> None:
        keys = jax.random.split(key)
        self.embedding = jax.random.normal(keys[0], (view.materials, EMBEDDING), jnp.float32)
        each = EMBEDDING + view.occupancy
        self.linear = Linear(view.places * each, width, key=keys[1])
        self.places = view.places

    def precompute(self) -> TileTable:
        """The look-up table."""
        weight = self.linear.weight.reshape(self.places, -1, self.linear.bias.size)
        table = jnp.einsum("me,pew->mpw", self.embedding, weight[:, :EMBEDDING])
        occupancy = weight[:, EMBEDDING] if weight.shape[1] > EMBEDDING else None
        return TileTable(table[1:] - table[0], occupancy, self.linear.bias + table[0].sum(axis=0))


def precompute_tiles(self: Any) -> Any:
    """The `precompute` method of a module with `tiles`: replaces the layer by its look-up table."""
    if isinstance(self.tiles, TileTable):
        return self
    return eqx.tree_at(lambda own: own.tiles, self, self.tiles.precompute())


class Trunk(eqx.Module):
    """Tiles, others and self side by side, then one layer: (B, ...) -> (B, width).

    Attributes:
        tiles: `TileLayer`, or its `TileTable`.
        others: embeds a row of an agent; followed by a maximum over rows.
        own: embeds the observer's own row.
        mix: 3 width -> width.
    """

    tiles: TileLayer | TileTable
    others: Linear
    own: Linear
    mix: Linear
    activation: str = eqx.field(static=True)

    def __init__(self, view: View, settings: NetworkGroup, *, key: jax.Array) -> None:
        keys, width = jax.random.split(key, 4), settings.width
        self.tiles = TileLayer(view, width, key=keys[0])
        self.others = Linear(view.columns, width, key=keys[1])
        self.own = Linear(view.columns, width, key=keys[2])
        self.mix = Linear(3 * width, width, key=keys[3])
        self.activation = settings.activation

    precompute = precompute_tiles

    def __call__(self, seen: TileInput) -> jax.Array:
        act = ACTIVATIONS[self.activation]
        assert isinstance(self.tiles, TileTable)
        others = self._largest(seen)
        own = self.own(seen.entities[:, 0])
        return act(self.mix(act(jnp.concatenate([self.tiles(seen), others, own], axis=1))))

    def _largest(self, seen: TileInput) -> jax.Array:
        if seen.entities.shape[1] <= FEW or is_branchless():
            return largest(self.others.weight, self.others.bias, seen.entities, seen.filled)
        branches = [
            lambda few=few: largest(self.others.weight, self.others.bias, seen.entities[:, :few], seen.filled)
            for few in (FEW, seen.entities.shape[1])
        ]
        return jax.lax.cond(seen.filled.max() <= FEW, *branches)


@jax.custom_vjp
def largest(weight: jax.Array, bias: jax.Array, rows: jax.Array, count: jax.Array) -> jax.Array:
    """max over the first `count` rows of row W + b, 0 without rows: (B, rows, columns) -> (B, width).

    The gradient is written out, in half the time of jax's own; equal largest rows share it, and observations get none.
    """
    return _largest(weight, bias, rows, count)[0]


def _largest(
    weight: jax.Array, bias: jax.Array, rows: jax.Array, count: jax.Array
) -> tuple[jax.Array, tuple[jax.Array, ...]]:
    batch, number, columns = rows.shape
    embedded = (rows.reshape(-1, columns) @ weight).reshape(batch, number, -1)
    there = jnp.arange(number) < count[:, None]
    shown = jnp.where(there[:, :, None], embedded, -jnp.inf)
    best = shown.max(axis=1)
    some = (count > 0)[:, None]
    return jnp.where(some, best + bias, 0.0), (rows, shown, best, some)


def _largest_back(kept: tuple[jax.Array, ...], gradient: jax.Array) -> tuple[Any, ...]:
    rows, shown, best, some = kept
    gradient = jnp.where(some, gradient, 0.0)
    hit = (shown == best[:, None]).astype(jnp.float32)
    each = hit * (gradient / jnp.maximum(hit.sum(axis=1), 1.0))[:, None]
    flat = rows.reshape(-1, rows.shape[2])
    return flat.T @ each.reshape(flat.shape[0], -1), gradient.sum(axis=0), None, None


largest.defvjp(_largest, _largest_back)


class TilesNetwork(eqx.Module):
    """The paper's policy and value network.

    With a view of 15 x 15 tiles, head counts, rows of 11 numbers and the default width of 32 it has 61,850 parameters for
    actions of 5 and 3 choices; 184,956 with ``separate_heads``, as the paper's code.

    Args:
        observation_space: of one agent, with `tiles`, `entities`, `count` and perhaps `occupancy`.
        action_space: of one agent, of choices.
        settings: width, activation and separate_heads are read.
    """

    trunks: tuple[Trunk, ...]
    heads: tuple[Linear | Pointer, ...]
    value: Linear
    view: View = eqx.field(static=True)
    raw = True  # takes observations in their own dtypes

    def __init__(
        self,
        observation_space: spaces.Dict,
        action_space: spaces.Space,
        settings: NetworkGroup,
        *,
        key: jax.Array,
    ) -> None:
        self.view = find_view(observation_space)
        choices = choices_of(action_space)
        count = len(choices) + 1 if settings.separate_heads else 1
        keys = jax.random.split(key, count + len(choices) + 1)
        self.trunks = tuple(Trunk(self.view, settings, key=keys[i]) for i in range(count))
        pointing, width = pointing_heads("tiles", observation_space, action_space, "entities"), settings.width
        self.heads = tuple(
            Pointer(width, self.view.columns, width, pointing.nobody, key=keys[count + i])
            if i in pointing.numbers
            else Linear(width, number, key=keys[count + i])
            for i, number in enumerate(choices)
        )
        self.value = Linear(settings.width, 1, key=keys[-1])

    def prepare(self, observation: Mapping[str, jax.Array]) -> TileInput:
        """Flattens the tiles and scales compact rows."""
        return read_view(self.view, observation)

    def precompute(self) -> TilesNetwork:
        """The same network with look-up tables."""
        return eqx.tree_at(lambda n: n.trunks, self, tuple(trunk.precompute() for trunk in self.trunks))

    def __call__(self, seen: TileInput) -> tuple[jax.Array, jax.Array]:
        return self.decide(*self.features(seen))

    def features(self, seen: TileInput) -> tuple[tuple[jax.Array, ...], Table]:
        """Outputs of the trunks, (B, width) each, and the rows for pointing heads."""
        features = tuple(trunk.precompute()(seen) for trunk in self.trunks)
        return features, (seen.entities, seen.filled)

    def decide(self, features: tuple[jax.Array, ...], rest: Table) -> tuple[jax.Array, jax.Array]:
        """Logits and value, from one shared trunk or from one each."""
        each = features * (len(self.heads) + 1) if len(features) == 1 else features
        logits = [
            head(x, *rest) if isinstance(head, Pointer) else head(x)
            for head, x in zip(self.heads, each[:-1], strict=True)
        ]
        return jnp.concatenate(logits, axis=1), self.value(each[-1])[:, 0]


def find_view(space: spaces.Dict) -> View:
    """The sizes of an observation space."""
    for key, axes in (("tiles", 2), ("entities", 2), ("count", 0)):
        part = space.spaces.get(key)
        if part is None or part.shape is None or len(part.shape) != axes:
            raise UserError(
                f"network.kind = tiles: the observation needs {key} with {axes} axes, it has "
                f"{', '.join(space.spaces)}; use network.kind=mlp or attention"
            )
    tiles, entities = space["tiles"], space["entities"]
    highest = int(np.max(getattr(tiles, "high", MATERIALS - 1)))
    return View(
        places=math.prod(tiles.shape or ()),
        materials=MATERIALS if highest >= 64 else highest + 1,
        occupancy="occupancy" in space.spaces,
        rows=(entities.shape or (0,))[0],
        columns=(entities.shape or (0, 0))[1],
        compact=np.dtype(entities.dtype or np.float32) == np.int8,
    )


def read_view(view: View, observation: Mapping[str, jax.Array]) -> TileInput:
    """Converts observations by key."""
    batch = observation["tiles"].shape[0]
    entities = observation["entities"]
    if view.compact:
        entities = dequantise(entities)
    occupancy = observation["occupancy"].reshape(batch, -1) if view.occupancy else None
    return TileInput(
        observation["tiles"].reshape(batch, -1),
        occupancy,
        entities.astype(jnp.float32),
        observation["count"].reshape(batch),
    )


# Columns of a row: life, health, food, water, row, column, offsets, damage, same population, freeze. A float32 row holds
# (x - max / 2) / max. An int8 row holds x, except life in eighths, the place as -127..127 over the whole map, and 1 for
# the own population or 0.
_SCALE = np.array([8 / 100, 1 / 10, 1 / 32, 1 / 32, 1 / 254, 1 / 254, 1, 1, 1 / 5, 1 / 2, 1 / 2], np.float32)
_SHIFT = np.array([-0.5, -0.5, -0.5, -0.5, 0, 0, 0, 0, -0.5, -0.5, -0.5], np.float32)


def dequantise(rows: jax.Array) -> jax.Array:
    """Converts compact rows (..., 11) int8 to float32 rows."""
    return rows.astype(jnp.float32) * _SCALE + _SHIFT


def choices_of(space: spaces.Space) -> tuple[int, ...]:
    """Choices of every head of an action space, of Discrete or MultiDiscrete."""
    if isinstance(space, spaces.Box | spaces.Dict):
        raise UserError(
            f"network.kind = tiles: actions are {type(space).__name__}; it takes Discrete or MultiDiscrete"
        )
    return action_choices(space)
