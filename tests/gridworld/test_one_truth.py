"""One truth: kernels over a batch, objects under a manager, and a listing written out by hand agree step by step."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interplay.checker import check_world
from interplay.gridworld import SmartGridWorldSimulation
from interplay.gridworld.actors import ActorBaseComponent, DriftMoveActor, MoveActor
from interplay.gridworld.dones import ActiveDone, DoneBaseComponent
from interplay.gridworld.observers import AbsolutePositionObserver, ObserverBaseComponent
from interplay.gridworld.rewards import RewardBaseComponent, StepPenalty
from interplay.gridworld.states import HealthState
from interplay.gridworld.world import GridWorld
from interplay.gridworld.wrappers import ExclusiveChannelActionWrapper, RavelActionWrapper
from interplay.sim import Box
from interplay.sim.adapt import SimulationWorld
from interplay.sim.managers import AllStepManager, TurnBasedManager
from tests.gridworld.fighters import Fighter, Gunner, at, declared
from tests.gridworld.listings import ByHand
from tests.gridworld.lockstep import play

ATTACKS = {
    "binary": "BinaryAttackActor",
    "stacked": ("BinaryAttackActor", {"stacked_attacks": True}),
    "by encoding": "EncodingBasedAttackActor",
    "selective": ("SelectiveAttackActor", {"stacked_attacks": True}),
    "restricted": "RestrictedSelectiveAttackActor",
    "exclusive": (ExclusiveChannelActionWrapper, "EncodingBasedAttackActor"),
    "ravelled": (RavelActionWrapper, "RestrictedSelectiveAttackActor"),
    "ravelled encodings": (RavelActionWrapper, "EncodingBasedAttackActor"),
}
MOVES = {
    "move": "MoveActor",
    "cross": "CrossMoveActor",
    "drift": "DriftMoveActor",
    "ravelled": (RavelActionWrapper, "MoveActor"),
}
OBSERVERS = {
    "centred": ["PositionCenteredEncodingObserver"],
    "without self": [("PositionCenteredEncodingObserver", {"observe_self": False}), "AmmoObserver"],
    "stacked": ["StackedPositionCenteredEncodingObserver", "OrientationObserver"],
    "absolute": ["AbsoluteEncodingObserver", "AbsolutePositionObserver", "HealthObserver"],
}
DONES = {
    "active": ["ActiveDone"],
    "team": ["OneTeamRemainingDone"],
    "overlap": [("TargetAgentOverlapDone", {"target_mapping": {"agent0": "agent3", "agent1": "agent4"}})],
    "target": [
        "ActiveDone",
        ("TargetAgentInactiveDone", {"target_mapping": {"agent0": "agent1", "agent2": "agent3"}}),
    ],
    "encoding": ["ActiveDone", ("TargetEncodingInactiveDone", {"target_mapping": {1: 2, 2: {1, 3}}})],
}
MANAGERS = {
    "all": AllStepManager,
    "shuffled": lambda sim, **kwargs: AllStepManager(sim, randomize_action_input=True, **kwargs),
    "turns": TurnBasedManager,
}
REWARDS = ["AttackReward", "MoveReward", "StepPenalty"]


def faces(manager: Any, num_worlds: int = 2, seed: int = 5, by_hand: bool = True, **kwargs: Any) -> list[Any]:
    """The faces of one declared simulation."""
    limit = kwargs.pop("time_limit", None)

    def managed(make: Any) -> Any:
        return manager(declared(make=make, **kwargs), time_limit=limit)

    smart = SmartGridWorldSimulation.build_sim
    fast = managed(smart).vectorize(num_worlds, seed=seed)
    assert isinstance(fast, GridWorld)
    worlds = [fast, SimulationWorld(lambda: managed(smart), num_worlds, seed=seed)]
    if by_hand:
        worlds.append(SimulationWorld(lambda: managed(ByHand.build_sim), num_worlds, seed=seed))
    return worlds


def chosen(attack: str, move: str, observer: str, done: str) -> dict[str, Any]:
    return {
        "actors": [ATTACKS[attack], MOVES[move]],
        "observers": OBSERVERS[observer],
        "dones": DONES[done],
        "rewards": REWARDS,
    }


# Every attacker, mover, observer, done component and manager meets several of the others.
TABLE = [
    (attack, list(MOVES)[(i + i // 4) % 4], list(OBSERVERS)[i % 4], list(DONES)[i % 5], manager, limit)
    for i, (attack, manager, limit) in enumerate(
        (attack, manager, limit)
        for attack in ATTACKS
        for manager, limit in zip(MANAGERS, (None, 9, 40), strict=True)
    )
]


@pytest.mark.parametrize(("attack", "move", "observer", "done", "manager", "limit"), TABLE)
def test_every_component_under_every_manager(attack, move, observer, done, manager, limit):
    """Section 7, "Batching": object form, batch and the manual's style give identical trajectories."""
    parts = chosen(attack, move, observer, done)
    seen = play(faces(MANAGERS[manager], time_limit=limit, **parts), 40)
    assert seen["reward"] > 1


