"""The 165 macro actions and which of them are legal (specification 6.3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from interplay.worlds.sc2.features import drones_at_gas
from interplay.worlds.sc2.ids import GATHER, IS_BASE, IS_COMBAT, RETURN, UNITS, marked
from interplay.worlds.sc2.regions import REGIONS, Ground, region_of
from interplay.worlds.sc2.things import THINGS, UNIT, UPGRADE, Price, Thing, way_to
from interplay.worlds.sc2.view import ASSIGNED, GAS, IDEAL, KIND, MINERALS, ORDER, View

NOTHING, MAKE, TO_GAS, TO_MINERALS, FIGHT = "nothing", "make", "to gas", "to minerals", "fight"
LEAST_ARMY = 3  # combat units of a region that attacks
MOST_BUILDINGS = {"hatchery": 6, "evolution_chamber": 2}  # of each other tech building one
ANY_NUMBER = ("extractor", "spine_crawler", "spore_crawler")
GEYSER_REACH = 12.0  # from an own base
# What C leaves out, and the pairs of regions that it keeps.
INACTIVE = ("nydus_network", "viper", "swarm_host", "infestor", "nydus_worm", "infestor_energy")
RELEASED_FIGHTS = ((0, 0), (9, 4), (4, 1))

IS_EXTRACTOR = marked(["extractor"])


class Macro(NamedTuple):
    """One macro action."""

    what: str
    thing: Thing | None = None
    source: int = 0  # region, in the player's frame
    goal: int = 0

    @property
    def name(self) -> str:
        """For people: "make roach", "0 attacks 4"."""
        if self.thing is not None:
            return f"make {self.thing.name.replace('_', ' ')}"
        return f"{self.source} attacks {self.goal}" if self.what == FIGHT else self.what


_FIGHTS = tuple(Macro(FIGHT, None, source, goal) for source in range(REGIONS) for goal in range(REGIONS))
MACROS = (
    Macro(NOTHING),
    *(Macro(MAKE, thing) for thing in THINGS),
    Macro(TO_GAS),
    Macro(TO_MINERALS),
    *_FIGHTS,
)
"""All 165."""
RELEASED = tuple(
    macro
    for macro in MACROS
    if (macro.thing is None or macro.thing.name not in INACTIVE)
    and (macro.what != FIGHT or (macro.source, macro.goal) in RELEASED_FIGHTS)
)
"""The 62 of the released code."""


def combat(view: View) -> np.ndarray:
    """(n,) bool own combat units."""
    return view.own & IS_COMBAT[view.kinds]


class Holdings(NamedTuple):
    """What the legality of making things depends on."""

    finished: frozenset[int]  # types of own finished units
    free: frozenset[int]  # of those, types of which one can make something now
    standing: Counter[int]  # own units by type
    ordered: frozenset[int]  # abilities of first orders
    geyser: bool  # one is free

    @classmethod
    def of(cls, view: View) -> Holdings:
        kinds, orders = view.kinds, view.units[:, ORDER]
        done = view.own & view.finished
        works = np.isin(orders, (GATHER, RETURN)) & (kinds == UNITS["drone"])
        return cls(
            finished=frozenset(kinds[done].tolist()),
            free=frozenset(kinds[done & ((orders == 0) | works)].tolist()),
            standing=Counter(kinds[view.own].tolist()),
            ordered=frozenset(orders[view.own].astype(np.int64).tolist()),
            geyser=len(free_geysers(view)) > 0,
        )


def legal(
    view: View, ground: Ground, prices: Mapping[str, Price], macros: tuple[Macro, ...] = MACROS
) -> np.ndarray:
    """(A,) bool; the first action, nothing, always is."""
    army = region_of(ground, view.places[combat(view)])
    armies = np.bincount(army, minlength=REGIONS)
    armies[0] = len(army)
    enough = (armies >= LEAST_ARMY).tolist()
    held = Holdings.of(view)
    given = {NOTHING: True, TO_GAS: can_go_to_gas(view), TO_MINERALS: can_go_to_minerals(view)}
    mask = [
        can_make(view, held, macro.thing, prices[macro.thing.name])
        if macro.thing is not None
        else enough[macro.source]
        if macro.what == FIGHT
        else given[macro.what]
        for macro in macros
    ]
    return np.array(mask, bool)


def can_make(view: View, held: Holdings, thing: Thing, price: Price) -> bool:
    """Whether a thing can be paid for, its maker is free, and what it needs is finished."""
    minerals, gas, used, cap = view.player[:4].tolist()
    if minerals < price.minerals or gas < price.gas or (price.food and used + price.food > cap):
        return False
    makers, needs = way_to(thing, price)
    if held.free.isdisjoint(makers) or (needs and held.finished.isdisjoint(needs)):
        return False
    if thing.kind == UNIT:
        return True
    if price.ability in held.ordered:
        return False
    if thing.kind == UPGRADE:
        return thing.number not in view.upgrades and (not thing.before or thing.before in view.upgrades)
    if thing.name == "extractor":
        return held.geyser
    return thing.name in ANY_NUMBER or held.standing[thing.number] < MOST_BUILDINGS.get(thing.name, 1)


def makers(view: View, thing: Thing, price: Price) -> np.ndarray:
    """Indices of own finished units that can make a thing: idle ones, drones also from work that is no building."""
    kinds, _ = way_to(thing, price)
    able = view.own & view.finished & np.isin(view.kinds, kinds)
    if kinds == (UNITS["drone"],):
        gas, minerals = drones_at_gas(view)
        idle, returns = (able & (view.units[:, ORDER] == order) for order in (0, RETURN))
        preferred = [able & minerals, idle, returns, able & gas]
        return np.concatenate([np.flatnonzero(which) for which in preferred])
    return np.flatnonzero(able & (view.units[:, ORDER] == 0))


def free_geysers(view: View) -> np.ndarray:
    """Indices of geysers near a finished own base and without an extractor."""
    geysers = np.flatnonzero(view.neutral & (view.units[:, GAS] > 0))
    bases = view.places[view.own & view.finished & IS_BASE[view.kinds]]
    taken = view.places[(view.own | view.enemy) & (view.kinds == UNITS["extractor"])]
    return np.array(
        [
            number
            for number in geysers
            if _gap(view.places[number], bases) < GEYSER_REACH and _gap(view.places[number], taken) > 1
        ],
        np.int64,
    )


def _gap(place: np.ndarray, others: np.ndarray) -> float:
    """Distance to the nearest; infinite without any."""
    away = others - place
    return float(np.hypot(away[:, 0], away[:, 1]).min(initial=np.inf))


def short_of(view: View, kinds: np.ndarray) -> np.ndarray:
    """Indices of own finished buildings with free places for workers; `kinds` is a table of `ids.marked`."""
    some = view.own & view.finished & kinds[view.kinds]
    return np.flatnonzero(some & (view.units[:, IDEAL] > view.units[:, ASSIGNED]))


def can_go_to_gas(view: View) -> bool:
    """Whether an extractor has a free place and a drone is idle or at minerals."""
    _, minerals = drones_at_gas(view)
    idle = view.own & (view.units[:, KIND] == UNITS["drone"]) & (view.units[:, ORDER] == 0)
    return len(short_of(view, IS_EXTRACTOR)) > 0 and bool((idle | minerals).any())


def can_go_to_minerals(view: View) -> bool:
    """Whether a base has a free place, a drone is at gas, and a field has minerals."""
    gas, _ = drones_at_gas(view)
    return len(short_of(view, IS_BASE)) > 0 and bool(gas.any()) and len(mineral_fields(view)) > 0


def mineral_fields(view: View) -> np.ndarray:
    """Rows of the fields that have minerals."""
    return np.flatnonzero(view.neutral & (view.units[:, MINERALS] > 0))


def index_of(name: str, macros: tuple[Macro, ...] = MACROS) -> int:
    """The number of an action by its name."""
    return [macro.name for macro in macros].index(name)
