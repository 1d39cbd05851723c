"""The small simulations of specification 9.7, through every manager and every wrapper that suits them, and as batches."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from gymnasium.spaces import Discrete

from interplay.checker import check_world
from interplay.core.errors import UserError
from interplay.sim import Agent, PrincipleAgent, is_agent
from interplay.sim.adapt import SimulationWorld
from interplay.sim.managers import AllStepManager, TurnBasedManager
from interplay.sim.wrappers import (
    CommunicationHandshakeWrapper,
    FlattenActionWrapper,
    FlattenWrapper,
    RavelDiscreteWrapper,
    SuperAgentWrapper,
)
from interplay.worlds import (
    EmptyABS,
    MultiAgentContinuousGymSpaceSim,
    MultiAgentGymSpacesSim,
    MultiAgentSameSpacesSim,
    MultiAgentSim,
)

# No agent here has a null observation.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:SuperAgentWrapper")]

WHOLE = [MultiAgentGymSpacesSim, MultiAgentSameSpacesSim]
CONSTANT = [*WHOLE, MultiAgentContinuousGymSpaceSim]
MANAGERS = [AllStepManager, TurnBasedManager]


def team(sim):
    """All learning agents under one super agent but the last."""
    names = [name for name, agent in sim.agents.items() if is_agent(agent)]
    return SuperAgentWrapper(sim, super_agent_mapping={"team": names[:-1]})


def flat_team(sim):
    return FlattenWrapper(team(sim))


def dress(wrapper, sim):
    return sim if wrapper is None else wrapper(sim)


def managed(manager, wrapper, make):
    """By name, so that the batch can be pickled."""
    return manager(dress(wrapper, make()))


SUITS = [
    *((make, wrapper) for make in CONSTANT for wrapper in (None, FlattenWrapper, FlattenActionWrapper, team)),
    *((make, RavelDiscreteWrapper) for make in WHOLE),
    *((make, flat_team) for make in CONSTANT),
    *((make, lambda sim: team(RavelDiscreteWrapper(sim))) for make in WHOLE),
]


def episode(manager):
    """Plays to the end with sampled actions; returns reports of all agents, and the number of steps."""
    seen, paid, steps = manager.reset(seed=3), {}, 0
    waiting, over = list(seen), False
    while not over:
        actions = {name: manager.agents[name].action_space.sample() for name in waiting}
        observations, rewards, dones, _ = manager.step(actions)
        steps, over = steps + 1, dones.pop("__all__")
        for name, observation in observations.items():
            assert manager.agents[name].observation_space.contains(observation), name
            seen[name] = observation
            paid.setdefault(name, []).append(rewards[name])
        waiting = [name for name, done in dones.items() if not done]
    return seen, paid, steps


@pytest.mark.parametrize("manager", MANAGERS)
@pytest.mark.parametrize(("make", "wrapper"), SUITS)
def test_every_manager_and_wrapper_plays_to_the_end(make, wrapper, manager):
    """W2, W3, W5, P1, M3: all observations lie in the spaces shown, and every learning agent is reported."""
    sim = dress(wrapper, make())
    seen, _, steps = episode(manager(sim))
    assert set(seen) == {name for name, agent in sim.agents.items() if is_agent(agent)}
    assert steps <= max(make.LAST.values()) * len(seen)


@pytest.mark.parametrize("make", CONSTANT)
def test_constants_are_in_their_spaces_and_ends_come_when_said(make):
    sim = make()
    for name, point in sim.OBSERVATIONS.items():
        space = sim.agents[name].observation_space
        assert space.contains(point) or not isinstance(point, np.ndarray), name
    _, paid, steps = episode(AllStepManager(sim))
    learning = [name for name, agent in sim.agents.items() if is_agent(agent)]
    assert steps == max(sim.LAST[name] for name in learning)
    assert paid == {name: [sim.REWARDS[name]] * sim.LAST[name] for name in learning}


def test_what_is_observed_cannot_be_spoilt():
    sim = MultiAgentContinuousGymSpaceSim()
    sim.reset()
    sim.get_obs("agent0")[:] = 9.0
    assert sim.get_obs("agent0").tolist() == [0.25, -0.75]


@pytest.mark.parametrize("manager", MANAGERS)
@pytest.mark.parametrize(
    ("make", "wrapper"),
    [
        (MultiAgentGymSpacesSim, RavelDiscreteWrapper),
        (MultiAgentGymSpacesSim, FlattenWrapper),
        (MultiAgentSameSpacesSim, None),
        (MultiAgentContinuousGymSpaceSim, None),
        (MultiAgentContinuousGymSpaceSim, flat_team),
    ],
)
def test_as_a_batch_every_law_holds(make, wrapper, manager):
    report = check_world(
        lambda num_worlds, seed: SimulationWorld(partial(managed, manager, wrapper, make), num_worlds, seed),
        steps=60,
    )
    assert report.ok, str(report)
    assert not report.skipped


def test_equal_spaces_are_one_kind():
    world = SimulationWorld(lambda: AllStepManager(MultiAgentSameSpacesSim()), 2)
    assert [kind.slots for kind in world.kinds] == [(0, 1), (2,)]


def test_a_tuple_of_actions_says_what_to_do_in_a_batch():
    with pytest.raises(UserError, match="Tuple action space is not supported"):
        AllStepManager(MultiAgentGymSpacesSim()).vectorize(2)


@pytest.mark.parametrize("manager", MANAGERS)
def test_texts_pass_through_untouched(manager):
    """C5: what getters return comes out as it is, whatever its type."""
    sim = MultiAgentSim()
    assert list(sim.agents) == ["agent0", "agent1", "agent2", "principle_agent0", "principle_agent1"]
    manager = manager(sim)
    first = manager.reset()
    assert first["agent0"] == "obs of agent0"
    observations, rewards, dones, infos = manager.step({"agent0": 1})
    assert observations["agent0"] == "obs of agent0"
    assert rewards["agent0"] == "reward of agent0"
    assert dones["agent0"] == "done of agent0"
    assert infos["agent0"] == 1
    assert dones["__all__"] is True
    assert not any(name.startswith("principle") for name in observations)


def test_messages_are_offered_to_everybody():
    """H1: passive agents are listed too."""
    sim = CommunicationHandshakeWrapper(MultiAgentSim(num_agents=2, num_principle_agent=1))
    assert list(sim.agents["agent0"].action_space["send"].spaces) == ["agent1", "principle_agent0"]
    observation = AllStepManager(sim).reset()["agent0"]
    assert observation["obs"] == "obs of agent0"


@pytest.mark.parametrize("manager", MANAGERS)
def test_the_empty_simulation_does_nothing(manager):
    empty = manager(EmptyABS())
    assert empty.reset() == {}
    assert empty.step({}) == ({}, {}, {"__all__": True}, {})
    agents = {
        "one": Agent(id="one", observation_space={"a": Discrete(2)}, action_space=Discrete(2)),
        "two": PrincipleAgent(id="two"),
    }
    held = manager(EmptyABS(agents))
    assert held.reset() == {"one": None}
    assert held.step({"one": 0}) == (
        {"one": None},
        {"one": None},
        {"one": None, "__all__": False},
        {"one": None},
    )
