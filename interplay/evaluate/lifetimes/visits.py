"""Number and time of visits of each cell, for coverage and exploration maps."""

from __future__ import annotations

import numpy as np

from interplay.evaluate.lifetimes.tick import Array, Tick

NEVER = -1


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
