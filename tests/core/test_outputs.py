"""How the checker compares what worlds say: against the definition, NaN and infinity, types and paddings too."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from interplay.checker.outputs import SAVED, Field, digest, first_difference

NUMBERS = st.sampled_from([0.0, -0.0, 1.0, 2.5, np.nan, np.inf, -np.inf])
W, A = 3, 2


@st.composite
def pairs(draw):
    """Two lists of the same fields, equal but for some of their numbers; and which rows are compared."""
    ours, theirs = {}, {}
    for name in ("reward", "metrics/share", "over"):
        shape = (W,) if name == "over" else (W, A)
        slots = None if name == "over" else (1, 0)
        a = np.array(draw(st.lists(NUMBERS, min_size=W * A, max_size=W * A)))[: int(np.prod(shape))].reshape(
            shape
        )
        b = a.copy()
        for at in draw(st.lists(st.integers(0, a.size - 1), max_size=1)):
            b.reshape(-1)[at] = draw(NUMBERS)
        ours[name], theirs[name] = Field(a, slots), Field(b, slots)
    rows = draw(st.lists(st.integers(0, W - 1), min_size=1, max_size=W, unique=True))
    return ours, theirs, rows


@settings(max_examples=100)
@given(pairs())
def test_the_first_number_that_differs_is_found_and_nan_equals_nan_alone(case):
    ours, theirs, rows = case
    expected = None
    for name, (a, slots) in ours.items():
        b = theirs[name].array
        for row, w in enumerate(rows):
            for slot in range(A) if a.ndim == 2 else (None,):
                x, y = (array[w] if slot is None else array[w, slot] for array in (a, b))
                same = x == y or (np.isnan(x) and np.isnan(y))
                if not same and expected is None:
                    expected = (name, row, None if slot is None else slots[slot], x, y)
    found = first_difference(ours, theirs, rows, rows)
    assert (found is None) == (expected is None)
    if expected is not None:
        assert found[:3] == expected[:3]
        np.testing.assert_array_equal(found[3:], expected[3:])


def fields(**arrays):
    return {name: Field(array, None) for name, array in arrays.items()}


def test_other_types_shapes_and_names_differ():
    whole = np.arange(W)
    for other in (whole.astype(np.int32), whole.astype(float), np.zeros((W, 1), int), whole + 1):
        at = first_difference(fields(a=whole), fields(a=other), range(W), range(W))
        assert at is not None
        assert at.field == "a"
    assert first_difference(fields(a=whole), fields(a=whole.copy()), range(W), range(W)) is None
    assert first_difference(fields(a=whole), fields(), range(W), range(W)).field == "a"
    assert first_difference(fields(), fields(a=whole), range(W), range(W)).field == "a"


def test_rows_are_compared_with_the_rows_that_they_are_paired_with():
    a, b = np.array([[1], [2], [3]]), np.array([[3], [1], [2]])
    assert first_difference(fields(a=a), fields(a=b), [0, 1, 2], [1, 2, 0]) is None
    assert first_difference(fields(a=a), fields(a=b), [0, 1, 2], [1, 0, 2]).row == 1


def test_snapshots_alone_may_be_longer_by_zeros():
    a, b = np.array([[1, 2]]), np.array([[1, 2, 0]])
    saved = f"{SAVED}list"
    assert first_difference(fields(**{saved: a}), fields(**{saved: b}), [0], [0]) is None
    assert first_difference(fields(**{saved: a}), fields(**{saved: b + 1}), [0], [0]) is not None
    assert first_difference(fields(list=a), fields(list=b), [0], [0]) is not None


@settings(max_examples=50)
@given(pairs())
def test_rows_that_say_the_same_bits_have_one_digest(case):
    ours, theirs, _ = case
    for w in range(W):
        same = all(
            np.array_equal(ours[n].array[w].view(np.int64), theirs[n].array[w].view(np.int64)) for n in ours
        )
        assert (digest(ours)[w] == digest(theirs)[w]) == same
