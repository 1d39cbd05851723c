"""Points of a sweep (grid, random draws, listed points) and the names of their runs."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import re
import zlib
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from pydantic import Field, model_validator

from interplay.core.errors import UserError
from interplay.core.settings import Settings, build, nest, parse_overrides

Point = dict[str, Any]  # path of a key -> value
MOST = 100_000  # points, and runs, of a sweep
LONGEST = 100  # letters of a run's name, a valid folder name on every system
_DIGITS = 5  # of a drawn value
_RANGE = re.compile(r"(-?\d+)\.\.(-?\d+)")
_UNSCALED = re.compile(r"\s*([^.\s].*?)\.\.(.+?)\s*")
_DRAWN = re.compile(r"(log|linear):(.+?)\.\.(.+)")


class Drawn(Settings):
    """A random value of each point; whole bounds give whole numbers, both included."""

    low: int | float | None = Field(None, description="Lowest value.")
    high: int | float | None = Field(None, description="Highest value.")
    scale: Literal["linear", "log"] = Field("linear", description="Uniform in the value or in its logarithm.")
    choices: list[Any] = Field([], description="Instead of bounds: one of these.")

    @model_validator(mode="after")
    def _one_of_the_two(self) -> Drawn:
        bounds = self.low is not None and self.high is not None
        if bool(self.choices) == bounds or (self.choices and (self.low is not None or self.high is not None)):
            raise ValueError("give low and high, or choices")
        if self.low is not None and self.high is not None:
            if self.low > self.high:
                raise ValueError(f"low = {self.low} is above high = {self.high}; swap them")
            if self.scale == "log" and self.low <= 0:
                raise ValueError(f"low = {self.low} has no logarithm; give one above 0, or scale = linear")
            largest = max(abs(self.low), abs(self.high))
            if not self._whole and 0 < self.high - self.low < 10 ** (
                math.floor(math.log10(largest)) + 1 - _DIGITS
            ):
                raise ValueError(
                    f"low = {self.low} and high = {self.high} are equal in the {_DIGITS} digits of a draw; give choices"
                )
        return self

    def at(self, share: float) -> Any:
        """The value at a share of the range, 0 to below 1.

        Example:
            >>> Drawn(low=1, high=3).at(0.99), Drawn(low=1.0, high=100.0, scale="log").at(0.5)
            (3, 10.0)
        """
        if self.choices:
            return self.choices[int(share * len(self.choices))]
        assert self.low is not None
        assert self.high is not None
        low, high = (self.low, self.high + 1) if self._whole else (self.low, self.high)
        if self.scale == "log":
            value = math.exp(math.log(low) + share * (math.log(high) - math.log(low)))
        else:
            value = low + share * (high - low)
        # Rounded, so that the run's name holds the exact value.
        value = math.floor(value) if self._whole else float(f"{value:.{_DIGITS}g}")
        return type(value)(min(max(value, self.low), self.high))

    @property
    def _whole(self) -> bool:
        return isinstance(self.low, int) and isinstance(self.high, int)


def points(
    grid: Mapping[str, Sequence[Any]],
    random: Mapping[str, Drawn],
    draws: int,
    draw_seed: int,
    listed: Sequence[Mapping[str, Any]],
) -> list[Point]:
    """All combinations of grid, listed points and draws, without duplicates.

    A draw depends on its number, its key and `draw_seed` alone, so more draws only add points.

    Example:
        >>> points({"ppo.clip": [0.1, 0.2]}, {}, 1, 0, [])
        [{'ppo.clip': 0.1}, {'ppo.clip': 0.2}]
    """
    for key, values in grid.items():
        if not values or len({_text(value) for value in values}) < len(values):
            raise UserError(f"sweep: grid {key} = {list(values)} has no value, or one twice; give each once")
    count = combinations(grid, random, draws, listed)
    if count > MOST:
        raise UserError(f"sweep: {count:,} points, at most {MOST:,}; make several sweeps")
    listed = [_flat(point) for point in listed]
    every = [*grid, *random, *dict.fromkeys(key for point in listed for key in point)]
    for key in every:
        if every.count(key) > 1:
            raise UserError(f"sweep: {key} varies in two ways; name it in one of grid, random and points")
    grids = [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]
    drawn = [
        {key: one.at(_share(draw_seed, key, number)) for key, one in random.items()}
        for number in range(draws if random else 1)
    ]
    found = itertools.product(listed or [{}], drawn, grids)
    unique: dict[str, Point] = {}
    for point, draw, place in found:
        whole = {**point, **draw, **place}
        unique.setdefault(_text(whole), whole)
    return list(unique.values())


def combinations(
    grid: Mapping[str, Sequence[Any]], random: Mapping[str, Drawn], draws: int, listed: Sequence[Any]
) -> int:
    """Number of combinations, duplicates included."""
    return math.prod(map(len, grid.values())) * (draws if random else 1) * max(len(listed), 1)


def name_runs(found: Sequence[Point]) -> list[str]:
    """A folder name for each point: the last part of each key and its value, e.g. ``clip-0.1--seed-2``.

    The key ``name`` contributes its value alone.

    Example:
        >>> name_runs([{"ppo.clip": 0.1, "seed": 2}, {"ppo.clip": 0.2, "seed": 2}])
        ['clip-0.1--seed-2', 'clip-0.2--seed-2']
    """
    keys = list(dict.fromkeys(key for point in found for key in point))
    short = {key: _shortest(key, keys) for key in keys}
    names = [
        "--".join(
            _word(value) if key == "name" else f"{short[key]}-{_word(value)}" for key, value in point.items()
        )
        for point in found
    ]
    plain = [re.sub(r"[^A-Za-z0-9._+-]+", "_", name).strip("._") or "run" for name in names]
    return [
        name
        if len(name) <= LONGEST and plain.count(name) == 1
        else f"{name[:LONGEST]}-{hashlib.sha256(_text(point).encode()).hexdigest()[:8]}"
        for name, point in zip(plain, found, strict=True)
    ]


def nested(point: Mapping[str, Any]) -> dict[str, Any]:
    """Values by dotted key as nested groups.

    Example:
        >>> nested({"ppo.clip": 0.1, "seed": 2})
        {'ppo': {'clip': 0.1}, 'seed': 2}
    """
    return nest(point, "sweep: {} and a group or a key of it both vary; name one of the two")


def _flat(values: Mapping[str, Any], before: str = "") -> Point:
    """Values of a point with groups by dotted key."""
    found: Point = {}
    for key, value in values.items():
        inside = isinstance(value, Mapping) and value and not any("." in part for part in value)
        for path, one in (_flat(value, f"{before}{key}.") if inside else {before + key: value}).items():
            if path in found:
                raise UserError(f"sweep: a point has {path} twice; give it once")
            found[path] = one
    return found


def read_axis(text: str) -> tuple[str, list[Any] | Drawn]:
    """Parses ``key=1,2``, ``key=0..4``, ``key=log:1e-5..1e-3`` or ``key=linear:0..1``.

    Example:
        >>> read_axis("seed=0..2"), read_axis("network.hidden=[64, 64],[128]")
        (('seed', [0, 1, 2]), ('network.hidden', [[64, 64], [128]]))
    """
    key, equals, typed = (part.strip() for part in text.partition("="))
    if not (key and equals and typed):
        raise UserError(f"-p {text}: not KEY=VALUES; write for example -p ppo.learning_rate=1e-4,3e-4")
    if found := _RANGE.fullmatch(typed):
        first, last = int(found[1]), int(found[2])
        if first > last:
            raise UserError(f"-p {text}: {first} is above {last}; write the lower one first")
        return key, list(range(first, last + 1))
    if found := _DRAWN.fullmatch(typed):
        low, high = (_one(part) for part in found.groups()[1:])
        if not all(isinstance(end, int | float) for end in (low, high)):
            raise UserError(f"-p {text}: bounds are numbers; write for example -p {key}=log:1e-5..1e-3")
        return key, build(Drawn, {"low": low, "high": high, "scale": found[1]}, f"-p {text}")
    for part in typed.split(","):
        if (found := _UNSCALED.fullmatch(part)) and all(
            isinstance(_one(end), int | float) for end in found.groups()
        ):
            raise UserError(
                f"-p {text}: {part.strip()} is a range without a scale; write linear:{part.strip()} or log:..., "
                "or each value"
            )
    values = _one(f"[{typed}]")
    return key, values if isinstance(values, list) else [_one(part) for part in typed.split(",")]


def _one(text: str) -> Any:
    return parse_overrides([f"value={text}"])["value"]


def _share(seed: int, key: str, number: int) -> float:
    return float(np.random.default_rng([seed, zlib.crc32(key.encode()), number]).random())


def _shortest(key: str, keys: Sequence[str]) -> str:
    """The shortest end of a dotted key that no other key has."""
    parts = key.split(".")
    for length in range(1, len(parts)):
        end = ".".join(parts[-length:])
        if sum(other == end or other.endswith(f".{end}") for other in keys) == 1:
            return end
    return key


def _word(value: Any) -> str:
    if isinstance(value, str):
        return value
    return f"{value:g}" if isinstance(value, float) else _text(value)


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True, default=str)
