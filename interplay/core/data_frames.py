"""Data frames of pandas, an optional neighbour; needs the extra ``frames``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from interplay.core.errors import UserError


def load_pandas() -> Any:
    """The package pandas."""
    try:
        import pandas
    except ImportError as error:
        raise UserError('data frames need pandas; install it with pip install "interplay[frames]"') from error
    return pandas


def by_name(name: str, values: np.ndarray, *names: Sequence[str]) -> dict[str, np.ndarray]:
    """A column, or one for each agent or team: ``kills[left]``; without names they are numbers.

    Example:
        >>> list(by_name("kills", np.zeros((3, 2)), ["a", "b", "c"], ["left", "right"]))
        ['kills[left]', 'kills[right]']
    """
    if values.ndim == 1:
        return {name: values}
    count = values.shape[1]
    labels = next((own for own in names if len(own) == count), [str(number) for number in range(count)])
    return {f"{name}[{label}]": column for label, column in zip(labels, values.T, strict=True)}


def frame_of(columns: Iterable[tuple[str, np.ndarray]], *names: Sequence[str]) -> Any:
    """A data frame of columns, those per agent by the agents' names; see `by_name`.

    Where a column of that name is there already, it stays.
    """
    pandas, found = load_pandas(), dict[str, np.ndarray]()
    for name, values in columns:
        found |= {key: column for key, column in by_name(name, values, *names).items() if key not in found}
    return pandas.DataFrame(found)
