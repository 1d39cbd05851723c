"""Minibatches for the compiled gradient: rows of a worker's shards in blocks of one population each.

Every array has room for all shards of the run, so that the compiled program is the same for any number of workers. Only the first
entries, of the worker's own shards, are written and read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from interplay.train.batches import Batch, Minibatch
from interplay.train.learner import Epoch
from interplay.train.learning_network import LearningNetwork
from interplay.train.observations import zeros
from interplay.train.populations import cut_blocks, most_blocks, sort_rows
from interplay.train.samples import SampleLayout
from interplay.train.shard import Shard

Joined = tuple[Batch, np.ndarray | None, int]  # what `join_batches` gives
MUCH = 1 << 26  # bytes; smaller batches are transferred whole, larger ones only as far as they are filled


def join_batches(shards: Sequence[Shard], name: str, most: int | None = None, device: Any = None) -> Joined:
    """The ready rows of a kind, one shard after another.

    Args:
        most: ready rows of the fullest shard of the run; None: of these.

    Returns:
        The batch on the device; the cost of every own row, or None; rows per shard.
    """
    if most is None:
        most = max(len(shard.ready[name].picked) for shard in shards)
    capacity, room = _capacity(shards[0], name, most), shards[0].room
    whole = _allocate(shards[0].collector.pending[name].layout, capacity * room)
    for at, shard in enumerate(shards):
        shard.write_batch(name, whole, at * capacity)
    network = shards[0].networks[name]
    parts = [
        network.prepare(given if network.raw else jax.device_put(given))
        for given in (
            {dtype: rows[at * capacity : (at + 1) * capacity] for dtype, rows in whole.seen.items()}
            for at in range(len(shards))
        )
    ]
    costs = [cost for part in parts if (cost := network.demand(part)) is not None]
    seen = whole.seen if network.raw else _stack(parts, room)
    batch = jax.device_put(whole._replace(seen=seen), device)
    return batch, np.concatenate(costs) if costs else None, capacity


def with_targets(shards: Sequence[Shard], name: str, batch: Batch, device: Any = None) -> Batch:
    """A batch with the current advantages and targets of its shards' samples."""
    advantage, target = (zeros(batch.advantage.shape) for _ in range(2))
    for at, shard in enumerate(shards):
        rows, found = shard.rows_in(name, at, len(advantage)), shard.ready[name]
        advantage[rows], target[rows] = found.advantage, found.target
    advantage, target = jax.device_put((advantage, target), device)
    return batch._replace(advantage=advantage, target=target)


def with_log_probs(shards: Sequence[Shard], name: str, batch: Batch, device: Any = None) -> Batch:
    """A batch with the stored log-probs of its shards' samples."""
    log_prob = zeros(batch.log_prob.shape)
    for at, shard in enumerate(shards):
        own = shard.ready[name].picked
        log_prob[shard.rows_in(name, at, len(log_prob))] = shard.collector.pending[name].log_prob[own]
    return batch._replace(log_prob=jax.device_put(log_prob, device))


def _stack(parts: Sequence[Any], room: int) -> Any:
    """Concatenates prepared rows of shards in arrays with room for all shards."""
    if room == 1:
        return parts[0]

    def one(*leaves: Any) -> np.ndarray:
        each = len(leaves[0])
        out = zeros((each * room, *leaves[0].shape[1:]), leaves[0].dtype)
        np.concatenate(leaves, out=out[: each * len(leaves)])
        return out

    return jax.tree.map(one, *parts)


