"""Managers as PettingZoo environments: PettingZoo's own tests, then what those let through (specification 7, F22)."""

from __future__ import annotations

import warnings

import pytest
from pettingzoo import AECEnv, ParallelEnv
from pettingzoo.test import api_test, parallel_api_test, parallel_seed_test, seed_test

from interplay.connect import to_aec, to_parallel
from interplay.sim.managers import AllStepManager, DynamicOrderManager, TurnBasedManager
from interplay.worlds.corridor.simulation import MultiCorridor
from tests.connect.toy_simulations import Strict, StrictInOrder, mask

MANAGERS = (TurnBasedManager, AllStepManager)
HARMLESS = ("Observation is not a NumPy array", "Observation space for each agent", "We recommend agents")


def corridor(manager, **limits):
    return manager(MultiCorridor(end=6, num_agents=3), **limits)


def in_groups():
    groups = [["b"], ["a", "c"], ["c"]]
    return DynamicOrderManager(StrictInOrder({"a": 9, "b": 9, "c": 12}, groups, masks={"a": mask(0, 1, 1)}))


def walk(env, choose=lambda agent, info: 0, seed=0):
    """An episode of an AEC environment: (agent, observation, reward, terminated, truncated, info) per turn."""
    env.reset(seed=seed)
    story = []
    for agent in env.agent_iter():
        told = env.last()
        story.append((agent, *told))
        env.step(None if told[2] or told[3] else choose(agent, told[4]))
    return story


@pytest.mark.parametrize("limit", [None, 20])
@pytest.mark.parametrize("manager", MANAGERS)
def test_pettingzoos_own_tests(manager, limit):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for text in HARMLESS:
            warnings.filterwarnings("ignore", text)
        api_test(to_aec(corridor(manager, time_limit=limit)), num_cycles=100)
        seed_test(lambda: to_aec(corridor(manager, time_limit=limit)), num_cycles=100)
        parallel_api_test(to_parallel(corridor(manager, time_limit=limit)), num_cycles=100)
        parallel_seed_test(lambda: to_parallel(corridor(manager, time_limit=limit)), num_cycles=100)


def test_pettingzoos_own_tests_when_the_simulation_calls_its_agents():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for text in (*HARMLESS, "Action mask"):
            warnings.filterwarnings("ignore", text)
        api_test(to_aec(in_groups()), num_cycles=50)
        seed_test(lambda: to_aec(in_groups()), num_cycles=50)


def test_they_are_real_ones():
    aec, parallel = to_aec(corridor(TurnBasedManager)), to_parallel(corridor(AllStepManager))
    assert isinstance(aec, AECEnv)
    assert isinstance(parallel, ParallelEnv)
    assert str(aec) == str(parallel) == "MultiCorridor"
    for env in (aec, parallel):
        env.reset()
        assert len(env.render().split()) == 6
        env.close()
    for make in (to_aec, to_parallel):
        with pytest.raises(AssertionError, match="no SimulationManager"):
            make(MultiCorridor())


@pytest.mark.parametrize("manager", MANAGERS)
def test_only_agents_that_all_act_in_every_step_are_parallelizable(manager):
    assert to_aec(corridor(manager)).metadata["is_parallelizable"] is (manager is AllStepManager)
    assert to_parallel(corridor(manager)).metadata["is_parallelizable"]


def test_in_turns_the_order_and_the_rewards_are_the_managers():
    env = to_aec(TurnBasedManager(Strict({"a": 9, "b": 9})))
    story = walk(env)
    assert [turn[0] for turn in story[:4]] == ["a", "b", "a", "b"]
    assert [turn[2] for turn in story[:4]] == [0.0, 2.0, 2.0, 4.0]  # since one's last turn
    twin = TurnBasedManager(Strict({"a": 9, "b": 9}))
    observations = twin.reset(seed=0)
    for agent, seen, *_ in story[:8]:
        assert observations == {agent: seen}
        observations, *_ = twin.step({agent: 0})


def test_together_one_after_another_is_one_step():
    env = to_aec(AllStepManager(Strict({"a": 2, "b": 3})))
    env.reset()
    sim = env.sim.sim
    env.step(1)
    assert (sim.clock, env.agent_selection, env.rewards) == (0, "b", {"a": 0, "b": 0})
    env.step(2)
    assert sim.heard == [{"a": 1, "b": 2}]
    assert (env.agent_selection, env.rewards) == ("a", {"a": 1.0, "b": 2.0})


def test_several_may_be_called_at_once():
    env = to_aec(in_groups())
    story = walk(env, lambda agent, info: 1)
    assert [turn[0] for turn in story[:5]] == ["b", "a", "c", "c", "b"]
    assert env.sim.sim.heard[:3] == [{"b": 1}, {"a": 1, "c": 1}, {"c": 1}]


def test_the_finished_take_one_turn_with_none():
    env = to_aec(AllStepManager(Strict({"a": 1, "b": 3})))
    story = walk(env)
    finals = [turn for turn in story if turn[0] == "a" and turn[3]]
    assert len(finals) == 1
    assert finals[0][2] == 1.0
    assert story[2] == finals[0]  # before anybody else
    env.reset()
    env.step(0)
    env.step(0)
    with pytest.raises(ValueError, match="None"):
        env.step(1)
    env.step(None)
    assert env.agents == ["b"]


@pytest.mark.parametrize("manager", MANAGERS)
def test_a_limit_truncates_and_an_end_terminates(manager):
    def ends(env):
        return {turn[0]: turn[3:5] for turn in walk(env)}

    lives = {"a": 2, "b": 30}
    cut = to_aec(manager(Strict(lives), time_limit=8))
    assert ends(cut) == {"a": (True, False), "b": (False, True)}
    assert ends(to_aec(manager(Strict(lives)))) == {"a": (True, False), "b": (True, False)}


def test_masks_are_in_the_infos_of_those_who_are_asked():
    masks = {"a": mask(0, 0, 1)}
    aec = to_aec(TurnBasedManager(Strict({"a": 6, "b": 6}, masks=masks)))
    aec.reset()
    assert aec.infos["a"]["action_mask"].tolist() == [0, 0, 1]
    assert aec.infos["b"] == {}
    assert aec.action_space("a").sample(aec.infos["a"]["action_mask"]) == 2
    aec.step(2)
    assert "action_mask" not in aec.infos["a"]
    parallel = to_parallel(AllStepManager(Strict({"a": 6, "b": 6}, masks=masks)))
    _, infos = parallel.reset()
    assert infos["a"]["action_mask"].tolist() == [0, 0, 1]
    assert "action_mask" not in infos["b"]


def test_observe_tells_what_is_and_not_what_was():
    env = to_aec(TurnBasedManager(Strict({"a": 9, "b": 9, "c": 9})))
    env.reset(seed=1)
    for _ in range(6):
        for agent in env.agents:
            assert env.observe(agent) == env.sim.sim.seen[agent]
        env.step(0)


def test_a_simulation_that_asks_nobody_is_named():
    env = to_aec(DynamicOrderManager(StrictInOrder({"a": 9}, [["a"], []])))
    env.reset()
    with pytest.raises(AssertionError, match=r"StrictInOrder .*next_agent"):
        env.step(0)
