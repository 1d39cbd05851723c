"""Allowed values of a batch of grid worlds (`interplay.core.ranges`); the arrays are in `board.py`.

Cells hold their occupants as linked lists, which kernels follow to the end. So a snapshot's lists must be intact: every agent on the grid
is in the list of its own cell, once, and no list is circular.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from interplay.core.ranges import ANYTHING, REAL, Arrays, Invariant, Range, count, exactly, index
from interplay.gridworld.board import SCREEN, SEVERAL, Board

_SHOWN = Range(0, SCREEN | SEVERAL | (SEVERAL - 1))


# Parameters of agents: no built-in rule changes them.
_SETTINGS = (
    *(
        "strength",
        "accuracy",
        "first_health",
        "first_ammo",
        "first_row",
        "first_col",
        "first_orientation",
        "encoding",
    ),
    *("view_range", "move_range", "attack_range", "attacks", "blocking", "has_ammo", "learns"),
)


def board_ranges(board: Board, fixed: bool) -> dict[str, Range]:
    """Name -> range of the fields of agents and cells.

    Args:
        board: in its initial state; ranges and encodings of its agents set the sizes of windows and tables.
        fixed: whether parameters of agents are constant; user-defined components may change them.
    """
    _, agents = board.agents.shape
    _, rows, cols = board.cells.shape
    reaches = {
        f"agents.{name}": Range(np.minimum(board.agents[name][0], 0), board.agents[name][0].copy())
        for name in ("view_range", "move_range", "attack_range", "attacks")
    }
    made = {f"agents.{name}": exactly(board.agents[name][0].copy()) for name in _SETTINGS if fixed}
    ranges = reaches | {
        "agents.health": Range(0.0, 1.0),
        "agents.reward": REAL,
        "agents.strength": REAL,
        "agents.accuracy": REAL,
        "agents.first_health": Range(0.0, 1.0, (np.nan,)),
        "agents.ammo": count(),
        "agents.first_ammo": ANYTHING,
        "agents.row": index(rows, none=True),
        "agents.col": index(cols, none=True),
        "agents.first_row": ANYTHING,  # a place off the grid is refused at placement
        "agents.first_col": ANYTHING,
        "agents.next": index(agents, none=True),
        "agents.encoding": Range(1, int(board.agents["encoding"].max(initial=1))),
        "agents.orientation": count(4),
        "agents.first_orientation": count(4),
        "cells.shown": _SHOWN,
        "cells.first": index(agents, none=True),
    }
    return ranges | made


def report_ranges(learners: int, limit: int) -> dict[str, Range]:
    """Name -> range of the manager's arrays; `limit` in steps, 0 = none."""
    return {
        "stream": ANYTHING,
        "board.stream": ANYTHING,
        "line": index(max(learners, 1)),
        "episode_length": count(limit) if limit else count(),
        "episode_return": REAL,
        "reward": REAL,
    }


def _stands_nowhere(given: Arrays) -> Any:
    return given["agents.placed"] & ((given["agents.row"] < 0) | (given["agents.col"] < 0))


def _leads_on_from_nowhere(given: Arrays) -> Any:
    return ~given["agents.placed"] & (given["agents.next"] >= 0)


def _first_is_elsewhere(given: Arrays) -> Any:
    first = given["cells.first"]
    wrong = np.zeros(first.shape, bool)
    w, r, c = np.nonzero(first >= 0)
    a = first[w, r, c]
    here = given["agents.placed"][w, a] & (given["agents.row"][w, a] == r) & (given["agents.col"][w, a] == c)
    wrong[w, r, c] = ~here
    return wrong


def _next_is_elsewhere(given: Arrays) -> Any:
    following = given["agents.next"]
    row, col = given["agents.row"], given["agents.col"]
    wrong = np.zeros(following.shape, bool)
    w, a = np.nonzero(following >= 0)
    b = following[w, a]
    wrong[w, a] = ~given["agents.placed"][w, b] | (row[w, a] != row[w, b]) | (col[w, a] != col[w, b])
    return wrong


def _listed_otherwise(given: Arrays) -> Any:
    placed = given["agents.placed"]
    worlds, agents = placed.shape
    listed = np.zeros(worlds * agents, np.int64)
    for links in (given["cells.first"].reshape(worlds, -1), given["agents.next"]):
        w, k = np.nonzero(links >= 0)
        listed += np.bincount(w * agents + links[w, k], minlength=len(listed))
    return listed.reshape(placed.shape) != placed


def _goes_round(given: Arrays) -> Any:
    """Agents that are not reached from a cell: since each is listed once, these form circles."""
    following = given["agents.next"]
    reached = np.zeros(following.shape, bool)
    w, r, c = np.nonzero(given["cells.first"] >= 0)
    a = given["cells.first"][w, r, c]
    while len(a):
        reached[w, a] = True
        a = following[w, a]
        w, a = w[a >= 0], a[a >= 0]
    return given["agents.placed"] & ~reached


def _shows_otherwise(given: Arrays) -> Any:
    first = given["cells.first"]
    shown = np.zeros(first.shape, np.int32)
    w, r, c = np.nonzero(first >= 0)
    a = first[w, r, c]
    several = given["agents.next"][w, a] >= 0
    shown[w, r, c] = given["agents.encoding"][w, a] | np.where(several, np.int32(SEVERAL), np.int32(0))
    w, a = np.nonzero(given["agents.placed"] & given["agents.blocking"])
    shown[w, given["agents.row"][w, a], given["agents.col"][w, a]] |= np.int32(SCREEN)
    return shown != given["cells.shown"]


def _acts_after_the_end(given: Arrays) -> Any:
    return given["acting"] & (given["finished"] | given["over"][:, None])


BOARD_LAWS = (
    Invariant("agents.row", "though it is on the grid", _stands_nowhere),
    Invariant("agents.next", "though it is off the grid", _leads_on_from_nowhere),
    Invariant("cells.first", "is not in this cell", _first_is_elsewhere),
    Invariant("agents.next", "is not in the same cell", _next_is_elsewhere),
    Invariant("agents.placed", "though it is in no list of occupants, or in two", _listed_otherwise),
    Invariant("agents.next", "is circular", _goes_round),
    Invariant("cells.shown", "disagrees with its occupants", _shows_otherwise),
)
REPORT_LAWS = (Invariant("acting", "though it has finished, or its world is over", _acts_after_the_end),)
