"""Components by name."""

from __future__ import annotations

import pytest

from interplay.gridworld import register, registry
from interplay.gridworld.dones import DoneBaseComponent
from tests.gridworld.fighters import declared

BUILT_IN = {
    "actor": "MoveActor CrossMoveActor DriftMoveActor BinaryAttackActor EncodingBasedAttackActor SelectiveAttackActor "
    "RestrictedSelectiveAttackActor",
    "state": "PositionState MazePlacementState TargetBarriersFreePlacementState HealthState AmmoState OrientationState",
    "observer": "AbsolutePositionObserver AbsoluteEncodingObserver PositionCenteredEncodingObserver "
    "StackedPositionCenteredEncodingObserver AmmoObserver",
    "done": "ActiveDone OneTeamRemainingDone TargetAgentOverlapDone TargetAgentInactiveDone TargetEncodingInactiveDone",
    "reward": "StepPenalty MoveReward AttackReward TargetReward",
}


def test_families_and_names():
    """Y1: five families, class name -> class, all built-ins entered and nothing that is only a base."""
    assert set(registry) == set(BUILT_IN)
    for family, names in BUILT_IN.items():
        assert set(names.split()) <= set(registry[family])
        for name, component in registry[family].items():
            assert component.__name__ == name
            assert not component.__abstractmethods__


def test_a_users_component_goes_by_its_name():
    """Y1, Y2."""

    class NeverDone(DoneBaseComponent):
        def get_done(self, agent, **kwargs):
            return False

        def get_all_done(self, **kwargs):
            return False

    try:
        register(NeverDone)
        assert registry["done"]["NeverDone"] is NeverDone
        sim = declared(dones={"NeverDone"})
        assert [type(done) for done in sim.dones] == [NeverDone]
    finally:
        del registry["done"]["NeverDone"]
    with pytest.raises(AssertionError, match="'NeverDone'"):
        declared(dones=["NeverDone"])
