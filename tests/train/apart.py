"""Shards of a run computed by one worker and by several, in one process: what the workers add up and how parameters move."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from threading import Lock
from typing import Any

import jax
import numpy as np

from interplay.core.settings import build
from interplay.train import minibatches, observations, samples
from interplay.train.learner import Epoch, Learner
from interplay.train.making import make_learner
from interplay.train.minibatches import join_batches, make_epoch
from interplay.train.parallel.exchange import SharedMemory, SingleProcess, create_block, tree_sum
from interplay.train.settings import TrainSettings
from interplay.train.shard import Shard
from interplay.train.update import Worker

SHARDS = 4
STEPS = 6  # gradient steps that are compared
TRAIN = {"shards": SHARDS, "max_updates": 4}


class Part(SingleProcess):
    """One of several workers that meets nobody by itself."""

    def __init__(self, rank: int, size: int) -> None:
        self.rank, self.size = rank, size


@contextmanager
def compiled_with(options: Mapping[str, Any]) -> Iterator[None]:
    """Everything that is wrapped by `jax.jit` meanwhile is compiled with these options of XLA."""
    plain = jax.jit
    jax.jit = partial(plain, compiler_options=dict(options)) if options else plain  # type: ignore[assignment]
    try:
        yield
    finally:
        jax.jit = plain


@contextmanager
def unaligned() -> Iterator[None]:
    """Arrays for compiled programs begin meanwhile where no vector may."""

    def zeros(shape: tuple[int, ...], dtype: Any = np.float32) -> np.ndarray:
        size = math.prod(shape) * np.dtype(dtype).itemsize
        data = aligned((size + 4,), np.uint8)
        return data[4:].view(dtype).reshape(shape)

    aligned, modules = observations.zeros, (observations, samples, minibatches)
    for module in modules:
        module.zeros = zeros  # type: ignore[attr-defined]
    try:
        yield
    finally:
        for module in modules:
            module.zeros = aligned  # type: ignore[attr-defined]


def knows(options: Mapping[str, Any]) -> bool:
    """Whether this XLA has all these options."""
    try:
        jax.jit(lambda x: x + 1, compiler_options=dict(options))(1)
    except jax.errors.JaxRuntimeError:
        return False
    return True


def settings_of(**own: Any) -> TrainSettings:
    """Of a short run with shapes that no vector fits."""
    values = {
        "world": {"id": "toy"},
        "num_worlds": 3 * SHARDS,
        "train": TRAIN,
        "ppo": {"rollout": 19, "minibatch": 13 * SHARDS, "target_kl": "off"},
    }
    return build(TrainSettings, {**values, **own}, "test")


class Comparison:
    """The same shards as one worker has them, and as two, four, ... workers have them.

    Args:
        settings: of the run.
        make_world: of its worlds.

    Attributes:
        learner: of all workers; its parameters are those that the run begins with.
        teams: number of workers -> the workers.
    """

    def __init__(self, settings: TrainSettings, make_world: Any) -> None:
        self.learner: Learner = make_learner(settings, make_world, begins=True)
        self.teams = {
            size: [Worker(settings, make_world, self.learner, Part(rank, size)) for rank in range(size)]
            for size in (1 << k for k in range(settings.train.shards.bit_length()))
        }

    def play(self, *sizes: int) -> None:
        """One rollout of all workers where there are so many."""
        for size in sizes:
            for worker in self.teams[size]:
                worker.play()

    def samples(self, size: int) -> list[dict[str, np.ndarray]]:
        """What each shard of so many workers has played."""
        shards = [shard for worker in self.teams[size] for shard in worker.shards]
        return [_played(shard) for shard in shards]

    def estimate(self) -> None:
        """Advantages of all workers' samples, normalised over the run."""
        for team in self.teams.values():
            sums = [shard.estimate() for worker in team for shard in worker.shards]
            for worker in team:
                for shard in worker.shards:
                    shard.normalise(tree_sum(sums))

    def epochs(self, size: int, number: int) -> list[dict[str, Epoch]]:
        """Of each of so many workers, its shards' minibatches in the order of that epoch."""
        (whole,) = self.teams[1]
        count = max(shard.minibatches() for shard in whole.shards)
        return [self._epoch(worker.shards, number, count) for worker in self.teams[size]]

    def _epoch(self, shards: list[Shard], number: int, count: int) -> dict[str, Epoch]:
        epochs = {}
        for name in self.learner.networks:
            orders = [shard.shuffle(name, 0, number) for shard in shards]
            epochs[name] = make_epoch(shards, name, join_batches(shards, name), orders, count)
        return epochs

    def steps(self, size: int) -> list[list[np.ndarray]]:
        """Parameters and moments after each of some gradient steps of so many workers, from where the learner stands."""
        begun = self._state()
        capacity = -(-self.learner.size * 4 // 64) * 64
        block = create_block(size, capacity)
        exchanges = [SharedMemory(block.name, rank, size, capacity, [Lock()] * size) for rank in range(size)]
        try:
            found = []
            for step in range(STEPS):
                self._step(self.epochs(size, step), exchanges, step + 1)
                found.append([np.asarray(leaf).copy() for leaf in jax.tree.leaves(self._state())])
            return found
        finally:
            self._go_back(begun)
            for exchange in exchanges:
                exchange.close()
            block.close()
            block.unlink()

    def _step(self, epochs: list[dict[str, Epoch]], exchanges: list[SharedMemory], turn: int) -> None:
        """Every worker writes its sum where the others read it; the first, which finds them all, takes the step."""
        begun = self._state()
        for rank, exchange in reversed(list(enumerate(exchanges))):
            self._go_back(begun)
            exchange.signs[:, 0] = turn
            exchange.signs[rank, 0] = turn - 1
            self.learner.run_epoch(epochs[rank], 1, exchange)

    def _state(self) -> Any:
        return jax.tree.map(lambda leaf: leaf.copy(), (self.learner.vectors, self.learner._moments))

    def _go_back(self, state: Any) -> None:
        self.learner.vectors, self.learner._moments = jax.tree.map(lambda leaf: leaf.copy(), state)

    def programs(self) -> dict[str, int]:
        """How many programs of each function were compiled so far."""
        learner = self.learner
        found = {"epoch": learner._epoch._cache_size()}
        for name, network in learner.networks.items():
            found[f"act {name}"] = network.act._cache_size()
            if not network.raw:
                found[f"prepare {name}"] = network.prepare._cache_size()
        return found


def _played(shard: Shard) -> dict[str, np.ndarray]:
    collector = shard.collector
    arrays = {f"buffer/{name}": array for name, array in collector.buffer.save().items()}
    for kind, pending in collector.pending.items():
        arrays |= {f"{kind}/{name}": array for name, array in pending.save().items()}
    return arrays
