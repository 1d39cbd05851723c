"""Overlays of one agent and its neighbours: its value by their place, and its attacks on them."""

from __future__ import annotations

import numpy as np

from interplay.evaluate.lifetimes.mmo.ghosts import dependence as dependence_map
from interplay.evaluate.lifetimes.mmo.overlays import recorders
from interplay.evaluate.lifetimes.overlays.layers import Layer, OverlayData
from interplay.evaluate.lifetimes.overlays.registry import Live, Overlay, Study
from interplay.evaluate.lifetimes.tick import STYLES, Array

EVERY_STYLE = "all"


def dependence(study: Study) -> OverlayData:
    """D_p(dr, dc) for another agent of the own and of another population, side by side."""
    value = study.require_values()
    maps = []
    for i, population in enumerate(study.populations):
        for same in (True, False):
            maps.append((population, same, dependence_map(study.world.settings, value, population, same)))
        study.progress("populations", i + 1, len(study.populations))
    most = max(max(float(np.abs(found).max()) for _, _, found in maps), 1e-12)
    rows = tuple(
        (
            population,
            "own" if same else "other",
            float(found.mean()),
            float(found.min()),
            float(found.max()),
        )
        for population, same, found in maps
    )
    return OverlayData(
        "dependence",
        "How the value of an agent depends on where another one stands",
        tuple(_dependence_layer(*one, most) for one in maps),
        {},
        ("population", "sees", "mean", "lowest", "highest"),
        rows,
        2,
    )


def _dependence_layer(population: int, same: bool, found: Array, most: float) -> Layer:
    return Layer(
        f"population_{population}_{'own' if same else 'other'}",
        f"population {population} sees its own" if same else f"population {population} sees another",
        found,
        "window",
        "diverging",
        "change of expected return",
        "D = V(with one fresh agent there) - V(alone), observer in the middle of a field of grass.",
        limits=(-most, most),
    )


def dependence_now(study: Study, sees: str) -> Layer:
    """D_p for one kind of other agent; of the first population by default."""
    population, same = study.populations[0], sees == "own"
    found = dependence_map(study.world.settings, study.require_values(), population, same)
    return _dependence_layer(population, same, found, max(float(np.abs(found).max()), 1e-12))


def combat_now(study: Study, style: str) -> Layer:
    """Landed attacks by the target's place, of one style or of all."""
    counts = study.seen("attacks").counts[list(study.populations)].sum(axis=0)
    chosen = list(range(len(STYLES))) if style == EVERY_STYLE else [STYLES.index(style)]
    return Layer(
        "attacks",
        f"{int(counts[chosen].sum()):,} attacks",
        counts[chosen],
        "window",
        "style",
        "landed attacks",
        "Where targets stood, seen from the attacker.",
        limits=(0.0, float(max(counts[chosen].sum(axis=0).max(), 1))),
        labels=tuple(STYLES[number] for number in chosen),
    )


def combat(study: Study) -> OverlayData:
    """Landed attacks by the target's place and style, one window for each population."""
    profile = study.seen("attacks").profile()
    top = float(max(profile.counts[list(study.populations)].sum(axis=1).max(), 1))
    layers = tuple(
        Layer(
            f"population_{k}",
            f"population {k}: {profile.counts[k].sum():,} attacks",
            profile.counts[k],
            "window",
            "style",
            "landed attacks",
            "Where targets stood, seen from the attacker; red melee, green range, blue mage.",
            limits=(0.0, top),
            labels=STYLES,
        )
        for k in study.populations
    )
    rows = tuple(
        (k, style, int(profile.counts[k, s].sum()), profile.edge_share[k, s], profile.kills_per_attack[k, s])
        for k in study.populations
        for s, style in enumerate(STYLES)
    )
    return OverlayData(
        "combat",
        f"Landed attacks over {study.ticks:,} ticks",
        layers,
        {"edge_share": profile.edge_share, "kills_per_attack": profile.kills_per_attack},
        ("population", "style", "attacks", "at full reach", "kills per attack"),
        rows,
    )


DEPENDENCE = Overlay(
    "dependence",
    "how an agent's value depends on where another stands",
    dependence,
    asks_values=True,
    plays=False,
    live=Live(dependence_now, options={"sees": ("own", "other")}, together=False),
)
COMBAT = Overlay(
    "combat",
    "which style is used at which distance",
    combat,
    {"attacks": recorders.attacks},
    live=Live(combat_now, ("attacks",), {"style": (EVERY_STYLE, *STYLES)}),
)
