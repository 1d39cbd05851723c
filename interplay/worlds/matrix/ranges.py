"""Valid ranges of a matrix game's state (`interplay.core.ranges`); the arrays are in `state.py`."""

from __future__ import annotations

from interplay.core.ranges import ANYTHING, REAL, Invariant, Range, count, index


def ranges_of(choices: int, length: int) -> dict[str, Range]:
    """Name -> range of every numeric field; `length` is the steps of an episode."""
    return {
        "stream": ANYTHING,
        "steps": count(length),
        "cue": index(choices),
        "last": index(choices, none=True),
        "hits": count(length),
        "joint": count(length),
        "returns": REAL,
        "reward": REAL,
    }


def laws_of(length: int) -> tuple[Invariant, ...]:
    """A game is over after its last step, and all agents act until then."""
    return (
        Invariant(
            "over",
            "does not match whether the last step was played",
            lambda given: given["over"] != (given["steps"] == length),
        ),
        Invariant(
            "acting",
            "does not hold all agents before the end and none after it",
            lambda given: given["acting"] == given["over"][:, None],
        ),
    )
