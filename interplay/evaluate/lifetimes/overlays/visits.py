"""Overlay: visited places, for every world that draws its agents."""

from __future__ import annotations

from typing import Any

import numpy as np

from interplay.evaluate.lifetimes.overlays.layers import Layer, OverlayData
from interplay.evaluate.lifetimes.overlays.live import Live
from interplay.evaluate.lifetimes.overlays.registry import Overlay
from interplay.evaluate.lifetimes.overlays.study import Study
from interplay.evaluate.lifetimes.places import PlaceRecorder, place_reader

EVERYBODY, ONE = "everybody", "selected agent"


def visits(study: Study) -> OverlayData:
    """Ticks that agents spent on each cell of a grid over the world."""
    layer = _layer(study, study.seen("places"), "where agents have been")
    counts = np.asarray(layer.values)
    row = (int(counts.sum()), float((counts[0] > 0).mean()))
    return OverlayData(
        "visits", f"Visits over {study.ticks:,} ticks", (layer,), {}, ("visits", "cells entered"), (row,)
    )


def visits_now(study: Study, whose: str) -> Layer:
    """Visits of all agents, or of the selected one."""
    places = study.seen("places")
    if whose == EVERYBODY or study.agent is None:
        return _layer(study, places, "where agents have been")
    return _layer(study, places, f"where {study.world.agents[study.agent]} has been", [study.agent])


def _layer(study: Study, places: PlaceRecorder, title: str, slots: Any = None) -> Layer:
    assert places.counts is not None
    assert places.grid is not None
    if slots is None and study.population is not None:
        slots = np.flatnonzero(study.world.population[0] == study.population)
    counts = places.counts if slots is None else places.counts[slots]
    return Layer(
        "visits",
        title,
        counts.sum(axis=0, dtype=np.int64)[None],
        "map",
        "population",
        "visits",
        "Ticks that agents spent on each cell.",
        labels=("visits",),
        origin=places.grid.origin,
        cell=places.grid.cell,
    )


VISITS = Overlay(
    "visits",
    "where agents have been",
    visits,
    {"places": lambda world: PlaceRecorder()},
    reader=place_reader,
    live=Live(
        visits_now, ("places",), {"whose": (EVERYBODY, ONE)}, by_agent=True, goes_on=True, copies=False
    ),
)
