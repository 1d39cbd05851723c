"""What the numbers of a matrix game's state may be (`interplay.core.ranges`); the arrays are in `state.py`."""

from __future__ import annotations

from interplay.core.ranges import ANYTHING, REAL, Invariant, Range, count, index


def ranges_of(choices: int, length: int) -> dict[str, Range]:
    """Name -> range of every field of numbers.

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


def laws_of(length: int) -> tuple[Invariant, ...]:
    """A game is over after its last step, and everybody acts until then."""
    return (
        Invariant(
            "over",
            "does not say whether its last step was played",
            lambda given: given["over"] != (given["steps"] == length),
        ),
        Invariant(
            "acting",
            "is not everybody while the game goes on, and nobody then",
            lambda given: given["acting"] == given["over"][:, None],
        ),
    )
