"""Values in the form that JSON holds."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any


def plain(value: Any) -> Any:
    """A value for JSON: records as mappings, scalars and arrays as numbers and lists, NaN and infinity as None.

    Example:
        >>> plain({"share": float("nan"), "span": (1, 2)})
        {'share': None, 'span': [1, 2]}
    """
    if hasattr(value, "_asdict"):
        value = value._asdict()
    elif dataclasses.is_dataclass(value):
        value = vars(value)
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
