"""Turns macro actions into orders, and gives the orders that need no decision (specification 6.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from interplay.worlds.sc2.features import drones_at_gas
from interplay.worlds.sc2.ids import (
    ATTACK,
    BUILDS,
    BURROW,
    GATHER,
    INJECT,
    IS_BASE,
    IS_COMBAT,
    UNBURROW,
    UNITS,
)
from interplay.worlds.sc2.macro import (
    FIGHT,
    IS_EXTRACTOR,
    MAKE,
    TO_GAS,
    TO_MINERALS,
    Macro,
    combat,
    free_geysers,
    makers,
    mineral_fields,
    short_of,
)
from interplay.worlds.sc2.regions import Ground, centre_of, in_region
from interplay.worlds.sc2.things import Price, Thing
from interplay.worlds.sc2.view import ASSIGNED, ENERGY, FLYING, IDEAL, KIND, ORDER, View

Command = dict[str, Any]  # fields of raw_pb2.ActionRawUnitCommand
Fits = Callable[[int, np.ndarray], np.ndarray]  # ability and places (n, 2) -> (n,) bool

INJECT_ENERGY = 25.0
RINGS, ANGLES = (6.0, 8.0, 10.0), 16  # places for buildings around a base
# Places for a base around the middle of its resources, the nearest first.
BASE_SHIFTS = np.array(sorted(((x, y) for x in range(-9, 10) for y in range(-9, 10)), key=np.linalg.norm))
# Of combat units; the others hit only what stands on the ground.
_HITS_AIR = [UNITS["mutalisk"], UNITS["hydralisk"]]
_HITS_ONLY_AIR = [UNITS["corruptor"]]
LURKERS = [UNITS["lurker"], UNITS["burrowed_lurker"]]
LURKER_REACH = 8.0  # (C)


class Commander:
    """The orders of one player in one match.

    Args:
        fits: which places a building can stand at; the game answers it.
    """

    def __init__(self, ground: Ground, prices: Mapping[str, Price], fits: Fits) -> None:
        self._ground, self._prices, self._fits = ground, prices, fits
        self._goals: dict[int, int] = {}  # tag of a combat unit -> region that it attacks

    def orders(self, macro: Macro, view: View) -> list[Command]:
        """Commands of a decision: those of every step, and those of the action, which must be legal."""
        self._send(macro, view)
        return [
            *mine_when_idle(view),
            *inject(view),
            *self._attacks(view),
            *self.work(macro, view),  # last, because a unit obeys its last order
        ]

    def work(self, macro: Macro, view: View) -> list[Command]:
        """Commands of a legal action, without those of every step."""
        if macro.what == MAKE and macro.thing is not None:
            return self._make(macro.thing, view)
        if macro.what == TO_GAS:
            return to_gas(view)
        return to_minerals(view) if macro.what == TO_MINERALS else []

    def _make(self, thing: Thing, view: View) -> list[Command]:
        price = self._prices[thing.name]
        able = makers(view, thing, price)
        if price.ability not in BUILDS and thing.name != "nydus_worm":
            return [_command(price.ability, view, able[:1])]
        if thing.name == "extractor":
            geyser = free_geysers(view)[0]
            builder = _nearest(view, able, view.places[geyser])
            return [_command(price.ability, view, builder, view.tags[geyser])]
        place = self._site(thing, price, view)
        return (
            [] if place is None else [_command(price.ability, view, _nearest(view, able, place), place=place)]
        )

    def _site(self, thing: Thing, price: Price, view: View) -> np.ndarray | None:
        """The first candidate at which the building can stand."""
        bases = view.places[view.own & view.finished & IS_BASE[view.kinds]]
        if thing.name == "hatchery":
            taken = view.places[(view.own | view.enemy) & IS_BASE[view.kinds]]
            candidates = base_sites(self._ground, taken)
        elif thing.name == "nydus_worm":
            candidates = building_sites(centre_of(self._ground, 0)[None])
        else:
            candidates = building_sites(bases)
        good = np.flatnonzero(self._fits(price.ability, candidates))
        return candidates[good[0]] if len(good) else None

    def _send(self, macro: Macro, view: View) -> None:
        """Notes which region each combat unit attacks: new ones gather at home."""
        army = np.flatnonzero(combat(view))
        goals = {tag: self._goals.get(tag, self._ground.home) for tag in view.tags[army].tolist()}
        if macro.what == FIGHT:
            chosen = army[in_region(self._ground, view.places[army], macro.source)]
            goals |= dict.fromkeys(view.tags[chosen].tolist(), macro.goal)
        self._goals = goals

    def _attacks(self, view: View) -> list[Command]:
        """Each unit attacks towards the nearest enemy of its region that it can hit, combat units first; else it goes there."""
        commands = []
        enemies = np.flatnonzero(view.enemy)
        fights = IS_COMBAT[view.kinds[enemies]]
        where = {
            goal: in_region(self._ground, view.places[enemies], goal) for goal in set(self._goals.values())
        }
        for unit in np.flatnonzero(combat(view)).tolist():
            goal = self._goals[int(view.tags[unit])]
            hit = where[goal] & _can_hit(view, unit, enemies)
            if (hit & fights).any():
                hit &= fights
            place = centre_of(self._ground, goal)
            if hit.any():
                away = view.places[enemies[hit]] - view.places[unit]
                place = view.places[enemies[hit][np.hypot(*away.T).argmin()]]
            commands += (
                lurk(view, unit, place) if view.kinds[unit] in LURKERS else [attack(view, [unit], place)]
            )
        return commands


def lurk(view: View, unit: int, place: np.ndarray) -> list[Command]:
    """A lurker hits ground units only while burrowed, and walks only while not (C)."""
    away = view.places[view.enemy & (view.units[:, FLYING] == 0)] - view.places[unit]
    near = np.hypot(*away.T).min(initial=np.inf) <= LURKER_REACH
    burrowed = view.kinds[unit] == UNITS["burrowed_lurker"]
    if near == burrowed:
        return [] if near else [attack(view, [unit], place)]
    return [_command(BURROW if near else UNBURROW, view, [unit])]


def attack(view: View, units: Iterable[int], place: np.ndarray) -> Command:
    """Sends units to a place, attacking what they meet."""
    return _command(ATTACK, view, units, place=place)


def mine_when_idle(view: View) -> list[Command]:
    """Idle drones go to the nearest mineral field."""
    idle = np.flatnonzero(
        view.own & (view.units[:, KIND] == UNITS["drone"]) & (view.units[:, ORDER] == 0)
    ).tolist()
    fields = mineral_fields(view)
    return [
        _command(GATHER, view, [drone], view.tags[_nearest(view, fields, view.places[drone])[0]])
        for drone in idle
        if len(fields)
    ]


def inject(view: View) -> list[Command]:
    """Queens with enough energy inject the nearest base."""
    able = view.own & (view.units[:, KIND] == UNITS["queen"]) & (view.units[:, ENERGY] >= INJECT_ENERGY)
    bases = np.flatnonzero(view.own & view.finished & IS_BASE[view.kinds])
    queens = np.flatnonzero(able & (view.units[:, ORDER] != INJECT)).tolist()
    return [
        _command(INJECT, view, [queen], view.tags[_nearest(view, bases, view.places[queen])[0]])
        for queen in queens
        if len(bases)
    ]


def to_gas(view: View) -> list[Command]:
    """Fills the free places of the first extractor that has some with the nearest drones that are idle or at minerals."""
    _, minerals = drones_at_gas(view)
    idle = view.own & (view.units[:, KIND] == UNITS["drone"]) & (view.units[:, ORDER] == 0)
    return _fill(view, short_of(view, IS_EXTRACTOR), np.flatnonzero(idle | minerals), view.tags)


def to_minerals(view: View) -> list[Command]:
    """Sends so many drones from gas to the fields of the first base with free places."""
    gas, _ = drones_at_gas(view)
    fields = mineral_fields(view)
    places = short_of(view, IS_BASE)
    if not len(fields) or not len(places):
        return []
    field = _nearest(view, fields, view.places[places[0]])[0]
    return _fill(view, places, np.flatnonzero(gas), view.tags[np.full(len(view.tags), field)])


def _fill(view: View, places: np.ndarray, drones: np.ndarray, targets: np.ndarray) -> list[Command]:
    if not len(places) or not len(drones):
        return []
    to = places[0]
    number = int(view.units[to, IDEAL] - view.units[to, ASSIGNED])
    return [_command(GATHER, view, _nearest(view, drones, view.places[to], number), targets[to])]


def building_sites(bases: np.ndarray) -> np.ndarray:
    """(n, 2) places on rings around bases, on the half grid on which buildings stand."""
    turn = 2 * np.pi * np.arange(ANGLES) / ANGLES
    ring = np.concatenate(
        [np.stack([radius * np.cos(turn), radius * np.sin(turn)], axis=1) for radius in RINGS]
    )
    return np.round((bases[:, None] + ring[None]).reshape(-1, 2) - 0.5) + 0.5


def base_sites(ground: Ground, bases: np.ndarray) -> np.ndarray:
    """(n, 2) places for a base in the area without one that is nearest to the start."""
    for area in ground.areas:
        if not len(bases) or np.hypot(*(bases - area).T).min() > RINGS[-1]:
            return np.round(area - 0.5) + 0.5 + BASE_SHIFTS
    return np.zeros((0, 2))


def _nearest(view: View, among: np.ndarray, place: np.ndarray, number: int = 1) -> np.ndarray:
    """The nearest units of `among` to a place."""
    away = view.places[among] - place
    return among[np.argsort(np.hypot(away[:, 0], away[:, 1]), kind="stable")[:number]]


def _can_hit(view: View, unit: int, enemies: np.ndarray) -> np.ndarray:
    """(enemies,) bool."""
    kind, flying = view.kinds[unit], view.units[enemies, FLYING] > 0
    if kind in _HITS_ONLY_AIR:
        return flying
    return np.ones(len(enemies), bool) if kind in _HITS_AIR else ~flying


def _command(
    ability: int, view: View, units: Iterable[int], target: int | None = None, place: np.ndarray | None = None
) -> Command:
    command: Command = {"ability_id": int(ability), "unit_tags": [int(view.tags[unit]) for unit in units]}
    if target is not None:
        command["target_unit_tag"] = int(target)
    if place is not None:
        command["target_world_space_pos"] = {"x": float(place[0]), "y": float(place[1])}
    return command
