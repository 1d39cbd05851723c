"""Mazes under a manager, as worlds."""

from __future__ import annotations

from interplay.gridworld.agents import GridWorldAgent
from interplay.sim.managers import AllStepManager
from interplay.worlds.maze_navigation.config import MAZE_FILE, MazeSettings, MultiMazeSettings
from interplay.worlds.maze_navigation.simulation import (
    NAVIGATOR,
    TARGET,
    MazeNavigationAgent,
    MazeNavigationSim,
    MultiMazeNavigationAgent,
    MultiMazeNavigationSim,
)

NAVIGATORS, WALLS, TARGETS = 1, 2, 3  # encodings


def manager(settings: MazeSettings | MultiMazeSettings) -> AllStepManager:
    """A new maze under a new manager."""
    sim = maze(settings) if isinstance(settings, MazeSettings) else drawn_maze(settings)
    return AllStepManager(sim, time_limit=settings.time_limit)


def maze(settings: MazeSettings) -> MazeNavigationSim:
    """The maze of the file, with its navigator."""
    return MazeNavigationSim.build_sim_from_file(
        MAZE_FILE,
        {
            "N": lambda n: MazeNavigationAgent(
                id=NAVIGATOR, encoding=NAVIGATORS, view_range=settings.view_range, render_color="blue"
            ),
            "T": lambda n: _target(),
            "W": _wall,
        },
        overlapping={NAVIGATORS: {TARGETS}},
    )


def drawn_maze(settings: MultiMazeSettings) -> MultiMazeNavigationSim:
    """Walls, navigators and a target, to be placed."""
    navigators = {
        f"{NAVIGATOR}{i}": MultiMazeNavigationAgent(
            id=f"{NAVIGATOR}{i}", encoding=NAVIGATORS, view_range=settings.view_range, render_color="blue"
        )
        for i in range(settings.num_navigators)
    }
    walls = {wall.id: wall for wall in map(_wall, range(settings.num_walls))}
    return MultiMazeNavigationSim.build_sim(
        settings.rows,
        settings.cols,
        agents={TARGET: _target(), **walls, **navigators},
        overlapping={NAVIGATORS: {NAVIGATORS, TARGETS}},
        barrier_encodings={WALLS},
        free_encodings={NAVIGATORS, TARGETS},
        cluster_barriers=True,
        strict_maze=settings.strict_maze,
    )


def _target() -> GridWorldAgent:
    return GridWorldAgent(id=TARGET, encoding=TARGETS, render_color="green", render_shape="D")


def _wall(number: int) -> GridWorldAgent:
    return GridWorldAgent(
        id=f"wall{number}",
        encoding=WALLS,
        blocking=True,
        render_shape="s",
        render_size=400,  # fills its cell
        render_color="#5b5e66",
    )
