"""The release kept components in sets: one seed gave other episodes in other processes (F2)."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

from interplay.gridworld.actors import BinaryAttackActor
from interplay.sim.managers import AllStepManager
from tests.gridworld.fighters import declared
from tests.gridworld.test_smart import tale

ROOT = Path(__file__).parents[2]


def digest() -> str:
    """An episode of a simulation declared with sets, and the arrays that it ended with."""
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
    lines = tale(manager, 7, 40)
    assert len(lines) > 10
    board = manager.sim.grid.board
    arrays = [board.agents[name].tobytes() for name in board.agents.dtype.names]
    return hashlib.sha256("".join(lines).encode() + b"".join(arrays)).hexdigest()


def test_one_seed_is_one_episode_in_every_process():
    """F2: child processes with PYTHONHASHSEED 0..3 play identical episodes; so does this one.

    The children run the kernels as plain Python, which starts faster, and compiled or not is to make no difference.
    """
    command = "from tests.gridworld.test_hash_seed import digest; print(digest())"
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "NUMBA_DISABLE_JIT": "1"}
    children = [
        subprocess.Popen(
            [sys.executable, "-c", command],
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
    assert {output.strip() for output, _ in told} == {digest()}
