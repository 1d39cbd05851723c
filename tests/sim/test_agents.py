"""Agents, spaces and the simulation interface: specification 2.1 and 2.2, and the faults F12 and F13."""

from __future__ import annotations

import numpy as np
import pytest
from gymnasium import spaces

from interplay.sim import (
    ActingAgent,
    Agent,
    Box,
    ObservingAgent,
    PrincipleAgent,
    check_space,
    is_agent,
    make_dict,
)
from tests.sim.toys import Called


def test_a1_active_starts_true_and_is_a_bool():
    agent = PrincipleAgent(id="a")
    assert agent.active is True
    agent.active = False
    for value in (0, 1, None, np.bool_(True)):
        with pytest.raises(AssertionError, match=r"active .* is no bool"):
            agent.active = value
    assert agent.active is False


def test_a2_plain_dicts_become_spaces_in_finalize():
    agent = Agent(
        id="a",
        observation_space={"place": {"x": spaces.Discrete(3)}, "rest": (spaces.Discrete(2),)},
        action_space=spaces.Discrete(2),
        seed=7,
    )
    assert not agent.configured
    agent.finalize()
    assert agent.configured
    expected = spaces.Dict(place=spaces.Dict(x=spaces.Discrete(3)), rest=spaces.Tuple([spaces.Discrete(2)]))
    assert agent.observation_space == expected


def test_a2_a_seeded_agent_has_seeded_spaces():
    def samples(seed):
        agent = Agent(
            id="a", observation_space=Box(0, 1, (4,)), action_space={"b": spaces.Discrete(1000)}, seed=seed
        )
        agent.finalize()
        return agent.observation_space.sample().tolist(), agent.action_space.sample()

    assert samples(3) == samples(3) != samples(4)


def test_a2_two_agents_may_be_given_one_space():
    shared = spaces.Discrete(1000)
    first, second = (
        ActingAgent(id=name, action_space=shared, seed=seed) for name, seed in (("a", 1), ("b", 2))
    )
    first.finalize()
    second.finalize()
    alone = ActingAgent(id="a", action_space=spaces.Discrete(1000), seed=1)
    alone.finalize()
    assert [first.action_space.sample() for _ in range(5)] == [alone.action_space.sample() for _ in range(5)]


def test_a3_null_points_read_empty_and_are_checked_in_finalize():
    agent = Agent(id="a", observation_space=Box(-1, 1, (2,)), action_space=spaces.Discrete(3))
    assert agent.null_observation == agent.null_action == {}
    agent.finalize()
    agent = Agent(
        id="a",
        observation_space=Box(-1, 1, (2,)),
        action_space=spaces.Discrete(3),
        null_observation=np.zeros(2),
        null_action=3,
    )
    with pytest.raises(AssertionError, match="agent a: null_action 3 is not in Discrete"):
        agent.finalize()
    agent.null_action = 0  # F13: 0 was given
    agent.finalize()
    assert agent.null_action == 0


def test_a4_agents_compare_by_value_f12():
    def made(**other):
        return ObservingAgent(
            **{"id": "a", "observation_space": Box(-1, 1, (2,)), "null_observation": np.zeros(2)} | other
        )

    assert made() == made()
    assert made() != made(null_observation=np.ones(2))
    assert made() != made(id="b")
    assert made() != PrincipleAgent(id="a")
    one, other = made(), made()
    one.places, other.places = [np.arange(3)], [np.arange(3)]
    assert (one == other) is True
    other.places = [np.arange(4)]
    assert (one == other) is False
    assert len({made(), made()}) == 2  # they can be keys, each for itself


def test_a5_who_is_an_agent():
    class Both(ActingAgent, ObservingAgent):
        pass

    assert is_agent(Both(id="a"))
    assert is_agent(Agent(id="a"))
    assert not is_agent(ActingAgent(id="a"))
    assert not is_agent("a")


def test_a7_the_next_agents():
    sim = Called({"a": 1, "b": 2}, ["a"])
    sim.next_agent = "b"
    assert sim.next_agent == ["b"]
    both = ("b", "a")
    sim.next_agent = both
    assert sim.next_agent is both
    for wrong, part in (
        (3, "no id and no container"),
        ("c", "'c', which is not in"),
        (["a", "d"], "'d', which is not in"),
    ):
        with pytest.raises(AssertionError, match=part):
            sim.next_agent = wrong
    assert sim.next_agent is both


def test_a8_spaces_and_nests_of_them():
    for good in ({}, (), spaces.Discrete(2), {"a": ()}, {3: (spaces.Discrete(2), {"b": spaces.Discrete(2)})}):
        assert check_space(good)
        assert check_space(good, strict=True) is isinstance(good, spaces.Space)
    for bad in (3, [], {"a": 3}, (spaces.Discrete(2), "x"), None):
        assert not check_space(bad)
    made = make_dict({3: (spaces.Discrete(2), {"b": spaces.Discrete(2)})})
    assert made == spaces.Dict({3: spaces.Tuple([spaces.Discrete(2), spaces.Dict(b=spaces.Discrete(2))])})
    space = spaces.Discrete(2)
    assert make_dict(space) is space


def test_a9_what_a_box_holds():
    whole = Box(0, 5, (1,), int)
    assert 3 in whole
    assert [3] in whole
    assert np.int32(5) in whole
    for outside in (6, -1, 2.0, [1, 2], [[3]], "3", None, np.array([2.0])):
        assert outside not in whole
    pair = Box(-1, 1, (2,))
    assert [0, 0.5] in pair
    assert np.array([1.0, -1.0]) in pair
    for outside in (0, [0], [0, 2], [0, 0, 0], [[0, 0]]):
        assert outside not in pair
    assert isinstance(whole, spaces.Box)
    assert Box(0, 5, (1,), int) == spaces.Box(0, 5, (1,), int)


def test_a9_an_integer_box_may_be_unbounded():
    box = Box(-np.inf, np.inf, (2,), int)
    assert [10**15, -(10**15)] in box
    assert not box.bounded_below.any()
    assert not box.bounded_above.any()
    half = Box(np.array([0, -np.inf]), np.array([np.inf, 3]), dtype=np.int32)
    assert half.bounded_below.tolist() == [True, False]
    assert half.bounded_above.tolist() == [False, True]
    assert half.low[0] == 0
    assert half.high[1] == 3
    assert [5, -(2**31)] in half
    assert [-1, 0] not in half
    assert half.sample() in half
