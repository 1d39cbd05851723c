"""A sweep's settings and its runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from pydantic import Field, field_validator

from interplay.core.errors import UserError
from interplay.core.seals import canonical, digest
from interplay.core.settings import Settings, build, merge
from interplay.registry import training_settings
from interplay.train.settings import TrainSettings
from interplay.train.settings.train import code_names
from interplay.train.settings.unread import check_read, fitting
from interplay.train.sweep.axes import MOST, Drawn, Point, combinations, name_runs, nested, points


class SweepSettings(Settings):
    """Settings of a sweep: all combinations of grid, listed points and draws, with every seed.

    Example:
        >>> asked = SweepSettings(
        ...     settings={"world": {"id": "dilemma/fixed"}}, grid={"ppo.clip": [0.1, 0.2]}, seeds=[0, 1]
        ... )
        >>> [run.name for run in plan(asked)]
        ['clip-0.1--seed-0', 'clip-0.1--seed-1', 'clip-0.2--seed-0', 'clip-0.2--seed-1']
    """

    settings: dict[str, Any] = Field({}, description="Settings of every run, as in a settings file.")
    grid: dict[str, list[Any]] = Field({}, description="Values per key; all combinations are run.")
    random: dict[str, Drawn] = Field({}, description="Distribution per key.")
    draws: int = Field(1, ge=1, le=MOST, description="Number of random points.")
    draw_seed: int = Field(0, ge=0, lt=2**63, description="Seed of the random points.")
    points: list[dict[str, Any]] = Field([], description="Listed points: values by key.")
    seeds: tuple[int, ...] = Field((), description="Seeds of every point; a number n means 0 to n - 1.")

    @field_validator("seeds", mode="before")
    @classmethod
    def _count(cls, seeds: Any) -> Any:
        return tuple(range(seeds)) if type(seeds) is int and 0 < seeds <= MOST else seeds

    def every_point(self) -> list[Point]:
        """All points, without duplicates; `seeds` multiply them later."""
        return points(self.grid, self.random, self.draws, self.draw_seed, self.points)

    def code_names(self) -> Iterator[tuple[str, Any]]:
        """Programs of all runs, each once; imports nothing, since they are not trusted yet."""
        seen: list[tuple[str, Any]] = []
        for point in self.every_point():
            for entry in code_names(merge(self.settings, nested(point))):
                if entry not in seen:
                    seen.append(entry)
                    yield entry


def duplicates_note(wanted: SweepSettings) -> str:
    """The number of duplicate points as text, which are run once; "" for none.

    Example:
        >>> duplicates_note(SweepSettings(points=[{"ppo.clip": 0.1}, {"ppo.clip": 0.1}]))
        '2 points, without duplicates 1'
    """
    count = combinations(wanted.grid, wanted.random, wanted.draws, wanted.points)
    left = len(wanted.every_point())
    return f"{count:,} points, without duplicates {left:,}" if left < count else ""


class PlannedRun(NamedTuple):
    """A run of a sweep.

    Attributes:
        name: of its folder.
        varied: dotted key -> value of the varied settings, including the seed.
        settings: all of them.
    """

    name: str
    varied: Point
    settings: TrainSettings

    @property
    def digest(self) -> str:
        """Digest of all its settings, without pins, which a run takes when it begins."""
        values = canonical(self.settings)
        return digest({key: value for key, value in values.items() if value or not key.startswith("pins.")})


def plan(wanted: SweepSettings) -> list[PlannedRun]:
    """The runs of a sweep, all seeds of a point in a row."""
    every = _with_seeds(wanted)
    runs = []
    for name, point in zip(name_runs(every), every, strict=True):
        runs.append(PlannedRun(name, point, settings_of(merge(wanted.settings, nested(point)), name)))
    return runs


def settings_of(values: Mapping[str, Any], owner: str) -> TrainSettings:
    """The settings of one run: its world's training defaults with the values over them."""
    chosen = values.get("world")
    if isinstance(chosen, Mapping) and isinstance(chosen.get("id"), str):
        values = merge(fitting(training_settings(chosen["id"]), values), values)
    settings = build(TrainSettings, values, owner)
    if settings.train.workers > 1:
        raise UserError(
            f"{owner}: train.workers = {settings.train.workers}, but a run of a sweep is one process; "
            "leave it out, the sweep has --workers"
        )
    check_read(settings)
    return settings


def _with_seeds(wanted: SweepSettings) -> list[Point]:
    found = wanted.every_point()
    if any("seed" in point for point in found):
        if wanted.seeds:
            raise UserError("sweep: seed and seeds are both given; give one of the two")
        return found
    seeds = wanted.seeds or (wanted.settings.get("seed", 0),)
    if len(set(seeds)) < len(seeds):
        raise UserError(f"sweep: seeds = {list(seeds)} holds one twice; give each once")
    if len(found) * len(seeds) > MOST:
        raise UserError(f"sweep: {len(found) * len(seeds):,} runs, at most {MOST:,}; make several sweeps")
    return [{**point, "seed": seed} for point in found for seed in seeds]
