"""Overlays of places, for every world that draws its agents: values of one agent's network, and visits."""

from __future__ import annotations

from typing import Any

import numpy as np

from interplay.core.errors import UserError
from interplay.evaluate.lifetimes.mmo.ghosts import Value
from interplay.evaluate.lifetimes.overlays.layers import Layer, OverlayData
from interplay.evaluate.lifetimes.overlays.registry import Live, Overlay, Study
from interplay.evaluate.lifetimes.places import (
    Expects,
    PlaceRecorder,
    place_reader,
    standing_reader,
    values_elsewhere,
)

EVERYBODY, ONE = "everybody", "selected agent"


def place_values(study: Study) -> OverlayData:
    """Value maps of every acting agent of the first world."""
    value, world = study.require_values(), study.world
    of = world.population[0]
    slots = [
        slot
        for slot in world.kinds[0].slots
        if world.timestep.acting[0, slot] and of[slot] in study.populations
    ]
    if not slots:
        raise UserError(f"ticks = {study.ticks}: no agent of the first world acts then; choose fewer")
    layers = []
    for done, slot in enumerate(slots):
        layers.append(_layer(study, slot, _as_of(value, int(of[slot]))))
        study.progress("agents", done + 1, len(slots))
    rows = [
        (world.agents[slot], float(np.nanmin(layer.values)), float(np.nanmax(layer.values)))
        for slot, layer in zip(slots, layers, strict=True)
    ]
    title = f"Value of each agent by its place, tick {study.burn_in + study.ticks:,}"
    return OverlayData("place_values", title, tuple(layers), {}, ("agent", "lowest", "highest"), tuple(rows))


def place_values_now(study: Study) -> Layer:
    """The value map of the selected agent."""
    return _layer(study, study.agent or 0, study.require_expects())


def _as_of(value: Value, population: int) -> Expects:
    return lambda seen: value(seen, population)


def _layer(study: Study, slot: int, expects: Expects) -> Layer:
    found, grid = values_elsewhere(study.world, slot, expects)
    known = found[np.isfinite(found)]
    middle = float(known.mean()) if len(known) else 0.0
    spread = max(float(np.abs(known - middle).max()), 1e-12) if len(known) else 1.0
    return Layer(
        f"slot_{slot}",
        f"value of {study.world.agents[slot]} by its place",
        found,
        "map",
        "diverging",
        "expected return",
        "What the agent's network would expect if it stood in the middle of a cell, all else alike; its own cell is its own place. "
        "Clear: it has no room there, or expects as much as on average.",
        limits=(middle - spread, middle + spread),
        origin=grid.origin,
        cell=grid.cell,
    )


PLACE_VALUES = Overlay(
    "place_values",
    "what one agent's network expects of every place",
    place_values,
    asks_values=True,
    reader=standing_reader,
    live=Live(place_values_now, by_agent=True, of_one=True),
)


def visits(study: Study) -> OverlayData:
    """Ticks that agents spent on each cell of a grid over the world."""
    places = study.seen("places")
    layer = _visit_layer(study, places, "where agents have been")
    counts = np.asarray(layer.values)
    row = (int(counts.sum()), float((counts[0] > 0).mean()))
    title = f"Visits over {places.ticks:,} ticks of the first world"
    return OverlayData("visits", title, (layer,), {}, ("visits", "cells entered"), (row,))


def visits_now(study: Study, whose: str) -> Layer:
    """Visits of all agents, or of the selected one."""
    places = study.seen("places")
    if whose == EVERYBODY or study.agent is None:
        return _visit_layer(study, places, "where agents have been")
    return _visit_layer(study, places, f"where {study.world.agents[study.agent]} has been", [study.agent])


def _visit_layer(study: Study, places: PlaceRecorder, title: str, slots: Any = None) -> Layer:
    assert places.counts is not None
    assert places.grid is not None
    if slots is None and study.population is not None:
        slots = np.flatnonzero(study.world.population[0] == study.population)
    counts = (places.counts if slots is None else places.counts[slots]).sum(axis=0, dtype=np.int64)
    return Layer(
        "visits",
        title,
        counts[None],
        "map",
        "population",
        "visits",
        "Ticks that agents spent on each cell.",
        limits=(0.0, float(counts.max())),
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
