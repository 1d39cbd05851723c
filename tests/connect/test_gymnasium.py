"""Gymnasium in both directions: specification X1 and X2, and the fault F22."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env
from gymnasium.utils.passive_env_checker import env_reset_passive_checker, env_step_passive_checker

from interplay.connect import to_aec, to_parallel
from interplay.connect.gymnasium import GymABS, GymWrapper, gym_to_simulation
from interplay.core.errors import UserError
from interplay.sim.managers import AllStepManager, TurnBasedManager
from interplay.sim.wrappers import FlattenWrapper
from interplay.worlds.corridor.simulation import MultiCorridor
from tests.connect.toy_simulations import Strict
from tests.sim.toys import Countdown


def alone(**limits):
    return GymWrapper(AllStepManager(MultiCorridor(end=6, num_agents=1), **limits))


def episode(env, seed, choose):
    observation, _ = env.reset(seed=seed)
    story = [observation]
    while True:
        *step, terminated, truncated, info = env.step(choose(len(story)))
        story.append((*step, terminated, truncated, info))
        if terminated or truncated:
            return story


def test_x1_one_learning_agent_and_any_number_of_others():
    env = GymWrapper(TurnBasedManager(Countdown({"a": 2}, passive=("wall", "door"))))
    assert (env.agent_id, env.agent) == ("a", env.sim.agents["a"])
    assert env.observation_space == spaces.Discrete(100)
    assert env.unwrapped is env
    assert env.reset() == (0, {})
    assert env.step(1) == (1, "a at 1", False, False, {"clock": 1})
    assert env.step(1) == (2, "a at 2", True, False, {"clock": 2})
    assert env.render() == "clock 2"


def test_x1_an_action_mask_joins_the_info():
    """Specification 7, action masks: where there are none, infos stay as they are."""
    sim = Countdown({"a": 2})
    masks = iter([np.array([1, 0], np.int8), np.array([0, 1], np.int8), None])
    sim.get_action_mask = lambda agent_id: next(masks)
    env = GymWrapper(AllStepManager(sim))
    assert env.reset()[1]["action_mask"].tolist() == [1, 0]
    *_, info = env.step(1)
    assert (info.pop("action_mask").tolist(), info) == ([0, 1], {"clock": 1})
    assert env.step(1)[-1] == {"clock": 2}


def test_x1_gymnasiums_own_checks_hold():
    env = alone()
    for seed in range(5):
        env_reset_passive_checker(env, seed=seed)
        env_step_passive_checker(env, 2)


@pytest.fixture
def corridor():
    """A simulation of one's own, registered with Gymnasium as one registers anything there."""
    name = "interplay-tests/Corridor-v0"
    gymnasium.register(
        name,
        entry_point=lambda **options: GymWrapper(
            AllStepManager(MultiCorridor(end=6, num_agents=1)), **options
        ),
    )
    yield name
    del gymnasium.registry[name]


@pytest.mark.filterwarnings("error")
def test_gymnasium_makes_and_checks_a_simulation(corridor):
    """`gymnasium.make` writes the environment's spec where `unwrapped` points, and its checks look for it there."""
    env = gymnasium.make(corridor)
    assert isinstance(env.unwrapped, GymWrapper)
    assert env.spec.id == corridor
    check_env(env.unwrapped)


def test_what_was_shown_is_the_callers_to_keep(corridor):
    """Gymnasium 1.4 checks it: the corridor hands out arrays of its own, the same ones in every episode."""
    env = gymnasium.make(corridor).unwrapped
    first, _ = env.reset(seed=1)
    before = {key: value.copy() for key, value in first.items()}
    for value in first.values():
        value += 1
    again, _ = env.reset(seed=1)
    assert {key: value.tolist() for key, value in again.items()} == {k: v.tolist() for k, v in before.items()}
    after, *_ = env.step(1)
    assert not any(np.shares_memory(after[key], again[key]) for key in after)


def test_a_simulation_without_pictures_passes_the_check_too():
    name = "interplay-tests/Strict-v0"
    gymnasium.register(
        name, entry_point=lambda **options: GymWrapper(AllStepManager(Strict({"a": 9})), **options)
    )
    try:
        env = gymnasium.make(name)
        assert env.metadata["render_modes"] == []
        check_env(env.unwrapped)
    finally:
        del gymnasium.registry[name]


