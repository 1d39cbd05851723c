"""Checks a checkpoint's record before a run resumes from it: right checksums do not exclude forged values."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from interplay.core.errors import UserError
from interplay.train.run.checkpoint import Checkpoint

MOST_UPDATES = 2**32  # keys of random streams are 32 bits wide


def check_record(checkpoint: Checkpoint) -> None:
    """Refuses a record that no run could have written.

    Raises:
        UserError: naming the key and its value.
    """
    record = checkpoint.record
    for key in ("updates", "seconds"):
        if key not in record:
            raise _wrong(checkpoint, f"{key} is missing")
    for key, (fits, wanted) in _RULES.items():
        if key in record and not fits(record[key]):
            raise _wrong(checkpoint, f"{key} is {_short(record[key])}, not {wanted}")


def spaces_of(checkpoint: Checkpoint) -> dict[str, dict[str, str]] | None:
    """Kind name -> its spaces as text; None if the record has none.

    Raises:
        UserError: if they have another form.
    """
    spaces: dict[str, dict[str, str]] | None = checkpoint.record.get("spaces")
    if spaces is not None and not _are_spaces(spaces):
        raise _wrong(checkpoint, f"spaces is {_short(spaces)}, not {_RULES['spaces'][1]}")
    return spaces


def is_count(value: Any) -> bool:
    """Whether it is an int from 0 to 2**63 - 1."""
    return type(value) is int and 0 <= value < 2**63


def is_number(value: Any) -> bool:
    """Whether it is a finite number."""
    return type(value) in (int, float) and math.isfinite(value) and abs(value) < 1e300


def _is_alternation(value: Any) -> bool:
    if not isinstance(value, Mapping) or not {"turn", "both", "spans"} <= value.keys():
        return False
    spans, turn = value["spans"], value["turn"]
    return (
        (turn is None or isinstance(turn, str))
        and isinstance(value["both"], bool)
        and isinstance(spans, list)
        and all(
            isinstance(s, list) and len(s) == 2 and is_count(s[0]) and s[0] and is_number(s[1]) for s in spans
        )
    )


def _is_best(value: Any) -> bool:
    """Value and agent_steps are None until the first window is full; older records have no window."""
    if not isinstance(value, Mapping) or not isinstance(value.get("metric"), str):
        return False
    number, steps = value.get("value"), value.get("agent_steps")
    if "window" not in value:
        return is_number(number)
    window = value["window"]
    found = (number is None and steps is None) or (is_number(number) and is_count(steps))
    counts = value.get("measurements", [0, 0])  # older records counted updates
    return (
        found
        and all(isinstance(pair, list) and len(pair) == 2 for pair in (window, counts))
        and all(map(is_number, window))
        and all(map(is_count, counts))
    )


def _is_balance(value: Any) -> bool:
    return isinstance(value, Mapping) and all(_are_names(value.get(key)) for key in ("moved", "broken"))


def _is_curriculum(value: Any) -> bool:
    if not isinstance(value, Mapping) or not {"stage", "given", "played", "spans"} <= value.keys():
        return False
    played = value["played"]
    return (
        isinstance(played, list)
        and len(played) == 2
        and is_count(played[0])
        and is_count(value["stage"])
        and all(isinstance(options, Mapping) for options in (played[1], value["given"]))
        and _is_alternation({"turn": None, "both": True, "spans": value["spans"]})
    )


def _are_moments(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(row, list) and len(row) == 3 and all(map(is_number, row)) and min(row[1:]) >= 0
        for row in value
    )


def _are_names(value: Any) -> bool:
    return (
        isinstance(value, list)
        and all(isinstance(name, str) for name in value)
        and len({*value}) == len(value)
    )


def _are_spaces(value: Any) -> bool:
    return isinstance(value, Mapping) and all(
        isinstance(kind, Mapping)
        and {"observation", "action"} <= kind.keys()
        and all(isinstance(t, str) for t in kind.values())
        for kind in value.values()
    )


_RULES: dict[str, tuple[Callable[[Any], bool], str]] = {
    "updates": (lambda value: is_count(value) and value < MOST_UPDATES, "a count of updates"),
    "episodes": (is_count, "a count"),
    "seconds": (lambda value: is_number(value) and value >= 0, "a number of seconds"),
    "spaces": (_are_spaces, "observation and action spaces by kind"),
    "world": (lambda value: isinstance(value, Mapping), "the agents and spaces of a world"),
    "populations": (_are_names, "a list of names"),
    "best": (_is_best, "a metric and its value"),
    "alternate": (_is_alternation, "a turn"),
    "curriculum": (_is_curriculum, "a stage and its options"),
    "return_deviation": (_are_moments, "mean, deviation and number of returns"),
    "later_metrics": (_are_names, "names of metrics"),
    "balance": (_is_balance, "names of metrics that moved, and of metrics with non-zero sums"),
}


def _wrong(checkpoint: Checkpoint, what: str) -> UserError:
    return UserError(f"{checkpoint.path} is damaged: record.json: {what}; choose an earlier checkpoint")


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
