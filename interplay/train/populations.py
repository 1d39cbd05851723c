"""Populations, which share weights, and how a batch is sorted and cut into blocks of one population each.

Rows are sorted by population and cut into *blocks* of a fixed number of rows that fit a core's cache. A block may reach beyond its
population's last row; the next block overwrites its output there, or it is not read. So shapes are static without padding.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from interplay.core.agent_names import fits_pattern
from interplay.core.errors import UserError
from interplay.core.world import World
from interplay.train.settings import NAME, PopulationGroup

MAX_GROUPS = 256


class Populations(NamedTuple):
    """The populations of a run.

    Attributes:
        names: from the world or the settings, else ``("pop0", "pop1")``.
        fixed: (A,) uint8, the population of each slot; None if the world decides it (`World.population`).
        opponents: names of those that are not networks of this run (`interplay.train.selfplay.opponents`).
    """

    names: tuple[str, ...]
    fixed: np.ndarray | None
    opponents: tuple[str, ...] = ()

    @property
    def own(self) -> tuple[str, ...]:
        """Names of the populations that this run's networks play."""
        return tuple(name for name in self.names if name not in self.opponents)

    @property
    def played(self) -> np.ndarray:
        """(Q,) bool, the populations that this run's networks play."""
        return np.array([name not in self.opponents for name in self.names])

    def of(self, world: World) -> np.ndarray:
        """(W, A) uint8, the population of each slot's occupant; valid until the world's next call."""
        if self.fixed is None:
            return world.population
        return np.broadcast_to(self.fixed, (world.num_worlds, len(self.fixed)))


class Blocks(NamedTuple):
    """Blocks of sorted rows; at most M.

    Attributes:
        start: (M,) int32, first row.
        population: (M,) int32.
        rows: (M,) int32, number of rows from `start` on that belong to it.
        number: () int32, number of blocks.
    """

    start: np.ndarray
    population: np.ndarray
    rows: np.ndarray
    number: np.ndarray


def find_populations(settings: PopulationGroup, world: World) -> Populations:
    """The populations of a world."""
    if settings.by == "name":
        return group_by_name("population.groups", settings.groups, world)
    if settings.by == "kind" or world.num_populations == 1:
        return Populations(("pop0",), np.zeros(len(world.agents), np.uint8))
    return Populations(_names_of(world), None)


def group_by_name(key: str, groups: Mapping[str, Sequence[str]], world: World) -> Populations:
    """Puts every agent into the group with a pattern that fits its name."""
    found = np.full(len(world.agents), -1)
    names = tuple(groups)
    if len(names) > MAX_GROUPS:
        raise UserError(
            f"{key}: {len(names)} groups, populations are numbered in a byte; make {MAX_GROUPS} at most"
        )
    for index, (name, patterns) in enumerate(groups.items()):
        for pattern in patterns:
            hits = [slot for slot, agent in enumerate(world.agents) if fits_pattern(agent, pattern)]
            if not hits:
                raise UserError(
                    f"{key}: {name} = {pattern!r} fits no agent of {world.id}; "
                    f"there are {', '.join(world.agents[:6])}{', ...' if len(world.agents) > 6 else ''}"
                )
            for slot in hits:
                if found[slot] not in (-1, index):
                    raise UserError(
                        f"{key}: {world.agents[slot]} is in {names[found[slot]]} and in {name}; "
                        "write patterns that do not overlap"
                    )
                found[slot] = index
    if (found < 0).any():
        raise UserError(
            f"{key}: {world.agents[int(np.argmin(found))]} is in no group; add a pattern that fits it"
        )
    return Populations(names, found.astype(np.uint8))


def sort_rows(population: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The stable order (N,) that sorts rows by population, and the rows of each population (count,).

    Example:
        >>> sort_rows(np.array([1, 0, 1, 0], np.uint8), 3)
        (array([1, 3, 0, 2]), array([2, 2, 0]))
    """
    order = np.argsort(population, kind="stable")  # a counting sort for small integers
    return order, np.bincount(population, minlength=count)


def most_blocks(rows: int, populations: int, block: int) -> int:
    """M: the most blocks that `rows` rows need.

    Example:
        >>> most_blocks(8, 1, 4), most_blocks(8, 3, 4)
        (2, 4)
    """
    return max((rows + populations * (block - 1)) // block, 1)


def cut_blocks(counts: Sequence[int] | np.ndarray, block: int, most: int) -> Blocks:
    """Cuts sorted rows into blocks.

    Args:
        counts: rows of each population, in order.
        block: rows per block.
        most: M.

    Example:
        >>> blocks = cut_blocks([3, 0, 5], 4, 6)
        >>> blocks.start[:3].tolist(), blocks.population[:3].tolist(), blocks.rows[:3].tolist()
        ([0, 3, 7], [0, 2, 2], [3, 4, 1])
    """
    counts = np.asarray(counts)
    pieces = -(-counts // block)
    population = np.repeat(np.arange(len(counts)), pieces)
    within = np.arange(len(population)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
    start = (np.cumsum(counts) - counts)[population] + within * block
    rows = np.minimum(counts[population] - within * block, block)
    out = np.zeros((3, most), np.int32)
    out[:, : len(population)] = start, population, rows
    return Blocks(out[0], out[1], out[2], np.array(len(population), np.int32))


@functools.lru_cache(maxsize=4096)
def cut_alone(rows: int, block: int, most: int) -> Blocks:
    """`cut_blocks` for one population, cached."""
    return cut_blocks((rows,), block, most)


def _names_of(world: World) -> tuple[str, ...]:
    """A world's names of its populations."""
    count, names = world.num_populations, world.population_names
    if names is None:
        return tuple(f"pop{i}" for i in range(count))
    if len(set(names)) != count or len(names) != count:
        raise UserError(
            f"{world.id}: population_names = {names} for {count} populations; give each a name of its own"
        )
    for name in names:
        if not NAME.fullmatch(name):
            raise UserError(
                f"{world.id}: population {name!r} names files; use letters, digits, _, - and dots"
            )
    return tuple(names)
