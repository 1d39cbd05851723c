"""Action masks of environments as rows of bools, or refused by name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any

import numpy as np
from gymnasium import spaces

from interplay.core.errors import UserError
from interplay.core.masks import from_gymnasium, heads
from interplay.core.spaces import action_choices

MASK = "action_mask"
ALIKE = 0.93  # of names: action_masks, actionmask

Path = tuple[str | int, ...]


class MaskRows:
    """Reads the masks of one kind of agents.

    A mask has gymnasium's form, or is one row with the choices of all parts of the action in their order; of numbers 0 and
    1, bools, or a list of them.

    Args:
        space: an agent's action space.
        leaves: path -> the leaf's own space and its space of choices.
    """

    def __init__(
        self, space: spaces.Space[Any], leaves: Mapping[Path, tuple[spaces.Space[Any], spaces.Space[Any]]]
    ) -> None:
        self._space, self._leaves = space, dict(leaves)
        self._nested = isinstance(space, spaces.Dict)
        self._known: set[Any] = set()

    def read(self, mask: Any) -> list[tuple[Path, np.ndarray]]:
        """Path and row (choices,) bool of each leaf that the mask covers.

        Raises:
            UserError, ValueError: for a mask that does not fit.
        """
        if not self._nested:
            parts: Iterable[tuple[Path, Any]] = [((), mask)]
        elif isinstance(mask, Mapping):
            parts = _walk(self._space, mask)
        else:
            parts = self._split(np.asarray(mask).reshape(-1))
        rows = ((path, self._row(path, part)) for path, part in parts)
        return [(path, row) for path, row in rows if row is not None]

    def _split(self, row: np.ndarray) -> Iterator[tuple[Path, np.ndarray]]:
        """Cuts a row of all choices into the leaves'; whole-number Boxes may be left out."""
        for boxes in (False, True):
            counts = {
                path: sum(action_choices(choices))
                for path, (own, choices) in self._leaves.items()
                if _has_choices(choices) and (boxes or not isinstance(own, spaces.Box))
            }
            if sum(counts.values()) == row.size or (not counts and row.size == 1):
                ends = np.cumsum([0, *counts.values()])
                return ((path, row[a:b]) for path, a, b in zip(counts, ends[:-1], ends[1:], strict=True))
        raise UserError(f"it has {row.size} entries, the choices of {self._space} are {sum(counts.values())}")

    def _row(self, path: Path, part: Any) -> np.ndarray | None:
        own, choices = self._leaves[path]
        sort = path, getattr(part, "dtype", type(part))
        if sort not in self._known:
            _check_values(part, 2 if isinstance(own, spaces.MultiBinary) else 1)
            self._known.add(sort)
        if isinstance(own, spaces.Box) and _is_of_points(own, part):
            return None
        if not _has_choices(choices):
            if np.size(part) == 1 and not self._nested:
                return None  # our own adapters give a lone 1 where there is nothing to choose
            raise UserError(
                f"{own} has no choices that a mask could forbid; leave it out, or use whole numbers with bounds"
            )
        return from_gymnasium(choices, part)


def ones(space: spaces.Space[Any]) -> Any:
    """A mask of ones as an observation space declares it."""
    if isinstance(space, spaces.Dict):
        return {key: ones(part) for key, part in space.spaces.items()}
    if isinstance(space, spaces.Tuple):
        return tuple(ones(part) for part in space.spaces)
    return np.ones(space.shape or (), np.int8)


def misspelt(keys: Iterable[Any]) -> str:
    """The first misspelt ``action_mask`` among the keys; ``""``: none, or the right one is there."""
    names = [key for key in keys if isinstance(key, str)]
    if MASK in names:
        return ""
    return next((name for name in names if get_close_matches(name.lower(), [MASK], 1, ALIKE)), "")


def _walk(space: spaces.Space[Any], mask: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Path and part of each leaf that a nested mask names."""
    if mask is None:
        return
    if isinstance(space, spaces.Dict):
        if odd := [key for key in mask if key not in space.spaces]:
            raise UserError(
                f"it names {odd[0]!r}, which is no part of {space}; parts are {', '.join(space.spaces)}"
            )
        for key, part in mask.items():
            yield from _walk(space.spaces[key], part, (*path, key))
    elif isinstance(space, spaces.Tuple):
        for key, part in enumerate(mask):
            yield from _walk(space.spaces[key], part, (*path, key))
    else:
        yield path, mask


def _has_choices(space: spaces.Space[Any]) -> bool:
    return not isinstance(space, spaces.Box)


def _is_of_points(box: spaces.Box, part: Any) -> bool:
    """Whether a mask is of a whole-number Box's points, not of its numbers' choices."""
    if np.dtype(box.dtype).kind not in "iu" or not box.is_bounded("both") or np.ndim(part) < 2:
        return False
    if np.shape(part) == box.shape:
        return True  # of the cells of a grid
    points = box.high.astype(np.int64) - box.low.astype(np.int64) + 1
    return np.shape(part) == tuple(points.ravel().tolist())


def _check_values(part: Any, most: int) -> None:
    values = np.concatenate(heads(part)).astype(np.float64)
    odd = values[~np.isin(values, np.arange(most + 1))]
    if odd.size:
        raise UserError(f"it holds {odd[0]:g}; a mask is 1 for each legal choice and 0 for the others")
