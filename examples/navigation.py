"""A simulator that is a program of its own, as worlds: every copy starts one (`docs/remote.md`).

Train with ``interplay train examples.navigation:soft``, from the repository root.
"""

from __future__ import annotations

from interplay.sim.managers import AllStepManager
from interplay.worlds.navigation.simulation import NavigationSim


def soft(time_limit: int = 400) -> AllStepManager:
    """Paid at the waypoint alone."""
    return AllStepManager(NavigationSim(reward="soft"), time_limit=time_limit)


def penalties(time_limit: int = 400) -> AllStepManager:
    """Paid at the waypoint, fined for every step that an obstacle cuts short."""
    return AllStepManager(NavigationSim(reward="penalties"), time_limit=time_limit)
