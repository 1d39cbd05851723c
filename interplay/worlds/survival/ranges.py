"""Allowed values of a survival world's state (`interplay.core.ranges`); the arrays are in `state.py`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from interplay.core.ranges import (
    ANYTHING,
    MOST_32,
    MOST_REAL,
    REAL,
    Arrays,
    Invariant,
    Range,
    count,
    index,
)
from interplay.worlds.survival.state import EMPTY, ZONE, Rules, SurvivalState

_LEAST = 1e-9  # of divisors: lengths, masses
_OFF_CIRCLE = 1e-6  # largest distance of cosine and sine from the unit circle


def ranges_of(state: SurvivalState, rules: Rules, heads: Sequence[int]) -> dict[str, Range]:
    """Name -> range of every field of `state.arrays_of`.

    Args:
        state: for its shapes.
        heads: choices of each action head.
    """
    bodies, sides = rules.num_bodies, rules.num_sides
    steps = count(rules.max_steps) if rules.max_steps else count()
    return {
        **_body_ranges(rules),
        "health": Range(-(2**31), 2**31 - 1),  # only compared and added to
        "cause": Range(ZONE, sides - 1),
        "owner": Range(ZONE, sides - 1),
        "index": index(bodies, none=True),
        "returns": REAL,
        "cooldown": count(rules.melee_cooldown),
        "held": count(state.inventory.shape[2]),
        "kills": count(MOST_32),
        "kill_count": count(MOST_32),
        "reward": REAL,
        "used": Range(rules.first_heal, bodies - 1, (int(EMPTY),)),
        "steps": steps,
        "next_cell": count(state.cells.shape[1]),
        "zone_x": REAL,
        "zone_y": REAL,
        "zone_r": Range(0.0, MOST_REAL),
        "heals_used": count(),
        "boxes_placed": count(),
        "dropped": count(),
        "stream": ANYTHING,
        "cells": index(state.cells.shape[1]),
        "action": Range(0, np.array(heads, np.int64) - 1),
        "control": REAL,
        "inventory": Range(rules.first_heal, bodies - 1, (int(EMPTY),)),
        "zone_centres": REAL,
        "observation": REAL,
    }


def _body_ranges(rules: Rules) -> dict[str, Range]:
    """Circles have a radius and no sides, boxes sides and no radius; a shape without either would cause a division by 0."""
    row = np.arange(rules.num_bodies)
    box = (row >= rules.first_box) & (row < rules.first_box + rules.boxes)
    moving = (row < rules.agents) | (box & rules.boxes_dynamic)
    radius = Range(np.where(box, 0.0, _LEAST), np.where(box, 0.0, MOST_REAL))
    sides = Range(np.where(box, _LEAST, 0.0)[:, None], np.where(box, MOST_REAL, 0.0)[:, None])
    mass = Range(np.where(moving, 1 / MOST_REAL, 0.0), np.where(moving, MOST_REAL, 0.0))
    return {
        "bodies.position": REAL,
        "bodies.angle": REAL,
        "bodies.turn": Range(-1.0, 1.0),
        "bodies.velocity": REAL,
        "bodies.spin": REAL,
        "bodies.half": sides,
        "bodies.radius": radius,
        "bodies.inverse_mass": mass,
        "bodies.inverse_inertia": mass,
    }


def laws_of(state: SurvivalState) -> list[Invariant]:
    """Invariants between fields."""
    slots = np.arange(state.inventory.shape[2])

    def filled_otherwise(given: Arrays) -> Any:
        return (given["inventory"] != EMPTY) != (slots < given["held"][:, :, None])

    def no_direction(given: Arrays) -> Any:
        turn = given["bodies.turn"]
        return abs((turn * turn).sum(axis=-1) - 1.0) > _OFF_CIRCLE

    def acts_after_the_end(given: Arrays) -> Any:
        return given["acting"] & (
            given["over"][:, None] | ~given["bodies.present"][:, : given["acting"].shape[1]]
        )

    def of_another(given: Arrays) -> Any:
        return (given["index"] != EMPTY) & (given["index"] != np.arange(state.body.shape[1]))

    return [
        Invariant("index", "is the number of another body", of_another),
        Invariant("inventory", "disagrees with `held`", filled_otherwise),
        Invariant("bodies.turn", "is not on the unit circle", no_direction),
        Invariant("acting", "though it is dead or its world over", acts_after_the_end),
    ]
