"""Declared simulations: how components are named, in which order they stand, what a step is, what a seed decides."""

from __future__ import annotations

import copy
import random

import numpy as np
import pytest

from interplay.gridworld import SmartGridWorldSimulation
from interplay.gridworld.actors import (
    ActionResult,
    ActorBaseComponent,
    BinaryAttackActor,
    CrossMoveActor,
    EncodingBasedAttackActor,
    MoveActor,
)
from interplay.gridworld.agents import MovingAgent
from interplay.gridworld.dones import ActiveDone
from interplay.gridworld.observers import (
    AbsolutePositionObserver,
    AmmoObserver,
    PositionCenteredEncodingObserver,
)
from interplay.gridworld.rewards import StepPenalty
from interplay.gridworld.states import HealthState, PositionState
from interplay.gridworld.wrappers import ExclusiveChannelActionWrapper, RavelActionWrapper
from interplay.sim.managers import AllStepManager, TurnBasedManager
from tests.gridworld.fighters import Fighter, Soldier, at, declared


def kinds(components):
    return [type(component).__name__ for component in components]


def test_classes_and_names_in_sets():
    """Y2: sets of classes and registered names; section 7: sorted by class name, kept as tuples."""
    sim = declared(
        states={"PositionState", HealthState, "AmmoState"},
        actors={MoveActor, "BinaryAttackActor"},
        observers={"PositionCenteredEncodingObserver", AmmoObserver, "AbsolutePositionObserver"},
        dones=frozenset({"OneTeamRemainingDone", ActiveDone}),
        rewards={"StepPenalty"},
    )
    assert kinds(sim.states) == ["AmmoState", "HealthState", "PositionState"]
    assert kinds(sim.actors) == ["BinaryAttackActor", "MoveActor"]
    assert kinds(sim.observers) == [
        "AbsolutePositionObserver",
        "AmmoObserver",
        "PositionCenteredEncodingObserver",
    ]
    assert kinds(sim.dones) == ["ActiveDone", "OneTeamRemainingDone"]
    families = (sim.states, sim.actors, sim.observers, sim.dones, sim.reward_components)
    assert {type(family) for family in families} == {tuple}


def test_lists_keep_their_order():
    """Section 7: lists and tuples; the same component may stand there twice."""
    sim = declared(
        states=["PositionState", "OrientationState", "HealthState"],
        actors=("MoveActor", BinaryAttackActor),
        rewards=["StepPenalty", "MoveReward", "StepPenalty"],
    )
    assert kinds(sim.states) == ["PositionState", "OrientationState", "HealthState"]
    assert kinds(sim.actors) == ["MoveActor", "BinaryAttackActor"]
    assert kinds(sim.reward_components) == ["StepPenalty", "MoveReward", "StepPenalty"]


def test_sets_of_wrappers_are_sorted_by_all_their_names():
    """Section 7, F2: the same wrapper twice has one order too; names that are equal need a list."""
    actors = {(RavelActionWrapper, "MoveActor"), (RavelActionWrapper, "BinaryAttackActor")}
    assert [kind for actor in declared(actors=actors).actors for kind in kinds([actor.unwrapped])] == [
        "BinaryAttackActor",
        "MoveActor",
    ]
    with pytest.raises(AssertionError, match="use a list"):
        declared(rewards={StepPenalty, type("StepPenalty", (StepPenalty,), {})})


def test_parameters():
    """Section 7: a pair of class or name and keyword arguments; they win over the simulation's."""
    sim = declared(
        actors=[(BinaryAttackActor, {"stacked_attacks": True, "attack_mapping": {1: 2}}), "MoveActor"],
        observers=[("PositionCenteredEncodingObserver", {"observe_self": False})],
        rewards=[("StepPenalty", {"amount": 0.5})],
    )
    assert sim.actors[0].stacked_attacks is True
    assert sim.actors[0].attack_mapping == {1: {2}}
    assert sim.observers[0].observe_self is False
    assert sim.reward_components[0].amount == 0.5


def test_factories_and_wrapper_chains():
    """Section 7: functions of (agents, grid) and wrappers around any entry, also around wrappers."""
    seen = []

    def make(agents, grid):
        seen.append((agents, grid))
        return EncodingBasedAttackActor(agents=agents, grid=grid, attack_mapping={1: {2, 3}})

    sim = declared(
        actors=[
            (ExclusiveChannelActionWrapper, make),
            (RavelActionWrapper, (RavelActionWrapper, (MoveActor, {"only": ["agent0", "agent1"]}))),
        ]
    )
    assert seen == [(sim.agents, sim.grid)]
    assert type(sim.actors[1].wrapped_component) is RavelActionWrapper
    assert type(sim.actors[1].unwrapped) is MoveActor
    space = sim.agents["agent0"].action_space
    assert {key: part.n for key, part in space.spaces.items()} == {"attack": 5, "move": 9}
    assert "move" not in sim.agents["agent2"].action_space.spaces


