"""Builds the agents of a simulation from arrays, files and grids (manual 3.1.4; specification 5)."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from interplay.core.errors import Refused
from interplay.core.reading import MIB, read_bytes
from interplay.gridworld.agents import GridWorldAgent
from interplay.gridworld.board import Array
from interplay.gridworld.grid import Grid
from interplay.sim.checks import is_exactly, require

EMPTY = ("", "0", ".", "_")


def agents_of_array(
    array: Any, registry: Any, extra_agents: Any = None, source: str = "array"
) -> dict[str, GridWorldAgent]:
    """The agents of a map: the extra ones in their order, then those of the map row by row.

    Args:
        array: (R, C) of one-character strings.
        registry: character -> function(n) -> agent, where n counts the character's cells from 0 in reading order.
        extra_agents: id -> agent; the map's agent replaces one with the same id.
        source: name in errors.
    """
    require(
        isinstance(array, np.ndarray) and array.ndim == 2,
        f"{source} {array!r} is no two-dimensional NumPy array",
    )
    require(
        is_exactly(registry, dict), f"object registry {registry!r} is no dict; give character -> function"
    )
    for key, function in registry.items():
        require(
            key not in (0, *EMPTY), f"object registry: {key!r} is reserved for empty cells; choose a letter"
        )
        require(
            is_exactly(key, str) and len(key) == 1,
            f"object registry: key {key!r} is no single character; a cell of the map holds one",
        )
        require(
            callable(function),
            f"object registry[{key!r}] is {function!r}; give a function of the character's number that makes an agent",
        )
    built: dict[str, GridWorldAgent] = {}
    counts: dict[str, int] = {}
    unknown: set[str] = set()
    for (row, col), entry in np.ndenumerate(array):
        letter = entry.decode("utf-8", "replace") if isinstance(entry, bytes) else str(entry)
        if letter not in registry:
            unknown |= {letter} - set(EMPTY)
            continue
        agent = registry[letter](counts.get(letter, 0))
        counts[letter] = counts.get(letter, 0) + 1
        require(
            isinstance(agent, GridWorldAgent),
            f"object registry[{letter!r}] made {agent!r}; it must make a GridWorldAgent",
        )
        require(
            agent.id not in built,
            f"object registry[{letter!r}] made {agent.id!r} twice, again at ({row}, {col}); number the ids",
        )
        agent.initial_position = np.array([row, col])
        built[agent.id] = agent
    if unknown:
        warnings.warn(
            f"{source}: letters {', '.join(sorted(unknown))} are not in the object registry; their cells are empty",
            UserWarning,
            stacklevel=3,
        )
    return joined(built, extra_agents)


def agents_of_grid(grid: Any, extra_agents: Any = None) -> dict[str, GridWorldAgent]:
    """The agents of a grid, the extra ones first."""
    require(isinstance(grid, Grid), f"grid {grid!r} is no Grid; give one")
    built: dict[str, GridWorldAgent] = {}
    for row in range(grid.rows):
        for col in range(grid.cols):
            for agent in (grid[row, col] or {}).values():
                begins = agent.initial_position
                require(
                    begins is not None and tuple(begins) == (row, col),
                    f"agent {agent.id} stands at ({row}, {col}), its initial_position is {begins}; make them equal",
                )
                built[agent.id] = agent
    return joined(built, extra_agents)


def read_map(file_name: Any) -> Array:
    """A map file as an array: a line per row, entries separated by blanks.

    Raises:
        FileNotFoundError: if there is no such file.
    """
    require(
        isinstance(file_name, str | Path), f"file_name {file_name!r} is no str; give the name of a map file"
    )
    try:
        lines = read_bytes(file_name, 64 * MIB).decode().splitlines()
    except UnicodeDecodeError as error:
        raise Refused(f"{file_name} is no UTF-8 text ({error}); save the map as plain text") from error
    while lines and not lines[-1].strip():
        lines.pop()
    rows = [line.split() for line in lines]
    require(bool(rows), f"{file_name} is empty; write a line for each row of the grid")
    for number, row in enumerate(rows, 1):
        require(
            len(row) == len(rows[0]) and bool(row),
            f"{file_name}, line {number}: {len(row)} entries, the first line has {len(rows[0])}; make rows equally long",
        )
    return np.array(rows)


def joined(built: Mapping[str, GridWorldAgent], extra_agents: Any) -> dict[str, GridWorldAgent]:
    """Extra agents and those of a map; the map's agent replaces an extra one with the same id, in its place."""
    extra = {} if extra_agents is None else extra_agents
    check_agents(extra, "extra_agents")
    return {**extra, **built}


def check_agents(agents: Any, name: str) -> None:
    """Refuses anything but a dict of id -> grid agent."""
    require(is_exactly(agents, dict), f"{name} {agents!r} is no dict; give id -> agent")
    for key, agent in agents.items():
        require(isinstance(agent, GridWorldAgent), f"{name}[{key!r}] is {agent!r}; give a GridWorldAgent")
        require(key == agent.id, f"{name}[{key!r}] has the id {agent.id!r}; use the id as the key")
