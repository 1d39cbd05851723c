"""Streams: a world's seed depends on (seed, index) alone, and episodes follow one another."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from interplay.core import seeding


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**64 - 1), st.integers(0, 40), st.integers(1, 40))
def test_seeds_do_not_depend_on_the_batch(seed, first, count):
    whole = seeding.world_seeds(seed, first + count)
    assert (seeding.world_seeds(seed, count, first) == whole[first:]).all()


def test_seeds_differ_over_worlds_and_runs():
    seeds = np.concatenate([seeding.world_seeds(seed, 1000) for seed in (0, 1, 2, 2**63, 2**64 - 1)])
    assert len(np.unique(seeds)) == 5000


def test_the_last_worlds_there_are():
    assert len(np.unique(seeding.world_seeds(0, 3, 2**64 - 3))) == 3


def test_episodes_advance_where_named_and_new_seeds_begin_at_zero():
    stream = seeding.new_stream(3)
    seeding.begin_episode(stream, np.ones(3, bool), np.array([7, 8, 9], np.uint64))
    stream[:, seeding.DRAWS] = 5
    seeding.begin_episode(stream, np.array([True, False, True]), None)
    assert stream.tolist() == [[7, 1, 0], [8, 0, 5], [9, 1, 0]]
    seeding.begin_episode(stream, np.array([False, False, True]), np.array([1, 2, 3], np.uint64))
    assert stream.tolist() == [[7, 1, 0], [8, 0, 5], [3, 0, 0]]


def test_generators_are_named_by_their_key():
    draw = [seeding.generator(*key).integers(2**62) for key in ((1, 2), (1, 2), (2, 1), (1,))]
    assert draw[0] == draw[1]
    assert len(set(draw)) == 3
