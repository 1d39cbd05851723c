"""One agent's action in the rows of all."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces


def row_of(action: Any) -> Any:
    """One agent's action as a batch of one."""
    if isinstance(action, Mapping):
        return {key: row_of(part) for key, part in action.items()}
    return None if action is None else [[action]]


def column_of(batch: Any, column: int) -> Any:
    """The part of one agent, (1, 1, ...)."""
    if isinstance(batch, dict):
        return {key: column_of(part, column) for key, part in batch.items()}
    return batch[:, column : column + 1]


def put_in(space: spaces.Space[Any], chosen: Any, column: int, rows: Any) -> Any:
    """The batch's actions with those of one agent put in."""
    if isinstance(space, spaces.Dict):
        return {key: put_in(part, chosen[key], column, rows[key]) for key, part in space.spaces.items()}
    batch = np.array(chosen, space.dtype)
    batch[0, column] = rows[0, 0]
    return batch
