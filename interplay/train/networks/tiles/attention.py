"""A larger network for agents that see tiles and others: attention over the others, hidden layers.

With embedded rows e_i = f(x_i), the query of each head is computed from the observer's e_0, keys and values from every e_i, with a
softmax over filled rows. The result, the tiles (`TileLayer`, by its look-up table) and e_0 go through two hidden layers. Pointing heads
(`interplay.core.pointing`) compare each e_i with a query from the policy's last layer.
"""

from __future__ import annotations

from collections.abc import Mapping

import equinox as eqx
import jax
import jax.numpy as jnp
from gymnasium import spaces

from interplay.train.networks.layers import ACTIVATIONS, HIDDEN_GAIN, POLICY_GAIN, VALUE_GAIN, Dense, Stack
from interplay.train.networks.pointer import Pointer, pointing_heads
from interplay.train.networks.tiles.network import (
    Table,
    TileInput,
    TileLayer,
    TileTable,
    View,
    choices_of,
    find_view,
    precompute_tiles,
    read_view,
)
from interplay.train.settings import NetworkGroup


class TilesAttentionNetwork(eqx.Module):
    """Policy and value with attention over the agents in view.

    Args:
        observation_space: of one agent, with `tiles`, `entities`, `count` and perhaps `occupancy`.
        action_space: of one agent, of choices.
        settings: width, heads, tail and activation are read.
    """

    tiles: TileLayer | TileTable
    embed: Dense
    query: Dense
    answer: Dense
    policy: Stack
    policy_head: Dense
    pointers: dict[int, Pointer]
    value: Stack
    value_head: Dense
    view: View = eqx.field(static=True)
    choices: tuple[int, ...] = eqx.field(static=True)
    heads: int = eqx.field(static=True)
    activation: str = eqx.field(static=True)
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
        self.heads, self.activation = settings.heads, settings.activation
        width, tail, act = settings.width, settings.tail, ACTIVATIONS[settings.activation]
        keys = jax.random.split(key, 8)
        self.tiles = TileLayer(self.view, width, key=keys[0])
        self.embed = Dense(self.view.columns, width, HIDDEN_GAIN, key=keys[1])
        self.query = Dense(width, width, 1.0, key=keys[2])
        self.answer = Dense(width, 2 * width, 1.0, key=keys[3])
        self.policy = Stack(3 * width, (tail, tail), act, key=keys[4])
        self.choices = choices_of(action_space)
        pointing = pointing_heads("tiles_attention", observation_space, action_space, "entities")
        self.pointers = {
            head: Pointer(tail, width, width, pointing.nobody, key=jax.random.fold_in(keys[5], head))
            for head in pointing.numbers
        }
        dense = sum(number for head, number in enumerate(self.choices) if head not in self.pointers)
        self.policy_head = Dense(tail, dense, POLICY_GAIN, key=keys[5])
        self.value = Stack(3 * width, (tail, tail), act, key=keys[6])
        self.value_head = Dense(tail, 1, VALUE_GAIN, key=keys[7])

    def prepare(self, observation: Mapping[str, jax.Array]) -> TileInput:
        """Flattens the tiles and scales compact rows."""
        return read_view(self.view, observation)

    precompute = precompute_tiles

    def __call__(self, seen: TileInput) -> tuple[jax.Array, jax.Array]:
        return self.decide(*self.features(seen))

    def features(self, seen: TileInput) -> tuple[tuple[jax.Array, ...], Table]:
        """Inputs of the policy's and the value's head, (B, tail) each, and the embedded rows for pointing heads."""
        act = ACTIVATIONS[self.activation]
        tiles = self.precompute().tiles
        assert isinstance(tiles, TileTable)
        rows = act(self.embed(seen.entities))
        features = jnp.concatenate([act(tiles(seen)), self._attend(rows, seen.filled), rows[:, 0]], axis=1)
        return (self.policy(features), self.value(features)), (rows, seen.filled)

    def decide(self, features: tuple[jax.Array, ...], rest: Table) -> tuple[jax.Array, jax.Array]:
        """Logits and value."""
        logits = self.policy_head(features[0])
        if self.pointers:
            logits = self._point(logits, features[0], rest)
        return logits, self.value_head(features[1])[:, 0]

    def _point(self, dense: jax.Array, x: jax.Array, table: Table) -> jax.Array:
        """Merges the logits of pointing heads and of the dense layer, in the order of the heads."""
        logits, at = [], 0
        for head, number in enumerate(self.choices):
            if head in self.pointers:
                logits.append(self.pointers[head](x, *table))
            else:
                logits.append(dense[:, at : at + number])
                at += number
        return jnp.concatenate(logits, axis=1)

    @property
    def attended(self) -> tuple[str, ...]:
        """Names of the rows in `attention`, the observer's own first."""
        return tuple(f"agents[{row}]" for row in range(self.view.rows))

    def attention(self, observation: Mapping[str, jax.Array]) -> jax.Array:
        """The observer's attention weights: (B, heads, 1, rows)."""
        seen = self.prepare(observation)
        rows = ACTIVATIONS[self.activation](self.embed(seen.entities))
        return self._weights(rows, seen.filled)[0][:, :, None]

    def _attend(self, rows: jax.Array, filled: jax.Array) -> jax.Array:
        """(B, rows, width) -> (B, width), 0 without filled rows."""
        weights, answer = self._weights(rows, filled)
        return jnp.einsum("bhr,brhd->bhd", weights, answer).reshape(rows.shape[0], rows.shape[2])

    def _weights(self, rows: jax.Array, filled: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Attention weights (B, heads, rows), and the rows' values (B, rows, heads, depth)."""
        batch, number, width = rows.shape
        depth = width // self.heads
        query = self.query(rows[:, 0]).reshape(batch, self.heads, depth)
        answer = self.answer(rows).reshape(batch, number, 2, self.heads, depth)
        logits = jnp.einsum("bhd,brhd->bhr", query, answer[:, :, 0]) * depth**-0.5
        there = (jnp.arange(number) < filled[:, None])[:, None]
        return jax.nn.softmax(jnp.where(there, logits, -1e9), axis=2) * there, answer[:, :, 1]
