"""Overlays of the ground: values, visits and landed attacks by cell."""

from __future__ import annotations

import numpy as np

from interplay.evaluate.lifetimes.mmo.attacks import share_of
from interplay.evaluate.lifetimes.mmo.ghosts import CLIP, VARIANTS, livable, moments, standardise, value_map
from interplay.evaluate.lifetimes.mmo.overlays import recorders
from interplay.evaluate.lifetimes.overlays.layers import Layer, OverlayData
from interplay.evaluate.lifetimes.overlays.registry import Live, Overlay
from interplay.evaluate.lifetimes.overlays.study import Study
from interplay.evaluate.lifetimes.tick import STYLES, Array


def values(study: Study) -> OverlayData:
    """V_p of a ghost on every cell: all populations with full stats, or all variants of the chosen population."""
    value = study.require_values()
    if study.population is None:
        asked = [(p, "full") for p in study.populations]
    else:
        asked = [(study.population, variant) for variant in VARIANTS]
    layers, rows, scores = [], [], {}
    cells = study.world.settings.interior**2
    for i, (population, variant) in enumerate(asked):

        def progress(done: int, before: int = i * cells) -> None:
            study.progress("ghosts", before + done, cells * len(asked))

        found = value_map(study.world, value, population, variant, progress=progress)
        layer, row = _value_layer(study, found, population, variant)
        layers.append(layer)
        rows.append(row)
        scores[f"z.{layer.name}"] = standardise(found, study.tiles)
    return OverlayData(
        "values",
        f"Value of a fresh agent on each tile, tick {study.ticks:,}",
        tuple(layers),
        {**scores, "tiles": study.tiles.copy()},
        ("population", "ghost", "mean", "sd", "lowest", "highest"),
        tuple(rows),
    )


def _value_layer(
    study: Study, found: Array, population: int, variant: str
) -> tuple[Layer, tuple[object, ...]]:
    mean, spread = moments(found, study.tiles)
    here = found[livable(study.tiles) & np.isfinite(found)]
    lowest, highest = (float(here.min()), float(here.max())) if len(here) else (0.0, 0.0)
    layer = Layer(
        f"population_{population}_{variant.replace(' ', '_')}",
        f"population {population}, {variant}",
        found,
        "map",
        "diverging",
        "expected return",
        "V of one ghost of this population on each cell; colours reach 4 standard deviations from the mean.",
        limits=(mean - CLIP * max(spread, 1e-12), mean + CLIP * max(spread, 1e-12)),
        dim=~livable(study.tiles),
    )
    return layer, (population, variant, mean, spread, lowest, highest)


def values_now(study: Study, ghost: str) -> Layer:
    """V_p of a ghost of one variant on every cell; of the first population by default."""
    population = study.populations[0]
    found = value_map(study.world, study.require_values(), population, ghost)
    return _value_layer(study, found, population, ghost)[0]


def exploration(study: Study) -> OverlayData:
    """Visit counts v_k(cell) of the agents and of their random walkers, on one scale of brightness."""
    chosen = list(study.populations)
    ours, control = study.seen("visits").counts[chosen], study.seen("walkers_visits").recorder.counts[chosen]
    top = float(max(ours.sum(axis=0).max(), control.sum(axis=0).max()))
    layers = (
        _visit_layer(study, "agents", "agents", ours, top),
        _visit_layer(
            study,
            "walkers",
            "random walkers, same births and lives",
            control,
            top,
            "The same of random walkers.",
        ),
    )
    ground = livable(study.tiles).sum()
    rows = tuple(
        (k, int(ours[i].sum()), (ours[i] > 0).sum() / ground, (control[i] > 0).sum() / ground)
        for i, k in enumerate(chosen)
    )
    title = f"Visits over {study.ticks:,} ticks, {study.world.num_worlds} world{'s' * (study.world.num_worlds > 1)}"
    columns = ("population", "visits", "tiles entered", "by walkers")
    return OverlayData("exploration", title, layers, {"tiles": study.tiles.copy()}, columns, rows, 2)


def _visit_layer(
    study: Study,
    name: str,
    title: str,
    counts: Array,
    top: float,
    meaning: str = "Ticks that living agents of each population spent on each cell.",
) -> Layer:
    labels, dim = tuple(f"population {k}" for k in study.populations), ~livable(study.tiles)
    return Layer(
        name, title, counts, "map", "population", "visits", meaning, (0.0, top), labels=labels, dim=dim
    )


def explored_now(study: Study) -> Layer:
    """Visit counts of the agents, without random walkers."""
    counts = study.seen("visits").counts[list(study.populations)]
    return _visit_layer(study, "agents", "where agents have been", counts, float(counts.sum(axis=0).max()))


def blows(study: Study) -> OverlayData:
    """Landed attacks of each population by the target's cell, over the terrain; the table adds the ticks lived."""
    chosen = list(study.populations)
    struck, lived = study.seen("blows").counts[chosen], study.seen("visits").counts[chosen]
    layers = tuple(
        Layer(
            f"population_{k}",
            f"population {k}: {int(struck[i].sum()):,} attacks",
            struck[i],
            "map",
            "style",
            "landed attacks",
            "Cells on which targets stood; red melee, green range, blue mage, the ground below in greys.",
            limits=(0.0, float(max(struck.sum(axis=1).max(), 1))),
            labels=STYLES,
            ground=study.tiles.copy(),
        )
        for i, k in enumerate(chosen)
    )
    rows = []
    for i, k in enumerate(chosen):
        for style, counts in zip((*STYLES, "lived"), (*struck[i], lived[i]), strict=True):
            rows.append((k, style, int(counts.sum()), *share_of(counts, study.tiles)))
    worlds = study.world.num_worlds
    title = f"Where attacks landed in {study.ticks:,} ticks, {worlds} world{'s' * (worlds > 1)}"
    columns = ("population", "what", "number", "beside water", "on forest")
    return OverlayData(
        "blows", title, layers, {"tiles": study.tiles.copy(), "lived": lived}, columns, tuple(rows)
    )


VALUES = Overlay(
    "values",
    "what a network expects of every place",
    values,
    asks_values=True,
    live=Live(values_now, options={"ghost": tuple(VARIANTS)}, together=False),
)
EXPLORATION = Overlay(
    "exploration",
    "where agents have been, by population",
    exploration,
    {"visits": recorders.visits, "walkers_visits": recorders.walkers_visits},
    one_map=True,
    live=Live(explored_now, ("visits",)),
)
BLOWS = Overlay(
    "blows",
    "where attacks land, upon the terrain",
    blows,
    {"blows": recorders.blows, "visits": recorders.visits},
    one_map=True,
)
