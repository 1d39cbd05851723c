"""Attention among a few entities, and its mean: the dearest part of the network, computed on visible rows only.

What has to be computed (survival specification, section 10): with embedded rows e_i, heads h of width d,

    a_ij^h = q_i^h . k_j^h / sqrt(d)       p_ij^h = softmax over attended j       o_i^h = sum_j p_ij^h v_j^h
    pooled = 1 / (R + 1) sum over visible i of (W_o o_i + b_o)

where i and j run over R entities and one extra all-zero entity that is always visible. The sum over i moves
inside, so the output layer works on one row per sample instead of one per entity:

    pooled = W_o (sum_j c_j^h v_j^h) / (R + 1) + b_o n_visible / (R + 1)        c_j^h = sum over visible i of p_ij^h

Rows are packed (`entities.pack`), samples are sorted by how many they have, and groups of about 32 samples are
computed with as many rows as their largest sample needs, from a short list of sizes. Result and gradient equal the
computation over all rows to float tolerance (tests/train/test_networks.py).
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from interplay.train.networks.layers import ACTIVATIONS

GROUP = 32  # samples per group: small enough that most groups have few rows, large enough for matrix products
FEW = 4  # up to this many rows, attention is element-wise with the samples innermost; above, matrix products


class Shape(NamedTuple):
    """The numbers that compilation needs.

    Attributes:
        types: entity types; their embedding weights are stacked to (types * features, width).
        features: numbers per entity row.
        heads: attention heads.
        total: R, entity rows of one sample with the hidden ones.
        activation: name, of the embedding.
    """

    types: int
    features: int
    heads: int
    total: int
    activation: str


class Weights(NamedTuple):
    """What is learned; D is the network's width.

    Attributes:
        embed: (types * features, D).
        embed_bias: (types, D).
        mix: (D, 3 D), queries, keys, values.
        mix_bias: (3 D,).
    """

    embed: jax.Array
    embed_bias: jax.Array
    mix: jax.Array
    mix_bias: jax.Array


def pool_all(
    shape: Shape, weights: Weights, rows: jax.Array, count: jax.Array, hidden: jax.Array | None
) -> jax.Array:
    """Attention over the leading rows of every sample, the same number for all.

    Args:
        shape: static numbers.
        weights: see `Weights`.
        rows: (B, K, features + 1), the last column is the type.
        count: (B,) rows that are attended.
        hidden: (B, K) rows that are attended with +1 on their logits and do not speak, or None.

    Returns:
        (B, D): sum over visible i of o_i, before the output layer and not yet divided by R + 1.
    """
    batch, few, _ = rows.shape
    attended = jnp.arange(few)[None, :] < count[:, None]
    mixed = _mix(shape, weights, _embed(shape, weights, rows, attended))
    always = jnp.ones((batch, 1), bool)
    attended = jnp.concatenate([attended, always], axis=1)
    speaks = attended if hidden is None else jnp.concatenate([~hidden, always], axis=1) & attended
    attend = _attend_few if few <= FEW else _attend_many
    return attend(mixed, attended, speaks)


def _embed(shape: Shape, weights: Weights, rows: jax.Array, attended: jax.Array) -> jax.Array:
    """Each type has its own layer; one matrix product does all, because a row fills only its type's columns."""
    batch, few, _ = rows.shape
    kind = rows[..., -1:] == jnp.arange(shape.types, dtype=jnp.float32)
    mark = (kind & attended[..., None]).astype(jnp.float32)
    spread = mark[..., None] * rows[:, :, None, :-1]
    flat = spread.reshape(batch * few, shape.types * shape.features)
    biased = flat @ weights.embed + mark.reshape(batch * few, shape.types) @ weights.embed_bias
    return ACTIVATIONS[shape.activation](biased).reshape(batch, few, weights.embed.shape[1])


