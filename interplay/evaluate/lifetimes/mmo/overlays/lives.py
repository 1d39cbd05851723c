"""Overlays of lives: lengths, causes of death and standing populations, and differences between populations."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from interplay.evaluate.lifetimes.mmo.ghosts import livable
from interplay.evaluate.lifetimes.mmo.overlays import recorders
from interplay.evaluate.lifetimes.niches import PERMUTATIONS, Niche, niche
from interplay.evaluate.lifetimes.overlays.layers import Layer, OverlayData
from interplay.evaluate.lifetimes.overlays.registry import Overlay, Study
from interplay.evaluate.lifetimes.survival import LifeTable, kaplan_meier, median_life, restricted_mean
from interplay.evaluate.lifetimes.tick import Array
from interplay.evaluate.lifetimes.tracks import Tracks

BINS = 40  # at most, of the histogram
WINDOWS = 60  # of ticks, of the curve of standing populations
RESTRICTION = 5_000  # ticks, of the restricted mean (specification 11)
BLOCK = 4  # cells a side
THIRDS = ("first", "middle", "last")


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
        x_label="tick of the recording",
        labels=tuple(f"population {k}" for k in study.populations),
    )


LIVES = Overlay("lives", "how long lives last and what ends them", lives, {"lives": recorders.lives})


def niches(study: Study) -> OverlayData:
    """I(k;x) / H(k) and Jensen-Shannon distances against labels permuted among lives, for several x."""
    tracks: Tracks = study.seen("tracks").tracks()
    found: dict[str, Niche] = {}
    for name, (life, x) in _variables(tracks).items():
        if len(life) and len(np.unique(x)) > 1:
            label = f"permutations, {name}"
            progress = _progress_of(study, label)
            found[name] = niche(tracks.population, life, x, PERMUTATIONS, study.seed, progress)
    arrays = {
        f"{name}.{measure}.null".replace(" ", "_"): getattr(one, measure).null
        for name, one in found.items()
        for measure in ("information", "share", "distance")
    }
    arrays |= {f"{name}.counts".replace(" ", "_"): one.counts for name, one in found.items()}
    return OverlayData(
        "niches",
        f"Niches of {study.world.num_populations} populations, {len(tracks.population):,} lives",
        (_map_layer(study, tracks), _score_layer(found)),
        arrays,
        ("x", "I(k;x) nats", "I/H(k)", "of null", "z", "p", "JS distance", "of null", "z", "p"),
        tuple(_niche_row(name, one) for name, one in found.items()),
        2,
    )


def _variables(tracks: Tracks) -> dict[str, tuple[Array, Array]]:
    """Name -> (life, x) of each step or attack."""
    blocks, third = tracks.blocks(BLOCK), tracks.third()
    variables = {
        "cell": (tracks.life, tracks.cell),
        f"{BLOCK}x{BLOCK} block": (tracks.life, blocks),
        "tile type": (tracks.life, tracks.tile.astype(np.int64)),
        "attack style": (tracks.attack_life, tracks.attack_style),
    }
    for i, name in enumerate(THIRDS):
        variables[f"block, {name} third of life"] = (tracks.life[third == i], blocks[third == i])
    return variables


def _map_layer(study: Study, tracks: Tracks) -> Layer:
    counts = np.zeros((study.world.num_populations, tracks.side**2), np.int64)
    np.add.at(counts, (tracks.population[tracks.life], tracks.cell), 1)
    counts = counts.reshape(-1, tracks.side, tracks.side)
    return Layer(
        "visits",
        "visits by population",
        counts,
        "map",
        "population",
        "visits",
        "Steps of each population on each cell: a hue where one keeps to itself, none where all mix.",
        (0.0, float(max(counts.sum(axis=0).max(), 1))),
        labels=tuple(f"population {k}" for k in range(len(counts))),
        dim=~livable(study.tiles),
    )


def _score_layer(found: dict[str, Niche]) -> Layer:
    scores = [[one.share.z for one in found.values()], [one.distance.z for one in found.values()]]
    return Layer(
        "z",
        "against labels permuted among lives",
        np.array(scores).reshape(2, -1),
        "bars",
        "plain",
        "z: standard deviations of the null",
        "Within 2 of 0: no more than chance makes of finitely many lives; far above: niches.",
        x=tuple(found),
        labels=("I(k;x) / H(k)", "Jensen-Shannon distance"),
    )


def _niche_row(name: str, one: Niche) -> tuple[object, ...]:
    share, distance = one.share, one.distance
    return (
        name,
        one.information.value,
        share.value,
        float(share.null.mean()),
        share.z,
        share.p,
        distance.value,
        float(distance.null.mean()),
        distance.z,
        distance.p,
    )


def _progress_of(study: Study, label: str) -> Callable[[int], None]:
    return lambda done: study.progress(label, done, PERMUTATIONS)


NICHES = Overlay(
    "niches",
    "do populations live in different places and ways",
    niches,
    {"tracks": recorders.tracks},
    compares=True,
    one_map=True,
)
