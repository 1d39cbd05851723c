"""What the numbers of a dilemma's state may be (`interplay.core.ranges`); the arrays are in `state.py`."""

from __future__ import annotations

from typing import Any

from interplay.core.ranges import ANYTHING, REAL, Arrays, Invariant, Range, count, index
from interplay.worlds.dilemma.config import DilemmaSettings


def ranges_of(settings: DilemmaSettings) -> dict[str, Range]:
    """Name -> range of every field of numbers; bools need none."""
    return {
        "stream": ANYTHING,
        "rounds": count(settings.rounds),
        "last": index(2, none=True),
        "cooperations": count(settings.rounds),
        "reward": REAL,
    }


def laws_of(settings: DilemmaSettings) -> tuple[Invariant, ...]:
    """What fields owe each other."""

    def goes_on_for_too_long(given: Arrays) -> Any:
        return (given["rounds"] == settings.rounds) & ~given["over"]

    return (
        Invariant("over", "though its last round was played", goes_on_for_too_long),
        Invariant(
            "acting",
            "is not both while the game goes on, and nobody then",
            lambda given: given["acting"] == given["over"][:, None],
        ),
    )
