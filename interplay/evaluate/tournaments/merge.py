"""Server merges: the trained populations of two homes share a world, and their lifetimes are compared.

The protocol of Suarez et al. 2019, "Neural MMO", section "Server Merge Tournaments". Decided here: fixed caps, held-out maps, and
lives that begin in a window of time and are followed to their ends.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from pydantic import Field, model_validator

from interplay.core import seeding
from interplay.core.errors import UserError
from interplay.core.policy import Policy
from interplay.core.settings import build
from interplay.core.world import World
from interplay.evaluate.lifetimes.lives import LifeWatch, Watch
from interplay.evaluate.policy_map import PolicyMap
from interplay.evaluate.tournaments.farm import Result, Unit, blocks_of, play_here
from interplay.evaluate.tournaments.folder import TournamentFolder, TournamentSettings
from interplay.evaluate.tournaments.merge_results import MergeResults, merge_results, wrong_row
from interplay.evaluate.tournaments.results_log import ResultsLog
from interplay.evaluate.tournaments.round_robins import OnProgress
from interplay.registry import make_world

_MAPS, _PLAYERS = 0x70005, 0x70006  # streams of a tournament's seed


Rule = Literal["per_home", "per_population"]


def shares(cap: int, populations: Sequence[int], rule: Rule, names: Sequence[str]) -> tuple[int, ...]:
    """The quota of every population.

    ``per_home``: every home gets the same number of places, divided over its populations as evenly as whole numbers allow.
    ``per_population``: every population gets ceil(cap / all populations), so a home of 8 gets more than one of 1.

    Returns:
        One quota per population, home after home.

    Example:
        >>> shares(16, [1, 8], "per_home", ["one", "eight"])
        (8, 1, 1, 1, 1, 1, 1, 1, 1)
        >>> shares(16, [1, 2], "per_population", ["one", "two"])
        (6, 6, 6)
    """
    total = sum(populations)
    if rule == "per_population":
        if cap < total:
            raise UserError(
                f"cap = {cap}: {' and '.join(names)} have {total} populations, which cannot share {cap} places; "
                f"give a cap of at least {total}"
            )
        return (-(-cap // total),) * total
    if cap % len(populations):
        raise UserError(
            f"cap = {cap}: {len(populations)} homes cannot have equal parts of {cap} places; "
            f"give a multiple of {len(populations)}, or --quota per_population"
        )
    part = cap // len(populations)
    quotas: list[int] = []
    for name, count in zip(names, populations, strict=True):
        if part < count:
            raise UserError(
                f"cap = {cap}: {name} has {count} populations for its {part} places; "
                f"give a cap of at least {len(populations) * max(populations)}"
            )
        quotas += [part // count + (k < part % count) for k in range(count)]
    return tuple(quotas)


class MergeSettings(TournamentSettings):
    """What decides every merge of a tournament."""

    named = "homes"
    kind: Literal["merge"] = "merge"
    homes: tuple[str, ...] = Field(min_length=2, description="As named: NAME=RUN,RUN,... or a run or policy.")
    runs: tuple[int, ...] = Field(description="Training runs of each home.")
    populations: tuple[int, ...] = Field(description="Of each home.")
    caps: tuple[int, ...] = Field(min_length=1, description="Places of the merged worlds.")
    quota: Rule = Field("per_home", description="How homes share the places.")
    maps: int = Field(8, ge=1, description="Held-out maps per pair of homes, cap and pair of runs.")
    burn_in: int = Field(500, ge=0, description="Ticks before the first birth that counts.")
    window: int = Field(1_000, ge=1, description="Ticks in which births count.")
    horizon: int = Field(5_000, ge=1, description="Ticks of a life that are followed.")
    block: int = Field(8, ge=1, description="Maps side by side; part of the result.")

    @property
    def policies(self) -> Iterator[str]:
        return (run for home in self.homes for run in members(home))

    @model_validator(mode="after")
    def _fits(self) -> MergeSettings:
        for name in ("runs", "populations"):
            counts = getattr(self, name)
            if len(counts) != len(self.homes) or min(counts) < 1:
                raise ValueError(
                    f"{name} = {list(counts)}: give at least one for each of {len(self.homes)} homes"
                )
        self.refuse_twice("caps", self.caps)
        for cap in self.caps:
            for i, j in self.pairs:
                self.quotas(cap, i, j)
        return self

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the homes in tables."""
        return tuple(home.partition("=")[0] for home in self.homes)

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """Every pair of homes, including each with itself."""
        count = len(self.homes)
        return tuple((i, j) for i in range(count) for j in range(i, count))

    def quotas(self, cap: int, i: int, j: int) -> tuple[int, ...]:
        """Places of every population when homes i and j meet."""
        counts = (self.populations[i], self.populations[j])
        return shares(cap, counts, self.quota, (self.names[i], self.names[j]))


