"""Spaces that draw by a mask row: the same spaces, with draws within the row."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from gymnasium import spaces

from interplay.connect.choices import by_row
from interplay.connect.world_env import WorldEnv
from interplay.core import masks
from tests.connect.toys import Fighter

SPACES = [
    spaces.Discrete(3, start=5),
    spaces.MultiDiscrete([2, 3], start=[4, -1]),
    spaces.MultiBinary(3),
    spaces.Dict(a=spaces.Discrete(2, start=-3), b=spaces.MultiDiscrete([2, 2], dtype=np.int32)),
    spaces.Dict(b=spaces.MultiDiscrete([2, 3]), a=spaces.Discrete(4)),
    spaces.Box(-2, 2, (2,), np.float32),
]


@pytest.mark.parametrize("space", SPACES, ids=str)
def test_the_space_is_the_same_and_keeps_to_the_row(space):
    mine = by_row(space)
    assert mine == space
    mine.seed(3)
    rng = np.random.default_rng(0)
    for _ in range(40):
        row = rng.random(masks.length(space)) < 0.5
        for first, last in heads(space):
            row[first + rng.integers(last - first)] = True
        point = mine.sample(row)
        assert space.contains(point)
        if row.size:
            assert masks.is_legal(space, masks.as_gymnasium(space, row), point)


@pytest.mark.parametrize("on_death", [None, "keep"])
def test_masks_of_a_world_stand_in_the_order_of_its_space(on_death):
    env = WorldEnv(Fighter(), on_death=on_death)
    _, infos = env.reset(seed=1)
    assert infos["a"]["action_mask"].tolist() == [True, False, False, False, False, False, True]
    while env.agents:  # the world refuses every other action
        _, _, _, _, infos = env.step({"a": env.action_space("a").sample(infos["a"]["action_mask"])})
    if on_death:  # an idle agent has the first choice of each head
        assert infos["a"]["action_mask"].tolist() == [True, False, False, False, True, False, False]


def heads(space):
    """Where the choices of each head stand in a row."""
    parts = space.spaces.values() if isinstance(space, spaces.Dict) else [space]
    counts = (
        [] if isinstance(space, spaces.Box) else [n for part in parts for n in masks.action_choices(part)]
    )
    ends = np.cumsum([0, *counts])
    return list(itertools.pairwise(ends))
