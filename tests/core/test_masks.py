"""Whether a mask allows an action, for spaces that start elsewhere than at 0."""

from __future__ import annotations

import numpy as np
import pytest
from gymnasium import spaces

from interplay.core.masks import from_gymnasium, is_legal, to_gymnasium

RNG = np.random.default_rng(5)


@pytest.mark.parametrize("start", [-7, -1, 0, 1, 300])
def test_a_choice_is_looked_up_from_the_start(start):
    space, mask = spaces.Discrete(4, start=start), np.array([1, 0, 0, 1], np.int8)
    assert [is_legal(space, mask, start + choice) for choice in range(4)] == [True, False, False, True]
    assert [is_legal(space, mask, np.int16(start + choice)) for choice in range(4)] == [
        True,
        False,
        False,
        True,
    ]
    # Numbers that are no choice are for the space to refuse; they must not be read from the mask's other end.
    assert is_legal(space, np.zeros(4, np.int8), start - 1)
    assert is_legal(space, np.zeros(4, np.int8), start + 4)


@pytest.mark.parametrize("start", [(0, 0), (3, -2), (-1, 5)])
def test_each_head_has_its_own_start(start):
    space = spaces.MultiDiscrete([2, 3], start=start)
    mask = (np.array([0, 1], np.int8), np.array([1, 0, 1], np.int8))
    legal = {(a, b) for a in range(2) for b in range(3) if is_legal(space, mask, np.add(start, (a, b)))}
    assert legal == {(1, 0), (1, 2)}


def test_parts_without_a_mask_are_free():
    space = spaces.Dict(say=spaces.Discrete(2, start=4), go=spaces.Box(-1, 1, (2,), int))
    mask = {"say": np.array([0, 1], np.int8), "go": None}
    assert not is_legal(space, mask, {"say": 4, "go": np.array([0, 0])})
    assert is_legal(space, mask, {"say": 5, "go": np.array([0, 0])})
    assert is_legal(space, {}, {"say": 4, "go": np.array([0, 0])})
    assert is_legal(space, None, {"say": 4, "go": np.array([0, 0])})


@pytest.mark.parametrize(
    "space",
    [spaces.Discrete(5, start=-3), spaces.MultiDiscrete([2, 4, 3], start=[1, -1, 9])],
    ids=str,
)
def test_what_is_drawn_with_a_mask_is_legal_and_nothing_else_is(space):
    sizes = [int(space.n)] if isinstance(space, spaces.Discrete) else space.nvec.tolist()
    space.seed(1)
    for _ in range(20):
        row = np.concatenate(
            [np.roll(RNG.random(n) < 0.5, 0) | (np.arange(n) == RNG.integers(n)) for n in sizes]
        )
        mask = to_gymnasium(space, row)
        assert from_gymnasium(space, mask).tolist() == row.tolist()
        assert is_legal(space, mask, space.sample(mask))
        opposite = to_gymnasium(space, ~row)
        assert not is_legal(space, opposite, space.sample(mask))
