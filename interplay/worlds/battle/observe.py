"""What units see, which actions are legal, and what a critic may see (specification 5.1 to 5.3). Every unit sees its side on the left."""

from __future__ import annotations

import numpy as np
from gymnasium import spaces

from interplay.core.jit import kernel, phase
from interplay.worlds.battle.config import (
    NUDGE,
    STRIDE,
    BattleSettings,
)
from interplay.worlds.battle.guides import guides_of
from interplay.worlds.battle.rules.fight import distance
from interplay.worlds.battle.rules.sides import (
    across,
    ahead,
    can_hit,
    end_of,
    first_look,
    first_of,
    move_of,
    side_of,
    up,
)
from interplay.worlds.battle.rules.sight import can_shoot, facing, in_cone, sight_of
from interplay.worlds.battle.state import (
    BLUE,
    FIRST_ATTACK,
    HEIGHTS,
    MOVES,
    NOTHING,
    POINTS,
    RED,
    STOP,
    BattleState,
    Sight,
)
from interplay.worlds.battle.units import UNITS

# SMAC's points around a unit, in strides: twice as far as a move leads to the north, south, east and west, then the corners between them.
_POINTS_ACROSS = (0.0, 0.0, 2.0, -2.0, 1.0, -1.0, 1.0, -1.0)
_POINTS_UP = (2.0, -2.0, 0.0, 0.0, 1.0, -1.0, -1.0, 1.0)
# Columns of the table of the field: shares of health, shield and the weapon's period, and the row of `UNITS`.
ALIVE, X, Y, HEALTH, SHIELD, COOLDOWN, UNIT_TYPE = range(7)
FIELD = 7


@phase
def look_around(state, sight, body, rules, w):
    """Writes legal actions and observations of all units; zeros for dead and absent units."""
    for a in range(rules.slots):
        row, mask = sight.rows[w, a], sight.mask[w, a]
        row[:] = 0.0
        mask[:] = False
        if not state.unit[w, a].alive:
            mask[NOTHING] = True
            continue
        allow_moves(state, rules, mask, w, a)
        at = see_ground(state, rules, mask, row, w, a)
        at = see_enemies(state, body, rules, mask, row, w, a, at)
        at = see_allies(state, body, rules, row, w, a, at)
        see_self(state, body, rules, row, w, a, at)
    see_field(state, sight, body, rules, w)


@phase
def lies_inside(rules, x, y):
    """Whether a point is on the field."""
    return abs(x) <= rules.half_x and abs(y) <= rules.half_y


@phase
def allow_moves(state, rules, mask, w, a):
    """Stopping and looking are legal, and a move if the point 1 away lies in the field."""
    unit, side = state.unit[w, a], side_of(rules, a)
    mask[STOP] = True
    mask[first_look(rules) :] = True
    for heading in range(rules.moves):
        x, y = unit.x + NUDGE * across(side, heading), unit.y + NUDGE * up(heading)
        mask[move_of(rules, heading)] = lies_inside(rules, x, y)


@phase
def see_ground(state, rules, mask, row, w, a):
    """Writes the legality of moves and the surroundings that are observed; returns their length."""
    unit, side, at = state.unit[w, a], side_of(rules, a), np.int64(MOVES)
    for heading in range(MOVES):
        row[heading] = mask[move_of(rules, heading)]
    if rules.see_pathing:
        for point in range(POINTS):
            x = unit.x + STRIDE * ahead(side) * _POINTS_ACROSS[point]
            y = unit.y + STRIDE * _POINTS_UP[point]
            row[at + point] = lies_inside(rules, x, y)
        at += POINTS
    if rules.see_heights:
        row[at : at + HEIGHTS] = 1.0
        at += HEIGHTS
    return at


@phase
def sees_shields(rules, side):
    """Whether a side has shields; only then are they observed."""
    return rules.red_shields if side == RED else rules.blue_shields


