"""Allowed values of a dilemma's state (`interplay.core.ranges`); the arrays are in `state.py`."""

from __future__ import annotations

from typing import Any

from interplay.core.ranges import ANYTHING, REAL, Arrays, Law, Range, count, index
from interplay.worlds.dilemma.config import DilemmaSettings


def ranges_of(settings: DilemmaSettings) -> dict[str, Range]:
    """Name -> range of every numeric field; bools need none."""
    return {
        "stream": ANYTHING,
        "rounds": count(settings.rounds),
        "last": index(2, none=True),
        "cooperations": count(settings.rounds),
        "reward": REAL,
    }


def laws_of(settings: DilemmaSettings) -> tuple[Law, ...]:
    """Invariants between fields."""

    def goes_on_for_too_long(given: Arrays) -> Any:
        return (given["rounds"] == settings.rounds) & ~given["over"]

    return (
        Law("over", "though its last round was played", goes_on_for_too_long),
        Law(
            "acting",
            "is not all of an unfinished game, none of a finished one",
            lambda given: given["acting"] == given["over"][:, None],
        ),
    )
