"""Draws for rules in plain NumPy: bit for bit those of the kernels, from the same streams."""

from __future__ import annotations

import numpy as np
import pytest

from interplay.core import seeding
from interplay.kernels.philox import draw_integers, draw_uniform, integer_below, uniform


def begun(worlds=5, seed=3):
    stream = seeding.new_stream(worlds)
    seeding.begin_episode(stream, np.ones(worlds, bool), seeding.world_seeds(seed, worlds))
    stream[:, seeding.EPISODE] = [0, 1, 2**32 - 1, 2**32, 2**63]
    stream[:, seeding.DRAWS] = [0, 7, 2**32 - 2, 5, 2**63]  # a draw's number may cross its lower half
    return stream


def one_by_one(draw, stream, which, count, *bound):
    found = []
    for w in np.flatnonzero(which):
        seed, episode, first = stream[w]
        found.append([draw(seed, episode, first + np.uint64(k), *bound) for k in range(count)])
    return np.array(found)


WHICH = np.array([True, True, True, False, True])


def test_uniform_draws_are_those_of_the_kernel():
    stream = begun()
    expected = one_by_one(uniform, stream, WHICH, 6)
    found = draw_uniform(stream, WHICH, 6)
    assert found.dtype == np.float64
    assert np.array_equal(found, expected)


@pytest.mark.parametrize("bound", [1, 2, 7, 2**31])
def test_integers_are_those_of_the_kernel(bound):
    stream = begun()
    expected = one_by_one(integer_below, stream, WHICH, 6, bound)
    found = draw_integers(stream, WHICH, 6, bound)
    assert found.dtype == np.int64
    assert np.array_equal(found, expected)


def test_the_streams_of_the_named_worlds_move_on():
    stream = begun()
    before = stream.copy()
    both = draw_uniform(stream, WHICH, 6)
    assert (stream[:, seeding.DRAWS] - before[:, seeding.DRAWS]).tolist() == [6, 6, 6, 0, 6]
    assert np.array_equal(stream[:, :2], before[:, :2])
    assert np.array_equal(np.hstack([draw_uniform(before, WHICH, 2), draw_uniform(before, WHICH, 4)]), both)


def test_nobody_draws_where_nobody_is_named():
    stream = begun()
    before = stream.copy()
    assert draw_integers(stream, np.zeros(5, bool), 4, 3).shape == (0, 4)
    assert np.array_equal(stream, before)
