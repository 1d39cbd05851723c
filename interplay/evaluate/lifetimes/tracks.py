"""The path of each life, step by step, for measures per life."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from interplay.evaluate.lifetimes.tick import NO_SLOT, Array, Tick

_LEFT_OUT = -1


class Tracks(NamedTuple):
    """L lives, their N steps in order of time, and their B landed attacks.

    Attributes:
        population: (L,) int64.
        world: (L,) int64.
        ended: (L,) bool, the life ended while recorded.
        life: (N,) int64, life of each step.
        cell: (N,) int64, row * T + column after the step.
        tile: (N,) uint8, id of the tile there.
        attack_life: (B,) int64, life of the attacker.
        attack_style: (B,) int64, index into `interplay.evaluate.lifetimes.tick.STYLES`.
        attack_offset: (B, 2) int64, row and column of the target relative to the attacker.
        side: T.
    """

    population: Array
    world: Array
    ended: Array
    life: Array
    cell: Array
    tile: Array
    attack_life: Array
    attack_style: Array
    attack_offset: Array
    side: int

    @property
    def length(self) -> Array:
        """(L,) int64, steps of each life."""
        return np.bincount(self.life, minlength=len(self.population))

    def age(self) -> Array:
        """(N,) int64, number of earlier steps of the same life."""
        order = np.argsort(self.life, kind="stable")
        starts = np.cumsum(self.length) - self.length
        age = np.empty(len(order), np.int64)
        age[order] = np.arange(len(order)) - starts[self.life[order]]
        return age

    def third(self) -> Array:
        """(N,) int64: 0, 1, 2 = first, middle, last third of the life; -1 = the life has not ended."""
        third = 3 * self.age() // np.maximum(self.length, 1)[self.life]
        return np.where(self.ended[self.life], third, -1)

    def blocks(self, size: int) -> Array:
        """(N,) int64, the step's block of size x size cells."""
        row, col = np.divmod(self.cell, self.side)
        return row // size * -(-self.side // size) + col // size


class TrackRecorder:
    """Keeps every step of the lives that begin while it records: 17 bytes a step."""

    def __init__(self) -> None:
        self._current: Array = np.zeros((0, 0), np.int64)  # (W, A) index of the life in each slot
        self._side = 0
        self._population: list[Array] = []
        self._world: list[Array] = []
        self._ended: list[Array] = []
        self._steps: list[tuple[Array, Array, Array]] = []
        self._attacks: list[tuple[Array, Array, Array]] = []
        self._count = 0

    def add(self, tick: Tick) -> None:
        """Adds one tick."""
        if not self._current.size:
            self._current = np.full(tick.alive.shape, _LEFT_OUT, np.int64)
            # Lives that began earlier are left out, so that every life has its beginning.
            self._known = np.where(tick.alive & (tick.age > 0), tick.life, -1)
            self._side = tick.tiles.shape[1]
        self._add_attacks(tick)
        self._ended.append(self._current[tick.died & (self._current >= 0)])
        self._begin_lives(tick)
        self._add_steps(tick)

    def tracks(self) -> Tracks:
        """The tracks so far."""
        ended = np.zeros(self._count, bool)
        ended[_joined(self._ended)] = True
        return Tracks(
            _joined(self._population),
            _joined(self._world),
            ended,
            _joined([life for life, _, _ in self._steps]),
            _joined([cell for _, cell, _ in self._steps]),
            np.concatenate([np.zeros(0, np.uint8), *(tile for _, _, tile in self._steps)]),
            _joined([life for life, _, _ in self._attacks]),
            _joined([style for _, style, _ in self._attacks]),
            np.concatenate([np.zeros((0, 2), np.int64), *(offset for _, _, offset in self._attacks)]),
            self._side,
        )

    def _add_attacks(self, tick: Tick) -> None:
        # An attack belongs to the life that had this slot in the tick before.
        struck = (tick.struck != NO_SLOT) & (self._current >= 0)
        offset = np.stack([tick.struck_row[struck], tick.struck_col[struck]], axis=1).astype(np.int64)
        self._attacks.append((self._current[struck], tick.style[struck].astype(np.int64), offset))

    def _begin_lives(self, tick: Tick) -> None:
        born = tick.alive & (tick.life != self._known)
        world, slot = np.nonzero(born)
        self._known[born] = tick.life[born]
        self._current[world, slot] = np.arange(self._count, self._count + len(world))
        self._count += len(world)
        self._world.append(world)
        self._population.append(tick.population[world, slot].astype(np.int64))

    def _add_steps(self, tick: Tick) -> None:
        world, slot = np.nonzero(tick.alive & (self._current >= 0))
        row, col = tick.row[world, slot].astype(np.int64), tick.col[world, slot].astype(np.int64)
        tile = tick.tiles[world, row, col]
        ground = tick.livable[tile]
        cell = row * self._side + col
        self._steps.append((self._current[world, slot][ground], cell[ground], tile[ground]))


def _joined(parts: list[Array]) -> Array:
    return np.concatenate([np.zeros(0, np.int64), *parts])