@phase
def see_enemies(state, body, rules, mask, row, w, a, at):
    """Allows the attacks, and writes the enemies in sight."""
    unit, own, side = state.unit[w, a], body[a], side_of(rules, a)
    sight, look = sight_of(rules, own), facing(state, rules, w, a)
    first = first_of(rules, 1 - side)
    for b in range(first, end_of(rules, 1 - side)):
        other = state.unit[w, b]
        shields = sees_shields(rules, 1 - side)
        if other.alive:
            gap = distance(unit, other)
            inside = in_cone(rules, side, look, unit, other, gap)
            reached = can_shoot(rules, own, body[b], gap, inside)
            mask[FIRST_ATTACK + b - first] = reached or (rules.attack_anyone and can_hit(own, body[b]))
            noticed = rules.notice_chance >= 1.0 or state.known[w, a, b - first]
            if gap < sight and inside and noticed:
                row[at] = reached
                see_other(unit, other, body[b], rules, row, at, gap, sight, side, shields)
        at += 5 + shields + rules.kinds
    return at


@phase
def see_other(unit, other, own, rules, row, at, gap, sight, side, shields):
    """Writes distance, place, health, shield and type of a unit in sight."""
    row[at + 1] = gap / sight
    row[at + 2] = ahead(side) * (other.x - unit.x) / sight
    row[at + 3] = (other.y - unit.y) / sight
    row[at + 4] = other.health / own.health
    show_kind(other, own, rules, row, at + 5, shields)


@phase
def show_kind(unit, own, rules, row, at, shields):
    """Writes shield share and type, where observed."""
    if shields:
        row[at] = unit.shield / own.shield if own.shield > 0.0 else 0.0
    if rules.kinds > 0:
        row[at + shields + own.kind] = 1.0


@phase
def see_allies(state, body, rules, row, w, a, at):
    """Writes the other units of the own side in sight."""
    unit, side = state.unit[w, a], side_of(rules, a)
    sight, look = sight_of(rules, body[a]), facing(state, rules, w, a)
    shields = sees_shields(rules, side)
    width = 5 + shields + rules.kinds
    for b in range(first_of(rules, side), end_of(rules, side)):
        if b == a:
            continue
        other = state.unit[w, b]
        gap = distance(unit, other)
        if other.alive and gap < sight and in_cone(rules, side, look, unit, other, gap):
            row[at] = 1.0
            see_other(unit, other, body[b], rules, row, at, gap, sight, side, shields)
            if rules.see_last_action and other.last >= 0:
                row[at + width + other.last] = 1.0
        at += width + rules.see_last_action * rules.actions
    return at


@phase
def see_self(state, body, rules, row, w, a, at):
    """Writes own health, shield and type, then place, direction and time where observed."""
    unit, side = state.unit[w, a], side_of(rules, a)
    shields = sees_shields(rules, side)
    row[at] = unit.health / body[a].health
    show_kind(unit, body[a], rules, row, at + 1, shields)
    at += 1 + shields + rules.kinds
    if rules.see_position:
        row[at], row[at + 1] = ahead(side) * unit.x / (2.0 * rules.half_x), unit.y / (2.0 * rules.half_y)
        at += 2
    if rules.look_directions > 0:
        row[at], row[at + 1] = facing(state, rules, w, a)
        at += 2
    if rules.see_time:
        row[at] = state.room[w].steps / rules.limit


@kernel
def write_states(state, body, table, side, rows):
    """Writes the critic's state of a side for each world into zeros (W, numbers)."""
    rules = table[0]
    shields = sees_shields(rules, side), sees_shields(rules, 1 - side)
    for w in range(len(rows)):
        row, at = rows[w], np.int64(0)
        for part in range(2):
            of = side if part == 0 else 1 - side
            for a in range(first_of(rules, of), end_of(rules, of)):
                unit, own = state.unit[w, a], body[a]
                if unit.alive:
                    row[at] = unit.health / own.health
                    if part == 0:
                        row[at + 1] = unit.cooldown / own.state_cooldown
                    row[at + 2 - part] = ahead(side) * unit.x / (2.0 * rules.half_x)
                    row[at + 3 - part] = unit.y / (2.0 * rules.half_y)
                    show_kind(unit, own, rules, row, at + 4 - part, shields[part])
                at += 4 - part + shields[part] + rules.kinds
                if part == 0 and rules.look_directions > 0:
                    if unit.alive:
                        row[at], row[at + 1] = facing(state, rules, w, a)
                    at += 2
        if rules.state_last_action:
            for a in range(first_of(rules, side), end_of(rules, side)):
                if state.unit[w, a].last >= 0:
                    row[at + state.unit[w, a].last] = 1.0
                at += rules.actions
        if rules.state_time:
            row[at] = state.room[w].steps / rules.limit