def make_epoch(
    shards: Sequence[Shard],
    name: str,
    joined: Joined,
    orders: Sequence[np.ndarray],
    minibatches: int,
) -> Epoch:
    """An epoch's minibatches of a kind, in arrays of the same shape in every update.

    Args:
        joined: what `join_batches` gave.
        orders: of each shard, (U,) its units; they are dealt out to the minibatches in turn.
    """
    batch, demand, capacity = joined
    network, steps = shards[0].networks[name], shards[0].most_minibatches
    units, length = shards[0].units_per_step(name), network.sequence
    alone = len(network.first) == 1 and steps > 1  # a minibatch is one block, unless it is everything
    if not alone and length == 1:
        units = min(units, capacity)
    block = units if alone else min(max(network.block // length, 1), units)
    room = shards[0].room
    most, nothing = most_blocks(units, len(network.first), block), capacity * room
    index = np.full((steps, room, most, block), -1, np.int32)
    population, plan = (np.zeros((steps, room, most), np.int32) for _ in range(2))
    number = np.zeros((steps, room), np.int32)
    rows = np.empty((steps, room, most, block, length), np.int32)
    rows[...] = nothing + capacity * np.arange(room)[:, None, None, None]
    for at, (shard, order) in enumerate(zip(shards, orders, strict=True)):
        own, there = shard.units[name], slice(0, minibatches)
        cost = None if demand is None else demand[at * capacity :]
        if alone:
            _deal(network, order, cost, index[there, at, 0], plan[there, at, 0])
            number[there, at] = 1
        else:
            belongs = shard.ready[name].population[own[:, 0]]
            for step in range(minibatches):
                out = index[step, at], population[step, at], plan[step, at]
                number[step, at] = _cut(network, order[step::minibatches], belongs, cost, *out)
        _write_rows(own, index[there, at], at * capacity, rows[there, at])
    shaped = rows.reshape(*rows.shape[:3], -1)
    return Epoch(
        batch, Minibatch(*map(jnp.asarray, (shaped, population, plan, number))), np.int32(len(shards))
    )


def _allocate(layout: SampleLayout, rows: int) -> Batch:
    seen, seats = layout.allocate(rows), layout.seats
    truth = None if seats is None else zeros((rows, seats), bool)
    log_prob, advantage, target, acts = (zeros((rows,)) for _ in range(4))
    action = zeros((rows, layout.columns))
    beside = (seen.mask, truth, seen.view, seen.memory, seen.fresh)
    return Batch(seen.rows, action, log_prob, advantage, target, acts, *beside)


def _write_rows(units: np.ndarray, index: np.ndarray, start: int, out: np.ndarray) -> None:
    """Replaces unit numbers (...) by the units' rows (..., L); padding units and steps stay unchanged."""
    if units.shape[1] == 1:  # unit k is row k
        out[..., 0] = np.where(index < 0, out[..., 0], index + start)
        return
    chosen = np.where(index[..., None] < 0, -1, units[index])
    out[...] = np.where(chosen < 0, out, chosen + start)


def _deal(
    network: LearningNetwork,
    order: np.ndarray,
    demand: np.ndarray | None,
    index: np.ndarray,
    plans: np.ndarray,
) -> None:
    """Deals a shard's units to its minibatches, (M, B) and (M,), each in ascending order of cost; one population."""
    minibatches, block = index.shape
    dealt = np.full((block, minibatches), -1, np.int32)
    dealt.flat[: len(order)] = order
    dealt = dealt.T
    if demand is not None:
        cost = np.where(dealt < 0, 0, demand[dealt])
        ascending = np.argsort(cost, axis=1, kind="stable")
        dealt, cost = (np.take_along_axis(array, ascending, axis=1) for array in (dealt, cost))
        plans[:] = [network.plan(part) for part in cost]
    index[...] = dealt


def _cut(
    network: LearningNetwork,
    units: np.ndarray,
    population: np.ndarray,
    demand: np.ndarray | None,
    index: np.ndarray,
    populations: np.ndarray,
    plans: np.ndarray,
) -> int:
    """Writes one minibatch of a shard in blocks, (M, B), each in ascending order of cost; returns their number."""
    if demand is not None:
        units = units[np.argsort(demand[units], kind="stable")]
    order, counts = sort_rows(population[units], len(network.first))
    units, block = units[order], index.shape[1]
    blocks = cut_blocks(counts, block, len(index))
    number = int(blocks.number)
    populations[:number] = blocks.population[:number]
    # Padding comes first in a block: it costs nothing.
    column = np.arange(block) - (block - blocks.rows[:number, None])
    there = column >= 0
    index[:number][there] = units[(blocks.start[:number, None] + column)[there]]
    if demand is not None:
        for i in range(number):
            cost = np.zeros(block, demand.dtype)
            cost[there[i]] = demand[index[i][there[i]]]
            plans[i] = network.plan(cost)
    return number


def _capacity(shard: Shard, name: str, most: int) -> int:
    """Rows of each shard's part of the batch: the capacity divided by a power of two that still holds `most`.

    Powers of two keep the number of compiled programs small.
    """
    pending = shard.collector.pending[name]
    capacity, each = pending.capacity, sum(array[:1].nbytes for array in pending.seen.rows.values())
    while capacity * each * shard.room > MUCH and most <= capacity // 2:
        capacity //= 2
    return capacity
