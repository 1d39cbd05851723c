"""A world that leaves the process in its third step, and a player that does."""

from __future__ import annotations

import sys
from typing import Any

from interplay.core.policy import RandomPolicy
from interplay.core.world import TimeStep
from tests.cli.marsh import Marsh


class Leaver(Marsh):
    """`Marsh`, until it leaves."""

    steps = 0

    def _step(self, action: Any) -> TimeStep:
        self.steps += 1
        if self.steps == 3:
            sys.exit(0)
        return super()._step(action)


class LeavingPlayer(RandomPolicy):
    """Leaves at once."""

    def act(self, timestep: TimeStep) -> Any:
        sys.exit(0)
