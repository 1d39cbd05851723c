"""Boards: own agent, bombs' reach, wise moves (specification games 3.2 and 3.5, interfaces 10).

Functions of raw observations with the axis of rows B first; N is the board's side.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from gymnasium import spaces

from interplay.core.errors import UserError
from interplay.interfaces.nests import Array

# Codes of a board's cells.
PASSAGE, RIGID, WOOD, BOMB, FLAMES, FOG, EXTRA_BOMB, RANGE, KICK, DUMMY, AGENT = range(
    11
)  # AGENT: the first of four
FREE = (PASSAGE, EXTRA_BOMB, RANGE, KICK)  # cells that can be entered
# Row and column that the actions stop, up, down, left, right lead to.
STEPS = np.array([[0, 0], [-1, 0], [1, 0], [0, -1], [0, 1]])
LONGEST = 10  # steps that a bomb lives
MAPS = ("board", "bomb_blast_strength", "bomb_life", "bomb_moving_direction", "flame_life")
KEYS = (
    "board",
    "bomb_blast_strength",
    "bomb_life",
    "position",
    "ammo",
    "blast_strength",
    "can_kick",
    "teammate",
    "enemies",
    "alive",
)

Raw = Mapping[str, Array]


def side_of(owner: str, space: spaces.Space) -> int:
    """N of a raw observation space."""
    missing = [key for key in KEYS if not isinstance(space, spaces.Dict) or key not in space.spaces]
    if missing:
        raise UserError(
            f"{owner}: {space} has no {missing[0]!r}; it reads observations of Pommerman, put it nearest to the environment"
        )
    return int((space["board"].shape or (0,))[0])  # type: ignore[index]


def number(raw: Raw, key: str) -> Array:
    """(B,) int64 of a key that holds one number."""
    return raw[key].reshape(len(raw[key])).astype(np.int64)


def is_duel(raw: Raw) -> Array:
    """(B,) whether the game has two players: no team-mate and one enemy."""
    return (number(raw, "teammate") < AGENT) & ((raw["enemies"] >= AGENT).sum(axis=1) == 1)


def own_id(raw: Raw) -> Array:
    """(B,) 0..3, the observing agent: the first number that is neither the team-mate's nor an enemy's."""
    others = np.concatenate([number(raw, "teammate")[:, None], raw["enemies"]], axis=1) - AGENT
    named = (others[:, :, None] == np.arange(4)).any(axis=1)
    return named.argmin(axis=1)


def alive(raw: Raw) -> Array:
    """(B,) whether the observing agent is alive."""
    flags = raw["alive"].reshape(len(raw["alive"]), -1).astype(bool)
    return flags[:, 0] if flags.shape[1] == 1 else flags[np.arange(len(flags)), own_id(raw)]


def one_cell(raw: Raw) -> Array:
    """(B, N, N) bool, the cell of the observing agent."""
    n = raw["board"].shape[1]
    row, column = raw["position"][:, 0, None, None], raw["position"][:, 1, None, None]
    return (np.arange(n)[:, None] == row) & (np.arange(n) == column)


def blasts(raw: Raw, stop_at_walls: bool = False) -> tuple[Array, Array]:
    """Where bombs will reach, and how soon.

    Args:
        stop_at_walls: False goes through walls, as the published interface does; True stops before rigid cells and on wood.

    Returns:
        The blast cross, (B, N, N) bool: cells within strength - 1 in four directions; and danger, (B, N, N) float32, (10 - life) / 10 on
        it, the sooner bomb's.
    """
    board, strength = raw["board"], raw["bomb_blast_strength"].astype(np.int64)
    here = strength > 0
    soon = np.where(here, (LONGEST - raw["bomb_life"]) / LONGEST, 0).astype(np.float32)
    cross, danger = here.copy(), soon.copy()
    for step in STEPS[1:]:
        left, value = strength - 1, soon
        while (left > 0).any():
            left, value = _moved(left, step), _moved(value, step)
            if stop_at_walls:
                left[board == RIGID] = 0
            reached = left > 0
            cross |= reached
            np.maximum(danger, np.where(reached, value, 0), out=danger)
            if stop_at_walls:
                left[board == WOOD] = 0
            left = left - 1
    return cross, danger


def wise_moves(raw: Raw) -> Array:
    """(B, 6) bool: sensible actions, stricter than the rules: no moves into flames, fog or agents."""
    board, rows = raw["board"], np.arange(len(raw["board"]))
    wise = np.zeros((len(board), 6), bool)
    wise[:, 0] = True
    can_kick = number(raw, "can_kick") > 0
    for action in range(1, 5):
        cell, beyond = (_cell(raw, STEPS[action] * distance) for distance in (1, 2))
        wise[:, action] = np.isin(cell, FREE) | ((cell == BOMB) & can_kick & np.isin(beyond, FREE))
    at = raw["position"].astype(np.int64)
    wise[:, 5] = (number(raw, "ammo") > 0) & (raw["bomb_blast_strength"][rows, at[:, 0], at[:, 1]] == 0)
    wise[~alive(raw), 1:] = False
    return wise


def _cell(raw: Raw, step: Array) -> Array:
    """(B,) codes of the cells at an offset from the observing agent; rigid outside the board."""
    board, at = raw["board"], raw["position"].astype(np.int64) + step
    n = board.shape[1]
    inside = ((at >= 0) & (at < n)).all(axis=1)
    at = np.clip(at, 0, n - 1)
    return np.where(inside, board[np.arange(len(board)), at[:, 0], at[:, 1]], RIGID)


def _moved(array: Array, step: Array) -> Array:
    """(B, N, N) moved by one cell; zeros come in."""
    found = np.zeros_like(array)
    row, column = (int(part) for part in step)
    n = array.shape[1]
    to = (slice(max(row, 0), n + min(row, 0)), slice(max(column, 0), n + min(column, 0)))
    of = (slice(max(-row, 0), n + min(-row, 0)), slice(max(-column, 0), n + min(-column, 0)))
    found[:, to[0], to[1]] = array[:, of[0], of[1]]
    return found
