"""Random walkers, the control of all measures of exploration."""

from __future__ import annotations

import numpy as np

from interplay.core.seeding import generator
from interplay.evaluate.lifetimes.tick import Array, Recorder, Tick

MOVES = np.array([(0, 0), (0, 1), (1, 0), (0, -1), (-1, 0)])  # pass, east, south, west, north


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
