"""Columns of the world's vectors in SMAC's order, part by part (specification 5.2 and 5.3)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from interplay.worlds.battle.observe import row_size
from interplay.worlds.battle.state import FIRST_ATTACK, HEIGHTS, MOVES, POINTS, RED

HEALTH = 4  # column of the HP share in what is seen of another unit, the shield share comes next


class Seen(NamedTuple):
    """Columns of a unit's observation; one row for each unit of a kind."""

    move: np.ndarray  # (1, n)
    enemies: np.ndarray  # (enemies, n)
    allies: np.ndarray  # (agents - 1, n)
    own: np.ndarray  # (1, n): HP share, shield share, place, direction, type, time, as SMACv2 has them


class Known(NamedTuple):
    """Columns of a side's state."""

    allies: np.ndarray  # (agents, n)
    enemies: np.ndarray  # (enemies, n)
    last: np.ndarray  # (agents, actions), or (agents, 0)
    time: np.ndarray  # (1, 1), or (1, 0)


def actions_of(rules: np.void) -> np.ndarray:
    """(n_actions,) the world's numbers of red's actions, in SMAC's order.

    Looks stand before the attacks; attacks that only the larger side has are left out.
    """
    first_idle, first_diagonal = FIRST_ATTACK + _blues(rules), FIRST_ATTACK + int(rules["enemies"])
    end = int(rules["actions"])
    first_look = end - int(rules["look_directions"])
    return np.r_[0:FIRST_ATTACK, first_look:end, FIRST_ATTACK:first_idle, first_diagonal:first_look]


def seen_columns(rules: np.void, all_health: bool, own_health: bool) -> Seen:
    """The parts of a red unit's observation.

    Args:
        rules: one record of `Rules`.
        all_health: with HP and shields of others.
        own_health: with the unit's own.
    """
    kinds, red, blue = int(rules["kinds"]), int(rules["red_shields"]), int(rules["blue_shields"])
    move = _table(0, 1, MOVES + POINTS * int(rules["see_pathing"]) + HEIGHTS * int(rules["see_heights"]))
    enemies = _table(move.size, _blues(rules), HEALTH + 1 + blue + kinds)
    seen = HEALTH + 1 + red + kinds
    last = int(rules["actions"]) * int(rules["see_last_action"])
    allies = _table(move.size + enemies.size, int(rules["reds"]) - 1, seen + last)
    own = _table(move.size + enemies.size + allies.size, 1, 1 + red + kinds)
    further = np.arange(own.max() + 1, row_size(rules, RED))[np.newaxis]  # place, direction, time
    time = further.shape[1] - int(rules["see_time"])
    own = np.hstack([own[:, : 1 + red], further[:, :time], own[:, 1 + red :], further[:, time:]])
    if last:
        allies = np.hstack([allies[:, :seen], allies[:, seen + actions_of(rules)]])
    if not all_health:
        enemies = np.delete(enemies, np.s_[HEALTH : HEALTH + 1 + blue], axis=1)
        allies = np.delete(allies, np.s_[HEALTH : HEALTH + 1 + red], axis=1)
    return Seen(move, enemies, allies, own if own_health else own[:, 1 + red :])


def place_columns(rules: np.void) -> np.ndarray:
    """The columns of a red unit's own place, (2,) or (0,), before direction and time."""
    end = row_size(rules, RED) - int(rules["see_time"]) - 2 * _turns(rules)
    return np.arange(end - 2 * int(rules["see_position"]), end)


def known_columns(rules: np.void) -> Known:
    """The parts of red's state."""
    kinds, reds, turns = int(rules["kinds"]), int(rules["reds"]), 2 * _turns(rules)
    own = 4 + int(rules["red_shields"])  # numbers before the type
    allies = _table(0, reds, own + kinds + turns)
    enemies = _table(allies.size, _blues(rules), 3 + int(rules["blue_shields"]) + kinds)
    begin = allies.size + enemies.size
    last = _table(begin, reds, int(rules["actions"]) * int(rules["state_last_action"]))
    time = _table(begin + last.size, 1, int(rules["state_time"]))
    # The direction stands before the type, as in SMACv2.
    allies = np.hstack([allies[:, :own], allies[:, own + kinds :], allies[:, own : own + kinds]])
    return Known(allies, enemies, last[:, actions_of(rules)] if last.size else last, time)


def joined(*parts: np.ndarray) -> np.ndarray:
    """Columns of parts, one after another."""
    return np.concatenate([part.ravel() for part in parts])


def _table(first: int, rows: int, width: int) -> np.ndarray:
    return first + np.arange(rows * width).reshape(rows, width)


def _blues(rules: np.void) -> int:
    return int(rules["slots"] - rules["reds"])


def _turns(rules: np.void) -> bool:
    return bool(rules["look_directions"] > 0)
