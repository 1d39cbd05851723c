"""The samples of an update, and the indices of a minibatch."""

from __future__ import annotations

from typing import Any, NamedTuple


class Batch(NamedTuple):
    """The samples of a worker's shards in one update; N rows, with room for all shards of the run.

    Attributes:
        seen: observations, (N, ...): prepared by the network's `prepare`, or rows if it takes them raw.
        action: (N, columns) float32.
        log_prob: (N,) float32, by the policy that acted, or as `Shard.decouple` replaced it.
        advantage: (N,) float32, normalised if the algorithm does.
        target: (N,) float32, of the value.
        acts: (N,) float32, 1 where the row trains the policy.
        mask: (N, choices) bool, or None.
        truth: (N, n) bool, the seats of the guessed population; None without guessing.
        view: (N, size) float32, a central critic's input, or None.
        memory: (N, size) float32, state before the row, or None.
        fresh: (N,) bool, the memory before the row is empty; None without memory.
    """

    seen: Any
    action: Any
    log_prob: Any
    advantage: Any
    target: Any
    acts: Any
    mask: Any
    truth: Any = None
    view: Any = None
    memory: Any = None
    fresh: Any = None


class RowBlocks(NamedTuple):
    """Rows of a batch of N for a program on a device: M blocks of B rows, each of one population.

    Attributes:
        index: (M, B) int32; N is padding and is computed as row 0. With memory the rows are sequences, one after another.
        population: (M,) int32.
    """

    index: Any
    population: Any


class Minibatch(NamedTuple):
    """The rows of a gradient step: S shards of the run, at most M blocks of B rows each.

    A worker's own shards come first; entries of the others are not read.

    Attributes:
        index: (S, M, B) int32, rows of the batch; N + i is padding and is computed as row i. With memory the rows are sequences,
            one after another.
        population: (S, M) int32, of each block.
        plan: (S, M) int32, number of the network's plan.
        number: (S,) int32, number of blocks.
    """

    index: Any
    population: Any
    plan: Any
    number: Any