@phase
def see_field(state, sight, body, rules, w):
    """Writes the table of all units, own side first, for image interfaces; zeros for a dead unit."""
    for a in range(sight.field.shape[1]):
        side, k = side_of(rules, a), 0
        for part in range(2):
            of = side if part == 0 else 1 - side
            for b in range(first_of(rules, of), end_of(rules, of)):
                unit, own, row = state.unit[w, b], body[b], sight.field[w, a, k]
                k += 1
                row[:] = 0.0
                if unit.alive:
                    row[ALIVE], row[X], row[Y] = 1.0, ahead(side) * unit.x, unit.y
                    row[HEALTH] = unit.health / own.health
                    row[SHIELD] = unit.shield / own.shield if own.shield > 0.0 else 0.0
                    row[COOLDOWN] = unit.cooldown / own.period if own.period > 0.0 else 0.0
                    row[UNIT_TYPE] = own.unit_type


# -- spaces -----------------------------------------------------------------------------------------


def observation_space(settings: BattleSettings, rules: np.void) -> spaces.Dict:
    """Of one unit: `units`, the vector of specification 5.2; optionally `field`, the table of all units, and `legal`, its mask."""
    numbers = max(row_size(rules, side) for side in (RED, BLUE))
    fields: dict[str, spaces.Space] = {"units": spaces.Box(-np.inf, np.inf, (numbers,), np.float32)}
    if settings.see_field:
        fields["field"] = _field_space(settings)
        fields["legal"] = spaces.MultiBinary(int(rules["actions"]))
    return spaces.Dict(fields)


def _field_space(settings: BattleSettings) -> spaces.Box:
    """Bounds of the table: places up to the edges; row k has the type of the k-th unit."""
    red, blue = settings.sides
    views = np.array([[list(UNITS).index(name) for name in order] for order in (red + blue, blue + red)])
    high = np.ones((views.shape[1], FIELD), np.float32)
    high[:, X], high[:, Y], high[:, COOLDOWN] = settings.width / 2, settings.height / 2, np.inf
    high[:, UNIT_TYPE] = views.max(axis=0)
    low = np.zeros_like(high)
    low[:, X], low[:, Y] = -settings.width / 2, -settings.height / 2
    return spaces.Box(low, high, dtype=np.float32)


def allocate_sight(settings: BattleSettings, rules: np.void, num_worlds: int) -> Sight:
    """Allocates empty views."""
    lead = (num_worlds, int(rules["slots"]))
    numbers = max(row_size(rules, side) for side in (RED, BLUE))
    return Sight(
        rows=np.zeros((*lead, numbers), np.float32),
        mask=np.zeros((*lead, int(rules["actions"])), bool),
        field=np.zeros((num_worlds, lead[1] if settings.see_field else 0, lead[1], FIELD), np.float32),
    )


def state_of(state: BattleState, body: np.ndarray, table: np.ndarray, side: int) -> np.ndarray:
    """(W, n) float32, the state of a side (specification 5.3)."""
    rows = np.zeros((len(state.room), state_size(table[0], side)), np.float32)
    write_states(state, body, table, side, rows)
    return rows


def row_size(rules: np.void, side: int) -> int:
    """Length of a unit's vector: that of its parts."""
    first = 0 if side == RED else int(rules["reds"])
    parts = guides_of(rules, range(int(rules["actions"])), first)["units"]
    return sum(len(part.names) * (part.rows or 1) for part in parts)


def state_size(rules: np.void, side: int) -> int:
    """Length of a side's state."""
    own, enemies, kinds = _units(rules, side), _units(rules, 1 - side), int(rules["kinds"])
    ally = 4 + _shields(rules, side) + kinds + 2 * int(rules["look_directions"] > 0)
    size = own * ally + enemies * (3 + _shields(rules, 1 - side) + kinds)
    return size + own * int(rules["actions"]) * int(rules["state_last_action"]) + int(rules["state_time"])


def _units(rules: np.void, side: int) -> int:
    return int(rules["reds"]) if side == RED else int(rules["slots"] - rules["reds"])


def _shields(rules: np.void, side: int) -> int:
    return int(rules["red_shields" if side == RED else "blue_shields"])