class Merge(NamedTuple):
    """One pair of homes at one cap, by one pair of their training runs.

    Attributes:
        homes: indices of the two.
        cap: places of the world.
        runs: index of each home's training run.
    """

    homes: tuple[int, int]
    cap: int
    runs: tuple[int, int]

    def key(self, number: int) -> str:
        """Key of its result on one map, e.g. ``"0-1/16/0-0/3"``: homes, cap, runs, map."""
        return f"{self.homes[0]}-{self.homes[1]}/{self.cap}/{self.runs[0]}-{self.runs[1]}/{number}"


class Home(NamedTuple):
    """Populations that were trained together, or a scripted policy.

    Attributes:
        policies: one per training run.
        populations: number in each run.
    """

    policies: tuple[Policy, ...]
    populations: int = 1


def members(home: str) -> list[str]:
    """The players of a home, ``NAME=RUN,RUN`` or ``RUN``.

    Example:
        >>> members("large=runs/a,runs/b"), members("runs/a")
        (['runs/a', 'runs/b'], ['runs/a'])
    """
    return (home.partition("=")[2] or home).split(",")


def merge_homes(
    homes: Mapping[str, Home],
    world: str,
    *,
    caps: Sequence[int],
    maps: int = 8,
    seed: int = 0,
    quota: Rule = "per_home",
    options: Mapping[str, Any] | None = None,
    watch: Watch | None = None,
    out: Path | str | None = None,
    resume: bool = False,
    on_progress: OnProgress | None = None,
) -> MergeResults:
    """Merges every pair of homes, and each home with a copy of itself, at every cap.

    Args:
        world: registry id; its world needs the options npop, quotas, cap, slots, cap_draw and maps.
        caps: places of the merged worlds.
        maps: held-out maps per pair, cap and pair of training runs.
        seed: of the maps and of the players' draws.
        quota: ``"per_home"`` (half of the places each) or ``"per_population"``.
        options: of the world.
        watch: which lives count; None = born in ticks 500 to 1,499, followed up to 5,000 ticks.
        out, resume, on_progress: as in `interplay.evaluate.round_robin`.

    Returns:
        Mean lives by home and cap with intervals, and ratings of the homes.

    Raises:
        UserError: for homes or places that do not fit, or a folder of another tournament.
    """
    values = {
        "world": world,
        "options": dict(options or {}),
        "homes": tuple(homes),
        "identities": tuple(", ".join(p.name for p in home.policies) for home in homes.values()),
        "runs": tuple(len(home.policies) for home in homes.values()),
        "populations": tuple(home.populations for home in homes.values()),
        "caps": tuple(caps),
        "quota": quota,
        "maps": maps,
        "seed": seed,
        **(watch or Watch())._asdict(),
    }
    settings = build(MergeSettings, values, "merge tournament")
    return run_merge(settings, [home.policies for home in homes.values()], out, resume, on_progress)


def run_merge(
    settings: MergeSettings,
    homes: Sequence[Sequence[Policy]],
    out: Path | str | None = None,
    resume: bool = False,
    on_progress: OnProgress | None = None,
) -> MergeResults:
    """Plays the missing matches of a tournament of merges; see `merge_homes`."""
    for i, j in settings.pairs:  # refuses wrong options before the folder is created
        for cap in settings.caps:
            _make(settings, Merge((i, j), cap, (0, 0)), 1).close()
    with TournamentFolder(out, settings, resume) as folder:
        play_missing(settings, homes, folder.log, on_progress)
        cells = _cells(settings, folder.log)
        found = merge_results(
            settings.names, settings.pairs, settings.caps, cells, settings.seed, settings.horizon
        )
        folder.write_ratings(found.to_dict())
    return found