def test_a_component_that_is_made_already():
    """Section 7 (421): components may be made by hand, over the same agents and grid."""
    sim = declared(rewards=[lambda agents, grid: StepPenalty(agents=agents, grid=grid, amount=2)])
    sim.reset()
    sim.step({"agent1": {"move": np.zeros(2, int), "attack": 0}})
    assert sim.rewards["agent1"] == -2


def test_what_is_missing_is_missed_when_it_is_asked_for():
    """Y2: states at reset, observers at get_obs, dones at get_done; and no actors at step."""
    agents = {"a": Fighter(id="a", encoding=1)}
    bare = {"agents": agents, "actors": ["MoveActor"], "observers": ["AbsolutePositionObserver"]}
    with pytest.raises(AssertionError, match="no states"):
        SmartGridWorldSimulation.build_sim(2, 2, **bare).reset()
    sim = SmartGridWorldSimulation.build_sim(2, 2, **bare, states={"PositionState"})
    sim.reset()
    for ask in (lambda: sim.get_done("a"), sim.get_all_done):
        with pytest.raises(AssertionError, match="no dones"):
            ask()

    class Blind(SmartGridWorldSimulation):
        """A subclass finalizes when it has put itself together."""

    blind = Blind.build_sim(
        2, 2, agents={"b": MovingAgent(id="b", encoding=1, move_range=1)}, states={PositionState}
    )
    blind.reset()
    with pytest.raises(AssertionError, match="no observers"):
        blind.get_obs("b")
    with pytest.raises(AssertionError, match="no actors"):
        blind.step({})


def test_done_is_any_component_and_observations_are_all():
    """Y2."""
    sim = declared(
        observers=["AmmoObserver", "AbsolutePositionObserver"],
        dones=["ActiveDone", ("TargetEncodingInactiveDone", {"target_mapping": {1: 2}})],
    )
    sim.reset()
    assert list(sim.get_obs("agent0")) == ["ammo", "position"]
    assert (sim.get_done("agent0"), sim.get_all_done()) == (False, False)
    for name in ("agent1", "agent4"):
        sim.agents[name].active = False
    assert [sim.get_done(name) for name in ("agent0", "agent1", "agent2")] == [True, True, False]
    assert sim.get_all_done() is True
    assert type(sim.get_done("agent2")) is bool


class Diary(ActorBaseComponent):
    """Records the agents whose actions it gets."""

    key = "move"

    def __init__(self, book=None, name="", **kwargs):
        super().__init__(**kwargs)
        self.book, self.name = book, name

    def process_action(self, agent, action_dict, **kwargs):
        self.book.append(f"{self.name} {agent.id}")
        if self.name == "first" and agent.id == "agent4":
            self.agents["agent1"].health = 0
        return ActionResult(True, True)


def test_the_order_of_a_step():
    """Section 7: actors in list order, within each the agents in action order, the inactive skipped."""
    book: list[str] = []
    sim = declared(
        actors=[(Diary, {"book": book, "name": name}) for name in ("first", "second")] + ["MoveActor"]
    )
    sim.reset()
    stay = {"move": np.zeros(2, int)}
    sim.step(dict.fromkeys(("agent3", "agent4", "agent1", "agent0"), stay))
    assert book == [
        *("first agent3", "first agent4", "first agent0"),
        *("second agent3", "second agent4", "second agent0"),
    ]


