"""Share of the ground that agents have visited (specification 12).

Coverage(S) = distinct reachable walkable tiles entered by any agent after S agent-steps / R, where R is the number of
reachable walkable tiles. More agents trivially cover more: compare at equal S, and with `RandomWalkers`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from interplay.core.errors import UserError
from interplay.core.seeding import generator
from interplay.evaluate.information import entropy
from interplay.evaluate.lifetimes.tick import Array, Recorder, Tick

NEVER = -1
POINTS = 40  # of a curve
STEPS = (10_000, 100_000, 1_000_000)  # agent-steps at which coverage is usually compared
MOVES = np.array([(0, 0), (0, 1), (1, 0), (0, -1), (-1, 0)])  # pass, east, south, west, north


class VisitRecorder:
    """Counts visits per population and cell; a living agent visits its cell at the end of a tick.

    A birth is a visit of its cell. Lethal cells (lava) do not count.

    Args:
        worlds: W.
        populations: K.
        side: T, of the map.

    Attributes:
        counts: (K, T, T) int64, visits of each population, all worlds together.
        first: (W, K + 1, T * T) int64, agent-steps of population k of world w at its first visit, `NEVER` = none; the last of the
            K + 1 is all agents, in steps of all.
        steps: (W, K + 1) int64, agent-steps taken (visits).
    """

    def __init__(self, worlds: int, populations: int, side: int) -> None:
        self.side = side
        self.counts = np.zeros((populations, side, side), np.int64)
        self.first = np.full((worlds, populations + 1, side * side), NEVER, np.int64)
        self.steps = np.zeros((worlds, populations + 1), np.int64)

    def add(self, tick: Tick) -> None:
        """Adds one tick."""
        world, slot = np.nonzero(tick.alive)
        row, col = tick.row[world, slot].astype(np.int64), tick.col[world, slot].astype(np.int64)
        on_ground = tick.livable[tick.tiles[world, row, col]]
        world, slot, row, col = (part[on_ground] for part in (world, slot, row, col))
        population = tick.population[world, slot].astype(np.int64)
        np.add.at(self.counts, (population, row, col), 1)
        everybody = np.full_like(population, len(self.counts))
        for group in (population, everybody):
            np.add.at(self.steps, (world, group), 1)
            self._enter(world, group, row * self.side + col)

    def _enter(self, world: Array, group: Array, cell: Array) -> None:
        new = self.first[world, group, cell] == NEVER
        world, group, cell = world[new], group[new], cell[new]
        self.first[world, group, cell] = self.steps[world, group]


class Coverage(NamedTuple):
    """Coverage of agents and of their control, mean over worlds.

    Attributes:
        steps: (S,) agent-steps of one world.
        agents: (S,) share of the reachable tiles; NaN beyond the shortest world.
        control: (S,) the same of random walkers with the same births, places and lengths of life.
        ratio: (S,) agents / control.
    """

    steps: Array
    agents: Array
    control: Array
    ratio: Array


def coverage(visits: VisitRecorder, reachable: Array, steps: Array | Sequence[int], group: int = -1) -> Array:
    """Coverage(S) = distinct tiles entered after S agent-steps / R, for each world.

    Args:
        reachable: (W,) R of each world.
        steps: (S,) agent-steps of one world (of `group`'s agents).
        group: a population, in its own agent-steps; -1 = all agents.

    Returns:
        (W, S) float64, NaN beyond the steps that a world has played.
    """
    steps, reachable = np.asarray(steps), np.asarray(reachable)
    if (reachable < 1).any():
        raise UserError(
            "a world has no reachable tile, so there is nothing to cover; choose another map_seed"
        )
    found = np.full((len(visits.first), len(steps)), np.nan)
    for w, first in enumerate(visits.first[:, group]):
        entered = np.searchsorted(np.sort(first[first != NEVER]), steps, side="right")
        played = steps <= visits.steps[w, group]
        found[w, played] = entered[played] / reachable[w]
    return found


def against_control(
    agents: VisitRecorder,
    control: VisitRecorder,
    reachable: Array,
    steps: Array | Sequence[int] = STEPS,
    group: int = -1,
) -> Coverage:
    """`coverage` of agents and of their random walkers at equal agent-steps, mean over worlds, and the ratio."""
    ours, theirs = (coverage(visits, reachable, steps, group).mean(axis=0) for visits in (agents, control))
    with np.errstate(invalid="ignore", divide="ignore"):
        return Coverage(np.asarray(steps), ours, theirs, ours / theirs)


def visit_entropy(counts: Array, reachable: float) -> float:
    """H = -sum p ln p / ln R with p = a cell's share of visits: 1 = uniform over R cells, 0 = one cell.

    Example:
        >>> visit_entropy(np.array([5, 5, 0, 5, 5]), reachable=4)
        1.0
    """
    return float(entropy(np.ravel(counts), base=reachable)) if reachable > 1 else 0.0


def log_steps(visits: VisitRecorder) -> Array:
    """Agent-steps for a curve: evenly spaced in their logarithm, up to the shortest world."""
    last = int(visits.steps[:, -1].min())
    return np.unique(np.geomspace(1, max(last, 1), POINTS).round().astype(np.int64))


class RandomWalkers:
    """One walker per agent with the same time and place of birth and the same length of life.

    Control of specification 12: each step is drawn uniformly from passing and those of the four moves that lead onto a livable tile. A
    difference between agents and walkers is therefore no effect of the number, birthplace or length of lives.
    """

    def __init__(self, seed: int = 0) -> None:
        self._rng = generator(seed, 0x3A1C)
        self._life: Array | None = None

    def follow(self, tick: Tick) -> Tick:
        """The tick with the walkers' places instead of the agents'."""
        if self._life is None:
            self._life = np.full(tick.alive.shape, -1, np.int64)
            self._row, self._col = (np.zeros(tick.alive.shape, np.int64) for _ in range(2))
        born = tick.alive & (tick.life != self._life)
        walking = tick.alive & ~born
        self._walk(tick, *np.nonzero(walking))
        self._row[born], self._col[born] = tick.row[born], tick.col[born]
        self._life[born] = tick.life[born]
        return tick._replace(row=self._row, col=self._col)

    def _walk(self, tick: Tick, world: Array, slot: Array) -> None:
        row, col = self._row[world, slot], self._col[world, slot]
        to_row, to_col = row[:, None] + MOVES[:, 0], col[:, None] + MOVES[:, 1]
        side = tick.tiles.shape[1]
        inside = (to_row >= 0) & (to_row < side) & (to_col >= 0) & (to_col < side)
        to_row, to_col = np.clip(to_row, 0, side - 1), np.clip(to_col, 0, side - 1)
        choices = inside & tick.livable[tick.tiles[world[:, None], to_row, to_col]]
        choices[:, 0] = True
        rank = np.floor(self._rng.random(len(world)) * choices.sum(axis=1)) + 1
        chosen = np.argmax(choices.cumsum(axis=1) == rank[:, None], axis=1)
        index = np.arange(len(world))
        self._row[world, slot], self._col[world, slot] = to_row[index, chosen], to_col[index, chosen]


class WalkerRecorder:
    """Feeds random walkers instead of the agents to a recorder."""

    def __init__(self, recorder: Recorder, seed: int = 0) -> None:
        self.recorder = recorder
        self._walkers = RandomWalkers(seed)

    def add(self, tick: Tick) -> None:
        """Adds one tick."""
        self.recorder.add(self._walkers.follow(tick))
