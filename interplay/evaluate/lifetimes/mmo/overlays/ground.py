"""Overlays of the ground: values, visits, landed attacks by cell, and coverage against random walkers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from interplay.evaluate.lifetimes.coverage import STEPS, Coverage, against_control, log_steps, visit_entropy
from interplay.evaluate.lifetimes.mmo.attacks import share_of
from interplay.evaluate.lifetimes.mmo.ghosts import CLIP, VARIANTS, livable, moments, standardise, value_map
from interplay.evaluate.lifetimes.mmo.overlays import recorders
from interplay.evaluate.lifetimes.overlays.layers import Layer, OverlayData
from interplay.evaluate.lifetimes.overlays.registry import Live, Overlay, Study
from interplay.evaluate.lifetimes.tick import STYLES, Array
from interplay.evaluate.lifetimes.tracks import Tracks
from interplay.worlds.mmo.tiles import FOREST, GRASS, SCRUB

GROUND = {"grass": GRASS, "scrub": SCRUB, "forest": FOREST}


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
        f"Value of a fresh agent on each tile, tick {study.burn_in + study.ticks:,}",
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


class LifeCoverage(NamedTuple):
    """One row per life.

    Attributes:
        share: (L,) distinct cells / steps, 1 = no cell twice; NaN for a life without a step.
        by_ground: name -> (L,) distinct cells of that kind / steps; a cell that changed counts for each kind.
    """

    share: Array
    by_ground: dict[str, Array]


def life_coverage(tracks: Tracks) -> LifeCoverage:
    """Distinct tiles of each life / its steps, and the same split by grass, scrub and forest."""
    with np.errstate(invalid="ignore", divide="ignore"):
        by_ground = {
            name: _distinct(tracks, tracks.tile == tile) / tracks.length for name, tile in GROUND.items()
        }
        return LifeCoverage(_distinct(tracks, np.ones(len(tracks.life), bool)) / tracks.length, by_ground)


def _distinct(tracks: Tracks, chosen: Array) -> Array:
    """(L,) distinct cells among the chosen steps of each life."""
    keys = np.unique(tracks.life[chosen] * tracks.side**2 + tracks.cell[chosen])
    return np.bincount(keys // tracks.side**2, minlength=len(tracks.population))


def coverage(study: Study) -> OverlayData:
    """Coverage(S) of agents and walkers at equal agent-steps, per population, with the entropy of visits."""
    agents, walkers = study.seen("visits"), study.seen("walkers_visits").recorder
    reachable = study.world.state.room["ground"].astype(np.int64)
    steps = log_steps(agents)
    everybody = against_control(agents, walkers, reachable, steps)
    groups = {"everybody": everybody}
    for k in study.populations:
        groups[f"population {k}"] = against_control(agents, walkers, reachable, log_steps(agents), k)
    return OverlayData(
        "coverage",
        f"Coverage of {reachable.mean():,.0f} reachable tiles over {study.ticks:,} ticks",
        (_curves(everybody), _population_curves(groups), _life_layer(study)),
        {
            f"{name}.{part}".replace(" ", "_"): getattr(one, part)
            for name, one in groups.items()
            for part in one._fields
        },
        ("visits of", "after steps", "coverage", "walkers", "ratio", "entropy H", "walkers' H"),
        _rows(study, everybody, steps),
        3,
    )


def _rows(study: Study, everybody: Coverage, steps: np.ndarray) -> tuple[tuple[object, ...], ...]:
    agents, walkers = study.seen("visits"), study.seen("walkers_visits").recorder
    reachable = study.world.state.room["ground"].astype(np.int64)
    rows: list[tuple[object, ...]] = []
    for last in [*(s for s in STEPS if s < steps[-1]), int(steps[-1])]:
        one = against_control(agents, walkers, reachable, [last])
        rows.append(("everybody", last, one.agents[0], one.control[0], one.ratio[0], "", ""))
    entropies = [
        visit_entropy(part.counts.sum(axis=0), float(reachable.mean())) for part in (agents, walkers)
    ]
    rows[-1] = (*rows[-1][:5], *entropies)
    for k in study.populations:
        played = int(agents.steps[:, k].min())
        one = against_control(agents, walkers, reachable, [played], k)
        entropies = [visit_entropy(part.counts[k], float(reachable.mean())) for part in (agents, walkers)]
        rows.append((f"population {k}", played, one.agents[0], one.control[0], one.ratio[0], *entropies))
    return tuple(rows)


def _curves(everybody: Coverage) -> Layer:
    return Layer(
        "coverage",
        "everybody",
        np.stack([everybody.agents, everybody.control]),
        "curves",
        "plain",
        "share of reachable tiles entered",
        "Distinct reachable tiles entered after S agent-steps of a world / R, mean over worlds.",
        x=everybody.steps,
        x_label="agent-steps S of one world",
        labels=("agents", "random walkers"),
        log_x=True,
    )


def _population_curves(groups: dict[str, Coverage]) -> Layer:
    own = {name: one for name, one in groups.items() if name != "everybody"}
    return Layer(
        "populations",
        "each population in its own steps",
        np.stack([one.agents for one in own.values()]),
        "curves",
        "plain",
        "share of reachable tiles entered",
        "The same for one population's agents and agent-steps.",
        x=next(iter(own.values())).steps,
        x_label="agent-steps S of the population",
        labels=tuple(own),
        log_x=True,
    )


def _life_layer(study: Study) -> Layer:
    tracks = study.seen("tracks").tracks()
    found = life_coverage(tracks)
    parts = {"all ground": found.share, **found.by_ground}
    values = [[_mean(part[tracks.population == k]) for k in study.populations] for part in parts.values()]
    return Layer(
        "lives",
        "of one life",
        np.array(values),
        "bars",
        "plain",
        "distinct tiles per step",
        "Distinct tiles that a life entered / its steps, mean over lives, by what grew there.",
        x=tuple(study.populations),
        x_label="population",
        labels=tuple(parts),
    )


def _mean(values: np.ndarray) -> float:
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else float("nan")


COVERAGE = Overlay(
    "coverage",
    "how much of the ground is seen, against random walkers",
    coverage,
    {"visits": recorders.visits, "walkers_visits": recorders.walkers_visits, "tracks": recorders.tracks},
    one_map=True,
)
