"""Masks of other people's environments: each form is read as meant, and the others are refused by name."""

from __future__ import annotations

import numpy as np
import pytest
from gymnasium import spaces

from interplay.checker import check_world
from interplay.connect.parallel_world import ParallelEnvWorld
from interplay.core.errors import UserError
from interplay.core.masks import masked_heads
from interplay.core.policy import RandomPolicy
from tests.connect.masked_envs import Maskable, Masked

FOUR, PUSH = spaces.Discrete(4), spaces.Box(-1, 1, (2,), np.float32)
BOTH = spaces.Dict(push=PUSH, pick=spaces.Discrete(3))
PAIR = spaces.MultiDiscrete([2, 3])
TABLE = spaces.MultiDiscrete([[2, 3], [2, 2]])
NESTED = spaces.Dict(a=spaces.Dict(x=spaces.Discrete(2), y=PAIR), z=PUSH)
WHOLE = spaces.Box(0, 2, (2,), np.int64)
FLAGS = spaces.MultiBinary(2)


def row(size):
    return spaces.Box(0, 1, (size,), np.int8)


READ = {
    "int8": (FOUR, np.array([1, 0, 0, 1], np.int8), None, {"action": [1, 0, 0, 1]}),
    "float": (FOUR, np.array([1.0, 0, 0, 1]), None, {"action": [1, 0, 0, 1]}),
    "bool": (FOUR, np.array([True, False, False, True]), None, {"action": [1, 0, 0, 1]}),
    "list": (FOUR, [1, 0, 0, 1], None, {"action": [1, 0, 0, 1]}),
    "start": (spaces.Discrete(3, start=5), [1, 0, 0], None, {"action": [1, 0, 0]}),
    "row of heads": (PAIR, [1, 0, 1, 1, 0], None, {"action": [1, 0, 1, 1, 0]}),
    "lists of heads": (PAIR, [[1, 0], [1, 1, 0]], None, {"action": [1, 0, 1, 1, 0]}),
    "heads on two axes": (
        TABLE,
        (([1, 0], [1, 1, 0]), ([1, 1], [0, 1])),
        None,
        {"action": [1, 0, 1, 1, 0, 1, 1, 0, 1]},
    ),
    "flags": (FLAGS, np.array([2, 1], np.int8), None, {"action": [1, 1, 0, 1]}),
    "row of a Dict": (BOTH, np.array([1, 0, 1], np.int8), None, {"pick": [1, 0, 1]}),
    "list of a Dict": (BOTH, [1, 0, 1], None, {"pick": [1, 0, 1]}),
    "parts of a Dict": (BOTH, {"push": None, "pick": [1, 0, 0]}, None, {"pick": [1, 0, 0]}),
    "row in the observation": (BOTH, np.array([1, 0, 1], np.int8), row(3), {"pick": [1, 0, 1]}),
    "parts in the observation": (BOTH, {"pick": [0, 0, 1]}, spaces.Dict(pick=row(3)), {"pick": [0, 0, 1]}),
    "row of a nested Dict": (NESTED, [1, 0, 0, 1, 1, 1, 0], None, {"a.x": [1, 0], "a.y": [0, 1, 1, 1, 0]}),
    "parts of a nested Dict": (NESTED, {"a": {"y": ([1, 0], [0, 1, 1])}}, None, {"a.y": [1, 0, 0, 1, 1]}),
    "whole numbers": (WHOLE, [1, 1, 0, 0, 0, 1], None, {"action": [1, 1, 0, 0, 0, 1]}),
    "points of whole numbers": (WHOLE, np.ones((3, 3)), None, {}),
}

