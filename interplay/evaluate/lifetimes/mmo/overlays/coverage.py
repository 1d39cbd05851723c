"""Overlay: coverage of the ground, against random walkers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from interplay.evaluate.lifetimes.coverage import STEPS, Coverage, against_control, log_steps, visit_entropy
from interplay.evaluate.lifetimes.mmo.overlays import recorders
from interplay.evaluate.lifetimes.overlays.layers import Layer, OverlayData
from interplay.evaluate.lifetimes.overlays.registry import Overlay
from interplay.evaluate.lifetimes.overlays.study import Study
from interplay.evaluate.lifetimes.tick import Array
from interplay.evaluate.lifetimes.tracks import Tracks
from interplay.worlds.mmo.tiles import FOREST, GRASS, SCRUB

GROUND = {"grass": GRASS, "scrub": SCRUB, "forest": FOREST}


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
)
