"""Tables of lives and their survival analysis: the product-limit curve, its error and means.

S(t) = product over t_i <= t of (1 - d_i / n_i), with d_i lives that ended at age t_i and n_i that had reached it (including lives cut
at t_i). Source: Kaplan and Meier 1958, "Nonparametric estimation from incomplete observations".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from interplay.core.errors import UserError
from interplay.core.world import Array
from interplay.evaluate.lifetimes.tick import Tick

_ROUNDING = 1e-12  # tolerance at S = 1/2, so that the median does not depend on the last bit


class Survival(NamedTuple):
    """The Kaplan-Meier curve; it steps down at `time` and holds its value until the next.

    Attributes:
        time: (D,) ascending, lengths at which a life ended.
        at_risk: (D,) lives of that length or longer.
        deaths: (D,) lives that ended there.
        share: (D,) S(t), share of longer lives.
        error: (D,) standard error of S(t) by Greenwood's formula.
        longest: the greatest length, ended or not.
    """

    time: Array
    at_risk: Array
    deaths: Array
    share: Array
    error: Array
    longest: float

    def at(self, time: Array | float) -> Array:
        """S(t); 1 before the first death."""
        steps = np.concatenate([[1.0], self.share])
        return steps[np.searchsorted(self.time, np.asarray(time, np.float64), side="right")]


def kaplan_meier(length: Array, ended: Array) -> Survival:
    """The curve of a set of lives.

    Standard error by Greenwood: S(t) sqrt(sum over t_i <= t of d_i / (n_i (n_i - d_i))).

    Args:
        length: (L,) ticks; so far, for lives that have not ended.
        ended: (L,) bool.

    Example:
        >>> kaplan_meier(np.array([2, 3, 3, 5]), np.array([True, True, False, True])).share.tolist()
        [0.75, 0.5, 0.0]
    """
    length, ended = np.asarray(length, np.int64), np.asarray(ended, bool)
    if len(length) == 0:
        raise UserError("no lives, so there is no table of lives; watch more ticks")
    longest = int(length.max())
    died = count_ages(length[ended], longest)
    reached, alive = _product_limit(died, count_ages(length[~ended], longest))
    time = np.flatnonzero(died)
    deaths, at_risk, share = died[time], reached[time], alive[time]
    left = at_risk - deaths
    terms = np.divide(deaths, at_risk * left, out=np.zeros(len(time)), where=left > 0)
    return Survival(time, at_risk, deaths, share, share * np.sqrt(np.cumsum(terms)), float(longest))


def restricted_mean(
    ended: Sequence[int] | np.ndarray, cut: Sequence[int] | np.ndarray = (), horizon: int = 5_000
) -> float:
    """The mean life restricted to the horizon: the area under the survival curve up to there.

    Completed lives alone would be biased, since long ones are cut. Beyond the last observed age the curve stays constant up to the
    horizon.

    Args:
        cut: ages at which other lives were last observed.

    Returns:
        Ticks; NaN without lives.

    Example:
        >>> restricted_mean([2, 4, 4], cut=[3], horizon=10)
        3.5
        >>> restricted_mean([2, 4], cut=[10, 10], horizon=10)
        6.5
    """
    return float(restricted_means(count_ages(ended, horizon), count_ages(cut, horizon)))


def restricted_means(ended: np.ndarray, cut: np.ndarray) -> np.ndarray:
    """`restricted_mean` of many sets of lives given by counts.

    Args:
        ended: (..., H + 1), lives that ended at each age 0 .. H, the horizon.
        cut: (..., H + 1), lives last observed at each age.

    Returns:
        (...) ticks.

    Example:
        >>> restricted_means(count_ages([2, 4, 4], 10), count_ages([3], 10)).item()
        3.5
    """
    reached, alive = _product_limit(ended, cut)
    area = alive[..., :-1].sum(axis=-1)
    return np.where(reached[..., 0] > 0, area, np.nan)


def median_life(survival: Survival) -> float:
    """The least t with S(t) <= 1/2; NaN if there is none."""
    below = np.flatnonzero(survival.share <= 0.5 + _ROUNDING)
    return float(survival.time[below[0]]) if len(below) else float("nan")


def count_ages(ages: Sequence[int] | np.ndarray, horizon: int) -> np.ndarray:
    """(horizon + 1,) int64, lives of each age; ages above the horizon count as the horizon."""
    return np.bincount(np.minimum(np.asarray(ages, np.int64), horizon), minlength=horizon + 1)


def _product_limit(ended: np.ndarray, cut: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(..., H + 1) lives that reached each age 0 .. H, and S there, from counts as in `restricted_means`."""
    both = ended + cut
    reached = np.cumsum(both[..., ::-1], axis=-1)[..., ::-1]
    return reached, np.cumprod(1.0 - ended / np.maximum(reached, 1e-300), axis=-1)


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
