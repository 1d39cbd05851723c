"""Gymnasium's wrappers below and above an `EnvItfWrapper` (specification interfaces 8)."""

from __future__ import annotations

import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium import wrappers

from interplay.core.errors import UserError
from interplay.interfaces.environment import EnvItfWrapper
from interplay.interfaces.generic.frames import FrameStack
from interplay.interfaces.generic.history import PrevActObs
from interplay.interfaces.match import match
from interplay.interfaces.wrappers import NormalizeReward, RecordEpisodeStatistics
from tests.interfaces.matches import Duel

WORKING = {
    "TimeLimit": lambda env: wrappers.TimeLimit(env, 4),
    "OrderEnforcing": wrappers.OrderEnforcing,
    "PassiveEnvChecker": wrappers.PassiveEnvChecker,
    "Autoreset": wrappers.Autoreset,
    "FrameStackObservation": lambda env: wrappers.FrameStackObservation(env, 3),
    "DelayObservation": lambda env: wrappers.DelayObservation(env, 2),
    "StickyAction": lambda env: wrappers.StickyAction(env, 0.5),
    "TransformReward": lambda env: wrappers.TransformReward(
        env, lambda rewards: tuple(2 * one for one in rewards)
    ),
}


def stacks():
    return [FrameStack(PrevActObs(), k=2), None]


def played(env, steps=9):
    """Plays, and gives the rewards and whether the last step ended the episode."""
    env.action_space.seed(1)
    obs, _ = env.reset(seed=3)
    rewards, ends = [], []
    for _ in range(steps):
        assert env.observation_space.contains(obs)
        obs, reward, terminated, truncated, info = env.step(env.action_space.sample())
        rewards.append(reward)
        ends.append((terminated, truncated, info.get("outcome")))
        if (terminated or truncated) and not any(isinstance(e, wrappers.Autoreset) for e in layers(env)):
            obs, _ = env.reset()
    return rewards, ends


def layers(env):
    while isinstance(env, gymnasium.Wrapper):
        yield env
        env = env.env


@pytest.mark.parametrize("name", WORKING)
@pytest.mark.parametrize("where", ["below", "above"])
def test_wrappers_that_work(name, where):
    wrap = WORKING[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        env = (
            EnvItfWrapper(wrap(Duel()), stacks())
            if where == "below"
            else wrap(EnvItfWrapper(Duel(), stacks()))
        )
        rewards, ends = played(env)
    # Autoreset itself gives the number 0 in the step that begins an episode.
    assert all(isinstance(one, tuple) and len(one) == 2 for one in rewards if where == "below" or one != 0.0)
    if name == "TimeLimit":
        assert ends[3][1]
        if where == "below":  # the outcome is there on truncation, too
            assert ends[3][2] is not None
    if name == "TransformReward":
        assert {abs(value) for one in rewards for value in one} <= {0.0, 2.0}


def test_episodes_that_begin_by_themselves_begin_without_memory():
    env = EnvItfWrapper(
        wrappers.Autoreset(Duel(length=3)), [FrameStack(k=3), PrevActObs(n=2, mode="replace")]
    )
    env.reset(seed=1)
    deed = (np.array([1, 1]), np.array([2, 1]))
    for _ in range(3):
        obs, _, over, _, info = env.step(deed)
    assert over
    assert obs[1].any()
    assert np.sign(info["outcome"]).tolist() == [-1, 1]
    obs, rewards, *_ = env.step(deed)
    assert rewards == (0.0, 0.0)
    assert obs[0][0][:, 1].tolist() == [0, 0, 0]  # the first observation, three times
    assert not obs[1].any()
    for _ in range(3):
        _, _, _, _, info = env.step(deed[::-1])
    assert np.sign(info["outcome"]).tolist() == [1, -1]  # of this episode alone


def test_clip_reward_gives_arrays_and_tuples_are_made_again():
    env = EnvItfWrapper(wrappers.ClipReward(Duel(), -0.5, 0.5), stacks())
    rewards, _ = played(env)
    assert all(isinstance(one, tuple) and all(type(value) is float for value in one) for one in rewards)
    assert {abs(value) for one in rewards for value in one} <= {0.0, 0.5}


def test_a_flattened_environment_of_one_player_is_its_own_business():
    alone = wrappers.FlattenObservation(gymnasium.make("CartPole-v1"))
    assert EnvItfWrapper(alone, [None]).observation_space[0].shape == (4,)


def test_statistics_of_each_slot():
    env = RecordEpisodeStatistics(EnvItfWrapper(Duel(length=4), [None, None]))
    for _ in range(2):
        env.reset(seed=0)
        total = np.zeros(2)
        for t in range(4):
            _, rewards, _, _, info = env.step((np.array([2, 0]), np.array([0, 0])))
            total += rewards
            assert ("episode" in info) == (t == 3)
        assert info["episode"] == {"r": tuple(total), "l": 4}


def test_rewards_of_each_slot_are_normalised_by_its_own_returns():
    env = NormalizeReward(Duel(length=200), gamma=0.9)
    env.reset(seed=0)
    rng, twin = np.random.default_rng(0), []
    returns, given = np.zeros(2), []
    for _ in range(200):
        deed = tuple(np.array([rng.integers(3), 0]) for _ in range(2))
        _, rewards, *_ = env.step(deed)
        raw = np.sign(rewards)
        returns = 0.9 * returns + raw
        given.append(returns)
        if len(given) > 1:
            twin.append(raw / np.sqrt(np.var(given, axis=0) + 1e-8))
            assert np.allclose(rewards, twin[-1])


def test_a_match_is_not_wrapped_twice():
    env = match(Duel())
    assert match(env) is env
    assert match(wrappers.TimeLimit(env, 3)).env is env
    scalar = wrappers.TransformReward(Duel(), sum)
    wrapped = EnvItfWrapper(scalar, [None, None])
    wrapped.reset(seed=0)
    with pytest.raises(UserError, match="tuple of 2"):
        wrapped.step((np.array([0, 0]), np.array([0, 0])))
