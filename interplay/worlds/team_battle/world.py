"""A team battle under a manager, as a world."""

from __future__ import annotations

import numpy as np

from interplay.core.world import World
from interplay.sim.managers import AllStepManager
from interplay.worlds.team_battle.config import TeamBattleSettings
from interplay.worlds.team_battle.simulation import BattleAgent, TeamBattleSim

COLOURS = ("red", "blue", "green", "gray")


def make(
    settings: TeamBattleSettings,
    *,
    num_worlds: int = 1,
    seed: int = 0,
    threads: int = 1,
    first_world: int = 0,
) -> World:
    """Factory of the world."""
    world = manager(settings).vectorize(num_worlds, seed=seed, first_world=first_world, threads=threads)
    world.teams = tuple(
        tuple(range(team, settings.num_agents, settings.teams)) for team in range(settings.teams)
    )
    return world


def manager(settings: TeamBattleSettings) -> AllStepManager:
    """A new battle under a new manager."""
    return AllStepManager(battle(settings), time_limit=settings.time_limit)


def battle(settings: TeamBattleSettings) -> TeamBattleSim:
    """A new battle."""
    teams = range(1, settings.teams + 1)
    return TeamBattleSim.build_sim(
        settings.rows,
        settings.cols,
        agents={f"agent{i}": _fighter(settings, i) for i in range(settings.num_agents)},
        overlapping={team: {team} for team in teams},
        attack_mapping={team: {other for other in teams if other != team} for team in teams},
    )


def _fighter(settings: TeamBattleSettings, number: int) -> BattleAgent:
    team = number % settings.teams
    low, high = 1, settings.cols - 2
    corners = [(1, low), (1, high), (settings.rows - 2, low), (settings.rows - 2, high)]
    return BattleAgent(
        id=f"agent{number}",
        encoding=team + 1,
        initial_position=np.array(corners[team]) if settings.start == "corners" else None,
        initial_health=1,
        view_range=settings.view_range,
        move_range=settings.move_range,
        attack_range=settings.attack_range,
        attack_strength=settings.strength,
        attack_accuracy=settings.accuracy,
        render_color=COLOURS[team],
    )
