"""Statistics under permutations: a permutation is a function of its number alone, and words are dealt anew, also those of the named."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from interplay.kernels.permuted import AGREEMENT, SHARE, permuted_rank_sums, permuted_statistics

SEED = np.uint64(11)
START = np.array([0, 4, 9])  # two boards, of four and five speakers
WORD = np.array([0, 1, 1, 2, 0, 2, 1, 0, 0], np.int32)
NAMED = np.array([1, 0, 3, -1, 8, 4, 7, 4, 5])  # rows of the same board


BITS, PHI = 2**64 - 1, 0x9E3779B97F4A7C15


def mix(z: int) -> int:
    """Of SplitMix64, in whole numbers."""
    z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & BITS
    z = ((z ^ z >> 27) * 0x94D049BB133111EB) & BITS
    return z ^ z >> 31


def dealt(number: int) -> np.ndarray:
    """Which row's word each row has in a permutation: Fisher and Yates, board by board."""
    begin, drawn, source = mix((int(SEED) + (number + 1) * PHI) & BITS), 0, np.arange(len(WORD))
    for low, high in pairwise(START):
        for i in range(high - low - 1, 0, -1) if number else ():
            drawn += 1
            j = (mix((begin + drawn * PHI) & BITS) >> 32) * (i + 1) >> 32
            source[[low + i, low + j]] = source[[low + j, low + i]]
    return source


def statistics(permutations: int, first_number: int = 0) -> np.ndarray:
    """The kernel's statistics of `named`, (P, 5)."""
    counts = np.arange(len(WORD) + 1, dtype=np.float64)
    counts[1:] *= np.log2(counts[1:])
    out = np.zeros((permutations, 1, 1, 5))
    permuted_statistics(
        START,
        np.zeros(2, np.int64),
        WORD[:, None],
        np.array([3]),
        np.zeros(0, np.int32),
        np.zeros((len(WORD), 2), np.int32),
        NAMED,
        WORD,
        np.ones((1, 1), bool),
        counts,
        SEED,
        first_number,
        np.zeros(5, np.int64),
        np.zeros((1, 1, 3, 2), np.int32),
        np.zeros((4, 3), np.int64),
        out,
    )
    return out[:, 0, 0]


def test_who_names_whom_stays_and_both_words_are_dealt_anew():
    found = statistics(40)
    spoke = NAMED >= 0
    for number in range(40):
        word = WORD[dealt(number)]
        other = word[NAMED[spoke]] != word[spoke]
        assert found[number, SHARE] == pytest.approx(other.mean())
        assert found[number, AGREEMENT] == pytest.approx(np.mean((word[spoke] == other) & (word[spoke] < 2)))
    assert len(set(found[:, SHARE])) > 3


def test_blocks_of_permutations_are_parts_of_the_whole():
    assert np.array_equal(statistics(3, 4), statistics(7)[4:])
    rng = np.random.default_rng(3)
    rank, living = rng.random((6, 2, 7)), rng.random((6, 2, 7)) < 0.8

    def sums(permutations: int, first_number: int) -> np.ndarray:
        out = np.zeros((permutations, 2))
        permuted_rank_sums(rank, living, np.full((6, 2), 2), SEED, first_number, np.zeros(7, np.int64), out)
        return out

    assert np.array_equal(sums(3, 5), sums(7, 1)[4:])
    assert len(np.unique(sums(7, 1)[:, 0])) == 7
