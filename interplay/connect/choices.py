"""Action spaces with a ``sample`` that takes a mask as one row of bools.

Infos and observations hold masks in that form, which trainers can store; gymnasium's own are tuples and dictionaries of int8
arrays (`interplay.core.masks`).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium import spaces

from interplay.core.masks import as_gymnasium


class _ByRow:
    """``sample(mask)`` takes one row, the choices of all heads one after another, or gymnasium's form."""

    def sample(self, mask: Any = None, *args: Any, **kwargs: Any) -> Any:
        if isinstance(mask, np.ndarray) and mask.ndim == 1:
            mask = as_gymnasium(self, mask.astype(bool))  # type: ignore[arg-type]
        return super().sample(mask, *args, **kwargs)  # type: ignore[misc]


class Choice(_ByRow, spaces.Discrete):
    """One choice among n."""


class Choices(_ByRow, spaces.MultiDiscrete):
    """Several choices at once."""


class Switches(_ByRow, spaces.MultiBinary):
    """Several yes-no choices; the mask row holds two entries for each, no and yes."""


class Numbers(_ByRow, spaces.Box):
    """Real numbers, which have no mask; a given one is ignored."""

    def sample(self, mask: Any = None, *args: Any, **kwargs: Any) -> Any:
        return super().sample(None, *args, **kwargs)


class Parts(_ByRow, spaces.Dict):
    """Named parts; the mask row holds the choices of all, in their order."""


def by_row(space: spaces.Space[Any]) -> Any:
    """The same space, one of those above.

    Example:
        >>> by_row(spaces.MultiDiscrete([2, 2])).sample(np.array([True, False, False, True]))
        array([0, 1])
    """
    if isinstance(space, spaces.Dict):
        # Pairs keep their order, which is the mask row's; gymnasium sorts the keys of a dictionary.
        return Parts([(key, by_row(part)) for key, part in space.spaces.items()])
    if isinstance(space, spaces.Box):
        return Numbers(space.low, space.high, space.shape, space.dtype)  # type: ignore[arg-type]
    if isinstance(space, spaces.MultiDiscrete):
        return Choices(space.nvec, dtype=space.dtype, start=space.start)  # type: ignore[arg-type]
    if isinstance(space, spaces.MultiBinary):
        return Switches(space.n)
    assert isinstance(space, spaces.Discrete)
    return Choice(space.n, start=space.start, dtype=space.dtype)  # type: ignore[arg-type]