def test_only_some_act_and_see():
    """Section 7 (420): `only` restricts actors and observers by id, encoding or predicate."""
    sim = declared(
        actors=[
            ("BinaryAttackActor", {"only": {1, "agent5"}}),
            (CrossMoveActor, {"only": lambda agent: agent.encoding == 2}),
            (MoveActor, {"only": ["agent0", "agent2"]}),
        ],
        observers=[
            (PositionCenteredEncodingObserver, {"only": {1, 2}}),
            (AbsolutePositionObserver, {"only": ["agent5", "agent2"]}),
        ],
    )
    channels = {
        name: sorted(a.action_space.spaces) for name, a in sim.agents.items() if isinstance(a, Soldier)
    }
    assert channels["agent0"] == ["attack", "move"]
    assert channels["agent1"] == ["move"]
    assert channels["agent3"] == ["attack"]
    assert channels["agent5"] == ["attack"]
    assert sim.agents["agent1"].action_space["move"].n == 5
    assert sim.agents["agent0"].action_space["move"].shape == (2,)
    sim.reset()
    assert set(sim.get_obs("agent0")) == {"position_centered_encoding"}
    assert set(sim.get_obs("agent5")) == {"position"}
    with pytest.raises(AssertionError, match="it places all agents"):
        declared(states=[("PositionState", {"only": [1]})])


@pytest.mark.parametrize(
    "action",
    [
        {"move": [1], "attack": 0},
        {"move": 1, "attack": 0},
        {"move": np.array([0, 2]), "attack": 0},
        {"move": np.array([0, 0]), "attack": 3},
        {"move": np.array([0, 0]), "attack": 0.5},
        {"move": np.array([0, 0]), "attack": None},
        {"move": np.array([0, 0])},
        {"move": np.array([2**32, 0]), "attack": 0},
        7,
    ],
)
def test_actions_outside_the_space_fail_before_anything_happens(action):
    """C1, M3: one wrong action of many; no agent has moved."""
    sim = declared()
    sim.reset()
    before = {name: agent.position.tolist() for name, agent in sim.agents.items()}
    good = {"move": np.array([1, 0]), "attack": 0}
    for actions in ({"agent0": good, "agent1": action}, {"agent1": action}):
        with pytest.raises(AssertionError, match="agent1: "):
            sim.step(actions)
    assert {name: agent.position.tolist() for name, agent in sim.agents.items()} == before


def test_actions_stay_as_they_are():
    """T3, F10: through a whole step, wrappers included."""
    sim = declared(actors=[(ExclusiveChannelActionWrapper, "EncodingBasedAttackActor"), "DriftMoveActor"])
    sim.reset()
    actions = {f"agent{i}": {"attack": i % 5, "move": i % 5} for i in range(6)}
    before = copy.deepcopy(actions)
    sim.step(actions)
    assert actions == before


# -- seeds ---------------------------------------------------------------------------------------------------------------


def rich(**kwargs):
    """Everything that draws: places, health, orientation, attacks, cells with several occupants."""
    return declared(
        states=[
            ("PositionState", {"randomize_placement_order": True}),
            "HealthState",
            "AmmoState",
            "OrientationState",
        ],
        actors=["EncodingBasedAttackActor", "DriftMoveActor"],
        observers=["PositionCenteredEncodingObserver", "AbsoluteEncodingObserver", "AmmoObserver"],
        people=9,
        **kwargs,
    )


def tale(manager, seed, steps=25):
    """An episode as text, its actions drawn from the agents' own spaces."""
    lines = [repr(manager.reset(seed=seed))]
    done: set[str] = set()
    current = manager.sim.agents
    ids = [name for name in current if name not in manager.done_agents]
    for _ in range(steps):
        names = ids if isinstance(manager, AllStepManager) else [next(iter(ids))]
        actions = {name: current[name].action_space.sample() for name in names if name not in done}
        output = manager.step(actions)
        lines.append(repr((actions, output)))
        done |= {name for name, flag in output[2].items() if flag}
        ids = [name for name in output[0] if name not in done]
        if output[2]["__all__"]:
            break
    return lines


@pytest.mark.parametrize("shuffled", [False, True])
def test_a_seed_names_the_episode(shuffled):
    """Section 7 (47, 60): the same seed, the same episode, samples of spaces included; whatever came before."""
    one, two = (AllStepManager(rich(), randomize_action_input=shuffled) for _ in range(2))
    first = tale(one, 11)
    tale(two, 12)
    assert tale(two, 11) == first
    assert tale(one, 11) == first
    assert tale(one, 12) != first


def test_a_seed_names_turns():
    """Section 7: one after another too."""
    one, two = TurnBasedManager(rich()), TurnBasedManager(rich())
    assert tale(one, 3, 60) == tale(two, 3, 60) == tale(one, 3, 60)


