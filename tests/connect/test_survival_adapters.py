"""The survival world through every adapter."""

from __future__ import annotations

import warnings

import pytest
from pettingzoo.test import parallel_api_test, parallel_seed_test

import interplay
from interplay.connect.parallel_world import ParallelEnvWorld
from interplay.core.policy import RandomPolicy
from interplay.evaluate import play
from tests.connect.test_pettingzoo import equal

WORLDS = ("survival/1v1-heals-low", "survival/2v2-all-mid")
QUICK = {"zone_cooldown": 10}


@pytest.fixture(params=WORLDS)
def world_id(request):
    return request.param


def test_pettingzoos_own_tests(world_id):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parallel_api_test(interplay.make(world_id, **QUICK), num_cycles=300)
        parallel_seed_test(lambda: interplay.make(world_id, **QUICK), num_cycles=100)


def test_it_survives_the_round_trip(world_id):
    world = ParallelEnvWorld(interplay.make, 2, kwargs={"world_id": world_id, **QUICK})
    again = ParallelEnvWorld(interplay.make, 2, kwargs={"world_id": world_id, **QUICK})
    tables = [play(w, RandomPolicy(), episodes=3, seed=2) for w in (world, again)]
    assert equal(dict(tables[0].columns), dict(tables[1].columns))


def test_sb3_trains_it():
    pytest.importorskip("stable_baselines3", reason="the extra sb3 is not installed")
    import torch
    from stable_baselines3 import PPO

    from interplay.connect.sb3 import SB3VecEnv

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    env = SB3VecEnv(interplay.make_world("survival/1v1-heals-low", num_worlds=4, **QUICK))
    model = PPO("MultiInputPolicy", env, n_steps=64, batch_size=256, n_epochs=2, seed=0)
    before = model.policy.state_dict()["action_net.weight"].clone()
    model.learn(2 * 64 * 8)
    torch.set_num_threads(threads)
    assert model.num_timesteps == 2 * 64 * 8
    assert not torch.equal(before, model.policy.state_dict()["action_net.weight"])
    assert torch.isfinite(model.policy.state_dict()["action_net.weight"]).all()
