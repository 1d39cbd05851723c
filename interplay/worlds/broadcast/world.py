"""The simulation under a manager, as a world."""

from __future__ import annotations

from interplay.gridworld.agents import GridWorldAgent
from interplay.sim.managers import AllStepManager
from interplay.worlds.broadcast.agents import BlockingAgent, BroadcastingAgent
from interplay.worlds.broadcast.config import BROADCASTER, BroadcastSettings
from interplay.worlds.broadcast.simulation import BroadcastSim


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