def test_the_table_is_whole():
    """Each choice of the table above is met under each manager at least once, or with each limit."""
    for place, choices in enumerate((ATTACKS, MOVES, OBSERVERS, DONES, MANAGERS)):
        assert {row[place] for row in TABLE} == set(choices)


@settings(max_examples=12, deadline=None, derandomize=True)
@given(
    st.sampled_from(sorted(ATTACKS)),
    st.sampled_from(sorted(MOVES)),
    st.sampled_from(sorted(OBSERVERS)),
    st.sampled_from(sorted(DONES)),
    st.sampled_from(sorted(MANAGERS)),
    st.sampled_from([None, 1, 7]),
    st.booleans(),
    st.integers(2, 7),
    st.integers(0, 2**31),
)
def test_any_choice_of_components(attack, move, observer, done, manager, limit, moves_first, people, seed):
    """Section 7, "Batching": any of them together, in either order."""
    people = max(people, 5) if done in ("overlap", "target") else max(people, 3)
    parts = chosen(attack, move, observer, done)
    if moves_first:
        parts["actors"] = parts["actors"][::-1]
    play(faces(MANAGERS[manager], 2, seed, time_limit=limit, people=people, **parts), 25, seed)


def battle(make: Any) -> Any:
    """TeamBattle of the manual, 6.2.1: 24 agents of four teams, which start in four cells."""
    starts = [(1, 1), (1, 6), (6, 1), (6, 6)]
    agents = {
        f"agent{i}": Fighter(
            id=f"agent{i}",
            encoding=i % 4 + 1,
            initial_position=at(*starts[i % 4]),
            view_range=3,
            attack_strength=1,
        )
        for i in range(24)
    }
    teams = range(1, 5)
    return make(
        8,
        8,
        agents=agents,
        overlapping={team: {team} for team in teams},
        attack_mapping={team: set(teams) - {team} for team in teams},
        states=["PositionState", "HealthState"],
        actors=["BinaryAttackActor", "MoveActor"],
        observers=["PositionCenteredEncodingObserver"],
        dones=["OneTeamRemainingDone"],
        rewards=REWARDS,
    )


def test_team_battle_for_ten_thousand_steps():
    """Section 7, "Batching"; 9.2: 10,000 world steps of kernels and objects, 1,000 of them by hand too."""
    for rounds, builders, steps in (
        (620, 1, 10_000),
        (62, 2, 1_000),
    ):  # a round in which worlds begin anew is no step
        makers = [SmartGridWorldSimulation.build_sim, ByHand.build_sim][:builders]
        worlds = [AllStepManager(battle(makers[0])).vectorize(20, seed=3)]
        assert isinstance(worlds[0], GridWorld)
        worlds += [
            SimulationWorld(lambda make=make: AllStepManager(battle(make)), 20, seed=3) for make in makers
        ]
        seen = play(worlds, rounds)
        assert seen["steps"] >= steps
        assert seen["reward"] > 100
    assert seen["terminated"] > 0


# -- agents with equal spaces but different components ---------------------------------------------------------------


def test_two_actors_share_a_channel():
    """Section 7, `only`: agents with equal spaces, some crossing, some drifting, some with another mapping."""
    parts = chosen("binary", "cross", "centred", "active")
    parts["actors"] = [
        ("BinaryAttackActor", {"only": [1], "attack_mapping": {1: 3}}),
        ("BinaryAttackActor", {"only": [2, 3], "stacked_attacks": True}),
        ("DriftMoveActor", {"only": ["agent1", "agent3"]}),
        ("CrossMoveActor", {"only": lambda agent: agent.id in ("agent0", "agent2", "agent4", "agent5")}),
    ]
    for manager in MANAGERS.values():
        play(faces(manager, **parts), 60)


