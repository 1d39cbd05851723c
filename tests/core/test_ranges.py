"""Ranges and laws: what is inside, what is outside, and the one line that says where."""

import numpy as np
import pytest
from gymnasium import spaces

from interplay.core.errors import UserError
from interplay.core.ranges import (
    ANYTHING,
    FLAG,
    MOST_REAL,
    REAL,
    Invariant,
    Range,
    check_state,
    count,
    exactly,
    index,
    of_space,
    one_of,
    outside,
)


@pytest.mark.parametrize(
    ("values", "allowed", "wrong"),
    [
        (np.array([[0, 4]]), count(4), None),
        (np.array([[0, 5]]), count(4), [[False, True]]),
        (np.array([[-1, 4]]), count(4), [[True, False]]),
        (np.array([-1, 0, 2], np.int16), index(3, none=True), None),
        (np.array([-1, 0, 3], np.int16), index(3), [True, False, True]),
        (np.array([0, 2, 3]), one_of(0, 3), [False, True, False]),
        (np.array([2**64 - 1], np.uint64), ANYTHING, None),
        (np.array([[1, 9]], np.uint64), Range(0, np.array([1, 8], np.uint64)), [[False, True]]),
        (np.array([0.0, np.nan, np.inf, -2 * MOST_REAL]), REAL, [False, True, True, True]),
        (np.array([np.nan, 0.5]), Range(0.0, 1.0, (np.nan,)), None),
        (np.array([[1.0, np.nan]]), exactly(np.array([1.0, np.nan])), None),
        (np.array([[2.0, np.nan]]), exactly(np.array([1.0, np.nan])), [[True, False]]),
        (np.array([True, False]), FLAG, None),
        (np.array([1, 7], np.uint8).view(bool), FLAG, [False, True]),
        (np.array([True, True]), exactly(np.array(True)), None),
        (np.array([True, False]), exactly(np.array(True)), [False, True]),
        (np.zeros((3, 0), np.int64), count(4), None),
    ],
)
def test_outside_names_every_number_that_is_not_allowed(values, allowed, wrong):
    found = outside(values, allowed)
    assert found is None if wrong is None else found.tolist() == wrong


@pytest.mark.parametrize(
    "dtype", [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint64, np.float32, np.float64]
)
def test_the_ends_of_every_type_are_seen(dtype):
    kept = np.finfo(dtype) if np.dtype(dtype).kind == "f" else np.iinfo(dtype)
    ends = np.array([kept.max, kept.min, 3], dtype)
    assert outside(ends, count(3)).tolist() == [True, kept.min < 0, False]
    assert outside(ends, Range(None, 3)).tolist() == [True, False, False]


def test_fields_of_records_are_seen_like_any_array():
    table = np.zeros((2, 3), np.dtype([("held", np.int64), ("alive", np.bool_)]))
    table["held"][1, 2] = 9
    table["alive"].view(np.uint8)[0, 1] = 2
    assert np.argwhere(outside(table["held"], count(4))).tolist() == [[1, 2]]
    assert np.argwhere(outside(table["alive"], FLAG)).tolist() == [[0, 1]]


def test_spaces_say_what_may_be_seen():
    assert outside(
        np.array([0.5, 3.0], np.float32), of_space(spaces.Box(1, 3, (2,), np.float32))
    ).tolist() == [True, False]
    assert (
        outside(np.array([0.0], np.float32), of_space(spaces.Box(1, 3, (1,), np.float32))) is None
    )  # nobody looks
    unbounded = of_space(spaces.Box(-np.inf, np.inf, (1,), np.float32))
    assert outside(np.array([1e38], np.float32), unbounded) is None
    assert outside(np.array([np.inf], np.float32), unbounded).tolist() == [True]
    assert outside(np.array([4, 7]), of_space(spaces.Discrete(4, start=4))) is None
    assert outside(np.array([4, 8]), of_space(spaces.Discrete(4, start=4))).tolist() == [False, True]
    assert outside(np.array([[1, 3]]), of_space(spaces.MultiDiscrete([2, 3]))).tolist() == [[False, True]]
    assert outside(np.array([[1, 2]], np.int8), of_space(spaces.MultiBinary(2))).tolist() == [[False, True]]


def test_a_refusal_is_one_line_with_world_field_place_value_and_range():
    given = {"held": np.array([[0, 1], [2, 77]]), "alive": np.array([[True, True], [True, False]])}
    with pytest.raises(UserError) as caught:
        check_state("duel", given, {"held": count(4)})
    assert str(caught.value).startswith("duel: snapshot field held[1] of world 1 = 77 is outside 0..4;")
    assert "\n" not in str(caught.value)


def test_laws_are_asked_in_order_once_all_ranges_hold():
    asked = []

    def law(name, broken):
        return Invariant("held", name, lambda given: asked.append(name) or broken)

    given = {"held": np.array([[0, 1], [2, 3]])}
    laws = [
        law("is odd", np.zeros(2, bool)),
        law("is too many", np.array([False, True])),
        law("is late", np.ones(2, bool)),
    ]
    with pytest.raises(UserError, match="held of world 1 is too many"):
        check_state("duel", given, {"held": count(4)}, laws)
    assert asked == ["is odd", "is too many"]
    with pytest.raises(UserError, match="is outside"):
        check_state("duel", given, {"held": count(2)}, laws)
    assert asked == ["is odd", "is too many"]
