"""Labels of the observation for people: names of phases, roles and seats; boards as tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from gymnasium import spaces

from interplay.core.guides import Guide
from interplay.worlds.werewolf.roles import NAMES

_PHASES = ("phase", "public_phase", "pack_phase")
_SEATS = ("own_id", "last_eaten", "last_executed")  # fields with the number of a seat
_BY_SEAT = ("status_map", "pack", "private_info", "revealed")  # fields with a number for each seat
_BOARDS = ("targets", "signal", "signals", "claims")
_OF_BOARDS = {"targets": "name", "claims": "claim"}  # names of their columns; others have words


def guides_of(
    fields: Mapping[str, spaces.Space], seats: Sequence[str], phases: Sequence[str]
) -> dict[str, tuple[Guide, ...]]:
    """Guides for the fields present; days, rounds and past boards stay plain numbers."""
    guides = {name: Guide("text", names=phases) for name in _PHASES}
    guides |= {name: Guide("text", names=seats) for name in _SEATS}
    guides |= {name: Guide(names=seats) for name in _BY_SEAT}
    guides["role"] = Guide("text", names=NAMES)
    for name, space in fields.items():
        board = name.removeprefix("public_").removeprefix("pack_")
        if board in _BOARDS:
            guides[name] = _board(board, space.shape or (), seats)
    return {name: (guides[name],) for name in fields if name in guides}


def _board(board: str, shape: Sequence[int], seats: Sequence[str]) -> Guide:
    """A row per seat; a board with one name per ballot is one number per seat."""
    if len(shape) < 2:
        return Guide(names=seats)
    column = _OF_BOARDS.get(board, "word")
    return Guide(
        "rows", names=[f"{column} {place + 1}" for place in range(shape[1])], slots=range(len(seats))
    )