def test_two_actors_share_a_channel_of_several_parts():
    """Section 7, `only`: as above where the channel is a Dict."""
    parts = chosen("by encoding", "move", "centred", "active")
    parts["actors"] = [
        ("EncodingBasedAttackActor", {"only": ["agent0", "agent1"]}),
        (
            "EncodingBasedAttackActor",
            {"only": ["agent2", "agent3", "agent4", "agent5"], "stacked_attacks": True},
        ),
        "MoveActor",
    ]
    play(faces(AllStepManager, **parts), 60)


def test_encodings_of_two_digits():
    """T11: a batch attacks encodings in their order, 2 before 10; as words they would stand the other way round."""

    def make(build: Any) -> Any:
        agents = {
            f"agent{i}": Gunner(
                id=f"agent{i}",
                encoding=(1, 2, 10)[i % 3],
                simultaneous_attacks=2,
                attack_range=2,
                initial_ammo=9,
            )
            for i in range(9)
        }
        return build(
            4,
            4,
            agents=agents,
            attack_mapping={1: {2, 10}, 2: {1, 10}, 10: {1, 2}},
            overlapping={1: {2, 10}, 2: {10}},
            states=["PositionState", "HealthState", "AmmoState"],
            actors=["EncodingBasedAttackActor", "CrossMoveActor"],
            observers=["AbsoluteEncodingObserver", "AmmoObserver"],
            dones=["OneTeamRemainingDone"],
            rewards=REWARDS,
        )

    smart = SmartGridWorldSimulation.build_sim
    worlds = [AllStepManager(make(smart)).vectorize(3, seed=2)]
    worlds += [
        SimulationWorld(lambda build=build: AllStepManager(make(build)), 3, seed=2)
        for build in (smart, ByHand.build_sim)
    ]
    assert isinstance(worlds[0], GridWorld)
    play(worlds, 60)


def test_two_observers_share_a_channel():
    """Section 7, `only`: agents with equal spaces, of which some see themselves."""
    parts = chosen("binary", "move", "centred", "active")
    parts["observers"] = [
        ("PositionCenteredEncodingObserver", {"only": {1}}),
        ("PositionCenteredEncodingObserver", {"only": {2, 3}, "observe_self": False}),
    ]
    for manager in MANAGERS.values():
        play(faces(manager, **parts), 40)


def test_equal_numbers_with_different_meanings():
    """K1: ravelled actions on different encodings have equal spaces."""
    parts = chosen("ravelled encodings", "move", "centred", "active")
    worlds = faces(AllStepManager, **parts)
    assert len({str(kind.action_space) for kind in worlds[0].kinds}) == 1
    play(worlds, 60)


def test_only_everywhere():
    """Section 7, `only`: states, dones and rewards too."""
    parts = chosen("binary", "move", "absolute", "active") | {
        "states": ["PositionState", ("HealthState", {"only": [1, 2]}), ("AmmoState", {"only": ["agent0"]})],
        "dones": [("OneTeamRemainingDone", {"only": [1, 2]}), ("ActiveDone", {"only": ["agent2"]})],
        "rewards": [
            ("AttackReward", {"only": [1]}),
            ("MoveReward", {"only": ["agent1"]}),
            ("StepPenalty", {"only": {3}}),
        ],
        "observers": ["AbsoluteEncodingObserver", "HealthObserver"],
    }
    for manager in MANAGERS.values():
        play(faces(manager, by_hand=False, time_limit=30, **parts), 70)


# -- a user's own parts --------------------------------------------------------------------------------------------------


class Jump(ActorBaseComponent):
    """Swaps rows and columns where possible, by a draw of the simulation's own."""

    key = "jump"

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        for agent in self.supported():
            agent.action_space[self.key] = Box(0, 1, (1,), int)
            agent.null_action = {**agent.null_action, self.key: np.zeros(1, int)}

    def _supported_agent(self, agent: Any) -> bool:
        return isinstance(agent, Fighter)

    def process_action(self, agent: Any, action_dict: dict[str, Any], **kwargs: Any) -> bool | None:
        if not action_dict[self.key][0]:
            return None
        if self.rng.random() < 0.5:
            return False
        cell = agent.position[::-1]
        return bool(cell[0] < self.rows and cell[1] < self.cols and self.grid.place(agent, cell))


