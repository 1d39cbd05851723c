"""Grid worlds through the other adapters: PettingZoo's own tests, Gymnasium's, and Stable-Baselines3."""

from __future__ import annotations

import math

import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.utils.passive_env_checker import env_reset_passive_checker, env_step_passive_checker
from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test

from interplay.connect import GymWrapper, to_aec, to_parallel
from interplay.sim.managers import AllStepManager, TurnBasedManager
from interplay.sim.wrappers import FlattenWrapper, RavelActionWrapper
from tests.connect.grids import battle, cross_traffic, open_maze, traffic, usual_maze

pytestmark = pytest.mark.slow

GRIDS = [traffic, cross_traffic, battle]


def alone(wrap=RavelActionWrapper, **options):
    return GymWrapper(AllStepManager(wrap(open_maze(**options)), time_limit=30))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("make", GRIDS)
def test_pettingzoos_own_tests_together(make):
    parallel_api_test(to_parallel(AllStepManager(make(), time_limit=40)), num_cycles=200)
    parallel_seed_test(lambda: to_parallel(AllStepManager(make(), time_limit=40)), num_cycles=60)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("manager", [AllStepManager, TurnBasedManager])
@pytest.mark.parametrize("make", GRIDS)
def test_pettingzoos_own_tests_one_by_one(make, manager):
    api_test(to_aec(manager(make(), time_limit=40)), num_cycles=200)


@pytest.mark.parametrize("make", GRIDS)
def test_pettingzoos_masks_can_be_drawn_from(make):
    """Specification 7, action masks: gymnasium refuses a mask for a Box, so those are left out."""
    env, masked = to_parallel(AllStepManager(make(action_masks=True), time_limit=40)), 0
    for seed in range(4):
        _, infos = env.reset(seed=seed)
        while env.agents:
            spaces_of = {name: env.action_space(name) for name in env.agents}
            for name, space in spaces_of.items():
                space.seed(seed)
                masked += "action_mask" in infos[name]
            actions = {n: space.sample(infos[n].get("action_mask")) for n, space in spaces_of.items()}
            *_, infos = env.step(actions)
    assert (masked > 0) == (make is not traffic)
    in_turns = to_aec(TurnBasedManager(make(action_masks=True), time_limit=60))
    in_turns.reset(seed=1)
    for agent in in_turns.agent_iter():
        *_, terminated, truncated, info = in_turns.last()
        space = in_turns.action_space(agent)
        in_turns.step(None if terminated or truncated else space.sample(info.get("action_mask")))


@pytest.mark.parametrize("wrap", [RavelActionWrapper, FlattenWrapper, lambda sim: sim])
def test_gymnasiums_own_checks_hold(wrap):
    env = alone(wrap)
    for seed in range(5):
        env_reset_passive_checker(env, seed=seed)
        env_step_passive_checker(env, env.action_space.sample())


@pytest.fixture
def one_torch_thread():
    torch = pytest.importorskip("torch", reason="the extra sb3 is not installed")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def monitored(env):
    monitor = pytest.importorskip("stable_baselines3.common.monitor", reason="the extra sb3 is not installed")
    return monitor.Monitor(env)


def check_returns(env, limit):
    """A step costs 0.01 and 0.1 more if the way is not free; one that arrives is worth exactly 1."""
    returns, lengths = env.get_episode_rewards(), env.get_episode_lengths()
    assert len(returns) > 2
    for earned, length in zip(returns, lengths, strict=True):
        assert math.isfinite(earned)
        assert -0.11 * limit <= earned <= 1
        assert length <= limit
        arrived = earned + 0.01 * (length - 1) - 1  # what is left are fines
        assert any(
            abs(rest / 0.1 - round(rest / 0.1)) < 1e-3 and rest < 1e-6
            for rest in (arrived, earned + 0.01 * length)
        )


@pytest.mark.usefixtures("one_torch_thread")
def test_sb3s_ppo_runs_in_the_registered_maze():
    """Ravelled: SB3 draws fractions for integer Boxes, and those are refused."""
    ppo = pytest.importorskip("stable_baselines3", reason="the extra sb3 is not installed").PPO
    env = monitored(GymWrapper(AllStepManager(RavelActionWrapper(usual_maze()), time_limit=60)))
    kind = "MultiInputPolicy" if isinstance(env.observation_space, spaces.Dict) else "MlpPolicy"
    ppo(kind, env, n_steps=128, batch_size=64, n_epochs=2, seed=0).learn(384)
    check_returns(env, 60)


@pytest.mark.usefixtures("one_torch_thread")
def test_sb3s_dqn_learns_the_way():
    dqn = pytest.importorskip("stable_baselines3", reason="the extra sb3 is not installed").DQN
    env = monitored(alone())
    model = dqn(
        "MultiInputPolicy",
        env,
        learning_starts=500,
        train_freq=2,
        learning_rate=1e-3,
        gamma=0.9,
        target_update_interval=100,
        exploration_fraction=0.7,
        policy_kwargs={"net_arch": [64]},
        seed=0,
    )
    model.learn(4000)
    check_returns(env, 30)
    lengths = env.get_episode_lengths()
    assert np.mean(lengths[-20:]) < 8 < np.mean(lengths[:10])  # three steps, if straight


def test_an_illegal_step_is_refused_where_masks_are_told():
    env = alone(action_masks=True)
    _, info = env.reset(seed=1)
    assert info["action_mask"].reshape(3, 3).tolist() == [[0, 0, 0], [0, 1, 1], [0, 1, 1]]
    for _ in range(100):
        *_, terminated, truncated, info = env.step(env.action_space.sample(info["action_mask"]))
        if terminated or truncated:
            _, info = env.reset()