def test_an_agents_own_seed_keeps_its_spaces():
    """Section 7: spaces are seeded from the simulation's seed unless the agent has its own."""
    agents = {name: Fighter(id=name, encoding=1, seed=seed) for name, seed in (("own", 5), ("other", None))}
    sim = SmartGridWorldSimulation.build_sim(
        3, 3, agents=agents, states=["PositionState"], actors=["MoveActor"], observers=["AbsolutePositionObserver"],
        dones=["ActiveDone"],
    )  # fmt: skip
    manager = AllStepManager(sim)

    def drawn(name):
        return [agents[name].action_space.sample()["move"].tolist() for _ in range(12)]

    manager.reset(seed=1)
    own, other = drawn("own"), drawn("other")
    manager.reset(seed=1)
    assert drawn("other") == other
    assert drawn("own") != own  # it goes on
    manager.reset(seed=2)
    assert drawn("other") != other


def test_no_global_stream_is_read_or_written():
    """Section 7: numpy's and Python's generators stay where they are, and decide nothing."""
    manager = AllStepManager(rich(), randomize_action_input=True)
    tales = []
    for seed in (1, 2):
        np.random.seed(seed)  # noqa: NPY002
        random.seed(seed)
        before = np.random.get_state()[1].copy(), random.getstate()  # noqa: NPY002
        tales.append(tale(manager, 4))
        assert np.array_equal(before[0], np.random.get_state()[1])  # noqa: NPY002
        assert before[1] == random.getstate()
    assert tales[0] == tales[1]


def test_looking_changes_nothing():
    """Section 7: getters have no side effects: looking often, or never, gives the same episode."""
    often, seldom = rich(), rich()
    rng = np.random.default_rng(0)
    for sim in (often, seldom):
        sim.reseed(8)
        sim.reset()
    for _ in range(20):
        actions = {
            name: {
                "attack": dict.fromkeys(often.actors[0].attack_mapping[agent.encoding], 1),
                "move": int(rng.integers(5)),
            }
            for name, agent in often.agents.items()
            if isinstance(agent, Soldier) and agent.active
        }
        for name in actions:
            views = [repr(often.get_obs(name)) for _ in range(2)]
            assert views[0] == views[1]
            assert often.get_done(name) == often.get_done(name)
            assert often.rewards[name] == often.rewards[name]
        assert often.get_all_done() == often.get_all_done()
        often.step(actions)
        seldom.step(actions)
    ids = [name for name, agent in often.agents.items() if isinstance(agent, Soldier)]
    assert repr(often.report(ids)) == repr(seldom.report(ids))
    assert often.agents == seldom.agents


@pytest.mark.parametrize("manager", [AllStepManager, TurnBasedManager])
def test_only_the_reported_are_asked(manager):
    """Section 7, "Ask only for what is used": one look, one reward, one info for each reported agent."""
    asked: list[tuple[str, str]] = []

    class Asked(SmartGridWorldSimulation):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.finalize()

        def get_obs(self, agent_id, **kwargs):
            asked.append(("obs", agent_id))
            return super().get_obs(agent_id, **kwargs)

        def get_reward(self, agent_id, **kwargs):
            asked.append(("reward", agent_id))
            return super().get_reward(agent_id, **kwargs)

        def get_info(self, agent_id, **kwargs):
            asked.append(("info", agent_id))
            return super().get_info(agent_id, **kwargs)

    run = manager(declared(make=Asked.build_sim))
    ids = list(run.reset(seed=0))
    assert asked == [("obs", name) for name in ids]
    for _ in range(40):
        asked.clear()
        output = run.step({name: run.agents[name].action_space.sample() for name in ids})
        assert sorted(asked) == sorted(
            (what, name) for what in ("obs", "reward", "info") for name in output[0]
        )
        ids = [name for name in output[0] if not output[2][name]]
        if output[2]["__all__"]:
            break
    assert manager is AllStepManager or len(output[0]) < 6


def test_copies_are_worlds_of_their_own():
    """A deep copy goes on as the original would, and leaves it alone."""
    sim = rich()
    sim.reseed(1)
    sim.reset()
    twin = copy.deepcopy(sim)
    stay = {f"agent{i}": {"attack": dict.fromkeys({1, 2, 3} - {i % 3 + 1}, 1), "move": 3} for i in range(9)}
    before = {name: agent.position.tolist() for name, agent in sim.agents.items()}
    twin.step(stay)
    assert {name: agent.position.tolist() for name, agent in sim.agents.items()} == before
    assert twin.grid is not sim.grid
    sim.step(stay)
    assert sim.agents == twin.agents
    assert dict(sim.rewards) == dict(twin.rewards)
    assert at(*sim.agents["agent0"].position).tolist() == twin.agents["agent0"].position.tolist()
