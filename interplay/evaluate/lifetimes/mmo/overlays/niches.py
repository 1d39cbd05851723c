"""Overlay: differences between populations in places and behaviour."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from interplay.evaluate.lifetimes.mmo.ghosts import livable
from interplay.evaluate.lifetimes.mmo.overlays import recorders
from interplay.evaluate.lifetimes.niches import PERMUTATIONS, Niche, niche
from interplay.evaluate.lifetimes.overlays.layers import Layer, OverlayData
from interplay.evaluate.lifetimes.overlays.registry import Overlay
from interplay.evaluate.lifetimes.overlays.study import Study
from interplay.evaluate.lifetimes.tick import Array
from interplay.evaluate.lifetimes.tracks import Tracks

BLOCK = 4  # cells a side
THIRDS = ("first", "middle", "last")


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
        tuple(_row(name, one) for name, one in found.items()),
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
    scores = [[one.information.z for one in found.values()], [one.distance.z for one in found.values()]]
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


def _row(name: str, one: Niche) -> tuple[object, ...]:
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
