"""Gradients and loss terms of one kind's networks, over blocks of rows of one population each.

The parts of a minibatch are added up in a fixed tree (`exchange.tree_sum`), for any number of workers.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp

from interplay.core.world import Kind
from interplay.train import losses, networks
from interplay.train.batches import Batch, Minibatch, RowBlocks
from interplay.train.losses import NUM_TERMS, Prediction, Rates, Terms
from interplay.train.parallel.exchange import tree_sum
from interplay.train.policy_network import PolicyNetwork, each_shard, pick
from interplay.train.populations import Populations
from interplay.train.settings import TrainSettings

Loss = Callable[[Prediction, Batch, jax.Array, Rates], tuple[jax.Array, Terms]]


class LearningNetwork(PolicyNetwork):
    """The networks of one kind of agent for Q populations, with a loss.

    Args:
        kind, settings, key, populations, view: as of `PolicyNetwork`.
        sequence: steps of backpropagation through time; 1 without memory.
    """

    def __init__(
        self,
        kind: Kind,
        settings: TrainSettings,
        key: jax.Array,
        populations: Populations,
        loss: Loss,
        sequence: int = 1,
        view: int = 0,
    ) -> None:
        super().__init__(kind, settings, key, populations, view)
        self._loss, self._listening = loss, settings.belief.listening
        self.sequence = sequence if self.memory and settings.network.stack == 1 else 1

    def gradient(
        self,
        vectors: jax.Array,
        batch: Batch,
        minibatch: Minibatch,
        rates: Rates,
        shards: Any = None,
    ) -> jax.Array:
        """Gradient of every population's summed loss over a minibatch of S shards, then `Terms`: (Q, P + 8) float32.

        The number of shards is data, so one compiled program serves every number of workers.

        Args:
            vectors: (Q, P) parameters.
            batch: N rows, with room for all S shards.
            minibatch: their rows in this step.
            rates: name -> (Q,) float32, the scheduled rates.
            shards: () int32, a power of two, number of the first shards to add up; None: all.
        """
        inference, back = jax.vjp(self._precompute, vectors)

        def one(shard: Any) -> jax.Array:
            own = Minibatch(*(leaf[shard] for leaf in minibatch))
            return self._shard_gradient(inference, back, batch, own, rates)

        room, shape = len(minibatch.number), (len(self.first), self.size + NUM_TERMS)
        return _add_shards(each_shard(one, room, shards, shape), shards)

    def gradient_on_device(self, vectors: Any, batch: Batch, blocks: RowBlocks, rates: Rates) -> jax.Array:
        """`gradient` over blocks of rows of all shards, without branches; empty blocks are computed, too."""

        def one(sums: Any, block: RowBlocks) -> tuple[Any, None]:
            index, population = block
            arrays, own_rates = pick(inference, population), pick(rates, population)
            found = self._block_gradient(arrays, batch, index, population, None, own_rates)
            return jax.tree.map(partial(_add_at, population), sums, found), None

        with self.placed():
            inference, back = jax.vjp(self._precompute, vectors)
            nothing = jnp.zeros((len(self.first), NUM_TERMS), jnp.float32)
            sums = jax.tree.map(jnp.zeros_like, inference), nothing
            gradients, terms = scan_blocks(one, sums, blocks)[0]
            return jnp.concatenate([back(gradients)[0], terms], axis=1)

    def predict_on_device(self, vectors: Any, batch: Batch, blocks: RowBlocks) -> jax.Array:
        """`predict` for the rows of blocks."""

        def one(_: None, block: RowBlocks) -> tuple[None, jax.Array]:
            index, population = block
            rows, counts = _gather(batch, index)
            parameters, value = self._predict_block(
                pick(inference, population), rows, counts, self._plans[-1]
            )
            return None, jnp.stack([self.distribution.log_prob(parameters, rows.action, rows.mask), value])

        with self.placed():
            inference = self._precompute(vectors)
            found = scan_blocks(one, None, blocks)[1].swapaxes(0, 1).reshape(2, -1)
        nothing = jnp.zeros((2, batch.acts.shape[0]), jnp.float32)
        return nothing.at[:, blocks.index.ravel()].set(found, mode="drop")

    def predict(
        self, vectors: jax.Array, batch: Batch, minibatches: Minibatch, shards: Any, end: Any
    ) -> jax.Array:
        """Log-probs of the stored actions, and values: (2, N) float32, for the rows in the first `end` minibatches."""
        inference, whole = self._precompute(vectors), batch.acts.shape[0]

        def block(i: jax.Array, carry: tuple[jax.Array, jax.Array, jax.Array]) -> Any:
            step, shard, out = carry
            own = Minibatch(*(leaf[step, shard] for leaf in minibatches))
            index, arrays = own.index[i], pick(inference, own.population[i])
            rows, counts = _gather(batch, index)
            parameters, value = self._predict_block(arrays, rows, counts, self._plans[-1])
            log_prob = self.distribution.log_prob(parameters, rows.action, rows.mask)
            return step, shard, out.at[:, index].set(jnp.stack([log_prob, value]), mode="drop")

        def one(k: jax.Array, out: jax.Array) -> jax.Array:
            step, shard = k // shards, k % shards
            return jax.lax.fori_loop(0, minibatches.number[step, shard], block, (step, shard, out))[2]

        return jax.lax.fori_loop(0, end * shards, one, jnp.zeros((2, whole), jnp.float32))

    def _shard_gradient(
        self, inference: Any, back: Any, batch: Batch, own: Minibatch, rates: Rates
    ) -> jax.Array:
        count = len(self.first)
        if count == 1 and own.index.shape[0] == 1:
            alone = jax.tree.map(lambda leaf: leaf[0], inference)
            block = (own.index[0], own.population[0], own.plan[0])
            gradient, terms = self._block_gradient(alone, batch, *block, pick(rates, 0))
            stacked = jax.tree.map(lambda leaf: leaf[None], gradient)
            return jnp.concatenate([back(stacked)[0], terms[None]], axis=1)

        def one(i: jax.Array, sums: tuple[Any, jax.Array]) -> tuple[Any, jax.Array]:
            population = own.population[i]
            arrays = pick(inference, population)
            block = (own.index[i], population, own.plan[i])
            gradient, terms = self._block_gradient(arrays, batch, *block, pick(rates, population))
            added = jax.tree.map(lambda s, g: s.at[population].add(g), sums[0], gradient)
            return added, sums[1].at[population].add(terms)

        nothing = jax.tree.map(jnp.zeros_like, inference), jnp.zeros((count, NUM_TERMS), jnp.float32)
        gradients, terms = jax.lax.fori_loop(0, own.number, one, nothing)
        return jnp.concatenate([back(gradients)[0], terms], axis=1)

    @property
    def _plans(self) -> tuple[Hashable, ...]:
        """The network's plans, the last of which computes all rows."""
        return getattr(self._inner, "plans", (None,))

    def _block_gradient(
        self,
        arrays: Any,
        batch: Batch,
        index: jax.Array,
        population: jax.Array,
        plan: jax.Array | None,
        rates: Rates,
    ) -> tuple[Any, jax.Array]:
        """Gradient of a block's summed loss by its population's arrays, and its terms (8,); None takes the last plan."""
        rows, counts = _gather(batch, index)
        # The barrier keeps XLA from gathering anew inside every operation that reads a row.
        rows = jax.lax.optimization_barrier(rows)
        guessing = counts * (population != self.guessed)
        branches = [
            partial(
                jax.grad(partial(self._block_loss, plan=each, rates=rates), has_aux=True),
                arrays,
                rows,
                counts,
                guessing,
            )
            for each in self._plans
        ]
        alone = plan is None or len(branches) == 1
        gradient, terms = branches[-1]() if alone else jax.lax.switch(plan, branches)
        return gradient, jnp.stack(terms)

    def _block_loss(
        self, arrays: Any, rows: Batch, counts: jax.Array, guessing: jax.Array, plan: Hashable, rates: Rates
    ) -> tuple[jax.Array, Terms]:
        if not self.guesses:
            return self._losses(*self._predict_block(arrays, rows, counts, plan), rows, counts, rates)
        parameters, value, guess = self._guess(arrays, self._read(rows.seen) if self.raw else rows.seen)
        loss, terms = self._losses(parameters, value, rows, counts, rates)
        missed = losses.guess_terms(guess, rows.truth, guessing)
        return loss + self._listening * missed, terms._replace(guess=missed)

    def _predict_block(
        self, arrays: Any, rows: Batch, counts: jax.Array, plan: Hashable
    ) -> tuple[jax.Array, jax.Array]:
        """Parameters of the distribution and values of a block's rows."""
        seen = self._read(rows.seen) if self.raw else rows.seen
        if self.memory:
            return self._unroll(arrays, seen, rows, counts)
        return self._call(arrays, seen, rows.view, plan)

    def _unroll(self, arrays: Any, seen: Any, rows: Batch, counts: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Parameters and values of sequences, starting from the memory stored before each."""
        shape = (-1, self.sequence)
        first = rows.memory.reshape(*shape, self.memory)[:, 0]
        remembered = ((rows.acts * counts) > 0).reshape(shape)
        network = self._fast_network(arrays)
        policy = network.network if self.view else network
        parameters, value = networks.unroll(policy, seen, first, rows.fresh.reshape(shape), remembered)
        return parameters, self._evaluate(network, value, rows.view)

    def _losses(
        self, parameters: jax.Array, value: jax.Array, rows: Batch, counts: jax.Array, rates: Rates
    ) -> tuple[jax.Array, Terms]:
        assert self._loss is not None, "a network that only plays learns nothing"
        predicted = Prediction(
            parameters,
            self.distribution.log_prob(parameters, rows.action, rows.mask),
            self.distribution.entropy(parameters, rows.mask),
            value,
        )
        return self._loss(predicted, rows._replace(acts=rows.acts * counts), counts, rates)


def scan_blocks(one: Any, carry: Any, blocks: RowBlocks) -> Any:
    """`jax.lax.scan` over blocks; without a loop for a single block."""
    if len(blocks.population) > 1:
        return jax.lax.scan(one, carry, blocks)
    carry, found = one(carry, RowBlocks(*(leaf[0] for leaf in blocks)))
    return carry, jax.tree.map(lambda leaf: leaf[None], found)


def _add_at(at: jax.Array, sums: jax.Array, added: jax.Array) -> jax.Array:
    """`sums.at[at].add(added)`, by a slice instead of a scatter."""
    own = jax.lax.dynamic_index_in_dim(sums, at, keepdims=False) + added
    return jax.lax.dynamic_update_index_in_dim(sums, own, at, 0)


def _gather(batch: Batch, index: jax.Array) -> tuple[Batch, jax.Array]:
    """The rows of an index, and 1 for real rows, 0 for padding; index N + i is padding and reads row i."""
    whole = batch.acts.shape[0]
    counts = (index < whole).astype(jnp.float32)
    at = jnp.where(index < whole, index, index - whole)
    return jax.tree.map(lambda leaf: leaf[at], batch), counts


def _add_shards(parts: jax.Array, shards: Any) -> jax.Array:
    """The tree sum of the first parts, a power of two of them."""
    room = len(parts)
    if shards is None or room == 1:
        return tree_sum(list(parts))
    sums = [
        partial(lambda count, all_parts: tree_sum(list(all_parts[:count])), 1 << k)
        for k in range(room.bit_length())
    ]
    return jax.lax.switch(jax.lax.population_count(jnp.int32(shards) - 1), sums, parts)
