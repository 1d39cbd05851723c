"""Worlds with respawns in RLlib: each life is an agent, an episode has so many; PPO trains on them."""

from __future__ import annotations

import os

import numpy as np
import pytest

pytest.importorskip("ray.rllib", reason="the extra rllib is not installed")

import ray
import torch
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.connectors.env_to_module import FlattenObservations
from ray.tune.registry import register_env

from interplay.connect.pettingzoo import WorldEnv
from interplay.connect.rllib import WorldMultiAgentEnv, world_to_rllib
from interplay.core.errors import UserError
from tests.connect.relay import Relay

pytestmark = pytest.mark.slow

SMALL = {"slots": 8, "interior": 20, "npop": 2, "prefill": 6, "food": 6, "water": 6}


def relay(lives, *story):
    return WorldMultiAgentEnv(WorldEnv(Relay(1, story=story), lives=lives))


def test_the_life_too_many_cuts_the_episode():
    env = relay(3, "oo*oooo", "-ooxooo")
    assert env.possible_agents == ["life_0", "life_1", "life_2"]
    assert list(env.reset()[0]) == ["life_0"]
    assert sorted(env.step({"life_0": 0})[0]) == ["life_0", "life_1"]
    observations, rewards, terminated, truncated, _ = env.step({"life_0": 0, "life_1": 0})
    assert sorted(observations) == sorted(rewards) == ["life_0", "life_1", "life_2"]
    assert terminated == {"life_0": True, "life_1": False, "life_2": False, "__all__": False}
    assert not any(truncated.values())
    observations, _, terminated, truncated, _ = env.step({"life_1": 0, "life_2": 0})
    assert terminated["life_1"]
    assert not terminated["__all__"]
    # In the next step life_3 would be born.
    observations, rewards, terminated, truncated, infos = env.step({"life_2": 0})
    assert list(observations) == list(rewards) == list(infos) == ["life_2"]
    assert terminated == {"life_2": False, "__all__": False}
    assert truncated == {"life_2": False, "__all__": True}
    assert env.agents == ["life_2"]
    assert list(env.reset()[0]) == ["life_0"]


def test_an_end_in_the_step_of_the_limit_leaves_the_episode_truncated():
    env = relay(2, "oox", "ooc")
    env.reset()
    env.step({"life_0": 0, "life_1": 0})
    _, _, terminated, truncated, _ = env.step({"life_0": 0, "life_1": 0})
    assert terminated == {"life_0": True, "life_1": False, "__all__": False}
    assert truncated == {"life_0": False, "life_1": False, "__all__": True}


def test_whoever_lives_is_cut_and_shown():
    env = relay(1, "oooo", "-oooo"[:4])
    env.reset()
    observations, rewards, terminated, truncated, _ = env.step({"life_0": 0})
    assert observations["life_0"]["place"] == 1
    assert rewards == {"life_0": pytest.approx(0.01)}
    assert (terminated, truncated) == (
        {"life_0": False, "__all__": False},
        {"life_0": False, "__all__": True},
    )


def test_the_episode_begins_with_the_first_birth_and_ends_when_nobody_survives():
    """RLlib ends an episode when all its agents are done, whatever births that step brings."""
    env = relay(9, "--oo*oo", "---ox-o")
    observations, _ = env.reset()
    assert list(observations) == ["life_0"]
    observations, _, terminated, _, _ = env.step({"life_0": 0})
    assert sorted(observations) == ["life_0", "life_1"]
    assert not terminated["__all__"]
    observations, rewards, terminated, truncated, _ = env.step({"life_0": 0, "life_1": 0})
    assert sorted(observations) == sorted(rewards) == ["life_0", "life_1"]
    assert terminated == {"life_0": True, "life_1": True, "__all__": True}
    assert not any(truncated.values())
    assert env.agents == ["life_0", "life_1"]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: world_to_rllib("mmo/forage"), "pass lives=N"),
        (lambda: world_to_rllib("mmo/forage", lives=0), "lives = 0"),
        (
            lambda: world_to_rllib("mmo/forage", lives=5, **SMALL).reset(),
            "6 agents live at the beginning, lives = 5",
        ),
        (lambda: world_to_rllib("survival/1v1-heals-low", lives=5), "leave lives out"),
    ],
)
def test_a_wrong_number_of_lives_is_one_line(make, message):
    with pytest.raises(UserError, match=message) as caught:
        make()
    assert "\n" not in str(caught.value)


@pytest.mark.filterwarnings("ignore")
def test_ppo_trains_on_the_persistent_world():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"  # nothing is sent anywhere
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False, configure_logging=False)
    try:
        register_env("interplay-lives", lambda config: world_to_rllib("mmo/combat", lives=24, **SMALL))
        algorithm = (
            PPOConfig()
            .environment("interplay-lives")
            .env_runners(
                num_env_runners=0,
                env_to_module_connector=lambda *a, **k: FlattenObservations(multi_agent=True),
            )
            .training(train_batch_size_per_learner=100, minibatch_size=64, num_epochs=1)
            .multi_agent(policies={"shared"}, policy_mapping_fn=lambda *a, **k: "shared")
            .build_algo()
        )
        results = [algorithm.train() for _ in range(2)]
        algorithm.stop()
    finally:
        ray.shutdown()
        torch.set_num_threads(threads)
    assert all(np.isfinite(result["learners"]["shared"]["total_loss"]) for result in results)
    assert results[-1]["env_runners"]["num_episodes_lifetime"] > 0, "episodes were cut and began anew"
