"""The super agent wrapper: specification 2.4, P1 to P4, and the fault F13."""

from __future__ import annotations

import warnings

import pytest
from gymnasium import spaces

from interplay.sim import Agent, PrincipleAgent
from interplay.sim.managers import AllStepManager
from interplay.sim.wrappers import FlattenWrapper, RavelDiscreteWrapper, SuperAgentWrapper
from tests.sim.toys import Countdown

LIVES = {"a": 1, "b": 3, "c": 3, "d": 4}
MAPPING = {"red": ["a", "b"], "blue": ["c"]}


class Paid(Countdown):
    """Pays everybody 1 a step, done or not, until it is asked for."""

    def __init__(self, lives, null=None, passive=()):
        super().__init__(lives, passive)
        self.agents |= {
            name: Agent(
                id=name,
                observation_space=spaces.Discrete(100),
                action_space=spaces.Discrete(2),
                null_observation=null,
            )
            for name in lives
        }
        self.finalize()

    def reset(self, **kwargs):
        super().reset(**kwargs)
        self.owed = dict.fromkeys(self.agents, 0)

    def step(self, action, **kwargs):
        super().step(action, **kwargs)
        self.owed = {name: owed + 1 for name, owed in self.owed.items()}

    def get_reward(self, agent_id, **kwargs):
        owed, self.owed[agent_id] = self.owed[agent_id], 0
        return owed


def covered(null=99, mapping=MAPPING):
    wrapped = SuperAgentWrapper(Paid(LIVES, null), super_agent_mapping=mapping)
    wrapped.reset()
    return wrapped


def go(wrapped):
    wrapped.step({"red": {"a": 1, "b": 1}, "blue": {"c": 0}, "d": 1})


def test_p1_what_a_super_agent_sees_and_does():
    wrapped = covered()
    assert list(wrapped.agents) == ["red", "blue", "d"]  # as mapped, then the others
    red = wrapped.agents["red"]
    number = spaces.Discrete(100)
    mask = spaces.Dict(a=spaces.MultiBinary(1), b=spaces.MultiBinary(1))
    assert red.observation_space == spaces.Dict(a=number, b=number, mask=mask)
    assert red.action_space == spaces.Dict(a=spaces.Discrete(2), b=spaces.Discrete(2))
    assert wrapped.get_obs("red") == {"a": 0, "b": 0, "mask": {"a": [True], "b": [True]}}
    assert wrapped.get_obs("red") in red.observation_space
    assert red.null_observation in red.observation_space
    go(wrapped)
    assert wrapped.get_obs("red")["mask"] == {"a": [False], "b": [True]}
    assert wrapped.sim.heard == [["a", "b", "c", "d"]]
    go(wrapped)
    assert wrapped.sim.heard[-1] == ["b", "c", "d"]  # what is said for the done is dropped


def test_p2_the_done_are_read_once_more_observation_and_reward_apart():
    wrapped = covered()
    go(wrapped)
    assert wrapped.get_obs("red")["a"] == 1  # its last real one
    assert wrapped.get_obs("red")["a"] == 99
    assert wrapped.get_reward("red") == 2  # rewards are counted for themselves
    go(wrapped)
    assert wrapped.get_reward("red") == 1
    assert wrapped.sim.owed["a"] == 1  # it is not even asked
    wrapped.reset()
    go(wrapped)
    assert wrapped.get_obs("red")["a"] == 1
    assert wrapped.get_reward("red") == 2


def test_p3_without_a_null_observation_one_warning():
    wrapped = covered(null=None)
    go(wrapped)
    wrapped.get_obs("red")
    with pytest.warns(UserWarning, match=r"^SuperAgentWrapper: no null observation for a"):
        assert wrapped.get_obs("red")["a"] == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert wrapped.get_obs("red")["a"] == 1


def test_f13_a_null_observation_of_0_is_one():
    wrapped = SuperAgentWrapper(RavelDiscreteWrapper(Paid(LIVES, null=0)), super_agent_mapping=MAPPING)
    wrapped.reset()
    go(wrapped)
    wrapped.get_obs("red")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert wrapped.get_obs("red")["a"] == 0


def test_a_super_agent_is_done_when_all_it_covers_are():
    wrapped = covered()
    manager = AllStepManager(wrapped)
    manager.reset()
    flags = []
    for _ in range(4):
        actions = {"red": {"a": 1, "b": 1}, "blue": {"c": 0}, "d": 1}
        dones = manager.step({i: a for i, a in actions.items() if i not in manager.done_agents})[2]
        flags.append(dones)
    assert [flag.get("red") for flag in flags] == [False, False, True, None]
    assert flags[-1] == {"d": True, "__all__": True}


def test_p4_the_covered_are_not_to_be_asked():
    wrapped = covered()
    for ask in (wrapped.get_obs, wrapped.get_reward, wrapped.get_done, wrapped.get_info):
        with pytest.raises(AssertionError, match="a is covered by red"):
            ask("a")
    with pytest.raises(AssertionError, match="b is covered by red"):
        wrapped.step({"b": 1})
    assert wrapped.get_info("red") == {"a": {"clock": 0}, "b": {"clock": 0}}
    assert wrapped.get_info("d") == {"clock": 0}


def test_p4_the_mapping_can_be_changed_and_wrapped_again():
    wrapped = covered()
    mapping = {"all": ["d", "a", "b", "c"]}
    wrapped.super_agent_mapping = mapping
    assert list(wrapped.agents) == ["all"]
    assert wrapped.super_agent_mapping == mapping
    assert mapping == {"all": ["d", "a", "b", "c"]}
    again = SuperAgentWrapper(covered(), super_agent_mapping={"both": ["red", "d"]})
    assert list(again.agents) == ["both", "blue"]
    again.reset()
    assert again.get_obs("both") in again.agents["both"].observation_space
    flat = FlattenWrapper(covered())
    flat.reset()
    assert flat.get_obs("red").tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize(
    ("mapping", "part"),
    [
        ([], "is no dict"),
        ({3: ["a"]}, "key 3 is no str"),
        ({"red": "a"}, "red covers 'a'; give a list"),
        ({"red": ["a", 3]}, "give a list of ids"),
        ({"d": ["a"]}, "super agent d has the id of an agent"),
        ({"red": ["x"]}, "'x'"),
        ({"red": ["wall"]}, "wall, which does not observe"),
        ({"red": ["a"], "blue": ["a"]}, "a is covered by red and blue"),
        ({"red": ["a", "a"]}, "a is covered by red and red"),
    ],
)
def test_p4_mappings_that_are_refused(mapping, part):
    sim = Paid(LIVES, passive=("wall",))
    assert isinstance(sim.agents["wall"], PrincipleAgent)
    with pytest.raises(AssertionError, match=part):
        SuperAgentWrapper(sim, super_agent_mapping=mapping)
    wrapped = SuperAgentWrapper(sim, super_agent_mapping=MAPPING)
    with pytest.raises(AssertionError, match=part):
        wrapped.super_agent_mapping = mapping
    assert wrapped.super_agent_mapping == MAPPING
