"""Spaces that went through JSON are what they were."""

from __future__ import annotations

import json

import numpy as np
import pytest
from gymnasium import spaces

from interplay.core.pointing import Pointing
from interplay.core.space_json import from_json, to_json
from interplay.registry import make_world
from tests.present import worlds_to_test

SPACES = [
    spaces.Box(0, 1, (), np.float64),
    spaces.Box(-np.inf, 0.1, (2, 3), np.float32),
    spaces.Box(np.array([0, -5], np.int16), np.array([1, 300], np.int16), dtype=np.int16),
    spaces.Box(np.array([0, -np.inf]), np.array([np.inf, np.finfo(np.float64).max]), dtype=np.float64),
    spaces.Box(0, 2**63 - 1, (2,), np.int64),
    spaces.Box(0, 1, (0, 3), np.float32),
    spaces.Discrete(4, start=-1),
    spaces.Discrete(4, dtype=np.int32),
    spaces.MultiDiscrete([2, 3], start=[1, -1]),
    spaces.MultiDiscrete([[2, 3], [4, 5]], dtype=np.int16),
    spaces.MultiBinary(3),
    spaces.MultiBinary((2, 2)),
    spaces.Dict([("z", spaces.Discrete(2)), ("a.b", spaces.Dict(x=spaces.MultiBinary(1)))]),
]


@pytest.mark.parametrize("space", SPACES, ids=str)
def test_a_space_comes_back(space):
    again = from_json(json.loads(json.dumps(to_json(space), allow_nan=False)))
    assert again == space
    assert again.dtype == space.dtype
    if isinstance(space, spaces.Dict):
        assert list(again.spaces) == list(space.spaces)


def test_rows_that_are_pointed_at_come_back():
    again = from_json(json.loads(json.dumps(to_json(Pointing([5, 8], {1: "entities"}, nobody=0)))))
    assert isinstance(again, Pointing)
    assert (again.nvec.tolist(), again.tables, again.nobody) == ([5, 8], {1: "entities"}, 0)


@pytest.mark.parametrize("world_id", [spec.id for spec in worlds_to_test()][::5])
def test_spaces_of_our_worlds_come_back(world_id):
    for kind in make_world(world_id).kinds:
        for space in (kind.observation_space, kind.action_space):
            assert from_json(json.loads(json.dumps(to_json(space)))) == space
