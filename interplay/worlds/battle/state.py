"""A battle's arrays, one line each. Axes: W worlds, A units of both sides, red's first.

Places are measured from the field's centre, x to the right and y to the north. A mirrored battle has the opposite sign, bit for bit.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from interplay.core import seeding
from interplay.core.jit import records, table_of
from interplay.worlds.battle.config import (
    MUTALISK_PER_SECOND,
    TICKS_PER_SECOND,
    ZERG_PER_SECOND,
    BattleSettings,
)
from interplay.worlds.battle.units import UNITS, Unit

STOP, NORTH, SOUTH, EAST, WEST, FIRST_ATTACK = range(1, 7)  # actions; 0 is the dead's
NOTHING = 0
AHEAD = 0  # direction
MOVES = 4  # moves without diagonals
POINTS, HEIGHTS = 8, 9  # numbers of the surroundings, where observed
NONE = -1
RED, BLUE = 0, 1

UNIT = np.dtype(
    [
        ("x", np.float64),  # place
        ("y", np.float64),
        ("health", np.float64),  # points
        ("shield", np.float64),  # points
        ("cooldown", np.float64),  # ticks until its next attack; below 1 the attack comes in the next tick
        ("barrier", np.float64),  # points that an open barrier still absorbs
        ("barrier_clock", np.int32),  # ticks until it may open again
        ("calm", np.int32),  # ticks since it was hit, or since the episode began
        ("last", np.int16),  # its last action, NONE before the first
        ("alive", np.bool_),
        ("present", np.bool_),  # in this episode
    ],
    align=True,
)
# A slot's unit; constant.
BODY = np.dtype(
    [
        *(
            (name, np.float64)
            for name in ("health", "shield", "armour", "damage", "bonus", "range", "radius", "sight")
        ),
        ("period", np.float64),  # ticks between attacks
        ("speed", np.float64),  # per tick
        ("regeneration", np.float64),  # points of health per tick
        ("state_cooldown", np.float64),  # ticks
        ("start_x", np.float64),  # place in the formation
        ("start_y", np.float64),
        ("strikes", np.int32),
        ("kind", np.int32),  # number of its type in the scenario
        ("unit_type", np.int32),  # and in `UNITS`
        ("block", np.int32),  # the first slot of its type on its side
        ("block_size", np.int32),  # slots of that type
        *(
            (name, np.bool_)
            for name in ("hits_light", "hits_armoured", "light", "armoured", "flies", "hits_air")
        ),
        *((name, np.bool_) for name in ("bursts", "bounces", "has_barrier")),
    ],
    align=True,
)
ROOM = np.dtype([("steps", np.int32), ("outcome", np.int8)], align=True)  # decisions; red's result


class BattleState(NamedTuple):
    """One batch of battles, as kernels take it; `ArrayWorld` keeps the outputs."""

    unit: np.ndarray  # (W, A) UNIT
    room: np.ndarray  # (W,) ROOM
    look: np.ndarray  # (W, A) int16 direction of sight, steps anticlockwise of AHEAD in the side's frame; A = 0 without directions
    seer: np.ndarray  # (W, A) int16 the first observer of the unit, by its number on its side, or NONE; A = 0 where all notice all
    known: np.ndarray  # (W, A, enemies) bool enemies that the unit has noticed; A = 0 likewise
    stream: np.ndarray  # (W, 3) uint64, see core.seeding


class Sight(NamedTuple):
    """Views, a function of the state."""

    rows: np.ndarray  # (W, A, numbers) float32
    mask: np.ndarray  # (W, A, actions) bool
    field: np.ndarray  # (W, A, units, numbers) float32, equal for all of a side; no units without `see_field`


class Scratch(NamedTuple):
    """Working arrays of the threads; invalid after a decision. First axis: thread."""

    target: np.ndarray  # (S, A) int32 the unit's target, or NONE
    gap: np.ndarray  # (S, A) float64 distance until the target is in reach
    goal: np.ndarray  # (S, A, 2) float64 where it walks without a target
    next: np.ndarray  # (S, A, 2) float64 places after a walk or a push
    marked: np.ndarray  # (S, A) bool attacks, or dies, now
    points: np.ndarray  # (S, 2, 2) float64 HP and shields before and after a decision, by side
    living: np.ndarray  # (S, 2, 2) int32 units, likewise


def rules_of(settings: BattleSettings) -> np.ndarray:
    """The table of one record that kernels take (`jit.table_of`)."""
    red, blue = settings.sides
    moves = 2 * MOVES if settings.diagonals else MOVES
    enemies = max(len(red), len(blue))
    shields = [any("protoss" in UNITS[name].attributes for name in side) for side in (red, blue)]
    return table_of(
        settings,
        reds=len(red),  # slots of red
        slots=len(red) + len(blue),
        enemies=enemies,  # of the larger side: attacks of the action space
        moves=moves,
        actions=FIRST_ATTACK + enemies + moves - MOVES + settings.look_directions,
        look_cosine=math.cos(math.pi / max(settings.look_directions, 1)),  # of half a cone
        half_x=settings.width / 2,
        half_y=settings.height / 2,
        random_places=settings.randomize != "nothing",
        random_numbers=settings.randomize == "all",
        # Units that overlap at the start are pushed apart.
        settles=settings.randomize != "nothing" or _is_crowded(bodies_of(settings)),
        pays_result=settings.reward != "smac",
        pays_losses=settings.reward == "losses",
        pays_smac=settings.reward == "smac",
        # To SMAC's 20 for a clean win.
        scaled=settings.reward == "smac" or (settings.reward == "smac_sparse" and settings.exact_smac),
        kinds=len(settings.types) if len(settings.types) > 1 else 0,  # types that are distinguished
        red_shields=shields[RED],  # are observed
        blue_shields=shields[BLUE],
    )


FILE, APART = 8, 1.6  # units of one column of a formation, and the distance between them


def bodies_of(settings: BattleSettings) -> np.ndarray:
    """(A,) BODY, each slot's unit and its place in formation: each side in columns at a quarter of the field."""
    body = records(sum(map(len, settings.sides)), BODY)
    slot = 0
    for side, names in enumerate(settings.sides):
        for number, name in enumerate(names):
            place = _formation(settings, number, len(names))
            fields = _body(settings, name) | {
                "block": slot - number + names.index(name),
                "block_size": names.count(name),
                "kind": settings.types.index(name),
                "unit_type": list(UNITS).index(name),
            }
            fields |= {"start_x": place[0] if side == RED else -place[0], "start_y": place[1]}
            for key, value in fields.items():
                body[key][slot] = value
            slot += 1
    return body


