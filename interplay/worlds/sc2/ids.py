"""Numbers by which the protocol names orders, units and upgrades.

Source: Blizzard's s2client-proto, stableid.json (MIT); unit types and upgrades compared with the enumerations of pysc2 4.0.0.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

STOP, MOVE, ATTACK = 4, 16, 23  # abilities, as every unit has them
GATHER, RETURN, INJECT = 1183, 1184, 251  # of drones, drones and queens
BURROW, UNBURROW = 2108, 2110  # of lurkers
BUILDS = range(1152, 1182)  # abilities by which a drone becomes a building
SELF, NEUTRAL, ENEMY = 1, 3, 4  # alliances (raw_pb2.Alliance)
LIFE, SHIELDS = 2, 3  # debug_pb2.DebugSetUnitValue.UnitValue
WON, LOST = 1, 2  # sc2api_pb2.Result

BATTLE_UNITS = {
    "immortal": 83,
    "zealot": 73,
    "stalker": 74,
    "mutalisk": 108,
    "hydralisk": 107,
    "roach": 110,
    "zergling": 105,
    "baneling": 9,
    "marine": 48,
    "marauder": 51,
}
"""Unit types of `interplay.worlds.battle`."""

_UNITS = """
larva 151            drone 104          zergling 105        baneling 9          roach 110         burrowed_roach 118
ravager 688          hydralisk 107      lurker 502          burrowed_lurker 503 mutalisk 108      corruptor 112
brood_lord 114       locust 489         ultralisk 109       broodling 289       overlord 106      overseer 129
queen 126            viper 499          swarm_host 494      infestor 111        changeling 12
spine_crawler 98     spore_crawler 99   extractor 88        spawning_pool 89    roach_warren 97   hydralisk_den 91
hatchery 86          evolution_chamber 90 baneling_nest 96  infestation_pit 94  spire 92          ultralisk_cavern 93
lurker_den 504       lair 100           hive 101            greater_spire 102   nydus_network 95  nydus_worm 142
"""

_UPGRADES = """
burrow 64            centrifugal_hooks 75     chitinous_plating 4      grooved_spines 134      muscular_augments 135
glial_reconstitution 2 infestor_energy 74     neural_parasite 101      overlord_speed 62       tunneling_claws 3
flyer_armour_1 71    flyer_armour_2 72        flyer_armour_3 73        flyer_weapons_1 68      flyer_weapons_2 69
flyer_weapons_3 70   ground_armour_1 56       ground_armour_2 57       ground_armour_3 58      zergling_attack_speed 65
zergling_move_speed 66 melee_1 53             melee_2 54               melee_3 55              missile_1 59
missile_2 60         missile_3 61
"""


def _read(table: str) -> dict[str, int]:
    """Words and numbers in turns."""
    words = table.split()
    return {name: int(number) for name, number in zip(words[::2], words[1::2], strict=True)}


UNITS = _read(_UNITS)
"""Zerg unit types."""
UPGRADES = _read(_UPGRADES)
"""Zerg upgrades, in the order of specification 6.3."""
MOST_TYPES = 4096  # unit types are below it

BASES = ("hatchery", "lair", "hive")
COMBAT = (
    *("zergling", "baneling", "roach", "burrowed_roach", "ravager", "hydralisk", "lurker", "burrowed_lurker"),
    *("mutalisk", "corruptor", "brood_lord", "ultralisk"),
)
"""The combat types (specification 6.3)."""


def marked(names: Iterable[str]) -> np.ndarray:
    """(MOST_TYPES,) bool, True at the types of these units."""
    marks = np.zeros(MOST_TYPES, bool)
    marks[[UNITS[name] for name in names]] = True
    return marks


IS_BASE, IS_COMBAT = marked(BASES), marked(COMBAT)