@pytest.mark.parametrize("adapter", [to_parallel, to_aec])
def test_pettingzoo_shows_a_simulation(adapter):
    env = adapter(AllStepManager(MultiCorridor(end=6, num_agents=2)), render_mode="rgb_array")
    env.reset(seed=1)
    picture = env.render()
    assert (picture.ndim, picture.dtype, env.render_mode) == (3, np.uint8, "rgb_array")
    assert env.metadata["render_modes"] == ["rgb_array"]
    assert adapter(AllStepManager(Strict({"a": 9}))).metadata["render_modes"] == []
    with pytest.raises(UserError, match="render_mode = 'film'; choose"):
        adapter(AllStepManager(MultiCorridor()), render_mode="film")


def test_gymnasium_shows_a_simulation(corridor):
    env = gymnasium.make(corridor, render_mode="rgb_array", max_episode_steps=5)
    env.reset(seed=1)
    before = env.render()
    env.step(2)
    assert (before.ndim, before.shape[2], before.dtype) == (3, 3, np.uint8)
    assert not np.array_equal(before, env.render())
    with pytest.raises(UserError, match=r"MultiCorridor: render_mode = 'ansi'; choose"):
        GymWrapper(AllStepManager(MultiCorridor(num_agents=1)), render_mode="ansi")
    with pytest.raises(
        UserError, match=r"Countdown: render_mode = .* needs a picture; give the simulation a method draw"
    ):
        GymWrapper(AllStepManager(Countdown({"a": 1})), render_mode="rgb_array")


def test_x2_a_gymnasium_environment_as_a_simulation_plays_the_same():
    plain = gymnasium.make("CartPole-v1")
    manager = AllStepManager(gym_to_simulation(gymnasium.make("CartPole-v1")))
    for seed in (1, 2):
        expected, _ = plain.reset(seed=seed)
        assert np.array_equal(manager.reset(seed=seed)["agent"], expected)
        for step in range(500):
            action = (step // 2) % 2
            observation, reward, terminated, truncated, info = plain.step(action)
            observations, rewards, dones, infos = manager.step({"agent": action})
            assert np.array_equal(observations["agent"], observation)
            assert rewards == {"agent": reward}
            assert infos == {"agent": info}
            assert dones == {"agent": terminated or truncated, "__all__": terminated or truncated}
            if dones["__all__"]:
                break
        assert dones["__all__"]


def test_x2_there_and_back_again():
    env = GymWrapper(AllStepManager(gym_to_simulation(gymnasium.make("CartPole-v1"))))
    assert env.observation_space == gymnasium.make("CartPole-v1").observation_space
    story = episode(env, 1, lambda step: 1)
    assert story[-1][2:4] == (True, False)


def test_x2_null_points():
    sim = gym_to_simulation(gymnasium.make("CartPole-v1"), np.zeros(4, np.float32), 0)
    assert isinstance(sim, GymABS)
    assert sim.agents["agent"].null_action == 0
    assert FlattenWrapper(sim).agents["agent"].null_observation.tolist() == [0.0] * 4


class Scripted(gymnasium.Env):
    """Says what it was given, step by step."""

    observation_space, action_space = spaces.Discrete(9), spaces.Discrete(3)

    def __init__(self, *steps):
        self.steps = steps

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.left, self.taken = list(self.steps), []
        return 0, {"day": 0}

    def step(self, action):
        self.taken.append(action)
        return self.left.pop(0)


@pytest.mark.parametrize("flags", [(True, False), (False, True), (True, True)])
def test_every_end_of_an_environment_ends_its_simulation(flags):
    """Rules and limits alike: what the environment says in a step is what the simulation says of its agent."""
    env = Scripted((3, 0.5, False, False, {"day": 1}), (4, -2.0, *flags, {"day": 2}))
    manager = AllStepManager(gym_to_simulation(env))
    for _ in range(2):
        assert manager.reset(seed=1) == {"agent": 0}
        expected = [(3, 0.5, False, {"day": 1}), (4, -2.0, True, {"day": 2})]
        for action, (seen, reward, done, info) in enumerate(expected):
            told = manager.step({"agent": action})
            assert told[:2] == ({"agent": seen}, {"agent": reward})
            assert told[2] == {"agent": done, "__all__": done}
            assert told[3] == {"agent": info}
        assert env.taken == [0, 1]