REFUSED = {
    "too short": (FOUR, [1, 0, 1], None, "3"),
    "of points": (FOUR, [0, 2, 3, 3], None, "holds 2"),
    "of logits": (FOUR, np.array([0, -np.inf, 0, 0]), None, "holds -inf"),
    "heads in another order": (PAIR, ([1, 0, 1], [1, 1]), None, r"3 \+ 2"),
    "bools of flags": (FLAGS, np.array([True, False]), None, "free"),
    "of a Box": (PUSH, np.ones(2), None, "no choices"),
    "of a Box in the observation": (PUSH, np.ones(2), row(2), "no choices"),
    "of a Dict's Box": (BOTH, {"push": np.ones(2)}, None, "no choices"),
    "of an unknown part": (BOTH, {"pik": [1, 0, 0]}, None, "pik"),
    "a Dict's row, too short": (BOTH, [1, 0], None, "2 entries"),
    "a Dict's row in the observation, too long": (BOTH, np.ones(4), row(4), "4 entries"),
    "of whole numbers, odd": (WHOLE, np.ones(4), None, "6 entries"),
    "missing later": (FOUR, lambda t: None if t == 5 else np.ones(4), None, "without an action"),
    "late": (FOUR, lambda t: np.ones(4) if t > 2 else None, None, "reset"),
    "late part": (NESTED, lambda t: {"a": {"x": [1, 1]}} if t < 2 else {"a": {"y": [1] * 5}}, None, "a y"),
    "empty": (FOUR, lambda t: np.full(4, t != 3), None, "step 3"),
    "empty head": (PAIR, lambda t: [1, 1, t != 3, t != 3, t != 3], None, "step 3"),
    "empty at reset": (FOUR, np.zeros(4), None, "step 0"),
}


def played(make):
    """A world after random legal steps to the episode's end."""
    world, player = ParallelEnvWorld(make, 2), RandomPolicy()
    step = world.reset()
    player.start(world, seed=0)
    while not step.over.all():
        step = world.step(player.act(step))
    return world


@pytest.mark.parametrize("case", READ)
def test_a_mask_is_read_as_it_is_meant(case):
    acts, mask, space, rows = READ[case]
    world = ParallelEnvWorld(lambda: Masked(acts, mask, space), 1)
    shown = world.reset().action_mask or {}
    assert {name: part[0, 1].astype(int).tolist() for name, part in shown.items()} == rows
    assert "action_mask" not in world.observation_space.spaces


@pytest.mark.parametrize("case", REFUSED)
def test_a_mask_that_cannot_be_honoured_is_refused(case):
    acts, mask, space, key = REFUSED[case]
    with pytest.raises(UserError, match=f"(?=.*mask).*{key}"):
        played(lambda: Masked(acts, mask, space))


@pytest.mark.parametrize("key", ["action_masks", "actionmask", "Action_Mask"])
@pytest.mark.parametrize("where", [None, row(4), "late"])
def test_a_misspelt_mask_is_refused(key, where):
    mask = (lambda t: np.ones(4) if t > 1 else None) if where == "late" else np.ones(4)
    with pytest.raises(UserError, match=key):
        played(lambda: Masked(FOUR, mask, None if where == "late" else where, key))


def test_other_names_are_free():
    assert played(lambda: Masked(FOUR, np.ones(4), None, "action_mean")).timestep.action_mask is None


def test_masks_of_sb3_contrib_are_honoured():
    world, player = ParallelEnvWorld(Maskable, 2), RandomPolicy()
    step = world.reset()
    player.start(world, seed=0)
    for t in range(5):
        step = world.step(player.act(step))
        assert step.reward.ravel().tolist() == [t % 3] * 2


def test_one_line_names_the_masked_heads():
    for mask, words in (([1, 0, 1], "agent: pick"), (None, "none")):
        world = ParallelEnvWorld(lambda mask=mask: Masked(BOTH, mask), 1)
        assert words in masked_heads(world, world.reset())
    report = check_world(lambda n, seed: ParallelEnvWorld(lambda: Masked(BOTH, [1, 0, 1]), n, seed), steps=10)
    assert report.ok
    assert "agent: pick" in report.masks
