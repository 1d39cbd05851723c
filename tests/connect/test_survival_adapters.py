"""The survival world through every adapter."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from pettingzoo.test import parallel_api_test, parallel_seed_test

import interplay
from interplay.connect.parallel_world import ParallelEnvWorld
from interplay.core.policy import RandomPolicy
from interplay.evaluate import PolicyMap, play
from tests.connect.test_pettingzoo import equal
from tests.connect.test_pettingzoo import play as play_env

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


def test_whole_episodes_stay_in_their_spaces_and_repeat(world_id):
    env = interplay.make(world_id, **QUICK)
    story = play_env(env, 5)
    for observation, *_ in story:
        for agent, values in observation.items():
            assert env.observation_space(agent).contains(values)
    last = story[-1][-1]
    assert all(info["metrics/episode_length"] == len(story) - 1 for info in last.values())
    assert equal(story, play_env(env, 5))


def test_the_first_to_die_stays_listed_and_is_paid_to_the_end():
    """1v1-heals-low ends when both are dead; until then the dead get nothing and the living 1 (paper, section 4)."""
    env = interplay.make("survival/1v1-heals-low", **QUICK)
    waited = 0
    for seed in range(4):
        story = play_env(env, seed)
        assert {tuple(rewards) for _, rewards, *_ in story[1:]} == {("agent_0", "agent_1")}
        for _, rewards, *_, infos in story[1:-1]:
            for agent, info in infos.items():
                assert rewards[agent] == float(info["acting"])
                waited += not info["acting"]
    assert waited > 0
    removed = interplay.make("survival/1v1-heals-low", remove_dead=True, **QUICK)
    lengths = {len(rewards) for seed in range(4) for _, rewards, *_ in play_env(removed, seed)[1:]}
    assert lengths == {1, 2}


def test_it_survives_the_round_trip(world_id):
    world = ParallelEnvWorld(interplay.make, 2, kwargs={"world_id": world_id, **QUICK})
    again = ParallelEnvWorld(interplay.make, 2, kwargs={"world_id": world_id, **QUICK})
    tables = [play(w, RandomPolicy(), episodes=3, seed=2) for w in (world, again)]
    assert equal(dict(tables[0].columns), dict(tables[1].columns))


def test_playing_does_not_depend_on_the_batch(world_id):
    """Play from the same seeds: the table of one world is that of five."""
    tables = [
        play(
            interplay.make_world(world_id, num_worlds=w, **QUICK),
            PolicyMap({0: Idle()}, others=Idle()),
            episodes=6,
            seed=3,
        )
        for w in (1, 5)
    ]
    assert equal(dict(tables[0].columns), dict(tables[1].columns))
    assert np.array_equal(tables[0]["return"], tables[0]["episode_return"])


class Idle(RandomPolicy):
    """Stands still."""

    name = "idle"

    def act(self, timestep):
        return np.broadcast_to(np.array([1, 1, 1, 0, 0, 0]), (*timestep.acting.shape, 6))


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
