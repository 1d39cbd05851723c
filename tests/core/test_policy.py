"""Random play: legal, uniform, and named by its seed."""

import numpy as np
import pytest
from gymnasium import spaces

from interplay.core.policy import RandomPolicy, sample_legal
from interplay.core.spaces import action_choices, check_action
from tests.checker.sound_worlds import SOUND, Camp


@pytest.mark.parametrize("world", SOUND)
def test_random_play_is_legal_and_the_same_for_a_seed(world):
    hashes = []
    for seed in (3, 3, 4):
        batch, policy = world(3), RandomPolicy()
        batch.reset(seeds=1)
        policy.start(batch, seed)
        for _ in range(12):
            batch.step(policy.act(batch.timestep))
        hashes.append(batch.hash().tolist())
    assert hashes[0] == hashes[1] != hashes[2]


@pytest.mark.parametrize(
    "space",
    [
        spaces.Discrete(4, start=2),
        spaces.MultiDiscrete([3, 2]),
        spaces.MultiDiscrete([[2, 3], [4, 2]], start=[[1, 1], [0, 5]]),
        spaces.MultiBinary(3),
    ],
    ids=str,
)
def test_only_legal_choices_are_drawn_and_all_of_them(space):
    counts = action_choices(space)
    mask = np.zeros(sum(counts), bool)
    allowed, start = [], 0
    first = np.broadcast_to(getattr(space, "start", 0), space.shape or ()).reshape(-1)
    for head, count in enumerate(counts):
        mask[start : start + count] = np.arange(count) >= count - 2  # the last two
        allowed.append({int(first[head]) + count - 2, int(first[head]) + count - 1})
        start += count
    masks = {"action": np.broadcast_to(mask, (50, 4, mask.size))}
    actions = sample_legal(space, masks, np.random.default_rng(0), (50, 4))
    assert actions.dtype == space.dtype
    check_action("w", space, actions, 50, 4)
    columns = actions.reshape(200, -1)
    assert [set(columns[:, head].tolist()) for head in range(len(counts))] == allowed


def test_legal_choices_are_uniform():
    mask = {"action": np.broadcast_to(np.array([True, False, True, True]), (3000, 4, 4))}
    actions = sample_legal(spaces.Discrete(4), mask, np.random.default_rng(1), (3000, 4))
    share = np.bincount(actions.reshape(-1), minlength=4) / actions.size
    assert share[1] == 0
    assert np.abs(share[[0, 2, 3]] - 1 / 3).max() < 0.02  # 4.6 standard errors


def test_keys_without_a_mask_are_free():
    space = spaces.Dict({"a": spaces.Discrete(2), "b": spaces.Discrete(3)})
    mask = {"a": np.tile([False, True], (60, 1, 1))}
    actions = sample_legal(space, mask, np.random.default_rng(2), (60, 1))
    assert set(actions["a"].reshape(-1).tolist()) == {1}
    assert set(actions["b"].reshape(-1).tolist()) == {0, 1, 2}


def test_start_rewinds_the_policys_stream():
    world, policy = Camp(2), RandomPolicy()
    world.reset()
    policy.start(world, 9)
    first = policy.act(world.timestep)
    policy.act(world.timestep)
    policy.start(world, 9)
    assert (policy.act(world.timestep) == first).all()