def play_missing(
    settings: MergeSettings,
    homes: Sequence[Sequence[Policy]],
    log: ResultsLog,
    on_progress: OnProgress | None = None,
) -> None:
    """Plays every block of maps with a missing result."""
    report = on_progress or (lambda done, total: None)
    total = sum(settings.maps for _ in all_merges(settings))
    report(len(log.results), total)

    def play(what: tuple[Merge, range]) -> Result:
        merge, block = what
        players = [homes[home][run] for home, run in zip(merge.homes, merge.runs, strict=True)]
        played = play_merge(settings, merge, players, block)
        return {merge.key(number): row for number, row in zip(block, played, strict=True)}

    blocks = blocks_of(settings.maps, settings.block)
    units = [
        Unit((merge, block), tuple(map(merge.key, block)))
        for merge in all_merges(settings)
        for block in blocks
    ]
    play_here(units, play, log, lambda done: report(done, total))


def play_merge(
    settings: MergeSettings, merge: Merge, players: Sequence[Policy], maps: Sequence[int]
) -> list[dict[str, Any]]:
    """Plays one merge on several maps in parallel; returns `LifeWatch.results`, one per map."""
    ours, theirs = players
    if theirs is ours:
        theirs = copy.copy(ours)
    counts = [settings.populations[home] for home in merge.homes]
    table = PolicyMap({k: ours if k < counts[0] else theirs for k in range(sum(counts))}, by="population")
    base = int(seeding.generator(settings.seed, _MAPS).integers(2**63))
    with closing(_make(settings, merge, len(maps))) as world:
        timestep = world.reset(seeds=seeding.world_seeds(base, maps[-1] + 1)[list(maps)])
        key = (*merge.homes, merge.cap, *merge.runs, maps[0])
        table.start(world, int(seeding.generator(settings.seed, _PLAYERS, *key).integers(2**63)))
        watch = LifeWatch(
            world, np.repeat([0, 1], counts), Watch(settings.burn_in, settings.window, settings.horizon)
        )
        while not watch.done and not timestep.over.all():
            timestep = world.step(table.act(timestep))
            watch.step(timestep)
        return watch.results()


def all_merges(settings: MergeSettings) -> Iterator[Merge]:
    """Every merge of the tournament; the runs of two homes are paired cyclically until each was used."""
    for cap in settings.caps:
        for i, j in settings.pairs:
            for n in range(max(settings.runs[i], settings.runs[j])):
                yield Merge((i, j), cap, (n % settings.runs[i], n % settings.runs[j]))


def _make(settings: MergeSettings, merge: Merge, num_worlds: int) -> World:
    """A batch of the merged world with both homes' populations, quotas and the cap; each reset has a new map."""
    quotas = settings.quotas(merge.cap, *merge.homes)
    options = {
        **settings.options,
        "npop": len(quotas),
        "quotas": quotas,
        "cap": merge.cap,
        "slots": merge.cap,
        "cap_draw": "fixed",
        "maps": None,
    }
    try:
        world = make_world(settings.world, num_worlds, **options)
    except UserError as error:
        hint = "; homes need a world with populations, such as mmo/forage" if "npop" in str(error) else ""
        raise UserError(f"{error}{hint}") from None
    if world.num_populations != len(quotas):
        raise UserError(
            f"{settings.world}: has {world.num_populations} populations when asked for {len(quotas)}; use a world with populations"
        )
    return world


def _cells(
    settings: MergeSettings, log: ResultsLog
) -> Mapping[tuple[int, int, int], list[tuple[int, dict[str, Any]]]]:
    """(home, home, cap) -> for each map the index of its pair of runs, and its result; refuses invalid results."""
    cells: dict[tuple[int, int, int], list[tuple[int, dict[str, Any]]]] = {}
    like: dict[str, Any] | None = None
    for merge in all_merges(settings):
        lacking = log.missing(map(merge.key, range(settings.maps)))
        if lacking:
            raise UserError(f"{log.path}: {lacking[0]} is still to be played; go on with --resume")
        cell = cells.setdefault((*merge.homes, merge.cap), [])
        for key in map(merge.key, range(settings.maps)):
            row = log.results[key]
            reason = wrong_row(row, [settings.populations[home] for home in merge.homes], like)
            if reason is not None:
                raise UserError(
                    f"{log.path}: what is kept of {key} is no result ({reason}); delete its line to play it again"
                )
            like = row if any(home["ended"] for home in row["homes"]) else like
            cell.append((max(merge.runs), row))
    return cells
