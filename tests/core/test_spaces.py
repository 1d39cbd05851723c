"""Actions are checked, cast and sampled as their spaces say."""

import numpy as np
import pytest
from gymnasium import spaces
from hypothesis import given, settings
from hypothesis import strategies as st

from interplay.core.errors import UserError
from interplay.core.spaces import action_choices, check_action, sample_actions

SPACES = [
    spaces.Discrete(5),
    spaces.Discrete(3, start=-1),
    spaces.MultiDiscrete([3, 3, 3, 2, 2, 2]),
    spaces.MultiDiscrete([[2, 3], [4, 1]], start=[[1, 0], [0, 7]]),
    spaces.MultiBinary(3),
    spaces.Box(-1, 1, (2,), np.float32),
    spaces.Box(-np.inf, np.inf, (), np.float64),
    spaces.Box(0, 255, (2,), np.uint8),
    spaces.Dict({"a": spaces.Discrete(2), "b": spaces.Dict({"c": spaces.Box(0, 1, (1,), np.float32)})}),
]


def leaves(tree):
    return [leaf for part in tree.values() for leaf in leaves(part)] if isinstance(tree, dict) else [tree]


@pytest.mark.parametrize("space", SPACES, ids=str)
def test_samples_lie_in_the_space_with_its_dtype(space):
    actions = sample_actions(space, np.random.default_rng(0), (4, 3))
    checked = check_action("w", space, actions, 4, 3)
    for a, b in zip(leaves(actions), leaves(checked), strict=True):
        assert a.shape[:2] == (4, 3)
        assert a.dtype == b.dtype
        assert (a == b).all()
    if not isinstance(space, spaces.Dict):
        rows = checked.reshape(12, *space.shape)
        assert all(space.contains(np.asarray(row, space.dtype)) for row in rows)


@settings(max_examples=60, deadline=None)
@given(st.integers(-4, 9), st.sampled_from([np.int8, np.int16, np.int32, np.int64]))
def test_integer_actions_are_taken_exactly_in_range_and_cast(value, dtype):
    space = spaces.Discrete(5, start=1)
    action = np.full((1, 2), value, dtype)
    if 1 <= value <= 5:
        checked = check_action("w", space, action, 1, 2)
        assert checked.dtype == space.dtype
        assert (checked == value).all()
    else:
        with pytest.raises(UserError, match=r"outside 1\.\.5"):
            check_action("w", space, action, 1, 2)


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_any_integers_are_taken_as_slow_python_takes_them(data):
    """Ends of every integer type beside choices that fill a type and such that do not: nothing may wrap around."""
    parts = data.draw(st.integers(1, 3))
    count = [data.draw(st.sampled_from([1, 2, 9, 127, 128, 255, 256, 300, 2**40])) for _ in range(parts)]
    low = [data.draw(st.sampled_from([0, 0, 0, -1, 2])) for _ in range(parts)]
    space = spaces.MultiDiscrete(count, start=low)
    dtype = np.dtype(data.draw(st.sampled_from(["i1", "i2", "i4", "i8", "u1", "u2", "u4"])))
    ends = np.iinfo(dtype)
    near = st.sampled_from([0, 0, 1, 2, 8, 126, 127, 128, 254, 255, -1, -128, ends.min, ends.max])
    values = [min(max(data.draw(near), int(ends.min)), int(ends.max)) for _ in range(2 * parts)]
    action = np.array(values, dtype).reshape(1, 2, parts)
    inside = all(low[i % parts] <= v < low[i % parts] + count[i % parts] for i, v in enumerate(values))
    if inside:
        assert check_action("w", space, action, 1, 2).tolist() == action.tolist()
    else:
        with pytest.raises(UserError, match="outside"):
            check_action("w", space, action, 1, 2)


def test_float64_next_to_a_float32_bound_is_that_bound():
    space = spaces.Box(-1, 1, (), np.float32)
    assert check_action("w", space, np.array([[1 + 1e-12]]), 1, 1).item() == 1.0


def test_bool_actions_are_zero_and_one():
    checked = check_action("w", spaces.MultiBinary(2), np.array([[[True, False]]]), 1, 1)
    assert checked.tolist() == [[[1, 0]]]


def test_choices_of_each_head():
    assert action_choices(spaces.Discrete(5)) == (5,)
    assert action_choices(spaces.MultiDiscrete([[2, 3], [4, 1]])) == (2, 3, 4, 1)
    assert action_choices(spaces.MultiBinary(2)) == (2, 2)


DRAWN = {
    "choice": (spaces.Discrete(3), {0, 1, 2}),
    "choice from below 0": (spaces.Discrete(3, start=-4), {-4, -3, -2}),
    "choices": (spaces.MultiDiscrete([2, 3], start=[5, -1]), ({5, 6}, {-1, 0, 1})),
    "switches": (spaces.MultiBinary(2), ({0, 1}, {0, 1})),
    "whole numbers": (spaces.Box(np.array([-1, 3]), np.array([1, 4]), dtype=np.int64), ({-1, 0, 1}, {3, 4})),
    "small whole numbers": (spaces.Box(253, 255, (1,), np.uint8), ({253, 254, 255},)),
    "whole numbers without bounds": (spaces.Box(-3, 3, (1,), np.int8), (set(range(-3, 4)),)),
}


@pytest.mark.parametrize("name", DRAWN)
def test_random_actions_are_every_point_of_their_space_and_no_other(name):
    """Both ends of every range are reached, whatever it begins with."""
    space, points = DRAWN[name]
    drawn = sample_actions(space, np.random.default_rng(1), (40, 5))
    assert drawn.shape == (40, 5, *space.shape)
    assert drawn.dtype == space.dtype
    assert check_action("owner", space, drawn, 40, 5) is not None
    columns = drawn.reshape(200, -1).T.tolist()
    assert [set(column) for column in columns] == ([points] if space.shape == () else list(points))
    assert not np.array_equal(drawn, sample_actions(space, np.random.default_rng(2), (40, 5)))


def test_random_real_numbers_fill_their_box():
    low, high = np.array([-2.0, 5.0, -np.inf], np.float32), np.array([2.0, 6.0, 0.5], np.float32)
    space = spaces.Box(low, high, dtype=np.float32)
    drawn = sample_actions(space, np.random.default_rng(1), (100, 20)).reshape(-1, 3)
    for column, least, most in zip(drawn.T, (-2, 5, -1), (2, 6, 0.5), strict=True):
        assert least <= column.min() < least + 0.02 * (most - least)
        assert most >= column.max() > most - 0.02 * (most - least)
