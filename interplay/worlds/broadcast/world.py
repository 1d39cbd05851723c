"""The simulation under a manager, as a world."""

from __future__ import annotations

from interplay.core.world import World
from interplay.gridworld.agents import GridWorldAgent
from interplay.sim.managers import AllStepManager
from interplay.worlds.broadcast.agents import BlockingAgent, BroadcastingAgent
from interplay.worlds.broadcast.config import BROADCASTER, BroadcastSettings
from interplay.worlds.broadcast.simulation import BroadcastSim


def make(
    settings: BroadcastSettings, *, num_worlds: int = 1, seed: int = 0, threads: int = 1, first_world: int = 0
) -> World:
    """What the registry calls."""
    return manager(settings).vectorize(num_worlds, seed=seed, first_world=first_world, threads=threads)


def manager(settings: BroadcastSettings) -> AllStepManager:
    """A new map under a new manager."""
    members: list[GridWorldAgent] = [
        BroadcastingAgent(
            id=f"broadcaster{i}", broadcast_range=settings.broadcast_range, view_range=settings.view_range
        )
        for i in range(settings.broadcasters)
    ]
    members += [
        BlockingAgent(id=f"blocker{i}", move_range=settings.move_range, view_range=settings.view_range)
        for i in range(settings.blockers)
    ]
    sim = BroadcastSim.build_sim(
        settings.rows,
        settings.cols,
        agents={agent.id: agent for agent in members},
        broadcast_mapping={BROADCASTER: BROADCASTER},
        done_tolerance=settings.done_tolerance,
    )
    return AllStepManager(sim, time_limit=settings.time_limit)
