"""The state hash: every bit counts, the batch does not."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from interplay.core.hashing import hash_rows, mix64


def state(seed, worlds=5):
    rng = np.random.default_rng(seed)
    return {
        "place": rng.normal(size=(worlds, 3, 2)),
        "alive": rng.random((worlds, 3)) < 0.5,
        "clock": rng.integers(0, 9, worlds),
        "none": np.zeros((worlds, 0)),
        "odd": rng.integers(0, 255, (worlds, 13)).astype(np.uint8),
    }


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.data())
def test_every_bit_of_a_row_changes_its_hash_and_no_other(seed, data):
    arrays = state(seed)
    before = hash_rows(arrays)
    name = data.draw(st.sampled_from(["place", "alive", "clock", "odd"]))
    row = data.draw(st.integers(0, 4))
    bits = arrays[name][row : row + 1].copy().reshape(1, -1).view(np.uint8)
    byte = data.draw(st.integers(0, bits.size - 1))
    bits[0, byte] ^= 1 if name == "alive" else 1 << data.draw(st.integers(0, 7))
    arrays[name][row] = bits.view(arrays[name].dtype).reshape(arrays[name][row].shape)
    assert (hash_rows(arrays) != before).tolist() == [w == row for w in range(5)]


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32), st.permutations(range(5)))
def test_hash_does_not_depend_on_batch_or_order(seed, order):
    arrays = state(seed)
    turned = {name: np.asfortranarray(arrays[name][order]) for name in reversed(arrays)}
    assert (hash_rows(turned) == hash_rows(arrays)[order]).all()
    assert (hash_rows({n: a[2:3] for n, a in arrays.items()}) == hash_rows(arrays)[2:3]).all()


def test_values_that_swap_places_or_fields_change_the_hash():
    a, b = np.array([[1.0, 2.0]]), np.array([[3.0]])
    one = hash_rows({"a": a, "b": b})
    assert hash_rows({"a": a[:, ::-1], "b": b}) != one
    assert hash_rows({"b": a, "a": b}) != one
    assert hash_rows({"a": np.array([[1.0]]), "b": np.array([[2.0, 3.0]])}) != one


def test_no_collisions_among_many_small_states():
    count = np.arange(200_000).reshape(-1, 1)
    assert len(np.unique(hash_rows({"count": count}))) == len(count)


def test_mix64_is_the_published_finaliser():
    # First outputs of SplitMix64 seeded with 0 (Steele, Lea, Flood 2014; Java's SplittableRandom).
    golden = np.uint64(0x9E3779B97F4A7C15)
    with np.errstate(over="ignore"):
        states = np.arange(1, 4, dtype=np.uint64) * golden
    expected = [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]
    assert mix64(states).tolist() == expected
