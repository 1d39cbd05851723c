"""Checks recorded games read from a file: shapes, types and ranges of columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from interplay.evaluate.communication.table import BOARD_TYPES, GAME_TYPES, NONE, About, Boards, Games

_GAMES = {"number": 1, "stream": 2, "role": 2, "team": 2, "winner": 1}  # axes
_BOARDS = {
    **dict.fromkeys(("game", "step", "day", "phase", "round", "public", "counted", "chosen", "tied"), 1),
    **dict.fromkeys(("alive", "spoke", "died"), 2),
    **dict.fromkeys(("names", "words", "reward"), 3),
}
_FLAGS = ("public", "tied", "alive", "spoke", "died")
_LISTS = ("phases", "symbols", "teams", "roles", "terms", "verbs")
_MOST = 2**62
MOST_NAMES = 1_000  # of phases, teams and so on; tables of talk have their square
_TYPES: Mapping[str, Any] = {**GAME_TYPES, **BOARD_TYPES}


def is_about(value: Any) -> bool:
    """Whether a JSON value is a valid `About`."""
    if not isinstance(value, Mapping) or value.keys() != {*About._fields}:
        return False
    if not all(isinstance(value[name], list) and len(value[name]) <= MOST_NAMES for name in _LISTS):
        return False
    texts = [value[name] for name in ("world", "policy", "arm")]
    texts += [word for name in _LISTS if name != "symbols" for word in value[name]]
    numbers = [*value["symbols"], value["wolves"] + 1 if type(value["wolves"]) is int else None]
    return all(isinstance(word, str) for word in texts) and all(
        type(number) is int and 0 <= number < 2**31 for number in numbers
    )


def wrong_talk(about: About, games: Games, boards: Boards) -> str | None:
    """The first invalid column, in a few words; None if all are valid."""
    for tables, axes in ((games, _GAMES), (boards, _BOARDS)):
        for name, column in tables._asdict().items():
            kinds = "b" if name in _FLAGS else "f" if name == "reward" else "iu"
            # Wider numbers than recorded could make tables larger than memory.
            size = np.dtype(_TYPES.get(name, np.bool_)).itemsize
            if column.ndim != axes[name] or column.dtype.kind not in kinds or column.dtype.itemsize > size:
                return f"column {name} is {column.dtype}{column.shape}"
    rows, count, seats = len(boards.game), len(games.number), games.team.shape[1]
    odd = [name for name, column in boards._asdict().items() if len(column) != rows]
    odd += [name for name, column in games._asdict().items() if len(column) != count]
    odd += [
        name
        for name in ("alive", "spoke", "died", "names", "words")
        if getattr(boards, name).shape[1] != seats
    ]
    if odd or games.role.shape[1] != seats or boards.words.shape[2] != len(about.symbols):
        return f"column {(odd or ['role or words'])[0]} has another length than the others"
    if not np.isfinite(boards.reward).all():
        return "column reward holds NaN or infinity"
    return _out_of_range(about, games, boards, count, seats)


def _out_of_range(about: About, games: Games, boards: Boards, count: int, seats: int) -> str | None:
    """The first column with a number out of range."""
    bounds = {
        "game": (boards.game, 0, count - 1),
        "step": (boards.step, 0, _MOST),
        "phase": (boards.phase, 0, len(about.phases) - 1),
        "chosen": (boards.chosen, NONE, seats - 1),
        "names": (boards.names, NONE, seats - 1),
        "words": (boards.words, NONE, max(about.symbols, default=0) - 1),
        "role": (games.role, 0, _MOST),  # not every world names its roles
        "team": (games.team, NONE, len(about.teams) - 1),
        "winner": (games.winner, NONE, len(about.teams) - 1),
    }
    for name, (column, least, most) in bounds.items():
        if column.size and (int(column.min()) < least or int(column.max()) > most):
            return f"column {name} holds {int(column.min())}..{int(column.max())}, within {least}..{most} was expected"
    if (boards.spoke & (games.team[boards.game] == NONE)).any():
        return "column spoke has words of a seat that is in no team"  # they would count for the last team
    return None
