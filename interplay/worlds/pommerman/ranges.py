"""Allowed values of a game's state (`interplay.core.ranges`); the arrays are in `state.py`.

The rules rely on them: the rigid rim keeps agents and flames on the board, and every bomb has a row because no player lays two in one
step.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from interplay.core.ranges import ANYTHING, REAL, Arrays, Law, Range, count, index, one_of
from interplay.worlds.pommerman.config import BOMB_LIFE, FLAME_LIFE, MOST_AMMO, START_BLAST, PommermanSettings
from interplay.worlds.pommerman.state import EXTRA_BOMB, KICK, MORE_RANGE, PASSAGE, RIGHT, RIGID, WOOD


def ranges_of(s: PommermanSettings) -> dict[str, Range]:
    """Name -> range of every field of `jit.arrays_of`."""
    cells, most, blast = (s.size + 2) ** 2, count(s.limit), Range(START_BLAST, s.most_blast)
    return {
        "agent.cell": index(cells),
        "agent.ammo": count(MOST_AMMO),
        "agent.blast": blast,
        "agent.outcome": Range(-1, 1),
        "agent.ranges": most,
        "agent.kicks": count(1),
        "agent.extra_bombs": most,
        "agent.bombs_laid": most,
        "agent.returns": REAL,
        "bomb.cell": index(cells),
        "bomb.life": count(BOMB_LIFE),
        "bomb.blast": Range(START_BLAST, s.most_blast, (0,)),
        "bomb.direction": index(RIGHT + 1),
        "bomb.owner": index(s.players),
        "room.steps": most,
        "room.bombs": count(s.bombs),
        "stream": ANYTHING,
        "ground": one_of(PASSAGE, RIGID, WOOD, EXTRA_BOMB, MORE_RANGE, KICK),
        "item": one_of(0, EXTRA_BOMB, MORE_RANGE, KICK),
        "flame": count(FLAME_LIFE),
        "words": count(s.vocabulary - 1),
        "reward": REAL,
    }


def laws_of(s: PommermanSettings) -> list[Law]:
    """Invariants between fields."""
    side = s.size + 2
    inner = np.zeros((side, side), bool)
    inner[1:-1, 1:-1] = True
    rim = ~inner.reshape(-1)

    def live(given: Arrays) -> Any:
        return np.arange(s.bombs) < given["room.bombs"][:, None]

    def under(given: Arrays, name: str) -> Any:
        return np.take_along_axis(given["ground"], given[name].astype(np.int64), axis=1)

    def unsound_bombs(given: Arrays) -> Any:
        life = given["bomb.life"]
        wrong = (under(given, "bomb.cell") != PASSAGE) | (life == 0) | (life == BOMB_LIFE)
        return live(given) & (wrong | (given["bomb.blast"] == 0))

    def twins(given: Arrays) -> Any:
        key = given["bomb.owner"].astype(np.int64) * (BOMB_LIFE + 1) + given["bomb.life"]
        return _repeated(np.where(live(given), key, -1 - np.arange(s.bombs)))

    def stacked(given: Arrays) -> Any:
        return _repeated(np.where(live(given), given["bomb.cell"], -1 - np.arange(s.bombs)))

    def burns(given: Arrays) -> Any:
        return (given["flame"] > 0) & (given["ground"] != PASSAGE)

    def buried(given: Arrays) -> Any:
        ground = under(given, "agent.cell")
        return rim[given["agent.cell"]] | (given["agent.alive"] & (ground != PASSAGE))

    def crowded(given: Arrays) -> Any:
        return _repeated(np.where(given["agent.alive"], given["agent.cell"], -1 - np.arange(s.players)))

    return [
        Law("ground", "is not rigid in the rim", lambda given: rim & (given["ground"] != RIGID)),
        Law(
            "bomb.life",
            "is of an impossible bomb: in a wall, on an item, spent, or without reach",
            unsound_bombs,
        ),
        Law("bomb.life", "is that of two bombs of one owner, laid in one step", twins),
        Law("bomb.cell", "has two bombs", stacked),
        Law("flame", "burns in a wall or on an open item", burns),
        Law("agent.cell", "is no free cell", buried),
        Law("agent.cell", "has two agents", crowded),
        Law("acting", "though it is not alive, or its game over", _acts_otherwise),
        Law("agent.ended", "though it is alive in an unfinished game", _ends_otherwise),
        Law("room.steps", "is the limit, and its game not over", lambda given: _goes_on(s, given)),
    ]


def _repeated(keys: Any) -> Any:
    """(W, n) bool: the number occurs in its row a second time."""
    order = np.sort(keys, axis=1)
    wrong = np.zeros(keys.shape, bool)
    wrong[:, 1:] = order[:, 1:] == order[:, :-1]
    return wrong


def _acts_otherwise(given: Arrays) -> Any:
    return given["acting"] != (given["agent.alive"] & ~given["room.over"][:, None])


def _ends_otherwise(given: Arrays) -> Any:
    return given["agent.ended"] & given["agent.alive"] & ~given["room.over"][:, None]


def _goes_on(s: PommermanSettings, given: Arrays) -> Any:
    return (given["room.steps"] >= s.limit) & ~given["room.over"]
