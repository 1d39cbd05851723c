"""Copies of data that the receiver may keep and change: a simulation may hand out its own arrays, and the same ones again and again."""

from __future__ import annotations

from typing import Any

import numpy as np


def fresh(data: Any) -> Any:
    """A copy of everything in dicts, lists and tuples that can be changed; what is neither they nor an array stays what it is.

    Example:
        >>> own = {"place": np.zeros(2), "name": "a"}
        >>> fresh(own)["place"] is own["place"], fresh(own)["name"] is own["name"]
        (False, True)
    """
    if isinstance(data, np.ndarray):
        return data.copy()
    if isinstance(data, dict):
        return {key: fresh(part) for key, part in data.items()}
    if type(data) in (list, tuple):
        return type(data)(fresh(part) for part in data)
    return data
