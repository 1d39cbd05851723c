"""Statistics under permutations: a permutation is a function of its number alone, and words are dealt anew, also those of the named."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from interplay.kernels.permuted import AGREEMENT, SHARE, permuted_rank_sums, permuted_statistics

SEED = np.uint64(11)
START = np.array([0, 4, 9])  # two boards, of four and five speakers
WORD = np.array([0, 1, 1, 2, 0, 2, 1, 0, 0], np.int32)
TWO = np.arange(2)
NAMED = np.array([1, 0, 3, -1, 8, 4, 7, 4, 5])  # rows of the same board


BITS, PHI = 2**64 - 1, 0x9E3779B97F4A7C15


def mix(z: int) -> int:
    """Of SplitMix64, in whole numbers."""
    z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & BITS
    z = ((z ^ z >> 27) * 0x94D049BB133111EB) & BITS
    return z ^ z >> 31


class Dealer:
    """Draws of one permutation; the recorded order draws nothing."""

    def __init__(self, number: int) -> None:
        self.number, self.begin, self.drawn = number, mix((int(SEED) + (number + 1) * PHI) & BITS), 0

    def deal(self, count: int) -> list[int]:
        """An order of so many things: Fisher and Yates."""
        order = list(range(count))
        for i in range(count - 1, 0, -1) if self.number else ():
            self.drawn += 1
            j = (mix((self.begin + self.drawn * PHI) & BITS) >> 32) * (i + 1) >> 32
            order[i], order[j] = order[j], order[i]
        return order


def dealt(number: int) -> np.ndarray:
    """Which row's word each row has in a permutation, board by board."""
    dealer = Dealer(number)
    return np.concatenate([low + np.array(dealer.deal(high - low)) for low, high in pairwise(START)])


def statistics(permutations: int, first_number: int = 0, **changed: np.ndarray) -> np.ndarray:
    """The kernel's statistics, (P, 5): of `named`, or with other arguments."""
    given = {"thing": np.zeros(0, np.int32), "named": NAMED, "player": np.zeros(0, np.int64)}
    given |= {"block": START, "like": TWO, "alike": np.zeros(1, np.int64)} | changed
    counts = np.arange(len(WORD) + 1, dtype=np.float64)
    counts[1:] *= np.log2(counts[1:])
    out = np.zeros((permutations, 1, 1, 5))
    permuted_statistics(
        START,
        np.zeros(2, np.int64),
        WORD[:, None],
        np.array([3]),
        given["thing"],
        np.zeros((len(WORD), 2), np.int32),
        given["named"],
        WORD,
        *(given[name] for name in ("player", "block", "like", "alike")),
        np.ones((1, 1), bool),
        counts,
        SEED,
        first_number,
        np.zeros(given["block"][-1], np.int64),
        np.zeros(given["alike"][-1], np.int64),
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


def test_attributes_go_with_players_by_whole_games_and_then_within_blocks():
    """Three games of three players, the first two alike: blocks of one and two players."""
    player = np.array([0, 1, 2, 0, 3, 4, 5, 6, 8])  # the first speaks on both boards
    block, alike = np.array([0, 1, 3, 4, 6, 9]), np.array([0, 2, 3])
    role = np.array([1, 0, 0, 0, 0, 1, 0, 1, 0], np.int32)
    found = statistics(
        40, thing=role, named=NAMED[:0], player=player, block=block, like=np.arange(5), alike=alike
    )
    for number in range(40):
        dealer = Dealer(number)
        games = [*dealer.deal(2), *(2 + j for j in dealer.deal(1))]
        source = [3 * game + i for game in games for i in range(3)]
        for low, high in pairwise(block):
            source[low:high] = [source[low + i] for i in dealer.deal(high - low)]
        own = role[source][player]
        assert found[number, AGREEMENT] == pytest.approx(np.mean((own == WORD) & (WORD < 2)))
        assert found[number, SHARE] == pytest.approx(own.mean())
    assert len(set(found[:, AGREEMENT])) > 2


def test_blocks_that_are_alike_have_the_same_order():
    start = np.array([0, 4, 8, 9])
    like = np.array([0, 0, 2])
    role = np.array([0, 1, 1, 0, 1, 0, 0, 1, 0], np.int32)
    found = statistics(40, thing=role, named=NAMED[:0], block=start, like=like)
    for number in range(40):
        order = np.array(Dealer(number).deal(4))
        word = WORD[np.concatenate([order, order + 4, [8]])]
        assert found[number, AGREEMENT] == pytest.approx(np.mean((word == role) & (word < 2)))
    assert len(set(found[:, AGREEMENT])) > 2


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
