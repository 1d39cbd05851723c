"""Copies of data that a simulation may go on changing."""

from __future__ import annotations

from typing import Any

import numpy as np


def fresh(data: Any) -> Any:
    """Copies dicts, lists, tuples and arrays deeply; other values stay themselves.

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
