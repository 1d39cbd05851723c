"""Overlays of one agent and those around it: how its value depends on them, and how it attacks them."""

from __future__ import annotations

import numpy as np

from interplay.evaluate.lifetimes.mmo.dependence import dependence as dependence_map
from interplay.evaluate.lifetimes.mmo.overlays import recorders
from interplay.evaluate.lifetimes.overlays.layers import Layer, OverlayData
from interplay.evaluate.lifetimes.overlays.registry import Overlay
from interplay.evaluate.lifetimes.overlays.study import Study
from interplay.evaluate.lifetimes.tick import STYLES


def dependence(study: Study) -> OverlayData:
    """D_p(dr, dc) for another agent of the own and of any other population, panels side by side."""
    value = study.require_values()
    maps = []
    for i, population in enumerate(study.populations):
        for same in (True, False):
            maps.append((population, same, dependence_map(study.world.settings, value, population, same)))
        study.progress("populations", i + 1, len(study.populations))
    most = max(max(float(np.abs(found).max()) for _, _, found in maps), 1e-12)
    layers, rows = [], []
    for population, same, found in maps:
        whose = "own" if same else "other"
        layers.append(
            Layer(
                f"population_{population}_{whose}",
                f"population {population} sees its own" if same else f"population {population} sees another",
                found,
                "window",
                "diverging",
                "change of expected return",
                "D = V(with one fresh agent there) - V(alone), observer in the middle of a field of grass.",
                limits=(-most, most),
            )
        )
        rows.append((population, whose, float(found.mean()), float(found.min()), float(found.max())))
    return OverlayData(
        "dependence",
        "How the value of an agent depends on where another one stands",
        tuple(layers),
        {},
        ("population", "sees", "mean", "lowest", "highest"),
        tuple(rows),
        2,
    )


def combat(study: Study) -> OverlayData:
    """Landed attacks by the target's place and style, one window for each population."""
    profile = study.seen("attacks").profile(study.world.settings.reach)
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
)
COMBAT = Overlay("combat", "which style is used at which distance", combat, {"attacks": recorders.attacks})
