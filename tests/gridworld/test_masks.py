"""Action masks: which choices would work, alike in both faces, and the others are refused (specification 7)."""

from __future__ import annotations

import numpy as np
import pytest

from interplay.core.errors import UserError
from interplay.gridworld.smart import SmartGridWorldSimulation
from interplay.gridworld.wrappers import ExclusiveChannelActionWrapper, RavelActionWrapper
from interplay.sim.managers import AllStepManager, TurnBasedManager
from tests.gridworld.boards import named, soldier, thing
from tests.worlds.lockstep import march_together

ACTORS = {
    "binary and cross": ["BinaryAttackActor", "CrossMoveActor"],
    "exclusive and ravelled": [
        (ExclusiveChannelActionWrapper, "EncodingBasedAttackActor"),
        (RavelActionWrapper, "MoveActor"),
    ],
    "by encoding": ["EncodingBasedAttackActor", "MoveActor"],
    "cells named": ["RestrictedSelectiveAttackActor", "CrossMoveActor"],
    "cell counts": ["SelectiveAttackActor", "CrossMoveActor"],
    "drifting": ["BinaryAttackActor", "DriftMoveActor"],
}


def fight(actors, manager=AllStepManager, attacks=2, strength=1.0) -> AllStepManager:
    """Three teams with few rounds each and a wall; episodes end at different times."""
    soldiers = [
        soldier(
            f"s{i}",
            encoding=1 + i % 3,
            attack_strength=strength,
            simultaneous_attacks=attacks,
            initial_ammo=3,
            initial_health=1.0,
        )
        for i in range(9)
    ]
    sim = SmartGridWorldSimulation.build_sim(
        5,
        6,
        agents=named(*soldiers, thing("wall", 4, blocking=True)),
        attack_mapping={1: {2, 3}, 2: {1, 3}, 3: {1, 2}},
        states=["PositionState", "HealthState", "AmmoState", "OrientationState"],
        actors=actors,
        observers=["PositionCenteredEncodingObserver", "AmmoObserver"],
        dones=["OneTeamRemainingDone"],
        rewards=["AttackReward", "MoveReward"],
        action_masks=True,
    )
    return manager(sim, time_limit=40 if manager is AllStepManager else 150)


@pytest.mark.parametrize("manager", [AllStepManager, TurnBasedManager])
@pytest.mark.parametrize("name", ACTORS)
def test_both_faces_show_the_same_masks_and_random_legal_play_is_never_refused(name, manager):
    """Some worlds of the batch are reset while others go on: what those show must stay."""
    assert march_together(lambda: fight(ACTORS[name], manager), steps=800) > 2


def test_a_reset_of_one_world_leaves_the_masks_of_the_others():
    world = fight(ACTORS["binary and cross"]).vectorize(3, seed=2)
    before = {key: mask.copy() for key, mask in world.reset().action_mask.items()}
    assert not all(mask.all() for mask in before.values())
    after = world.reset(np.array([True, False, False])).action_mask
    for key, mask in before.items():
        np.testing.assert_array_equal(after[key][1:], mask[1:])


def small(**kwargs) -> SmartGridWorldSimulation:
    """One soldier in the corner beside a wall, an enemy below."""
    agents = named(
        soldier("me", initial_position=np.array([0, 0]), initial_health=1.0, **kwargs),
        soldier("foe", 2, initial_position=np.array([1, 0]), initial_health=1.0),
        thing("wall", 3, (0, 1), blocking=True),
    )
    return SmartGridWorldSimulation.build_sim(
        3,
        3,
        agents=agents,
        attack_mapping={1: {2}, 2: {1}},
        states=["PositionState", "HealthState", "AmmoState", "OrientationState"],
        actors=["BinaryAttackActor", "CrossMoveActor"],
        observers=["AmmoObserver"],
        dones=["ActiveDone"],
        action_masks=True,
    )


def test_masks_worked_out_by_hand():
    sim = small()
    sim.reset()
    mask = sim.get_action_mask("me")
    assert mask["move"].tolist() == [
        1,
        0,
        0,
        0,
        0,
    ]  # stay; left out of the grid, the foe, the wall, out of the grid
    assert mask["attack"].tolist() == [1, 1]
    sim.agents["me"].ammo = 0
    assert sim.get_action_mask("me")["attack"].tolist() == [1, 0]


def test_illegal_choices_are_refused_in_one_line_and_nothing_happens():
    sim = small()
    manager = AllStepManager(sim)
    manager.reset()
    with pytest.raises(AssertionError, match="agent me: move action 3 is illegal now"):
        manager.step({"me": {"attack": 1, "move": 3}})
    assert sim.agents["foe"].active
    world = AllStepManager(small()).vectorize(2)
    world.reset()
    hashed = world.hash()
    with pytest.raises(UserError, match="world 0, me: move action 3 is illegal now"):
        world.step({"attack": np.zeros((2, 2), int), "move": np.full((2, 2), 3)})
    assert (world.hash() == hashed).all()


def test_without_the_option_there_is_no_mask():
    sim = small()
    sim.action_masks = False
    sim.reset()
    assert sim.get_action_mask("me") is None
