"""Rewards and early ends of a full match (specification 6.5)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from interplay.worlds.sc2.ids import BASES, IS_COMBAT, LOST, UNITS, WON
from interplay.worlds.sc2.view import SCORES, View

GAS_WORTH = 1.25  # minerals
FULL_PRODUCTION, FULL_INCOME, FULL_COMBAT = 1000.0, 100.0, 1000.0
RESULT_POINTS = 10.0  # of TStarBot1's shaping
UNIT_POINTS = 0.02  # of its other one
LEAST_INCOME = 1.0  # a minute, of minerals and of gas
BASE_PRICE, DRONE_PRICE = 300.0, 50.0  # minerals, below which nothing can be rebuilt


class Tally(NamedTuple):
    """What rewards compare between two decisions."""

    spent: float  # minerals + 1.25 gas
    income: float  # of both, a minute
    fight: float  # value killed - value lost
    own: int  # combat units
    enemy: int
    seen: int  # enemy units of all kinds


def tally(view: View) -> Tally:
    """The numbers of a view."""
    named = dict(zip(SCORES, view.score, strict=True))
    fights = IS_COMBAT[view.kinds]
    return Tally(
        spent=named["spent_minerals"] + GAS_WORTH * named["spent_vespene"],
        income=named["collection_rate_minerals"] + named["collection_rate_vespene"],
        fight=named["killed_value_units"] + named["killed_value_structures"] - view.lost,
        own=int((fights & view.own).sum()),
        enemy=int((fights & view.enemy).sum()),
        seen=int(view.enemy.sum()),
    )


def reward_vector(before: Tally, after: Tally) -> np.ndarray:
    """(3,) production, income and combat (C)."""
    return np.array(
        [
            (after.spent - before.spent) / FULL_PRODUCTION,
            (after.income - before.income) / FULL_INCOME,
            (after.fight - before.fight) / FULL_COMBAT,
        ]
    )


def army_sign(before: Tally, after: Tally, result: float) -> float:
    """TStarBot1: the sign of the change in own combat units less enemy units of all kinds, and 10 times the result."""
    return float(np.sign((after.own - after.seen) - (before.own - before.seen))) + RESULT_POINTS * result


def army_change(before: Tally, after: Tally) -> float:
    """TStarBot1's other shaping."""
    return UNIT_POINTS * ((after.own - before.own) - (after.enemy - before.enemy))


def result_of(results: dict[int, int], player: int) -> float | None:
    """+1, -1, or 0 for a tie; None while the match goes on."""
    if player not in results:
        return None
    return {WON: 1.0, LOST: -1.0}.get(results[player], 0.0)


def is_hopeless(view: View) -> bool:
    """C's early end: no income, and nothing left to rebuild with."""
    named = dict(zip(SCORES, view.score, strict=True))
    if max(named["collection_rate_minerals"], named["collection_rate_vespene"]) >= LEAST_INCOME:
        return False
    minerals, standing = view.player[0], set(view.kinds[view.own].tolist())
    base = any(UNITS[name] in standing for name in BASES)
    worker, larva = UNITS["drone"] in standing, UNITS["larva"] in standing
    if not base:
        return not (worker or larva) or bool(minerals < BASE_PRICE)
    return not worker and bool(minerals < DRONE_PRICE)
