"""Overlay: lengths of lives, causes of death and standing populations."""

from __future__ import annotations

import numpy as np

from interplay.evaluate.lifetimes.life_table import LifeTable
from interplay.evaluate.lifetimes.mmo.overlays import recorders
from interplay.evaluate.lifetimes.overlays.layers import Layer, OverlayData
from interplay.evaluate.lifetimes.overlays.registry import Overlay
from interplay.evaluate.lifetimes.overlays.study import Study
from interplay.evaluate.lifetimes.survival import kaplan_meier, median_life, restricted_mean
from interplay.evaluate.lifetimes.tick import Array

BINS = 40  # at most, of the histogram
WINDOWS = 60  # of ticks, of the curve of standing populations
RESTRICTION = 5_000  # ticks, of the restricted mean (specification 11)


def lives(study: Study) -> OverlayData:
    """Kaplan-Meier curves, means, causes of death, lengths and standing population."""
    table: LifeTable = study.seen("lives").table()
    names: tuple[str, ...] = study.world.causes
    groups = _groups(study, table)
    causes = table.causes(study.world.num_populations, len(names))[list(study.populations)]
    limit = min(RESTRICTION, max(int(table.length.max()), 1))
    rows = tuple(_row(name, length, ended, limit) for name, (length, ended) in groups.items())
    arrays = {"standing.each_tick": table.standing} | {
        name: getattr(table, name) for name in ("length", "ended", "population", "world", "born", "cause")
    }
    return OverlayData(
        "lives",
        f"{len(table.length):,} lives that began within {study.ticks:,} ticks, {int(table.ended.sum()):,} of them ended",
        (_curves(groups), _cause_layer(study, causes, names), _lengths(table), _standing(study, table)),
        {**arrays, **{f"ended.{name}": column for name, column in table.ended_columns.items()}},
        ("lives of", "lives", "ended", "median", f"mean up to {limit:,.0f}", "mean of ended"),
        rows,
        2,
    )


def _groups(study: Study, table: LifeTable) -> dict[str, tuple[Array, Array]]:
    """Name -> (length, ended), without populations that have no life."""
    groups = {f"population {k}": table.of(k) for k in study.populations}
    if study.population is None:
        groups = {"everybody": (table.length, table.ended), **groups}
    return {name: pair for name, pair in groups.items() if len(pair[0])}


def _row(name: str, length: Array, ended: Array, limit: int) -> tuple[object, ...]:
    curve = kaplan_meier(length, ended)
    completed = float(length[ended].mean()) if ended.any() else float("nan")
    mean = restricted_mean(length[ended], length[~ended], limit)
    return (name, len(length), int(ended.sum()), median_life(curve), mean, completed)


def _curves(groups: dict[str, tuple[Array, Array]]) -> Layer:
    longest = max(int(length.max()) for length, _ in groups.values())
    times = np.unique(np.linspace(0, max(longest, 1), 400).round())
    # A curve ends with its longest life.
    values = [
        np.where(times <= length.max(), kaplan_meier(length, ended).at(times), np.nan)
        for length, ended in groups.values()
    ]
    return Layer(
        "survival",
        "share that lives on (Kaplan-Meier)",
        np.array(values),
        "curves",
        "plain",
        "share of lives",
        "S(t): share of lives longer than t, lives that go on taken into account.",
        x=times,
        x_label="age (ticks)",
        drawn="steps-post",
        labels=tuple(groups),
    )


def _cause_layer(study: Study, causes: Array, names: tuple[str, ...]) -> Layer:
    found = causes.sum(axis=0) > 0
    return Layer(
        "causes",
        "what lives ended of",
        causes[:, found].T.astype(float),
        "bars",
        "plain",
        "ended lives",
        "Ended lives by population and cause.",
        x=tuple(study.populations),
        x_label="population",
        labels=tuple(name for name, there in zip(names, found, strict=True) if there),
        stacked=True,
    )


def _lengths(table: LifeTable) -> Layer:
    width = int(table.length.max()) // BINS + 1  # whole ticks, so that all bars are equally wide
    edges = np.arange(0, int(table.length.max()) + width + 1, width)
    counts = [np.histogram(table.length[chosen], edges)[0] for chosen in (table.ended, ~table.ended)]
    return Layer(
        "lengths",
        "lengths of life",
        np.array(counts, float),
        "bars",
        "plain",
        "lives",
        "Histogram of lengths; lives that go on stand at their age.",
        x=tuple(edges[:-1] + (width - 1) / 2),
        x_label="ticks",
        labels=("ended", "going on"),
        stacked=True,
    )


def _standing(study: Study, table: LifeTable) -> Layer:
    window = -(-len(table.standing) // WINDOWS)
    starts = np.arange(0, len(table.standing), window)
    length = np.diff(np.append(starts, len(table.standing)))
    means = np.add.reduceat(table.standing, starts, axis=0).T / length
    return Layer(
        "standing",
        "standing population",
        means[list(study.populations)],
        "curves",
        "plain",
        f"living agents per world, mean of {window} ticks",
        "Living agents of each population, mean over worlds and over windows of ticks.",
        x=starts + length / 2,
        x_label="tick",
        labels=tuple(f"population {k}" for k in study.populations),
    )


LIVES = Overlay("lives", "how long lives last and what ends them", lives, {"lives": recorders.lives})
