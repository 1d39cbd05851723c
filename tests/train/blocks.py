"""Minibatches written by hand, for tests of gradients."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from interplay.train.policy_network import Minibatch


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
