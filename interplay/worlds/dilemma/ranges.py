"""Valid ranges of a dilemma's state (`interplay.core.ranges`); the arrays are in `state.py`."""

from __future__ import annotations

from typing import Any

from interplay.core.ranges import ANYTHING, REAL, Arrays, Invariant, Range, count, index
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


def laws_of(settings: DilemmaSettings) -> tuple[Invariant, ...]:
    """Invariants between fields."""

    def is_too_long(given: Arrays) -> Any:
        return (given["rounds"] == settings.rounds) & ~given["over"]

    return (
        Invariant("over", "is False after the last round", is_too_long),
        Invariant(
            "acting",
            "does not hold both agents before the end and none after it",
            lambda given: given["acting"] == given["over"][:, None],
        ),
    )
