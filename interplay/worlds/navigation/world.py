"""The proxy and the town under a manager, as worlds."""

from __future__ import annotations

from functools import partial

from interplay.core.world import World
from interplay.sim.adapt import SimulationWorld
from interplay.sim.managers import AllStepManager
from interplay.worlds.navigation.as_proxy import AsProxy
from interplay.worlds.navigation.proxy_simulation import ProxyNavigationSim
from interplay.worlds.navigation.settings import ProxySettings, TownSettings
from interplay.worlds.navigation.simulation import NavigationSim


def proxy_manager(settings: ProxySettings) -> AllStepManager:
    """A new proxy under a new manager."""
    sim = ProxyNavigationSim.build(
        settings.configuration,
        settings.view_range,
        settings.random_start,
        settings.fine,
    )
    return AllStepManager(sim, time_limit=settings.time_limit)


def make_town(
    settings: TownSettings, *, num_worlds: int = 1, seed: int = 0, threads: int = 1, first_world: int = 0
) -> World:
    """Factory of the town: every copy starts a program; `World.close` ends them."""
    return SimulationWorld(
        partial(town_manager, settings), num_worlds, seed, first_world=first_world, threads=threads
    )


def town_manager(settings: TownSettings) -> AllStepManager:
    """A new town under a new manager; `close` ends its program."""
    sim = NavigationSim(settings.reward)
    return AllStepManager(
        AsProxy(sim, settings.aim) if settings.as_proxy else sim, time_limit=settings.time_limit
    )
