"""A small tournament that tests kill in a subprocess: ``python -m tests.evaluate.cup OUT POINT N``."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

from interplay.core import files
from interplay.core.policy import Policy
from interplay.evaluate.tournaments.round_robins import RoundRobinSettings, make_settings, run_round_robin
from interplay.registry import make_policy

WORLD = "gridworld/team-battle"
NAMES = ("random", "hunter", "tests.evaluate.cup:Lazy")


def Lazy() -> Policy:
    """Stands still."""
    policy = make_policy(WORLD, "hunter")
    act = policy.act
    policy.act = lambda timestep: {key: 0 * value for key, value in act(timestep).items()}
    policy.name = "lazy"
    return policy


def settings(**values) -> RoundRobinSettings:
    return make_settings(
        world=WORLD,
        options={"num_agents": 8, "rows": 6, "cols": 6, "time_limit": 30},
        players=NAMES,
        identities=NAMES,
        **{"matches": 6, "block": 4, "seed": 11, **values},
    )


def policies():
    return [make_policy(WORLD, name) for name in NAMES]


def play(out: Path, resume: bool = False, on_progress=None, **values):
    return run_round_robin(settings(**values), policies(), out, resume, on_progress)


if __name__ == "__main__":
    where, point, times = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    left = [times]

    def kill(reached: str) -> None:
        left[0] -= reached == point
        if left[0] <= 0:
            os.kill(os.getpid(), signal.SIGKILL)

    files.hooks.append(kill)
    play(where, resume=where.exists())