class Neighbours(ObserverBaseComponent):
    """How many share the cell."""

    key = "neighbours"

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        for agent in self.supported():
            agent.observation_space[self.key] = Box(0, 99, (1,), int)
            agent.null_observation = {**agent.null_observation, self.key: np.zeros(1, int)}

    def _supported_agent(self, agent: Any) -> bool:
        return isinstance(agent, Fighter)

    def get_obs(self, agent: Any, **kwargs: Any) -> dict[str, Any]:
        return {self.key: np.array([len(self.grid[tuple(agent.position)])])} if self.supports(agent) else {}


class LastColumn(DoneBaseComponent):
    """Ends agents in the last column."""

    def get_done(self, agent: Any, **kwargs: Any) -> bool:
        return bool(agent.position[1] == self.cols - 1)

    def get_all_done(self, **kwargs: Any) -> bool:
        return all(self.get_done(agent) for agent in self.agents.values() if isinstance(agent, Fighter))


class Rightwards(RewardBaseComponent):
    """Pays for the column, and for jumps."""

    def collect(self, agent: Any, key: str, result: Any) -> None:
        if key == "jump" and result.success:
            self.pay(agent, 0.5)

    def end_step(self, actors: list[Any]) -> None:
        for agent in actors:
            self.pay(agent, float(agent.position[1]))


MIXED: dict[str, Any] = {
    "actors": ["BinaryAttackActor", Jump, "MoveActor"],
    "observers": ["PositionCenteredEncodingObserver", Neighbours],
    "dones": ["ActiveDone", LastColumn],
    "rewards": [*REWARDS, Rightwards],
}


@pytest.mark.parametrize("name", list(MIXED))
def test_a_users_part_works_in_both_faces(name, caplog):
    """Section 7, "Batching": user components in plain Python work in both faces; once it is said that this is slower."""
    parts = chosen("binary", "move", "centred", "active") | {name: MIXED[name]}
    own = {"actors": "Jump", "observers": "Neighbours", "dones": "LastColumn", "rewards": "Rightwards"}[name]
    with caplog.at_level(logging.WARNING, "interplay"):
        manager = AllStepManager(declared(**parts), time_limit=20)
        manager.reset(seed=0)
        manager.step(
            {
                agent_id: manager.agents[agent_id].action_space.sample()
                for agent_id in manager.agents
                if agent_id != "wall"
            }
        )
        assert not caplog.records
        world = manager.vectorize(2, seed=4)
        again = SimulationWorld(lambda: AllStepManager(declared(**parts), time_limit=20), 2, seed=4)
        seen = play([world, again], 40)
    assert isinstance(world, SimulationWorld)
    assert seen["reward"] > 1
    assert len(caplog.records) == 1
    assert f"{own} work for one world only" in caplog.text


def test_a_mixed_simulation_keeps_every_law():
    """Section 7, "Batching" and "One seed per simulation": what a user's parts draw from `rng` is named by the seed."""
    mixed = {**MIXED, "observers": [*MIXED["observers"], "AmmoObserver"]}
    report = check_world(
        lambda num_worlds, seed: AllStepManager(declared(**mixed), time_limit=15).vectorize(
            num_worlds, seed=seed
        ),
        steps=30,
        num_worlds=2,
    )
    assert report.ok, str(report)


def test_objects_agree_whether_stepped_at_once_or_agent_by_agent():
    """Section 7, "Batching": a user's reward that pays nothing changes the way of stepping, and nothing else."""

    class Idle(RewardBaseComponent):
        def collect(self, agent, key, result):
            pass

    for attack, move, observer, manager in (
        ("restricted", "drift", "absolute", "shuffled"),
        ("exclusive", "ravelled", "stacked", "turns"),
        ("stacked", "cross", "centred", "all"),
    ):
        parts = chosen(attack, move, observer, "encoding")
        fast = MANAGERS[manager](declared(**parts)).vectorize(2, seed=9)
        slow = MANAGERS[manager](declared(**parts | {"rewards": [*REWARDS, Idle]})).vectorize(2, seed=9)
        play([fast, slow], 50)


class Lame(MoveActor):
    """A user's change to a built-in mover, of the object face alone: it moves down and right only."""

    def process_action(self, agent: Any, action_dict: dict[str, Any], **kwargs: Any) -> bool | None:
        return super().process_action(agent, {self.key: np.abs(action_dict[self.key])}, **kwargs)


