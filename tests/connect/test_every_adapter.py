"""Laws of all connectors of managers: the same seed and the same behaviour earn the same, whatever the library (F22, section 7)."""

from __future__ import annotations

import numpy as np
import pytest

from interplay.connect import GymWrapper, to_aec, to_parallel
from interplay.sim.managers import AllStepManager, TurnBasedManager
from interplay.worlds.corridor.simulation import MultiCorridor

STAY, RIGHT = 1, 2
AGENTS = [f"agent{i}" for i in range(3)]
MANAGERS = (AllStepManager, TurnBasedManager)


def choose(observation, space):
    """To the right, unless another agent stands there; every other time they bump."""
    assert space.contains(observation), observation
    return STAY if observation["right"][0] and observation["position"][0] % 2 else RIGHT


def by_hand(manager, seed):
    """What everybody earns, and whether a limit cut the episode."""
    earned = dict.fromkeys(manager.agents, 0)
    observations, dones = manager.reset(seed=seed), dict.fromkeys(manager.agents, False)
    while not dones.get("__all__"):
        actions = {
            name: choose(seen, manager.agents[name].observation_space)
            for name, seen in observations.items()
            if not dones[name]
        }
        observations, rewards, dones, _ = manager.step(actions)
        for name, reward in rewards.items():
            earned[name] += reward
    return earned, manager.truncated


def through_parallel(manager, seed):
    env = to_parallel(manager)
    earned, stopped = dict.fromkeys(manager.agents, 0), {}
    observations, infos = env.reset(seed=seed)
    while env.agents:
        actions = {
            name: choose(observations[name], env.observation_space(name))
            for name in env.agents
            if infos[name]["acting"]
        }
        observations, rewards, _, stopped, infos = env.step(actions)
        for name, reward in rewards.items():
            earned[name] += reward
    return earned, any(stopped.values())


def through_aec(manager, seed):
    env = to_aec(manager)
    earned, cut = dict.fromkeys(manager.agents, 0), False
    env.reset(seed=seed)
    for name in env.agent_iter():
        observation, reward, terminated, truncated, _ = env.last()
        earned[name] += reward
        cut |= truncated
        over = terminated or truncated
        env.step(None if over else choose(observation, env.observation_space(name)))
    return earned, cut


def through_rllib(manager, seed):
    pytest.importorskip("ray.rllib", reason="the extra rllib is not installed")
    from interplay.connect import MultiAgentWrapper

    env = MultiAgentWrapper(manager)
    earned = dict.fromkeys(manager.agents, 0)
    observations, _ = env.reset(seed=seed)
    terminateds, truncateds = {"__all__": False}, {"__all__": False}
    while not (terminateds["__all__"] or truncateds["__all__"]):
        actions = {
            name: choose(seen, env.observation_spaces[name])
            for name, seen in observations.items()
            if not terminateds.get(name)
        }
        observations, rewards, terminateds, truncateds, _ = env.step(actions)
        for name, reward in rewards.items():
            earned[name] += reward
    return earned, truncateds["__all__"]


def through_openspiel(manager, seed):
    pytest.importorskip("open_spiel", reason="the extra openspiel is not installed")
    from interplay.connect import OpenSpielListWrapper

    env = OpenSpielListWrapper(manager)
    spaces = [agent.observation_space for agent in manager.agents.values()]
    earned = np.zeros(len(spaces))
    timestep = env.reset(seed=seed)
    while not timestep.last():
        actions = []
        for player, vector in enumerate(timestep.observations["info_state"]):
            if timestep.current_player() in (-2, player):
                left, position, right = (np.array([int(number)]) for number in vector)
                seen = {"left": left.astype(np.int8), "position": position, "right": right.astype(np.int8)}
                actions.append(choose(seen, spaces[player]))
        timestep = env.step(actions)
        earned += timestep.rewards
    return dict(zip(AGENTS, earned.tolist(), strict=True)), env.truncated


ADAPTERS = (through_parallel, through_aec, through_rllib, through_openspiel)


@pytest.mark.parametrize("limit", [None, 4])
@pytest.mark.parametrize("manager", MANAGERS)
@pytest.mark.parametrize("adapter", ADAPTERS)
def test_f22_the_same_episode_through_every_adapter(adapter, manager, limit):
    cuts = set()
    for seed in range(12):
        expected = by_hand(manager(MultiCorridor(end=6, num_agents=3), time_limit=limit), seed)
        assert adapter(manager(MultiCorridor(end=6, num_agents=3), time_limit=limit), seed) == expected
        cuts.add(expected[1])
    assert (True in cuts) is (limit is not None)


@pytest.mark.parametrize("limit", [None, 2])
def test_f22_the_same_episode_through_gymnasium(limit):
    for seed in range(6):
        expected = by_hand(AllStepManager(MultiCorridor(end=6, num_agents=1), time_limit=limit), seed)
        env = GymWrapper(AllStepManager(MultiCorridor(end=6, num_agents=1), time_limit=limit))
        observation, _ = env.reset(seed=seed)
        earned, terminated, truncated = 0, False, False
        while not (terminated or truncated):
            observation, reward, terminated, truncated, _ = env.step(
                choose(observation, env.observation_space)
            )
            earned += reward
        assert ({"agent0": earned}, truncated) == expected
