"""Allowed values of a matrix game's state (`interplay.core.ranges`); the arrays are in `state.py`."""

from __future__ import annotations

from interplay.core.ranges import ANYTHING, REAL, Law, Range, count, index


def ranges_of(choices: int, length: int) -> dict[str, Range]:
    """Name -> range of every numeric field.

    Args:
        choices: of each agent.
        length: steps of an episode.
    """
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


def laws_of(length: int) -> tuple[Law, ...]:
    """A game is over after its last step; until then all agents act."""
    return (
        Law(
            "over",
            "disagrees with the number of steps",
            lambda given: given["over"] != (given["steps"] == length),
        ),
        Law(
            "acting",
            "is not all of an unfinished game, none of a finished one",
            lambda given: given["acting"] == given["over"][:, None],
        ),
    )
