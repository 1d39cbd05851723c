"""What a gradient step reads: the samples of an update, and which of them a minibatch takes."""

from __future__ import annotations

from typing import Any, NamedTuple


class Batch(NamedTuple):
    """What a worker's shards learn from in one update, or some rows of it; N rows, with room for all shards of the run.

    Attributes:
        seen: observations, (N, ...): as the network's `prepare` left them, or as rows where it takes them raw.
        action: (N, columns) float32.
        log_prob: (N,) float32 when acting.
        advantage: (N,) float32, normalised.
        target: (N,) float32, of the value.
        acts: (N,) float32, 1 where the row teaches the policy.
        mask: (N, choices) bool, or None.
        truth: (N, n) bool, which seats are of the population that is guessed; None where nothing is guessed.
        view: (N, size) float32, what a central critic sees, or None.
        memory: (N, size) float32 before the row, or None.
        fresh: (N,) bool, nothing was remembered before the row; None without memory.
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
    """Rows of a batch of N that a program on a device computes: M blocks of B rows, each of one population.

    Attributes:
        index: (M, B) int32; N stands for no row and is computed as row 0. With memory the rows are sequences, one after another.
        population: (M,) int32.
    """

    index: Any
    population: Any


class Minibatch(NamedTuple):
    """Which rows a gradient step learns from: S shards of the run, M blocks at most of B rows each.

    A worker's own shards come first; entries of the others are not read.

    Attributes:
        index: (S, M, B) int32, rows of the batch; N + i stands for no row and is computed as row i. With memory the rows are sequences,
            one after another.
        population: (S, M) int32, of each block.
        plan: (S, M) int32, numbers of the network's plans.
        number: (S,) int32, how many blocks there are.
    """

    index: Any
    population: Any
    plan: Any
    number: Any
