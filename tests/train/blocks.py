"""Blocks of rows written by hand, for tests of networks that act and learn."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from interplay.train.batches import Batch, Minibatch
from interplay.train.learner import Epoch, Learner
from interplay.train.observations import Rows
from interplay.train.policy_network import PolicyNetwork
from interplay.train.populations import Blocks, cut_blocks


def cut_minibatch(counts: Sequence[int], block: int, nobody: int) -> Minibatch:
    """One shard's minibatch of all rows, which stand sorted by population.

    Args:
        counts: rows of each population.
        block: rows per block.
        nobody: what stands for no row: the number of rows in the batch.
    """
    blocks, first = [], 0
    for population, count in enumerate(counts):
        for start in range(first, first + count, block):
            index = np.full(block, nobody, np.int32)
            rows = np.arange(start, min(start + block, first + count))
            index[block - len(rows) :] = rows
            blocks.append((index, population))
        first += count
    number = len(blocks)
    blocks += [(np.full(block, nobody, np.int32), 0)] * 2  # those after the last are not read
    return Minibatch(
        np.stack([index for index, _ in blocks])[None],
        np.array([[population for _, population in blocks]], np.int32),
        np.zeros((1, len(blocks)), np.int32),
        np.array([number], np.int32),
    )


def gradient_of(learner: Learner, batch: Batch, minibatch: Minibatch) -> np.ndarray:
    """Gradients of all populations' summed losses over some rows, then the terms: (Q, P + 8)."""
    (name,) = learner.networks
    epoch = Epoch(batch, Minibatch(*(part[None] for part in minibatch)))
    return learner.gradient({name: epoch}, 0).reshape(len(learner.networks[name].first), -1)


def act_greedily(
    network: PolicyNetwork, rows: Rows, mask: np.ndarray | None, counts: Sequence[int], shards: int = 1
) -> np.ndarray:
    """Likeliest actions of rows that stand sorted by population.

    Args:
        network: its first parameters act.
        rows: those of all populations, and a block more.
        mask: of the same rows, or None.
        counts: rows of each population.
        shards: how many shards have the same rows.

    Returns:
        (shards, rows and a block more, columns + 2).
    """
    blocks = cut_blocks(counts, network.block, network.most_blocks(sum(counts), network.block))
    said = network.act(
        network.precompute(network.first),
        {dtype: np.stack([array] * shards) for dtype, array in rows.items()},
        None if mask is None else np.stack([mask] * shards),
        Blocks(*(np.stack([part] * shards) for part in blocks)),
        np.zeros((shards, network.most_blocks(sum(counts), network.block), 2), np.uint32),
        block=network.block,
        greedy=True,
    )
    return np.asarray(said)
