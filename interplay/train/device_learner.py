"""An update on one or several devices: all epochs and minibatches in one compiled program, which never waits for the host.

On the processor an epoch ends when the algorithm stops early (`Learner.run_epoch`). Here every loop has a fixed end, and steps beyond
the stop are computed and dropped. The device draws the orders and gathers the rows, so samples are transferred once per update.

Several devices hold the same samples and parameters. Each computes its part of a minibatch's rows; `exchange.tree_sum` adds the parts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from interplay.core.world import Kind
from interplay.train.batches import Batch, RowBlocks
from interplay.train.devices import AXIS, on_each
from interplay.train.learner import BAD, CONTINUE, ENOUGH, Learner
from interplay.train.losses import Rates
from interplay.train.minibatches import Joined
from interplay.train.parallel.exchange import tree_sum
from interplay.train.populations import Populations, most_blocks
from interplay.train.settings import TrainSettings
from interplay.train.shard import Shard
from interplay.train.views import View

_ORDER = 0x0DE5  # folded into the key of the minibatch orders


class Samples(NamedTuple):
    """A kind's training data in an update: at most U units, samples or sequences of L steps.

    Attributes:
        batch: N rows, of all shards.
        rows: (U, L) int32, rows of the batch, N for padding; padding units come last.
        population: (U,) int32, of each unit.
        count: () int32, units without padding.
    """

    batch: Batch
    rows: Any
    population: Any
    count: Any


class Loops(NamedTuple):
    """The loop ends that the program is compiled for.

    Attributes:
        steps: gradient steps of an epoch, at least the number of minibatches.
        sizes: units of a minibatch, for each kind.
    """

    steps: int
    sizes: tuple[int, ...]


class State(NamedTuple):
    """The state that the compiled loops carry.

    Attributes:
        vectors, moments: of the learner.
        verdict: () int32, of the last step that counted.
        total: (size,) float32, the sum of that step.
    """

    vectors: Any
    moments: Any
    verdict: Any
    total: Any


class DeviceLearner(Learner):
    """A `Learner` with its parameters on a device; arguments as there."""

    def __init__(
        self,
        kinds: Sequence[Kind],
        settings: TrainSettings,
        populations: Populations,
        view: View | None = None,
    ) -> None:
        super().__init__(kinds, settings, populations, view)
        key = jax.random.fold_in(jax.random.key(settings.seed), _ORDER)
        self._key = self.place(jax.random.key_data(key))
        self._devices = settings.train.devices
        self._update = jax.jit(
            self._run_on_each, static_argnames=("loops", "epochs"), donate_argnames=("vectors", "moments")
        )
        self._predictions = jax.jit(self._predict_units, static_argnames="loops")

    def run_epochs(
        self, samples: Mapping[str, Samples], loops: Loops, minibatches: int, update: int, epochs: range
    ) -> tuple[np.ndarray, bool]:
        """Takes the gradient steps of some epochs, until the algorithm stops early; returns as `run_epoch`."""
        numbers = self.place(tuple(map(np.int32, (update, epochs.start, minibatches))))
        given = (self.vectors, self._moments, self.place(self._rates), samples, self._key, *numbers)
        state, found = self._update(*given, loops=loops, epochs=len(epochs))
        self.vectors, self._moments = state.vectors, state.moments
        (verdict, total), (taken, terms, norms) = jax.device_get((state[2:], found))
        self.norms = norms[taken]
        if verdict == BAD:
            self.refuse(total, update)
        return terms[taken].astype(np.float64), bool(verdict == ENOUGH)

    def predict_units(self, samples: Mapping[str, Samples], loops: Loops) -> dict[str, np.ndarray]:
        """`predict` on the device, for all units."""
        return jax.device_get(self._predictions(self.vectors, samples, loops=loops))

    # -- compiled -----------------------------------------------------------------------------------------

    def _run_on_each(self, vectors: Any, moments: Any, *given: Any, loops: Loops, epochs: int) -> Any:
        run = partial(self._run_epochs, loops=loops, epochs=epochs)
        return on_each(run, self.device)(vectors, moments, *given)

    def _run_epochs(
        self,
        vectors: Any,
        moments: Any,
        rates: Rates,
        samples: Mapping[str, Samples],
        key: jax.Array,
        update: jax.Array,
        first: jax.Array,
        minibatches: jax.Array,
        *,
        loops: Loops,
        epochs: int,
    ) -> tuple[State, Any]:
        """The state after the epochs, and for each step (epochs, steps): whether it counted, terms, norms."""
        drawn = jax.random.fold_in(jax.random.wrap_key_data(key), update)

        def epoch(state: State, number: jax.Array) -> Any:
            own = jax.random.fold_in(drawn, number)
            orders = [
                self._order(jax.random.fold_in(own, kind), samples[name])
                for kind, name in enumerate(self.networks)
            ]
            step = partial(self._take_step, rates, samples, orders, minibatches, loops)
            return jax.lax.scan(step, state, jnp.arange(loops.steps))

        begin = State(vectors, moments, jnp.asarray(CONTINUE), jnp.zeros(self.size, jnp.float32))
        return jax.lax.scan(epoch, begin, first + jnp.arange(epochs))

    def _order(self, key: jax.Array, samples: Samples) -> jax.Array:
        """(U,) units in the order of an epoch, padding last; unshuffled if the minibatch is the whole batch."""
        places = jnp.arange(len(samples.rows))
        if self.algorithm.minibatch is None:
            return places
        drawn = jax.random.bits(key, places.shape, jnp.uint32) >> 1
        return jnp.argsort(jnp.where(places < samples.count, drawn, jnp.uint32(2**32 - 1)))

    def _take_step(
        self,
        rates: Rates,
        samples: Mapping[str, Samples],
        orders: Sequence[jax.Array],
        minibatches: jax.Array,
        loops: Loops,
        state: State,
        number: jax.Array,
    ) -> tuple[State, Any]:
        """One gradient step; it changes nothing after the last minibatch or a verdict."""
        total = self._sum_minibatch(state.vectors, rates, samples, orders, minibatches, loops, number)
        counts = (number < minibatches) & (state.verdict == CONTINUE)
        verdict = jnp.where(counts, self._verdict(total), state.verdict)
        moved = self._moved(state.vectors, state.moments, rates, total)
        vectors, moments = jax.tree.map(
            partial(jnp.where, counts & (verdict == CONTINUE)), moved, (state.vectors, state.moments)
        )
        last = jnp.where(counts, total, state.total)
        return State(vectors, moments, verdict, last), (counts, self._sum_terms(total), self._norms(total))

    def _sum_minibatch(
        self,
        vectors: Any,
        rates: Rates,
        samples: Mapping[str, Samples],
        orders: Sequence[jax.Array],
        minibatches: jax.Array,
        loops: Loops,
        number: jax.Array,
    ) -> jax.Array:
        """(size,) gradients and terms of all kinds that learn over one minibatch, which takes each `minibatches`-th unit."""
        parts = []
        for (name, network), order, size in zip(self.networks.items(), orders, loops.sizes, strict=True):
            if name not in self.kinds_that_learn:
                continue
            own, places = samples[name], number + self._own_part(size) * minibatches
            chosen = order[jnp.minimum(places, len(order) - 1)]
            rows = jnp.where((places < own.count)[:, None], own.rows[chosen], own.batch.acts.shape[0])
            blocks = self._cut(name, own, rows, own.population[chosen], len(rows))
            parts.append(network.gradient_on_device(vectors[name], own.batch, blocks, rates).ravel())
        total = jnp.concatenate(parts)
        return total if self._devices == 1 else tree_sum(list(jax.lax.all_gather(total, AXIS)))

    def _own_part(self, size: int) -> jax.Array:
        """The minibatch's unit numbers that this device computes; numbers from `size` on are padding."""
        each = -(-size // self._devices)
        return jnp.arange(each) + (jax.lax.axis_index(AXIS) * each if self._devices > 1 else 0)

    def _cut(
        self, name: str, samples: Samples, rows: jax.Array, population: jax.Array, size: int
    ) -> RowBlocks:
        """Cuts units (B, L) into blocks; with one population a block is the whole minibatch."""
        network, count = self.networks[name], len(self.learns)
        block = size if count == 1 else min(max(network.block // network.sequence, 1), size)
        return cut_units(rows, population, samples.batch.acts.shape[0], count, block)

    def _predict_units(
        self, vectors: Any, samples: Mapping[str, Samples], *, loops: Loops
    ) -> dict[str, jax.Array]:
        found = {}
        for (name, network), size in zip(self.networks.items(), loops.sizes, strict=True):
            own = samples[name]
            blocks = self._cut(name, own, own.rows, own.population, size)
            found[name] = network.predict_on_device(vectors[name], own.batch, blocks)
        return found


def cut_units(rows: jax.Array, population: jax.Array, whole: int, count: int, block: int) -> RowBlocks:
    """Sorts units by population and cuts them into the largest possible number of blocks.

    Args:
        rows: (B, L) of a batch; a padding unit begins with `whole`.
        population: (B,).
        whole: N.
        count: Q.
        block: units of a block.

    Example:
        >>> blocks = cut_units(jnp.array([[3], [1], [9], [2]]), jnp.array([1, 0, 0, 1]), 9, 2, 2)
        >>> blocks.index.tolist(), blocks.population.tolist()
        ([[1, 9], [3, 2], [9, 9]], [0, 1, 1])
    """
    most = most_blocks(len(rows), count, block)
    if count == most == 1:
        return RowBlocks(rows.reshape(1, -1), jnp.zeros(1, jnp.int32))
    population = jnp.where(rows[:, 0] < whole, population, count)
    order = jnp.argsort(population)
    ends = jnp.cumsum((population[:, None] == jnp.arange(count)).sum(axis=0))
    begins = jnp.append(0, ends[:-1])
    pieces = jnp.cumsum((ends - begins + block - 1) // block)  # blocks up to and with each population's
    number = jnp.arange(most)
    of = jnp.minimum((pieces <= number[:, None]).sum(axis=1), count - 1)
    within = number - jnp.append(0, pieces[:-1])[of]
    place = (begins[of] + within * block)[:, None] + jnp.arange(block)
    chosen = rows[order[jnp.minimum(place, len(rows) - 1)]]
    index = jnp.where((place < ends[of][:, None])[:, :, None], chosen, whole)
    return RowBlocks(index.reshape(most, -1), of.astype(jnp.int32))


def join_units(shards: Sequence[Shard], name: str, joined: Joined, device: Any) -> Samples:
    """The units of a kind of all shards, on the device; `joined` is from `join_batches`."""
    batch, _, capacity = joined
    whole, count = capacity * len(shards), sum(len(shard.units[name]) for shard in shards)
    most = halved(shards[0].most_units(name) * len(shards), count)
    rows = np.full((most, shards[0].networks[name].sequence), whole, np.int32)
    population, at = np.zeros(most, np.int32), 0
    for number, shard in enumerate(shards):
        own = shard.units[name]
        there = slice(at, at := at + len(own))
        rows[there] = np.where(own < 0, whole, own + number * capacity)
        population[there] = shard.ready[name].population[own[:, 0]]
    return Samples(batch, *jax.device_put((rows, population, np.int32(count)), device))


def find_loops(shards: Sequence[Shard], samples: Mapping[str, Samples], minibatches: int) -> Loops:
    """The ends of an update's loops."""
    sizes = [
        min(shards[0].units_per_step(name) * len(shards), len(own.rows)) for name, own in samples.items()
    ]
    return Loops(halved(shards[0].most_minibatches, minibatches), tuple(sizes))


def halved(most: int, count: int) -> int:
    """The least of `most`, its half, its quarter ... that holds `count`, so that few programs are compiled.

    Example:
        >>> halved(100, 60), halved(100, 20), halved(7, 0)
        (100, 25, 1)
    """
    while most > 1 and -(-most // 2) >= count:
        most = -(-most // 2)
    return most
