"""Results of merges: mean lives of each home beside each other home, with intervals and ratings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, ValidationError

from interplay.core import seeding
from interplay.core.json_values import plain
from interplay.evaluate.lifetimes.survival import count_ages, restricted_mean, restricted_means
from interplay.evaluate.tournaments.matches import Match
from interplay.evaluate.tournaments.ratings.standings import LEVEL, Standings, rate_players

RESAMPLES = 400
_BOOTSTRAP = 0x70004  # stream of a tournament's seed

Cell = Sequence[tuple[int, Mapping[str, Any]]]  # for each map: index of its pair of runs, result
Count = Annotated[int, Field(ge=0, lt=2**31)]  # ticks of a life, or lives of a cause


@dataclass(frozen=True)
class LifeCell:
    """One home beside another, at one cap.

    Attributes:
        home, other: names.
        cap: places of the world.
        life: mean life, restricted at the horizon, ticks.
        interval: 95 % bootstrap interval over maps (and training runs, if several); NaN for one map.
        lives: that ended.
        cut: lives not followed to their end.
        share: the home's share of the agents alive during the window.
        standing: mean number of living agents of each of its populations.
        causes: cause of death -> share of the ended lives.
        per_life: metric of ended lives -> mean.
    """

    home: str
    other: str
    cap: int
    life: float
    interval: tuple[float, float]
    lives: int
    cut: int
    share: float
    standing: tuple[float, ...]
    causes: Mapping[str, float]
    per_life: Mapping[str, Any]


@dataclass(frozen=True)
class MergeResults:
    """Results of a tournament of merges.

    Attributes:
        names: of the homes.
        caps: places of the worlds.
        cells: every home beside every other one and beside a copy of itself, at every cap.
        standings: of homes as players; a match is one map at one cap, scored by mean life.
    """

    names: tuple[str, ...]
    caps: tuple[int, ...]
    cells: tuple[LifeCell, ...]
    standings: Standings

    def life(self, cap: int) -> np.ndarray:
        """(H, H) float64, mean life of the home of the row beside that of the column."""
        table = np.full((len(self.names), len(self.names)), np.nan)
        for cell in self.cells:
            if cell.cap == cap:
                table[self.names.index(cell.home), self.names.index(cell.other)] = cell.life
        return table

    def to_dict(self) -> dict[str, Any]:
        """Plain lists and numbers, ready for JSON."""
        return {
            **self.standings.to_dict(),
            "caps": list(self.caps),
            "cells": plain(self.cells),
        }


def merge_results(
    names: Sequence[str],
    pairs: Sequence[tuple[int, int]],
    caps: Sequence[int],
    cells: Mapping[tuple[int, int, int], Cell],
    seed: int,
    horizon: int,
) -> MergeResults:
    """Computes the tables from the results.

    Args:
        cells: (home, home, cap) -> results of each map.
        seed: of the bootstrap.
        horizon: ticks of a life that were followed.
    """
    found, matches = [], []
    for (i, j), (c, cap) in ((pair, at) for pair in pairs for at in enumerate(caps)):
        cell = cells[i, j, cap]
        if i == j:  # both copies are this home
            found.append(_life_cell(names[i], names[i], cap, cell, (0, 1), seed, horizon))
            continue
        found.append(_life_cell(names[i], names[j], cap, cell, (0,), seed, horizon))
        found.append(_life_cell(names[j], names[i], cap, cell, (1,), seed, horizon))
        for number, (_, result) in enumerate(cell):
            scores = tuple(_life_of(result, side, horizon) for side in (0, 1))
            if all(np.isfinite(scores)):
                matches.append(Match((i, j), number * len(caps) + c, scores, {}))
    ranked = rate_players(names, matches, _cluster(cells, len(caps)), seed, score="life")
    return MergeResults(tuple(names), tuple(caps), tuple(found), ranked)


def _cluster(cells: Mapping[tuple[int, int, int], Cell], caps: int) -> int:
    """Matches that the bootstrap draws together: all caps of a map, or all maps of one of several pairs of runs."""
    cell = max(cells.values(), key=len)
    runs = len({run for run, _ in cell})
    return caps if runs == 1 else caps * len(cell) // runs


def _life_of(result: Mapping[str, Any], side: int, horizon: int) -> float:
    part = result["homes"][side]
    return restricted_mean(part["ended"], part["cut"], horizon)


def _life_cell(
    home: str, other: str, cap: int, cell: Cell, sides: tuple[int, ...], seed: int, horizon: int
) -> LifeCell:
    rows = [result for _, result in cell]
    drawn = bootstrap_groups([run for run, _ in cell], seed, RESAMPLES)
    ended, cut = _counts(rows, sides, horizon)
    times = np.array(
        [np.bincount(picked, minlength=len(rows)) for picked in drawn]
    )  # per map, number of times drawn
    again = restricted_means(times @ ended, times @ cut)
    known = again[np.isfinite(again)] if len(rows) > 1 else again[:0]
    ends = np.quantile(known, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]) if known.size else (np.nan, np.nan)
    standing = np.mean([row["standing"] for row in rows], axis=0)
    own = _own_populations(rows[0], standing, sides)
    parts = [row["homes"][side] for row in rows for side in sides]
    lives = sum(len(part["ended"]) for part in parts)
    return LifeCell(
        home,
        other,
        cap,
        float(restricted_means(ended.sum(axis=0), cut.sum(axis=0))),
        (float(ends[0]), float(ends[1])),
        lives,
        sum(len(part["cut"]) for part in parts),
        float(own.sum() / max(standing.sum(), 1e-300)) / len(sides),
        tuple(own.tolist()),
        _causes(parts, lives),
        _per_life(parts, lives),
    )


def _counts(
    rows: Sequence[Mapping[str, Any]], sides: tuple[int, ...], horizon: int
) -> tuple[np.ndarray, np.ndarray]:
    """Two (M, H + 1): per map, lives that ended and lives that were cut at each age."""
    ended, cut = (
        np.array([sum(count_ages(row["homes"][side][how], horizon) for side in sides) for row in rows])
        for how in ("ended", "cut")
    )
    return ended, cut


def _own_populations(row: Mapping[str, Any], standing: np.ndarray, sides: tuple[int, ...]) -> np.ndarray:
    """Standing populations of one home, or of both copies of it."""
    if len(sides) == 2:
        return standing
    first = row["populations"][0]
    return standing[:first] if sides == (0,) else standing[first:]


def _causes(parts: Sequence[Mapping[str, Any]], lives: int) -> dict[str, float]:
    causes: dict[str, float] = {}
    for part in parts:
        for cause, count in part["causes"].items():
            causes[cause] = causes.get(cause, 0.0) + count / max(lives, 1)
    return dict(sorted(causes.items()))


def _per_life(parts: Sequence[Mapping[str, Any]], lives: int) -> dict[str, Any]:
    reporting = [part for part in parts if part["ended"]]
    names = reporting[0]["per_life"] if reporting else {}
    weights = np.array([len(part["ended"]) / lives for part in reporting])
    return {
        name: np.tensordot(weights, np.array([part["per_life"][name] for part in reporting]), 1).tolist()
        for name in names
    }


def bootstrap_groups(groups: Sequence[int], seed: int, resamples: int) -> list[np.ndarray]:
    """Two-stage bootstrap: draws groups with replacement, then members of each drawn group.

    Args:
        groups: group of each member, e.g. the training run of a map.

    Returns:
        Indices of members per resample.
    """
    rng = seeding.generator(seed, _BOOTSTRAP)
    labels = np.asarray(groups)
    members = [np.flatnonzero(labels == group) for group in np.unique(labels)]
    drawn = []
    for _ in range(resamples):
        picked = rng.integers(len(members), size=len(members))
        drawn.append(
            np.concatenate([members[g][rng.integers(len(members[g]), size=len(members[g]))] for g in picked])
        )
    return drawn


class _Home(BaseModel):
    model_config = ConfigDict(strict=True)
    ended: list[Count]
    cut: list[Count]
    causes: dict[str, Count]
    per_life: dict[str, Any]


class _Row(BaseModel):
    model_config = ConfigDict(strict=True)
    homes: list[_Home] = Field(min_length=2, max_length=2)
    populations: list[int]
    standing: list[FiniteFloat]


def wrong_row(
    row: Mapping[str, Any], populations: Sequence[int], like: Mapping[str, Any] | None
) -> str | None:
    """Why a row is no result of `lives.LifeWatch`, in a few words; None if it is.

    Args:
        like: a valid row of the tournament with the same `per_life` metrics; None for the first.
    """
    try:
        found = _Row.model_validate(row)
    except ValidationError as error:
        first = error.errors()[0]
        return f"{'.'.join(map(str, first['loc']))}: {first['msg']}"
    if found.populations != list(populations) or len(found.standing) != sum(populations):
        return f"populations are not {list(populations)}"
    reporting = [home for home in (*row["homes"], *(like or {}).get("homes", ())) if home["ended"]]
    forms = [{name: _form(value) for name, value in home["per_life"].items()} for home in reporting]
    if any(None in form.values() or form != forms[0] for form in forms):
        return "per_life is not the same numbers for every home"
    return None


def _form(value: Any) -> tuple[int, ...] | None:
    """The shape of nested lists of numbers; None for anything else."""
    try:
        array = np.asarray(value, np.float64)
    except (ValueError, TypeError, OverflowError):
        return None
    return array.shape if np.isfinite(array).all() and not isinstance(value, str | bool) else None
