"""Grid-world simulations and their builders (manual 3.1.4 and 7.5.1; specification 2.6 and 5)."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Self

import numpy as np

from interplay.core.scene import Canvas
from interplay.gridworld import build
from interplay.gridworld.board import Array
from interplay.gridworld.draw import draw_board
from interplay.gridworld.grid import Grid
from interplay.gridworld.rules.placement import shuffle_orders
from interplay.sim.checks import require
from interplay.sim.simulation import AgentBasedSimulation


class GridWorldSimulation(AgentBasedSimulation):
    """A simulation of agents that occupy cells of a grid.

    Subclasses make their components from the builders' keyword arguments, and implement `step`. Those that only choose components derive from
    `SmartGridWorldSimulation`. Create one with a builder.

    Every `reset` and `step`, overridden ones too, is a new moment: another of several occupants of a cell may be shown.

    Args:
        agents: id -> agent.
        grid: with cells for the agents.
    """

    _unseen = True  # no view was taken since the stream was seeded

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name in ("reset", "step"):
            if name in vars(cls):
                setattr(cls, name, _as_moment(vars(cls)[name]))

    def __init__(self, agents: dict[str, Any] | None = None, grid: Grid | None = None, **kwargs: Any) -> None:
        super().__init__(agents=agents if agents is not None else {})
        require(
            isinstance(grid, Grid),
            f"{type(self).__name__}: grid {grid!r} is no Grid; use a builder such as build_sim",
        )
        assert grid is not None  # for the type checker
        self._grid = grid
        grid.join(self.agents.values())

    @property
    def grid(self) -> Grid:
        return self._grid

    @classmethod
    def build_sim(cls, rows: int, cols: int, agents: Any = None, **kwargs: Any) -> Self:
        """Builds a simulation of a given size.

        Args:
            rows, cols: positive ints.
            agents: id -> agent.
            **kwargs: of the grid (``overlapping``), the components and the simulation.
        """
        build.check_agents(agents, "agents")
        return cls(agents=agents, grid=Grid(rows, cols, **kwargs), **kwargs)

    @classmethod
    def build_sim_from_array(
        cls, array: Array, object_registry: dict[str, Any], extra_agents: Any = None, **kwargs: Any
    ) -> Self:
        """Builds a simulation from a map; see `interplay.gridworld.build.agents_of_array`."""
        agents = build.agents_of_array(array, object_registry, extra_agents)
        rows, cols = array.shape
        return cls.build_sim(int(rows), int(cols), agents=agents, **kwargs)

    @classmethod
    def build_sim_from_file(
        cls, file_name: Any, object_registry: dict[str, Any], extra_agents: Any = None, **kwargs: Any
    ) -> Self:
        """Builds a simulation from a map file; see `interplay.gridworld.build.read_map`."""
        array = build.read_map(file_name)
        agents = build.agents_of_array(array, object_registry, extra_agents, source=str(file_name))
        rows, cols = array.shape
        return cls.build_sim(int(rows), int(cols), agents=agents, **kwargs)

    @classmethod
    def build_sim_from_grid(cls, grid: Grid, extra_agents: Any = None, **kwargs: Any) -> Self:
        """Builds a simulation from the present state of a grid; it takes over the agents themselves."""
        agents = build.agents_of_grid(grid, extra_agents)
        return cls.build_sim(grid.rows, grid.cols, agents=agents, **kwargs)

    def reseed(self, seed: int) -> None:
        super().reseed(seed)
        self._grid.rng = self.rng
        # As a world does, so that equal seeds give equal streams in both.
        self._grid.board.stream[0] = seed % 2**64, 0, 0
        self._unseen = True

    def shuffle(self, items: list[Any]) -> None:
        order = np.arange(len(items), dtype=np.int32)[None]
        shuffle_orders(self._grid.board.stream, order, np.array([len(items)]), 0, 1)
        items[:] = [items[i] for i in order[0].tolist()]

    def _pass_moment(self, drawn: int, unseen: bool) -> None:
        """Begins a new moment if nothing was drawn meanwhile: the shown occupant of a cell depends on the stream's position."""
        stream = self._grid.board.stream
        if not unseen and stream.item(0, 2) == drawn:
            stream[0, 2] += np.uint64(1)
        self._unseen = False

    def draw(self, canvas: Canvas) -> None:
        """Draws the grid and all active agents."""
        draw_board(canvas, self._grid.board, self._grid.agents, 0)

    def render(
        self, fig: Any = None, gridlines: bool = True, background_color: str = "w", **kwargs: Any
    ) -> Any:
        """Draws the present state, with matplotlib into a figure or as pixels.

        Args:
            fig: a matplotlib figure to draw into; None = return an image.

        Returns:
            The figure, or (H, W, 3) uint8.
        """
        from interplay.gridworld.draw import render

        return render(self, fig, gridlines, background_color)


def _as_moment(method: Callable[..., Any]) -> Callable[..., Any]:
    """Decorates a simulation's `reset` or `step`: a new moment begins at its end, once for nested calls."""

    @functools.wraps(method)
    def in_time(self: GridWorldSimulation, *args: Any, **kwargs: Any) -> Any:
        drawn, unseen = self._grid.board.stream.item(0, 2), self._unseen
        answer = method(self, *args, **kwargs)
        self._pass_moment(drawn, unseen)
        return answer

    return in_time
