"""Reach the target under a manager, as a world."""

from __future__ import annotations

import numpy as np

from interplay.sim.managers import AllStepManager
from interplay.worlds.reach_the_target.agents import (
    BARRIERS,
    RUNNERS,
    TARGETS,
    BarrierAgent,
    RunningAgent,
    TargetAgent,
)
from interplay.worlds.reach_the_target.components import TARGET
from interplay.worlds.reach_the_target.config import ReachTheTargetSettings
from interplay.worlds.reach_the_target.simulation import ReachTheTargetSim


def manager(settings: ReachTheTargetSettings) -> AllStepManager:
    """A new chase under a new manager."""
    return AllStepManager(chase(settings), time_limit=settings.time_limit)


def chase(settings: ReachTheTargetSettings) -> ReachTheTargetSim:
    """A new chase."""
    bottom, right = settings.rows - 1, settings.cols - 1
    corners = [(0, 0), (0, right), (bottom, 0), (bottom, right)]
    barriers = [
        BarrierAgent(id=f"barrier{i}", render_shape="s", render_size=400, render_color="#5b5e66")
        for i in range(settings.num_barriers)
    ]
    target = TargetAgent(
        id=TARGET,
        initial_position=np.array([settings.rows // 2, settings.cols // 2]),
        initial_health=1,
        view_range=settings.target_view_range,
        attack_range=settings.attack_range,
        attack_strength=settings.strength,
        attack_accuracy=settings.accuracy,
        render_shape="D",
        render_color="green",
    )
    runners = [
        RunningAgent(
            id=f"runner{i}",
            initial_position=np.array(corners[i]),
            initial_health=1,
            move_range=settings.move_range,
            view_range=settings.view_range,
            render_color="blue",
        )
        for i in range(settings.num_runners)
    ]
    return ReachTheTargetSim.build_sim(
        settings.rows,
        settings.cols,
        agents={agent.id: agent for agent in (*barriers, target, *runners)},
        overlapping={TARGETS: {RUNNERS}, RUNNERS: {BARRIERS, TARGETS, RUNNERS}},
        attack_mapping={TARGETS: {RUNNERS}},
    )