class Reversed(DriftMoveActor):
    """A user's change to how a result is read."""

    def as_result(self, answer: Any) -> Any:
        return super().as_result(None if answer is None else not answer)


class Swapped(RavelActionWrapper):
    """A user's wrapper, which may decode as it likes from one step to the next."""

    def wrap_point(self, space: Any, point: Any) -> Any:
        return super().wrap_point(space, point)[::-1]


class NeverDone(ActiveDone):
    def get_done(self, agent: Any, **kwargs: Any) -> bool:
        return False


class Mirrored(AbsolutePositionObserver):
    def get_obs(self, agent: Any, **kwargs: Any) -> dict[str, Any]:
        return {key: seen[::-1] for key, seen in super().get_obs(agent).items()}


class Bonus(StepPenalty):
    def end_step(self, actors: list[Any]) -> None:
        for agent in actors:
            self.pay(agent, 7.0)


class Halved(HealthState):
    def reset(self, **kwargs: Any) -> None:
        super().reset(**kwargs)
        for agent in self.agents.values():
            agent.health = agent.health / 2


@pytest.mark.parametrize(
    "entry",
    [(Swapped, "MoveActor"), (RavelActionWrapper, Lame), (RavelActionWrapper, (Swapped, "MoveActor"))],
)
def test_wrappers_of_changed_parts_are_stepped_in_python(entry):
    """Section 7, "Batching": a user's wrapper, or a user's part below a wrapper, is never passed over by kernels."""
    parts = chosen("binary", "move", "centred", "active") | {"actors": [entry]}
    sim = declared(**parts)
    world = AllStepManager(sim, time_limit=12).vectorize(2, seed=1)
    assert isinstance(world, SimulationWorld)
    manager = AllStepManager(sim)
    manager.reset(seed=3)
    agent = sim.agents["agent0"]
    for other in sim.agents.values():
        sim.grid.remove(other, other.position)
    assert sim.grid.place(agent, (2, 3))
    manager.step({"agent0": {"move": 1}})  # up; swapped it is left, lame it is down
    assert agent.position.tolist() == ([3, 3] if "Lame" in str(entry) else [2, 2])


@pytest.mark.parametrize("part", [Lame, Reversed, NeverDone, Mirrored, Bonus, Halved])
def test_a_built_in_part_that_a_user_changed_counts_as_the_users(part):
    """Section 7, "Batching": what overrides the object face of a built-in component is never passed over by kernels."""
    family = {
        "Lame": "actors",
        "Reversed": "actors",
        "NeverDone": "dones",
        "Mirrored": "observers",
        "Bonus": "rewards",
    }
    name = family.get(part.__name__, "states")
    parts = chosen("binary", "drift", "centred", "active")
    parts["rewards"] = ["AttackReward", ("MoveReward", {"made": 0.3})]
    parts[name] = [*parts.get(name, ["PositionState", "OrientationState"]), part]
    if name == "actors":
        parts["actors"] = ["BinaryAttackActor", part]
    if name == "dones":
        parts["dones"] = [part]

    def managed() -> Any:
        return AllStepManager(declared(**parts), time_limit=12)

    world = managed().vectorize(2, seed=1)
    assert isinstance(world, SimulationWorld)
    manager = managed()
    manager.reset(seed=0)
    sim = manager.sim
    ids = [f"agent{i}" for i in range(6)]
    up = {name: {"attack": 0, "move": np.array([-1, 0]) if part is Lame else 4} for name in ids}
    before = {name: sim.agents[name].position for name in ids}
    healths = [sim.agents[name].health for name in ids]
    observations, rewards, dones, _ = manager.step(up)
    if part is Lame:
        assert all(sim.agents[name].position[0] >= before[name][0] for name in ids)
    elif part is Reversed:
        assert all(
            reward != 0.3 or sim.agents[name].position.tolist() == before[name].tolist()
            for name, reward in rewards.items()
        )
    elif part is NeverDone:
        sim.agents["agent0"].active = False
        assert manager.step({})[2]["agent0"] is False
    elif part is Mirrored:
        assert all(
            seen["position"].tolist() == sim.agents[name].position.tolist()[::-1]
            for name, seen in observations.items()
        )
    elif part is Bonus:
        assert min(rewards.values()) > 6
    else:
        assert max(healths) <= 0.5
    assert dones["__all__"] is False
