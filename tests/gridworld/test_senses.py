"""The observers beyond the manual's: health around, and where a target is (specification 7)."""

from __future__ import annotations

import numpy as np

from interplay.gridworld.agents import GridWorldAgent
from interplay.gridworld.smart import SmartGridWorldSimulation
from interplay.sim.managers import AllStepManager
from tests.gridworld.boards import named, soldier, thing, walker
from tests.worlds.lockstep import march_together


def fight() -> AllStepManager:
    """Soldiers that wound each other, a wall to hide behind, a flag to go to."""
    soldiers = [
        soldier(f"s{i}", encoding=1 + i % 2, attack_strength=0.3, initial_health=1.0) for i in range(6)
    ]
    agents = named(*soldiers, thing("wall", 3, blocking=True), thing("flag", 4))
    sim = SmartGridWorldSimulation.build_sim(
        5,
        6,
        agents=agents,
        overlapping={1: {1}, 2: {2}},
        attack_mapping={1: {2}, 2: {1}},
        target_mapping={"s0": "flag", "s1": "s0"},
        states=["PositionState", "HealthState", "AmmoState", "OrientationState"],
        actors=["BinaryAttackActor", "MoveActor"],
        observers=["PositionCenteredHealthObserver", "TargetObserver"],
        dones=["OneTeamRemainingDone"],
        rewards=["AttackReward"],
    )
    return AllStepManager(sim, time_limit=60)


def test_a_simulation_vectorizes_itself():
    world = fight().sim.vectorize(3, time_limit=7, seed=4)
    same = fight().vectorize(3, seed=4)
    assert type(world).__name__ == "GridWorld"
    one, other = world.by_kind(world.reset().observation), same.by_kind(same.reset().observation)
    assert one.keys() == other.keys()
    for kind, fields in one.items():
        for name, values in fields.items():
            np.testing.assert_array_equal(values, other[kind][name])


def test_batches_see_what_objects_see():
    assert march_together(fight, steps=2000) > 10


def test_health_is_seen_where_the_encodings_are():
    agents = named(
        walker("me", view_range=2, initial_position=np.array([0, 0]), initial_health=0.5),
        thing("weak", 2, (0, 1), initial_health=0.25),
        thing("wall", 3, (1, 0), blocking=True, initial_health=1.0),
        thing("behind", 2, (2, 0), initial_health=0.75),
    )
    sim = SmartGridWorldSimulation.build_sim(
        3,
        3,
        agents=agents,
        states=["PositionState", "HealthState"],
        observers=["PositionCenteredHealthObserver"],
        dones=["ActiveDone"],
        actors=["MoveActor"],
    )
    sim.reset()
    seen = sim.get_obs("me")["position_centered_health"]
    assert seen.tolist() == [
        [-1, -1, -1, -1, -1],
        [-1, -1, -1, -1, -1],
        [-1, -1, 0.5, 0.25, 0],
        [-1, -1, 1, 0, 0],
        [-1, -2, -2, -2, 0],  # hidden wins over outside
    ]
    assert sim.agents["me"].observation_space.contains({"position_centered_health": seen})


def test_of_several_in_a_cell_the_health_is_that_of_whom_the_encoding_shows():
    agents = named(
        walker("me", view_range=3, initial_position=np.array([0, 0])),
        thing("weak", 2, (1, 3), initial_health=0.25),
        thing("strong", 3, (1, 3), initial_health=0.75),
    )
    sim = SmartGridWorldSimulation.build_sim(
        2,
        5,
        agents=agents,
        overlapping={2: {3}},
        states=["PositionState", "HealthState"],
        observers=["PositionCenteredHealthObserver", "PositionCenteredEncodingObserver"],
        dones=["ActiveDone"],
        actors=["MoveActor"],
    )
    sim.reset()
    shown = set()
    for _ in range(60):
        sim.step({"me": {"move": np.zeros(2, int)}})
        seen = sim.get_obs("me")
        fields = ("position_centered_encoding", "position_centered_health")
        shown.add(tuple(float(seen[field][4, 6]) for field in fields))
    assert shown == {(2.0, 0.25), (3.0, 0.75)}


def test_a_target_is_seen_from_where_one_stands():
    agents = named(
        walker("me", initial_position=np.array([2, 0])),
        GridWorldAgent(id="flag", encoding=2, initial_position=np.array([0, 3])),
    )
    sim = SmartGridWorldSimulation.build_sim(
        3,
        4,
        agents=agents,
        target_mapping={"me": "flag"},
        states=["PositionState"],
        observers=["TargetObserver"],
        dones=["TargetAgentOverlapDone"],
        actors=["MoveActor"],
    )
    sim.reset()
    assert sim.get_obs("me")["target"].tolist() == [-2, 3]
    sim.step({"me": {"move": np.array([-1, 1])}})
    assert sim.get_obs("me")["target"].tolist() == [-1, 2]
