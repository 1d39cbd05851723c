"""Component wrappers: ravelled and exclusive channels, wrapped observers."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from gymnasium import spaces

from interplay.gridworld.actors import (
    ActorBaseComponent,
    BinaryAttackActor,
    EncodingBasedAttackActor,
    MoveActor,
    RestrictedSelectiveAttackActor,
)
from interplay.gridworld.agents import GridObservingAgent, MovingAgent
from interplay.gridworld.observers import AbsolutePositionObserver, PositionCenteredEncodingObserver
from interplay.gridworld.wrappers import (
    ActorWrapper,
    ComponentWrapper,
    ExclusiveChannelActionWrapper,
    ObserverWrapper,
    RavelActionWrapper,
)
from interplay.sim.wrappers.ravel_discrete_wrapper import ravel, ravel_space
from tests.gridworld.fighters import Fighter, at, settle, someone


def movers():
    ranges = {"agent0": 1, "agent1": 2}
    agents = [
        MovingAgent(id=name, encoding=1, move_range=reach, initial_position=at(2, 1 + 3 * i))
        for i, (name, reach) in enumerate(ranges.items())
    ]
    return settle([*agents, someone("stone", 2, 4, 0)])


def test_ravelled_moves():
    """K1, manual 3.2.17: boxes of range 1 and 2 become 9 and 25 numbers, null actions 4 and 12."""
    those = movers()
    inner = MoveActor(**those)
    outer = RavelActionWrapper(inner)
    one, two = (those["agents"][f"agent{i}"] for i in range(2))
    assert [agent.action_space["move"] for agent in (one, two)] == [spaces.Discrete(9), spaces.Discrete(25)]
    assert [agent.null_action["move"] for agent in (one, two)] == [4, 12]
    assert outer.from_space.keys() == {"agent0", "agent1"}
    assert outer.from_space["agent1"].shape == (2,)
    assert outer.process_action(one, {"move": 0}) is True
    assert outer.process_action(two, {"move": 22}) is True  # down 2 and left 0
    assert one.position.tolist() == [1, 0]
    assert two.position.tolist() == [4, 4]
    assert outer.process_action(those["agents"]["stone"], {}) is None


def test_every_ravelled_move():
    """K1: number n is row n // 3 - 1 and column n % 3 - 1; both directions agree."""
    those = movers()
    outer, agent = RavelActionWrapper(MoveActor(**those)), those["agents"]["agent0"]
    space = outer.from_space["agent0"]
    for number in range(9):
        those["grid"].remove(agent, agent.position)
        assert those["grid"].place(agent, (2, 2))
        assert outer.process_action(agent, {"move": number}) is True
        assert (agent.position - 2).tolist() == [number // 3 - 1, number % 3 - 1]
        assert outer.unwrap_point(space, outer.wrap_point(space, number)) == number
    for wrong in (9, -1, 1.5, np.array([0, 1])):
        with pytest.raises(AssertionError, match="agent0: move action"):
            outer.process_action(agent, {"move": wrong})


@pytest.mark.parametrize(
    "kind", [BinaryAttackActor, EncodingBasedAttackActor, RestrictedSelectiveAttackActor]
)
def test_layers_and_actions(kind):
    """K1: what comes from the component; T3, F10: the given action stays."""
    me = Fighter(id="me", encoding=1, initial_position=at(0, 0), simultaneous_attacks=2)
    those = settle([me, someone("b", 2, 0, 1), someone("c", 3, 1, 0)])
    inner = kind(**those, attack_mapping={1: {2, 3}})
    twice = RavelActionWrapper(RavelActionWrapper(inner))
    assert isinstance(twice, ActorWrapper)
    assert isinstance(twice, ComponentWrapper)
    assert isinstance(twice.wrapped_component, RavelActionWrapper)
    assert twice.unwrapped is inner
    assert (twice.agents, twice.grid, twice.key) == (inner.agents, inner.grid, "attack")
    given = {"attack": 1, "more": [2]}
    before = copy.deepcopy(given)
    assert twice.process_action(me, given)[0]
    assert given == before
    assert me.null_action == {"attack": 0}


def test_real_numbers_cannot_be_ravelled():
    """K1"""
    with pytest.raises(AssertionError, match="cannot be wrapped"):
        RavelActionWrapper(Thruster(**settle([MovingAgent(id="t", encoding=1, move_range=1)])))


class Thruster(ActorBaseComponent):
    """A user's actor with a channel of its own making; a null action only if it is asked for."""

    def __init__(self, space=None, null=None, **kwargs):
        super().__init__(**kwargs)
        self.heard = []
        for agent in self.agents.values():
            agent.action_space[self.key] = space or spaces.Box(0.0, 1.0, (1,))
            if null is not None:
                agent.null_action = {self.key: null}

    @property
    def key(self):
        return "thrust"

    def process_action(self, agent, action_dict, **kwargs):
        self.heard.append(action_dict[self.key])
        return True


@pytest.mark.parametrize("null", [None, 5])
def test_a_users_actor(null):
    """K1: any actor can be wrapped, with a null action or without, before its agents are finalized."""
    agent = MovingAgent(id="t", encoding=1, move_range=1)
    inner = Thruster(spaces.Discrete(4, start=3), null, **settle([agent]))
    outer = RavelActionWrapper(inner)
    agent.finalize()
    assert agent.action_space["thrust"] == spaces.Discrete(4)
    assert agent.null_action == ({} if null is None else {"thrust": 2})
    assert outer.process_action(agent, {"thrust": 1}) is True
    assert inner.heard == [4]


def encoding_attacker(stacked=True, **kwargs):
    me = Fighter(
        id="agent0", encoding=1, initial_position=at(0, 0), attack_strength=0.4, simultaneous_attacks=2
    )
    others = [
        someone("agent1", 2, 1, 0),
        someone("agent2", 2, 1, 1),
        someone("agent3", 3, 0, 1, initial_health=0.5),
    ]
    those = settle([me, *others], 2, 2)
    return me, EncodingBasedAttackActor(**those, attack_mapping={1: {2, 3}}, stacked_attacks=stacked)


def test_exclusive_example():
    """K1, manual 3.2.18: Dict(2: 3, 3: 3) becomes five numbers, one encoding at a time."""
    me, actor = encoding_attacker()
    original = spaces.Dict({2: spaces.Discrete(3), 3: spaces.Discrete(3)})
    assert me.action_space["attack"] == original
    outer = ExclusiveChannelActionWrapper(actor)
    assert me.action_space["attack"] == spaces.Discrete(5)
    assert me.null_action["attack"] == 0
    decoded = [{2: 0, 3: 0}, {2: 1, 3: 0}, {2: 2, 3: 0}, {2: 0, 3: 1}, {2: 0, 3: 2}]
    assert [outer.wrap_point(original, number) for number in range(5)] == decoded
    assert [outer.unwrap_point(original, point) for point in decoded] == list(range(5))
    attempted, attacked = outer.process_action(me, {"attack": 4})
    assert (attempted, [agent.id for agent in attacked]) == (True, ["agent3", "agent3"])
    assert not actor.agents["agent3"].active
    assert outer.process_action(me, {"attack": 0}) == (False, [])


def test_exclusive_with_uneven_and_nested_parts():
    """K1, manual 3.2.18: sum of n_i - k + 1 points; a Dict within the Dict is ravelled without exclusion."""
    space = spaces.Dict(
        {
            "a": spaces.Discrete(2),
            "b": spaces.Dict({"x": spaces.Discrete(3), "y": spaces.Discrete(2)}),
            "c": spaces.MultiDiscrete([2, 2]),
        }
    )
    agent = MovingAgent(id="t", encoding=1, move_range=1)
    inner = Thruster(space, **settle([agent]))
    outer = ExclusiveChannelActionWrapper(inner)
    points = 2 + 6 + 4 - 3 + 1
    assert agent.action_space["thrust"].n == points
    seen = set()
    for number in range(points):
        point = outer.wrap_point(space, number)
        assert space.contains(point)
        assert sum(ravel(space[key], part) > 0 for key, part in point.items()) == (number > 0)
        assert outer.unwrap_point(space, point) == number
        seen.add(ravel(space, point))
    assert len(seen) == points < ravel_space(space).n


class Doubled(ObserverWrapper):
    """Shows integers doubled."""

    def check_space(self, space):
        return isinstance(space, spaces.Box) and space.dtype.kind == "i"

    def wrap_space(self, space):
        return spaces.Box(2 * space.low, 2 * space.high, dtype=space.dtype)

    def wrap_point(self, space, point):
        return 2 * np.asarray(point)

    def unwrap_point(self, space, point):
        return np.asarray(point) // 2


def test_wrapped_observers():
    """ObserverWrapper (section 1): channel, null point and observations change; other agents see nothing."""
    agent = GridObservingAgent(id="w", encoding=1, view_range=1, initial_position=at(3, 1))
    stone = someone("stone", 2, 0, 0)
    inner = AbsolutePositionObserver(**settle([agent, stone]))
    outer = Doubled(Doubled(inner))
    agent.finalize()
    assert agent.observation_space["position"].high.tolist() == [16, 16]
    assert agent.null_observation["position"].tolist() == [0, 0]
    assert outer.get_obs(agent)["position"].tolist() == [12, 4]
    assert outer.get_obs(agent)["position"] in agent.observation_space["position"]
    assert outer.get_obs(stone) == {}
    assert (outer.key, outer.unwrapped, outer.agents) == ("position", inner, inner.agents)
    with pytest.raises(AssertionError, match="is no observer"):
        Doubled(MoveActor(**movers()))


def test_null_observations_are_wrapped():
    """ObserverWrapper: null actions as in K1."""
    agent = GridObservingAgent(id="w", encoding=1, view_range=1)
    Doubled(PositionCenteredEncodingObserver(**settle([agent])))
    assert set(agent.null_observation["position_centered_encoding"].ravel().tolist()) == {-4}
