"""Action masks in our form and in gymnasium's."""

from __future__ import annotations

import numpy as np
import pytest
from gymnasium import spaces

from interplay.core import masks
from interplay.core.spaces import action_choices

SPACES = [
    spaces.Discrete(3, start=2),
    spaces.MultiDiscrete([2, 3], start=[1, 4]),
    spaces.MultiBinary(3),
    spaces.MultiBinary((2, 2)),
]


def test_a_bit_is_forced_off_forced_on_or_free():
    row = np.array([True, False, False, True, True, True])  # off alone, on alone, either
    assert masks.to_gymnasium(spaces.MultiBinary(3), row).tolist() == [0, 1, 2]


@pytest.mark.parametrize("space", SPACES, ids=str)
def test_what_is_drawn_under_a_mask_is_legal_in_both_forms(space):
    rng = np.random.default_rng(3)
    space.seed(3)
    choices = action_choices(space)
    for _ in range(40):
        heads = [rng.random(count) < 0.5 for count in choices]
        for head in heads:
            head[rng.integers(len(head))] = True
        row = np.concatenate(heads)
        mask = masks.to_gymnasium(space, row)
        assert (masks.from_gymnasium(space, mask) == row).all()
        drawn = space.sample(mask)
        start = np.ravel(getattr(space, "start", 0))
        assert all(head[at] for head, at in zip(heads, np.ravel(drawn) - start, strict=True))
        assert masks.is_legal(space, mask, drawn)
