"""The release kept components in sets: one seed gave other episodes in other processes (F2)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
EPISODE = """
import hashlib
from interplay.gridworld.actors import BinaryAttackActor
from interplay.sim.managers import AllStepManager
from tests.gridworld.fighters import declared
from tests.gridworld.test_smart import tale

manager = AllStepManager(
    declared(
        states={"PositionState", "HealthState", "OrientationState", "AmmoState"},
        actors={"DriftMoveActor", BinaryAttackActor},
        observers={"PositionCenteredEncodingObserver", "AmmoObserver", "AbsolutePositionObserver"},
        dones={"OneTeamRemainingDone", "ActiveDone"},
        rewards={"AttackReward", "MoveReward", "StepPenalty"},
        attack_mapping={1: frozenset({3, 2}), 2: {1, 3}, 3: {2, 1}},
    ),
    randomize_action_input=True,
)
print(hashlib.sha256("".join(tale(manager, 7, 40)).encode()).hexdigest())
print(manager.sim.grid.board.agents.tobytes().hex()[:2000])
"""


def test_one_seed_is_one_episode_in_every_process():
    """F2: child processes with PYTHONHASHSEED 0..3 play identical episodes."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    children = [
        subprocess.Popen(
            [sys.executable, "-c", EPISODE],
            env={**environment, "PYTHONHASHSEED": str(seed)},
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for seed in range(4)
    ]
    told = [child.communicate(timeout=300) for child in children]
    assert [child.returncode for child in children] == [0] * 4, told
    assert len(told[0][0]) > 1000
    assert len({output for output, _ in told}) == 1
