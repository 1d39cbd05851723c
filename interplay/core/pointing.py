"""Actions that name rows of a table in the observation: "strike the agent in row 3"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from gymnasium import spaces

from interplay.core.errors import UserError


class Pointing(spaces.MultiDiscrete):
    """Several choices, some of which are rows of a table in the observation.

    It works as the MultiDiscrete that it is. A network that can point compares its state with each row, instead
    of learning the content of every row number.

    Args:
        nvec: choices of each head; one that points has as many as its table has rows.
        tables: number of a head -> key of its table, (R, F) in the observation.
        nobody: the row by which a pointing head names none of them; None if every row may be meant.

    Example:
        >>> space = Pointing([5, 8], {1: "entities"}, nobody=0)
        >>> space, space.tables, space.nobody
        (MultiDiscrete([5 8]), {1: 'entities'}, 0)
    """

    def __init__(self, nvec: Sequence[int], tables: Mapping[int, str], nobody: int | None = None) -> None:
        super().__init__(list(nvec))
        self.tables, self.nobody = dict(tables), nobody


def tables_of(observation_space: spaces.Dict, action_space: spaces.Space[Any]) -> dict[int, str]:
    """Number of each head that points -> key of its table."""
    if not isinstance(action_space, Pointing):
        return {}
    for head, key in action_space.tables.items():
        table = observation_space.spaces.get(key)
        if table is None or table.shape is None or len(table.shape) != 2:
            raise UserError(
                f"head {head} of the action points at rows of {key}, which is no table (rows, columns) of the observation; "
                f"it has {', '.join(observation_space.spaces)}; keep {key}, or give a plain MultiDiscrete"
            )
        if table.shape[0] != action_space.nvec[head]:
            raise UserError(
                f"head {head} of the action has {action_space.nvec[head]} choices, {key} has {table.shape[0]} rows; "
                "give one choice for each row"
            )
    return dict(action_space.tables)