def _mix(shape: Shape, weights: Weights, embedded: jax.Array) -> jax.Array:
    """Queries, keys and values (B, K + 1, 3, heads, d); the extra entity is all zeros, so its are the biases."""
    batch, few, width = embedded.shape
    mixed = (embedded.reshape(batch * few, width) @ weights.mix).reshape(batch, few, 3 * width)
    mixed = jnp.pad(mixed, ((0, 0), (0, 1), (0, 0))) + weights.mix_bias
    return mixed.reshape(batch, few + 1, 3, shape.heads, width // shape.heads)


def _logit_offset(attended: jax.Array, speaks: jax.Array) -> jax.Array:
    """(B, K): 0 for visible rows, +1 for hidden ones that are attended, minus infinity for the others."""
    return jnp.where(attended, jnp.where(speaks, 0.0, 1.0), -jnp.inf)


def _attend_few(mixed: jax.Array, attended: jax.Array, speaks: jax.Array) -> jax.Array:
    """For few rows: samples are the innermost axis, so that every operation fills the vector units."""
    batch, _, _, heads, depth = mixed.shape
    q, k, v = mixed.transpose(2, 3, 4, 1, 0)  # (heads, d, K, B)
    q = q * depth**-0.5
    logits = (q[:, :, :, None] * k[:, :, None]).sum(axis=1)
    p = jax.nn.softmax(logits + _logit_offset(attended, speaks).T[None, None], axis=2)  # (heads, i, j, B)
    c = (p * speaks.T[None, :, None]).sum(axis=1)  # (heads, j, B)
    return (c[:, None] * v).sum(axis=2).reshape(heads * depth, batch).T


def _attend_many(mixed: jax.Array, attended: jax.Array, speaks: jax.Array) -> jax.Array:
    """For many rows: the same by batched matrix products."""
    batch, _, _, heads, depth = mixed.shape
    q, k, v = mixed[:, :, 0] * depth**-0.5, mixed[:, :, 1], mixed[:, :, 2]
    logits = jnp.einsum("bihd,bjhd->bhij", q, k)
    p = jax.nn.softmax(logits + _logit_offset(attended, speaks)[:, None, None], axis=-1)
    c = jnp.einsum("bhij,bi->bhj", p, speaks.astype(jnp.float32))
    return jnp.einsum("bhj,bjhd->bhd", c, v).reshape(batch, heads * depth)


def row_sizes(total: int) -> tuple[int, ...]:
    """The numbers of rows that are compiled: 0, 1, 2, 4, ... and all; none just below all.

    Example:
        >>> row_sizes(17)
        (0, 1, 2, 4, 8, 17)
    """
    doubled = [0] + [1 << k for k in range(total.bit_length()) if 2 << k <= total]
    return (*doubled, total) if total else (0,)


@partial(jax.custom_vjp, nondiff_argnums=(0,))
def pool_visible(shape: Shape, weights: Weights, rows: jax.Array, count: jax.Array) -> jax.Array:
    """`pool_all` without hidden rows, computed in groups of samples with similar numbers of visible rows.

    Differentiable in `weights` only. The backward pass repeats the little forward work of its group instead of
    carrying what every possible size would have to remember.
    """
    return _pool_forward(shape, weights, rows, count)[0]


def _pool_forward(shape: Shape, weights: Weights, rows: jax.Array, count: jax.Array) -> tuple[jax.Array, Any]:
    groups = _group(shape, count)
    branches = [partial(_forward, shape, size) for size in row_sizes(shape.total)]

    def one(_: None, group: tuple[jax.Array, jax.Array]) -> tuple[None, jax.Array]:
        return None, jax.lax.switch(group[0], branches, weights, rows, count, group[1])

    pooled = jax.lax.scan(one, None, (groups.size, groups.members))[1]
    flat = pooled.reshape(-1, pooled.shape[-1])
    return flat[groups.place], (weights, rows, count, groups)


def _pool_backward(shape: Shape, residual: Any, cotangent: jax.Array) -> tuple[Weights, None, None]:
    weights, rows, count, groups = residual
    branches = [partial(_backward, shape, size) for size in row_sizes(shape.total)]

    def one(total: Weights, group: tuple[jax.Array, ...]) -> tuple[Weights, None]:
        size, members, pull = group
        part = jax.lax.switch(size, branches, weights, rows, count, members, pull)
        return jax.tree.map(jnp.add, total, part), None

    # Seats that only fill up the last group repeat its last member and pull on nothing.
    pulls = cotangent[groups.members.reshape(-1)]
    filled = (jnp.arange(pulls.shape[0]) < cotangent.shape[0])[:, None]
    pulls = jnp.where(filled, pulls, 0.0).reshape(*groups.members.shape, -1)
    zero = jax.tree.map(jnp.zeros_like, weights)
    return jax.lax.scan(one, zero, (groups.size, groups.members, pulls))[0], None, None


pool_visible.defvjp(_pool_forward, _pool_backward)


class Groups(NamedTuple):
    """Samples in ascending order of their rows, cut into groups; G groups of M seats.

    Attributes:
        size: (G,) int32, index into `row_sizes` that holds the group's largest sample.
        members: (G, M) int32, samples; the last one is repeated where the batch does not fill the seats.
        place: (B,) int32, the seat of each sample.
    """

    size: jax.Array
    members: jax.Array
    place: jax.Array


def _group(shape: Shape, count: jax.Array) -> Groups:
    batch = count.shape[0]
    seats = min(GROUP, batch)
    number = -(-batch // seats)
    order = jnp.argsort(count)
    members = jnp.pad(order, (0, number * seats - batch), mode="edge").reshape(number, seats)
    limits = jnp.array(row_sizes(shape.total)[:-1], jnp.int32)
    size = (count[members[:, -1]][:, None] > limits).sum(axis=1)
    return Groups(size, members, jnp.argsort(order))


def _forward(
    shape: Shape, size: int, weights: Weights, rows: jax.Array, count: jax.Array, members: jax.Array
) -> jax.Array:
    return pool_all(shape, weights, rows[members, :size], count[members], None)


def _backward(
    shape: Shape,
    size: int,
    weights: Weights,
    rows: jax.Array,
    count: jax.Array,
    members: jax.Array,
    pull: jax.Array,
) -> Weights:
    few, counts = rows[members, :size], count[members]
    return jax.vjp(lambda w: pool_all(shape, w, few, counts, None), weights)[1](pull)[0]
