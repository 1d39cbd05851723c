"""Allowed values of a battle's state (`interplay.core.ranges`); the arrays are in `state.py`."""

from __future__ import annotations

from typing import Any

import numpy as np

from interplay.core.ranges import ANYTHING, REAL, Arrays, Invariant, Range, count, index
from interplay.worlds.battle.config import BARRIER_POINTS, BattleSettings
from interplay.worlds.battle.rules.fight import BARRIER_PERIOD, JITTERS
from interplay.worlds.battle.rules.time import CALM
from interplay.worlds.battle.state import AHEAD, NONE, rules_of


def ranges_of(settings: BattleSettings, body: np.ndarray) -> dict[str, Range]:
    """Name -> range of every field of `jit.arrays_of`."""
    rules = rules_of(settings)[0]
    half_x, half_y = settings.width / 2, settings.height / 2
    (reds, blues), noticing = map(len, settings.sides), settings.notice_chance < 1
    return {
        "unit.x": Range(-half_x, half_x),
        "unit.y": Range(-half_y, half_y),
        "unit.health": Range(0.0, np.array(body["health"])),
        "unit.shield": Range(0.0, np.array(body["shield"])),
        "unit.cooldown": Range(0.0, np.array(body["period"]) + JITTERS),
        "unit.barrier": Range(0.0, BARRIER_POINTS * np.array(body["has_barrier"])),
        "unit.barrier_clock": Range(0, BARRIER_PERIOD * np.array(body["has_barrier"])),
        "unit.calm": count(CALM),
        "unit.last": Range(NONE, int(rules["actions"]) - 1),
        "room.steps": count(settings.limit),
        "room.outcome": Range(-1, 1),
        "look": Range(AHEAD, max(settings.look_directions - 1, AHEAD)),
        "seer": index(np.repeat([blues, reds], [reds, blues])[: reds + blues if noticing else 0], none=True),
        "stream": ANYTHING,
        "reward": REAL,
    }


def laws_of(settings: BattleSettings, body: np.ndarray) -> list[Invariant]:
    """Invariants between fields."""
    reds, blues = map(len, settings.sides)

    def alive(given: Arrays) -> Any:
        return given["unit.alive"]

    def decided(given: Arrays) -> Any:
        return ~alive(given)[:, :reds].any(axis=1) | ~alive(given)[:, reds:].any(axis=1)

    def no_units(given: Arrays) -> Any:
        present = given["unit.present"]
        return ~present[:, :reds].any(axis=1) | ~present[:, reds:].any(axis=1)

    def goes_on_otherwise(given: Arrays) -> Any:
        return (decided(given) | (given["room.steps"] >= settings.limit)) != given["over"]

    def left_out(given: Arrays) -> Any:
        return ~given["unit.present"] if not settings.drawn else given["unit.present"] & False

    def seen_by_the_fallen(given: Arrays) -> Any:
        lives, seer = alive(given), given["seer"]
        sees = [
            np.take_along_axis(lives[:, others], np.maximum(seer[:, own], 0), axis=1)
            for own, others in (
                (slice(None, reds), slice(reds, None)),
                (slice(reds, None), slice(None, reds)),
            )
        ]
        return (seer != NONE) & ~(lives & np.concatenate(sees, axis=1))

    def known_unseen(given: Arrays) -> Any:
        broken, unseen = np.array(given["known"]), given["seer"] == NONE
        broken[:, :reds, :blues] &= unseen[:, None, reds:] | ~alive(given)[:, :reds, None]
        broken[:, reds:, :reds] &= unseen[:, None, :reds] | ~alive(given)[:, reds:, None]
        return broken

    noticing = [
        Invariant("seer", "though one of the two has fallen", seen_by_the_fallen),
        Invariant("known", "though the enemy is unseen, or the unit has fallen", known_unseen),
    ]
    return [
        *(noticing if settings.notice_chance < 1 else []),
        Invariant(
            "unit.alive", "though the unit is absent", lambda given: alive(given) & ~given["unit.present"]
        ),
        Invariant(
            "unit.alive",
            "disagrees with its health",
            lambda given: alive(given) != (given["unit.health"] > 0),
        ),
        Invariant("unit.present", "though every unit is present", left_out),
        Invariant("unit.present", "leaves a side without units", no_units),
        Invariant("over", "disagrees with the units and the limit", goes_on_otherwise),
        Invariant(
            "acting",
            "is not the units alive in an unfinished battle",
            lambda given: given["acting"] != (alive(given) & ~given["over"][:, None]),
        ),
    ]
