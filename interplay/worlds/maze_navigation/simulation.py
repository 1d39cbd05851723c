"""Maze navigation, alone in a fixed maze or many in drawn mazes.

Source: manual 6.2.2, specification 9.3.
"""

from __future__ import annotations

from typing import Any

from interplay.gridworld.actors import MoveActor
from interplay.gridworld.agents import GridObservingAgent, GridWorldAgent, MovingAgent
from interplay.gridworld.dones import TargetAgentOverlapDone
from interplay.gridworld.observers import PositionCenteredEncodingObserver
from interplay.gridworld.rewards import MoveReward, StepPenalty, TargetReward
from interplay.gridworld.smart import SmartGridWorldSimulation, with_defaults
from interplay.gridworld.states import MazePlacementState, PositionState
from interplay.sim.agents import is_agent
from interplay.sim.checks import require
from interplay.sim.managers import AllStepManager
from interplay.worlds.maze_navigation.config import MAZE_FILE, MazeSettings, MultiMazeSettings

NAVIGATOR, TARGET = "navigator", "target"


class MazeNavigationAgent(GridObservingAgent, MovingAgent):
    """Walks through a maze, one cell a step."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**{"move_range": 1, **kwargs})


class MultiMazeNavigationAgent(MazeNavigationAgent):
    """One of many navigators."""


class _Navigation(SmartGridWorldSimulation):
    """The common part of both simulations: rewards and arrivals.

    Args:
        targets: id -> id of its target.
    """

    usual_state: type = PositionState

    def __init__(self, targets: dict[str, str], **kwargs: Any) -> None:
        mapped = {"target_mapping": targets}
        usual = {
            "states": [self.usual_state],
            "observers": [PositionCenteredEncodingObserver],
            "dones": [(TargetAgentOverlapDone, mapped)],
            "actors": [MoveActor],
            # The final reward must be exactly 1, so it is paid after the fines.
            "rewards": [MoveReward, StepPenalty, (TargetReward, mapped)],
        }
        super().__init__(**with_defaults(kwargs, usual))
        self.finalize()


class MazeNavigationSim(_Navigation):
    """One navigator, called ``navigator``, and one ``target``, in a maze of passive agents.

    A step that reaches the target is worth exactly 1 and ends the episode; any other costs 0.01, and 0.1 more if it was blocked.

    Args:
        agents: id -> agent, with those two ids among them; their encodings must be allowed to overlap.
        **kwargs: grid, from a builder; ``states``, ``observers``, ``dones``, ``actors`` and ``rewards`` replace the default
            components; and keyword arguments of the components.
    """

    def __init__(self, agents: Any = None, **kwargs: Any) -> None:
        given = agents if isinstance(agents, dict) else {}
        for name in (NAVIGATOR, TARGET):
            require(name in given, f"{type(self).__name__}: no agent is called {name!r}; give one that id")
        super().__init__(targets={NAVIGATOR: TARGET}, agents=agents, **kwargs)

    @property
    def navigator(self) -> Any:
        return self.agents[NAVIGATOR]

    @property
    def target(self) -> Any:
        return self.agents[TARGET]


class MultiMazeNavigationSim(_Navigation):
    """Many navigators and one target, in a maze drawn for every episode.

    Rewards are those of `MazeNavigationSim`, for each navigator; after its arrival a navigator waits on the target's cell.

    Args:
        agents: id -> agent; those that observe and act are navigators.
        target_agent: an agent or its id.
        **kwargs: grid, from a builder; ``barrier_encodings`` and ``free_encodings`` for
            `interplay.gridworld.states.MazePlacementState`; the rest as `MazeNavigationSim`.
    """

    usual_state = MazePlacementState

    def __init__(self, agents: Any = None, target_agent: Any = TARGET, **kwargs: Any) -> None:
        given = agents if isinstance(agents, dict) else {}
        goal = target_agent if isinstance(target_agent, str) else getattr(target_agent, "id", None)
        require(
            goal in given,
            f"{type(self).__name__}: target_agent {target_agent!r} is not in the simulation; give an agent or its id",
        )
        targets = {name: str(goal) for name, agent in given.items() if is_agent(agent)}
        self._goal = str(goal)
        super().__init__(targets=targets, agents=agents, target_agent=target_agent, **kwargs)

    @property
    def target(self) -> Any:
        """The common target."""
        return self.agents[self._goal]


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
