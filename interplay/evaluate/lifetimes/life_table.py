"""Tables of lives: birth, length and cause of death."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from interplay.evaluate.lifetimes.tick import Array, Tick


class LifeTable(NamedTuple):
    """L lives, ended ones first.

    Attributes:
        length: (L,) int64 ticks; so far, for lives that go on.
        ended: (L,) bool.
        population: (L,) int64.
        world: (L,) int64.
        born: (L,) int64, tick of recording.
        cause: (L,) int64, the world's index of the cause of death; -1 for lives that go on.
        ended_columns: name -> (ended lives,), further metrics of the world: kills, food, water, ...
        standing: (T, K) float64, living agents of each population after each recorded tick, mean over worlds.
    """

    length: Array
    ended: Array
    population: Array
    world: Array
    born: Array
    cause: Array
    ended_columns: dict[str, Array]
    standing: Array

    def of(self, population: int) -> tuple[Array, Array]:
        """`length` and `ended` of one population, for `interplay.evaluate.lifetimes.survival.kaplan_meier`."""
        mine = self.population == population
        return self.length[mine], self.ended[mine]

    def causes(self, populations: int, causes: int) -> Array:
        """(K, C) int64, ended lives by population and cause."""
        index = self.population[self.ended] * causes + self.cause[self.ended]
        return np.bincount(index, minlength=populations * causes).reshape(populations, causes)


class LifeRecorder:
    """Follows the lives that begin while it records.

    Completed lives alone would favour short ones: lives that go on are in the table too, as not ended.

    Args:
        populations: K.
    """

    def __init__(self, populations: int) -> None:
        self._populations = populations
        self._tick = -1
        self._born: Array = np.zeros((0, 0), np.int64)  # (W, A) tick of birth, -1 = not followed
        self._rows: dict[str, list[Array]] = {}
        self._standing: list[Array] = []

    def add(self, tick: Tick) -> None:
        """Adds one tick."""
        self._tick += 1
        if not self._born.size:
            self._born = np.full(tick.alive.shape, -1, np.int64)
            self._life = np.where(tick.alive & (tick.age > 0), tick.life, -1)
        self._end_lives(tick)
        born = tick.alive & (tick.life != self._life)
        self._born[born] = self._tick
        self._life[born] = tick.life[born]
        self._last = (tick.alive.copy(), tick.age.astype(np.int64), tick.population.astype(np.int64))
        heads = np.bincount(tick.population[tick.alive], minlength=self._populations)
        self._standing.append(heads / len(tick.alive))

    def table(self) -> LifeTable:
        """The table so far."""
        ended = {name: np.concatenate(parts) for name, parts in self._rows.items()}
        for name in ("life", "population", "world", "born", "cause"):
            ended.setdefault(name, np.zeros(0, np.int64))
        alive, age, population = self._last
        going = alive & (self._born >= 0)
        count, more = len(ended["life"]), int(going.sum())
        both = {
            "life": age[going],
            "population": population[going],
            "world": np.nonzero(going)[0],
            "born": self._born[going],
            "cause": np.full(more, -1),
        }
        columns = {
            name: np.concatenate([ended.pop(name), rest]).astype(np.int64) for name, rest in both.items()
        }
        return LifeTable(
            length=columns.pop("life"),
            ended=np.arange(count + more) < count,
            **columns,
            ended_columns=ended,
            standing=np.array(self._standing),
        )

    def _end_lives(self, tick: Tick) -> None:
        done = tick.died & (self._born >= 0)
        for name, values in tick.ended.items():
            self._rows.setdefault(name, []).append(np.array(values[done]))
        self._rows.setdefault("world", []).append(np.nonzero(done)[0])
        self._rows.setdefault("born", []).append(self._born[done])
