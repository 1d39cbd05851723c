"""Attention among a few entities, and its mean: the most expensive part of the network, computed on visible rows only.

Specification survival 10: with embedded rows e_i, heads h of width d,

    a_ij^h = q_i^h . k_j^h / sqrt(d)       p_ij^h = softmax over attended j       o_i^h = sum_j p_ij^h v_j^h
    pooled = 1 / (R + 1) sum over visible i of (W_o o_i + b_o)

where i and j run over R entities and one extra all-zero entity that is always visible. The sum over i moves
inside, so the output layer works on one row per sample instead of one per entity:

    pooled = W_o (sum_j c_j^h v_j^h) / (R + 1) + b_o n_visible / (R + 1)        c_j^h = sum over visible i of p_ij^h

Rows are packed (`entities.pack`) and samples are sorted by their number of rows. A *plan* gives the rows to compute in each of three
tiers of samples; the first plan of a short list that holds all samples is used. Result and gradient equal the computation over all
rows to float tolerance (tests/train/test_networks.py).
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from interplay.train.networks.layers import ACTIVATIONS, is_branchless

FEW = 8  # up to this many rows attention is element-wise; above, matrix products

Plan = tuple[int, int, int]  # rows per sample in each tier, see `_tiers`


class Shape(NamedTuple):
    """The static sizes.

    Attributes:
        types: entity types; their embedding weights are stacked to (types * features, width).
        features: numbers per entity row.
        heads: attention heads.
        total: R, entity rows of one sample, including hidden ones.
        activation: name, of the embedding.
    """

    types: int
    features: int
    heads: int
    total: int
    activation: str


class Weights(NamedTuple):
    """The parameters; D is the network's width.

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
        rows: (B, K, features + 1), the last column is the type.
        count: (B,) number of attended rows.
        hidden: (B, K) rows that are attended with +1 on their logits and left out of the mean, or None.

    Returns:
        (B, D): sum over visible i of o_i, before the output layer and not yet divided by R + 1.
    """
    batch, few, _ = rows.shape
    attended = jnp.arange(few)[:, None] < count[None, :]
    mixed = _mix(shape, weights, rows.transpose(2, 1, 0), attended)
    always = jnp.ones((1, batch), bool)
    attended = jnp.concatenate([attended, always])
    speaks = attended if hidden is None else jnp.concatenate([~hidden.T, always]) & attended
    # 0 for visible rows, +1 for hidden ones that are attended, minus infinity for the others
    offset = jnp.where(attended, jnp.where(speaks, 0.0, 1.0), -jnp.inf)
    attend = _attend_few if few <= FEW else _attend_many
    return attend(mixed, offset, speaks.astype(jnp.float32))


def attention(
    shape: Shape, weights: Weights, rows: jax.Array, hidden: jax.Array, additive: bool
) -> jax.Array:
    """Attention weights for display, (B, heads, R + 1, R + 1): p_ij above; index R is the extra entity.

    Args:
        rows: (B, R, features + 1), not packed.
        hidden: (B, R) bool.
        additive: hidden rows are attended with +1 on their logits; else not at all.
    """
    mixed = _mix(shape, weights, rows.transpose(2, 1, 0), jnp.ones(rows.shape[1::-1], bool))
    unseen = jnp.concatenate([hidden.T, jnp.zeros((1, len(hidden)), bool)])
    offset = jnp.where(unseen, 1.0 if additive else -jnp.inf, 0.0)
    queries, keys = mixed[0].transpose(3, 0, 2, 1), mixed[1].transpose(3, 0, 2, 1)  # (B, heads, R + 1, d)
    logits = jnp.einsum("bhid,bhjd->bhij", queries * queries.shape[-1] ** -0.5, keys)
    return jax.nn.softmax(logits + offset.T[:, None, None], axis=-1)


def _mix(shape: Shape, weights: Weights, columns: jax.Array, attended: jax.Array) -> jax.Array:
    """Embedded rows as queries, keys and values: (features + 1, K, B) -> (3, heads, d, K + 1, B).

    Each type has its own layer; one matrix product does all of them, because a row fills only its type's part. The
    extra entity is all zeros, so its query, key and value are the biases.
    """
    _, few, batch = columns.shape
    kind = columns[-1] == jnp.arange(shape.types, dtype=jnp.float32)[:, None, None]
    mark = (kind & attended).astype(jnp.float32)
    spread = (mark[:, None] * columns[:-1]).reshape(shape.types * shape.features, few * batch)
    biases = weights.embed_bias.T @ mark.reshape(shape.types, few * batch)
    embedded = ACTIVATIONS[shape.activation](weights.embed.T @ spread + biases)
    width = weights.mix.shape[0]
    mixed = (weights.mix.T @ embedded + weights.mix_bias[:, None]).reshape(3 * width, few, batch)
    extra = jnp.broadcast_to(weights.mix_bias[:, None, None], (3 * width, 1, batch))
    mixed = jnp.concatenate([mixed, extra], axis=1)
    return mixed.reshape(3, shape.heads, width // shape.heads, few + 1, batch)


def _attend_few(mixed: jax.Array, offset: jax.Array, speaks: jax.Array) -> jax.Array:
    """For few rows: element-wise, with samples innermost, to fill the vector units."""
    _, heads, depth, _, batch = mixed.shape
    q, k, v = mixed[0] * depth**-0.5, mixed[1], mixed[2]
    logits = (q[:, :, :, None] * k[:, :, None]).sum(axis=1)
    p = jax.nn.softmax(logits + offset, axis=2)  # (heads, i, j, B)
    c = (p * speaks[:, None]).sum(axis=1)
    return (c[:, None] * v).sum(axis=2).reshape(heads * depth, batch).T


def _attend_many(mixed: jax.Array, offset: jax.Array, speaks: jax.Array) -> jax.Array:
    """For many rows: the same by batched matrix products."""
    _, heads, depth, _, batch = mixed.shape
    q, k, v = mixed.transpose(0, 4, 1, 3, 2)  # (B, heads, K, d)
    logits = jnp.einsum("bhid,bhjd->bhij", q * depth**-0.5, k)
    p = jax.nn.softmax(logits + offset.T[:, None, None], axis=-1)
    c = jnp.einsum("bhij,bi->bhj", p, speaks.T)
    return jnp.einsum("bhj,bhjd->bhd", c, v).reshape(batch, heads * depth)


def plans(total: int) -> tuple[Plan, ...]:
    """The compiled plans, from the cheapest to all rows.

    Example:
        >>> plans(17)
        ((1, 2, 4), (1, 2, 8), (2, 4, 8), (17, 17, 17))
    """
    thrifty = [plan for plan in ((1, 2, 4), (1, 2, 8), (2, 4, 8)) if plan[-1] < total]
    return (*thrifty, (total, total, total))


def choose_plan(total: int, count: np.ndarray) -> int:
    """Number of the first plan that holds all samples.

    Args:
        total: R.
        count: (B,) rows of each sample, ascending.
    """
    most = [int(count[part][-1]) if count[part].size else 0 for part in _tiers(len(count))]
    fits = (all(m <= k for m, k in zip(most, plan, strict=True)) for plan in plans(total))
    return next(number for number, fit in enumerate(fits) if fit)


def pool_sorted(shape: Shape, weights: Weights, rows: jax.Array, count: jax.Array, plan: Plan) -> jax.Array:
    """`pool_all` without hidden rows, for samples in ascending order of their number of rows, by a plan."""
    pooled = []
    for part, few in zip(_tiers(count.shape[0]), plan, strict=True):
        # The barrier keeps XLA from slicing the rows again inside every operation that reads them.
        shown, number = jax.lax.optimization_barrier((rows[part, :few], count[part]))
        pooled.append(pool_all(shape, weights, shown, number, None))
    return jnp.concatenate(pooled)


def pool_visible(shape: Shape, weights: Weights, rows: jax.Array, count: jax.Array) -> jax.Array:
    """`pool_sorted` for samples in any order: sorts them, and chooses the plan in the compiled program.

    The choice costs about a third more than a given plan (bench/learner.py); acting needs it, as counts are not known beforehand.
    Within `layers.without_branches`, all rows of all samples are computed.
    """
    if is_branchless():
        return pool_all(shape, weights, rows, count, None)
    order = jnp.argsort(count)
    rows, count = rows[order], count[order]
    fits = [
        jnp.all(
            jnp.stack(
                [
                    count[part].max(initial=0) <= few
                    for part, few in zip(_tiers(len(count)), plan, strict=True)
                ]
            )
        )
        for plan in plans(shape.total)
    ]
    branches = [partial(pool_sorted, shape, plan=plan) for plan in plans(shape.total)]
    pooled = jax.lax.switch(jnp.argmax(jnp.stack(fits)), branches, weights, rows, count)
    return pooled[jnp.argsort(order)]


def _tiers(batch: int) -> tuple[slice, slice, slice]:
    """The half of the samples with the fewest rows, the next three eighths, the eighth with the most."""
    return slice(0, batch // 2), slice(batch // 2, batch * 7 // 8), slice(batch * 7 // 8, batch)
