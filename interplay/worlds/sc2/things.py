"""Everything a Zerg player makes: from what, after what, and its price in the running game (specification 6.3)."""

from __future__ import annotations

from typing import Any, NamedTuple

from interplay.worlds.sc2.ids import BUILDS, UNITS, UPGRADES

BUILDING, MORPH, UNIT, UPGRADE = "building", "morph", "unit", "upgrade"

# A thing, what it is made of or at, and what must be finished before; "base" is a hatchery, lair or hive.
_TABLE = """
building extractor drone -
building spawning_pool drone base
building roach_warren drone spawning_pool
building hydralisk_den drone lair
building hatchery drone -
building evolution_chamber drone base
building baneling_nest drone spawning_pool
building infestation_pit drone lair
building spire drone lair
building ultralisk_cavern drone hive
building nydus_network drone lair
building spine_crawler drone spawning_pool
building spore_crawler drone spawning_pool
morph lurker_den hydralisk_den lair
morph lair hatchery spawning_pool
morph hive lair infestation_pit
morph greater_spire spire hive
unit drone larva -
unit zergling larva spawning_pool
unit baneling zergling baneling_nest
unit roach larva roach_warren
unit ravager roach roach_warren
unit hydralisk larva hydralisk_den
unit lurker hydralisk lurker_den
unit viper larva hive
unit mutalisk larva spire
unit corruptor larva spire
unit brood_lord corruptor greater_spire
unit swarm_host larva infestation_pit
unit infestor larva infestation_pit
unit ultralisk larva ultralisk_cavern
unit overlord larva -
unit overseer overlord lair
unit queen base spawning_pool
unit nydus_worm nydus_network -
upgrade burrow base -
upgrade centrifugal_hooks baneling_nest lair
upgrade chitinous_plating ultralisk_cavern -
upgrade grooved_spines hydralisk_den -
upgrade muscular_augments hydralisk_den -
upgrade glial_reconstitution roach_warren lair
upgrade infestor_energy infestation_pit -
upgrade neural_parasite infestation_pit -
upgrade overlord_speed base -
upgrade tunneling_claws roach_warren lair
upgrade flyer_armour_1 spire -
upgrade flyer_armour_2 spire lair
upgrade flyer_armour_3 spire hive
upgrade flyer_weapons_1 spire -
upgrade flyer_weapons_2 spire lair
upgrade flyer_weapons_3 spire hive
upgrade ground_armour_1 evolution_chamber -
upgrade ground_armour_2 evolution_chamber lair
upgrade ground_armour_3 evolution_chamber hive
upgrade zergling_attack_speed spawning_pool hive
upgrade zergling_move_speed spawning_pool -
upgrade melee_1 evolution_chamber -
upgrade melee_2 evolution_chamber lair
upgrade melee_3 evolution_chamber hive
upgrade missile_1 evolution_chamber -
upgrade missile_2 evolution_chamber lair
upgrade missile_3 evolution_chamber hive
"""
# A later form counts as the earlier one.
_FORMS = {
    "base": ("hatchery", "lair", "hive"),
    "lair": ("lair", "hive"),
    "spire": ("spire", "greater_spire"),
}
_STAYS = ("base", "nydus_network")  # makers that making a unit does not use up
PAIRS = {"zergling": 2}  # units of one egg


class Thing(NamedTuple):
    """What one macro action makes."""

    name: str
    kind: str
    number: int  # unit type or upgrade
    makers: tuple[int, ...]  # unit types, one of which makes it or becomes it
    needs: tuple[int, ...]  # unit types, one of which must be finished; () for none
    before: int  # upgrade that must be finished, 0 for none
    used: int  # unit type that becomes it; its price is part of the thing's in the data; 0 for none


class Price(NamedTuple):
    """What making a thing takes in the running game."""

    minerals: float
    gas: float
    food: float
    ability: int
    loops: float  # game loops until it is finished


def _kinds_of(name: str) -> tuple[int, ...]:
    return () if name == "-" else tuple(UNITS[form] for form in _FORMS.get(name, (name,)))


def _makers(kind: str, maker: str) -> tuple[int, ...]:
    """A morph needs the very form; researchers and bases may be later ones."""
    return (UNITS[maker],) if kind == MORPH else _kinds_of(maker)


def _thing(kind: str, name: str, maker: str, need: str) -> Thing:
    number = UPGRADES[name] if kind == UPGRADE else UNITS[name]
    level = int(name[-1]) if name[-1].isdigit() else 1
    before = UPGRADES[f"{name[:-1]}{level - 1}"] if level > 1 else 0
    used = 0 if kind == UPGRADE or maker in _STAYS else UNITS[maker]
    return Thing(name, kind, number, _makers(kind, maker), _kinds_of(need), before, used)


THINGS = tuple(_thing(*row.split()) for row in _TABLE.strip().splitlines())
"""13 buildings, 4 building morphs, 18 units and 27 upgrades, in the order of the macro actions."""


def way_to(thing: Thing, price: Price) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Unit types that make it, and those of which one must be finished.

    Since a later version than C's, a drone builds the lurker den beside the hydralisk den, which became it before.
    """
    if thing.kind == MORPH and price.ability in BUILDS:
        return (UNITS["drone"],), thing.makers
    return thing.makers, thing.needs


def prices_of(data: Any) -> dict[str, Price]:
    """Name -> price by a `ResponseData`; the game's prices of units contain those of what they are made from."""
    found, drone = {}, UNITS["drone"]
    upgrades = {row.upgrade_id: row for row in data.upgrades}
    units = {row.unit_id: row for row in data.units}
    for thing in THINGS:
        if thing.kind == UPGRADE:
            row = upgrades[thing.number]
            found[thing.name] = Price(
                row.mineral_cost, row.vespene_cost, 0.0, row.ability_id, row.research_time
            )
            continue
        row = units[thing.number]
        used = units.get(drone if row.ability_id in BUILDS else thing.used)
        number = PAIRS.get(thing.name, 1)
        own = [
            number * getattr(row, field) - (getattr(used, field) if used else 0)
            for field in ("mineral_cost", "vespene_cost", "food_required")
        ]
        found[thing.name] = Price(own[0], own[1], max(own[2], 0.0), row.ability_id, row.build_time)
    return found
