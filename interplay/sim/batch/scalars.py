"""Rewards and ends of unusual types, as numbers and flags or refused."""

from __future__ import annotations

from typing import Any

import numpy as np

from interplay.core.errors import UserError


def reward_of(reward: Any, agent: Any) -> Any:
    """The number in an array with one element.

    Raises:
        UserError: for anything else.
    """
    return _single("reward", reward, agent, "give one number")


def end_of(end: Any, agent: Any) -> bool:
    """A flag of a bool, None, or a number that is 0 or 1.

    Raises:
        UserError: for anything else.
    """
    if end is None or isinstance(end, bool | np.bool_):
        return bool(end)
    number = _single("end", end, agent, "give True or False")
    if number not in (0, 1):
        raise UserError(f"end of {agent} is {end!r}; give True or False")
    return bool(number)


def _single(thing: str, value: Any, agent: Any, cure: str) -> Any:
    array = np.asarray(value)
    if array.size != 1 or array.dtype.kind not in "biuf":
        raise UserError(f"{thing} of {agent} is {str(value)[:60]!r} (a {type(value).__name__}); {cure}")
    return array.item()