def _formation(settings: BattleSettings, number: int, units: int) -> tuple[float, float]:
    """Where one of red's units begins."""
    file = min(FILE, int(settings.height / APART))
    column, row = divmod(number, file)
    in_column = min(file, units - column * file)
    x = max(-settings.width / 4 - column * APART, -settings.width / 2)
    return x, (row - (in_column - 1) / 2) * APART


def _is_crowded(body: np.ndarray) -> bool:
    """Whether ground units overlap in formation, as happens with more columns than there is field behind."""
    ground = body[~body["flies"]]
    across, up = (np.subtract.outer(ground[name], ground[name]) for name in ("start_x", "start_y"))
    reach = np.add.outer(ground["radius"], ground["radius"])
    return int((across * across + up * up < reach * reach).sum()) > len(ground)  # each overlaps itself


def _body(settings: BattleSettings, name: str) -> dict[str, Any]:
    unit, zerg = UNITS[name], "zerg" in UNITS[name].attributes
    heals = ZERG_PER_SECOND if zerg else 0.0
    if name == "mutalisk" and settings.mutalisk_regeneration:
        heals = MUTALISK_PER_SECOND
    return {
        **{key: getattr(unit, key) for key in BODY.names or () if key in Unit._fields},
        "period": unit.cooldown * TICKS_PER_SECOND,
        "speed": unit.speed / TICKS_PER_SECOND,
        "regeneration": heals / TICKS_PER_SECOND,
        "hits_light": unit.against == "light",
        "hits_armoured": unit.against == "armoured",
        **{key: key in unit.attributes for key in ("light", "armoured", "flies", "hits_air")},
        "bursts": name == "baneling",
        "bounces": name == "mutalisk" and settings.bounce_radius > 0,
        "has_barrier": name == "immortal" and settings.barrier,
    }


def allocate_state(settings: BattleSettings, num_worlds: int) -> BattleState:
    """Allocates empty battles."""
    slots, enemies = sum(map(len, settings.sides)), max(map(len, settings.sides))
    looking = slots if settings.look_directions else 0
    noticing = slots if settings.notice_chance < 1 else 0
    return BattleState(
        unit=records((num_worlds, slots), UNIT),
        room=records(num_worlds, ROOM),
        look=np.full((num_worlds, looking), AHEAD, np.int16),
        seer=np.full((num_worlds, noticing), NONE, np.int16),
        known=np.zeros((num_worlds, noticing, enemies), bool),
        stream=seeding.new_stream(num_worlds),
    )


def allocate_scratch(settings: BattleSettings, threads: int) -> Scratch:
    """Allocates working arrays for so many threads."""
    slots = (threads, sum(map(len, settings.sides)))
    return Scratch(
        target=np.zeros(slots, np.int32),
        gap=np.zeros(slots, np.float64),
        goal=np.zeros((*slots, 2), np.float64),
        next=np.zeros((*slots, 2), np.float64),
        marked=np.zeros(slots, bool),
        points=np.zeros((threads, 2, 2), np.float64),
        living=np.zeros((threads, 2, 2), np.int32),
    )
