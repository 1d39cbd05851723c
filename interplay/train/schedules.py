"""Schedules of numbers over a run: constant, linear, cosine, or through points.

A number is constant. A text names a shape and its ends, ``"linear 3e-4 0"`` or ``"cosine 3e-4 1e-5"``, and optionally the share of
the run for a linear rise from 0: ``"cosine 3e-4 0 warmup 0.05"``. A list of points gives numbers at shares of the run, with lines
between: ``[[0, 0], [0.1, 3e-4], [1, 1e-5]]``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from interplay.train.settings import RatesGroup

Rate = float | str | list[list[float]]  # as it stands in settings

_SHAPES = ("linear", "cosine")
_FORM = 'a number, "linear A B", "cosine A B", either with "warmup SHARE", or points [[0, A], [1, B]]'


class Schedule(NamedTuple):
    """A number over a run.

    Attributes:
        shape: between the points, ``linear`` or ``cosine``.
        points: (share of the run, number), shares ascending.
        warmup: share of the run before which the shape is linear.
    """

    shape: str
    points: tuple[tuple[float, float], ...]
    warmup: float = 0.0

    def at(self, share: float) -> float:
        """The number after a share of the run, 0 to 1.

        Example:
            >>> read_schedule("linear 4 0 warmup 0.5").at(0.25), read_schedule("cosine 4 0").at(0.5)
            (2.0, 2.0)
        """
        first = self.points[0]
        if share <= first[0]:
            return first[1]
        for (begin, a), (end, b) in zip(self.points, self.points[1:], strict=False):
            if share < end:
                way = (share - begin) / (end - begin)
                if self.shape == "cosine" and begin >= self.warmup:
                    way = (1.0 - math.cos(math.pi * way)) / 2.0
                return a + (b - a) * way
        return self.points[-1][1]


def read_schedule(rate: Rate) -> Schedule:
    """Parses a schedule from settings.

    Raises:
        ValueError: naming the valid forms.
    """
    if isinstance(rate, int | float):
        return Schedule("linear", ((0.0, float(rate)),))
    return _read_text(rate) if isinstance(rate, str) else _read_points(rate)


class Schedules:
    """The rates of an algorithm's settings group, for every population."""

    def __init__(self, group: RatesGroup) -> None:
        common = {name: read_schedule(getattr(group, name)) for name in group.rates()}
        self._common = common
        self._own = {
            population: common | {name: read_schedule(rate) for name, rate in rates.items()}
            for population, rates in group.populations.items()
        }

    def at(self, share: float, population: str) -> dict[str, float]:
        """The rates of a population after a share of the run."""
        own = self._own.get(population, self._common)
        return {name: schedule.at(share) for name, schedule in own.items()}

    def ever(self, name: str) -> bool:
        """Whether a rate is above zero at some time, for some population."""
        every = (self._common, *self._own.values())
        return any(number for own in every for _, number in own[name].points)


def check_rate(rate: Rate, least: float, most: float, open_ends: bool = False) -> Rate:
    """Checks that a schedule stays within `least` and `most`, or strictly within with `open_ends`.

    Raises:
        ValueError: naming the number.
    """
    for _, number in read_schedule(rate).points:
        inside = least < number < most if open_ends else least <= number <= most
        if not (inside and math.isfinite(number)):
            words = f"above {least:g} and below {most:g}" if open_ends else f"{least:g} to {most:g}"
            if isinstance(rate, int | float):
                raise ValueError(f"{rate} is not {words}; give a number there, or a schedule")
            raise ValueError(f"{number:g} is not {words}, where it stays for the whole run; give other ends")
    return rate


def _read_text(text: str) -> Schedule:
    words = text.split()
    try:
        if len(words) not in (3, 5) or words[0] not in _SHAPES or words[3:4] not in ([], ["warmup"]):
            raise ValueError
        start, end = float(words[1]), float(words[2])
        warmup = float(words[4]) if len(words) == 5 else 0.0
    except ValueError:
        raise ValueError(f"{text!r} is no schedule; give {_FORM}") from None
    if not 0.0 <= warmup < 1.0:
        raise ValueError(f"warmup {warmup:g} is no share of the run; give 0 to less than 1")
    rising = ((0.0, 0.0),) if warmup else ()
    return Schedule(words[0], (*rising, (warmup, start), (1.0, end)), warmup)


def _read_points(points: Sequence[Sequence[float]]) -> Schedule:
    pairs = all(len(point) == 2 for point in points)
    read = tuple((float(share), float(number)) for share, number in points) if pairs else ()
    shares = [share for share, _ in read]
    if not read or sorted(set(shares)) != shares or shares[0] < 0.0 or shares[-1] > 1.0:
        raise ValueError(
            f"{[list(p) for p in points]} is no schedule; shares of the run ascend from 0 to 1, give {_FORM}"
        )
    return Schedule("linear", read)
