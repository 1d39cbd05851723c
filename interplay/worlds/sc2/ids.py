"""Numbers by which the protocol names orders and units.

Source: Blizzard's s2client-proto, stableid.json (MIT); units and upgrades compared with the enumerations of pysc2 4.0.0.
"""

from __future__ import annotations

STOP, MOVE, ATTACK = 4, 16, 23  # abilities, as every unit has them
SELF, NEUTRAL, ENEMY = 1, 3, 4  # alliances (raw_pb2.Alliance)
LIFE, SHIELDS = 2, 3  # debug_pb2.DebugSetUnitValue.UnitValue
WON, LOST, TIE = 1, 2, 3  # sc2api_pb2.Result

WORKERS = (45, 84, 104)  # SCV, probe, drone

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
