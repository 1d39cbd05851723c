"""Observations of any arrays, cast to the dtype of the space; misfits are refused."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces

from interplay.core.errors import UserError
from interplay.sim.batch.layout import Leaf
from interplay.sim.leaves import bounds

_LARGE = 8192  # numbers
_NUMBERS = "biuf"  # kinds of dtypes: bools, whole numbers, floats


class LeafColumn:
    """One leaf of the observations of a kind, in the worlds of one process.

    `rows` is the batch's own array while each incoming dtype fits the space's. Otherwise it has a wider dtype, and `settle` copies it
    into the batch's array, all worlds at once.

    Args:
        leaf: of the observation.
        agents: of the kind, in its order.
        array: (W, A, ...) of the batch, for the worlds of this process.
        read: returns the rows in use, (W, A) bool; only there numbers have to be finite.
    """

    def __init__(
        self, leaf: Leaf, agents: Sequence[Any], array: np.ndarray, read: Callable[[], np.ndarray]
    ) -> None:
        self.leaf, self.rows, self._read, self._path = leaf, array, read, leaf.path
        self._agents, self._array = agents, array
        self._dtype, self._shape = array.dtype, array.shape[2:]
        self._fitting = {array.dtype}
        self._flat = array.reshape(-1) if array.dtype.kind == "f" else None
        self._bounds = _choices_of(leaf)

    def write(self, w: int, a: int, seen: Any) -> None:
        """Copies the leaf of one agent's observation into its row.

        Raises:
            UserError: if the leaf is missing, is no array of numbers, or has another shape than its space.
        """
        given = seen
        try:
            for key in self._path:
                seen = seen[key]
        except (LookupError, TypeError):
            seen = None
        if type(seen) is not np.ndarray:
            seen = array_of(self.leaf, given, self._agents[a])
        if seen.dtype is not self._dtype and seen.dtype not in self._fitting:
            self._admit(seen, self._agents[a])
        if seen.shape != self._shape:
            check_shape(self.leaf, seen, self._agents[a])
        self.rows[w, a] = seen

    def settle(self) -> tuple[int, str] | None:
        """Copies numbers of a wider dtype into the batch's array, all worlds at once.

        Returns:
            The first world in which a number does not fit or is not finite, and its error line.
        """
        if self._flat is not None:
            if not are_finite(self._flat):
                bad = ~np.isfinite(self._array)
                read = self._read()
                return self._first(bad & read.reshape(*read.shape, *[1] * (bad.ndim - 2)), not_finite)
        elif self.rows is not self._array:
            with np.errstate(invalid="ignore"):
                self._array[...] = self.rows
            if not np.array_equal(self._array, self.rows):
                return self._first(self._array != self.rows, misfit)
        if self._bounds is not None:
            low, high = self._bounds
            bad = (self._array < low) | (self._array > high)
            if bad.any():  # rows that are not in use are 0
                read = self._read()
                return self._first(bad & read.reshape(*read.shape, *[1] * (bad.ndim - 2)), _outside)
        return None

    def _first(self, bad: np.ndarray, line: Callable[[Leaf, Any, Any], str]) -> tuple[int, str] | None:
        if not bad.any():
            return None
        at = tuple(int(i) for i in np.argwhere(bad)[0])
        return at[0], line(self.leaf, self.rows[at], self._agents[at[1]])

    def _admit(self, given: np.ndarray, agent: Any) -> None:
        check_numbers(self.leaf, given, agent)
        if not fits(given.dtype, self._dtype):
            self.rows = self.rows.astype(np.promote_types(self.rows.dtype, given.dtype))
        self._fitting.add(given.dtype)


def array_of(leaf: Leaf, seen: Any, agent: Any) -> np.ndarray:
    """A leaf of an agent's observation as an array.

    Raises:
        UserError: if it is missing or no array.
    """
    try:
        for key in leaf.path:
            seen = seen[key]
        return np.asarray(seen)
    except (LookupError, TypeError, ValueError) as error:
        raise UserError(
            f"observation{_named(leaf)} of {agent} cannot be read ({type(error).__name__}: {error}); its space is {leaf.space}"
        ) from error


def check_numbers(leaf: Leaf, given: np.ndarray, agent: Any) -> None:
    """Refuses what is no array of numbers."""
    if given.dtype.kind not in _NUMBERS:
        raise UserError(
            f"observation{_named(leaf)} of {agent} is {str(given)[:60]!r} (dtype {given.dtype}), no numbers; its space is {leaf.space}"
        )


def fitted(leaf: Leaf, seen: Any, agent: Any) -> np.ndarray:
    """A leaf of one observation in the dtype of its space, read as by `LeafColumn`.

    Raises:
        UserError: as `LeafColumn`.
    """
    given, dtype = array_of(leaf, seen, agent), np.dtype(leaf.space.dtype)
    check_numbers(leaf, given, agent)
    check_shape(leaf, given, agent)
    with np.errstate(invalid="ignore"):
        cast = given.astype(dtype)
    if not fits(given.dtype, dtype) and not np.array_equal(cast, given):
        raise UserError(misfit(leaf, given[cast != given][0], agent))
    if (of := _choices_of(leaf)) is not None and (bad := (cast < of[0]) | (cast > of[1])).any():
        raise UserError(_outside(leaf, cast[bad][0], agent))
    return cast.reshape(leaf.space.shape)


def fits(dtype: np.dtype[Any], into: np.dtype[Any]) -> bool:
    """Whether a cast needs no check: floats only lose digits, safe whole-number casts lose nothing."""
    return into.kind == "f" or np.can_cast(dtype, into, "safe")


def check_shape(leaf: Leaf, given: np.ndarray, agent: Any) -> None:
    """Refuses another shape than the space's; a bare number fits a box with one element."""
    shape = leaf.space.shape
    if given.shape != shape and (given.shape, shape) != ((), (1,)):
        raise UserError(
            f"observation{_named(leaf)} of {agent} has shape {given.shape}, its space says {shape}; mend either"
        )


def misfit(leaf: Leaf, value: Any, agent: Any) -> str:
    """The error line for a number that the dtype of its space does not hold."""
    return (
        f"observation{_named(leaf)} of {agent} is {value} ({value.dtype}), which {leaf.space.dtype} of its space {leaf.space} does not "
        "hold; declare the space with the dtype and bounds of what is given, or round and clip before"
    )


def _choices_of(leaf: Leaf) -> tuple[np.ndarray, np.ndarray] | None:
    """Least and greatest value of each number of a leaf of choices; None: a Box."""
    if isinstance(leaf.space, spaces.Box):
        return None
    low, high = bounds(leaf.space)
    shape, dtype = leaf.space.shape or (), leaf.space.dtype
    return low.reshape(shape).astype(dtype), high.reshape(shape).astype(dtype)


def _outside(leaf: Leaf, value: Any, agent: Any) -> str:
    """The error line for a choice beyond the bounds of its space."""
    return f"observation{_named(leaf)} of {agent} is {value}, which its space {leaf.space} does not hold; mend either"


def not_finite(leaf: Leaf, value: Any, agent: Any) -> str:
    """The error line for a NaN, an infinity, or a number beyond the dtype."""
    return f"observation{_named(leaf)} of {agent} is {value} as {leaf.space.dtype}; give finite numbers that it holds"


def are_finite(flat: np.ndarray) -> bool:
    """Whether all numbers are finite; False may be the overflow of large ones."""
    if flat.size > _LARGE:  # which a product would spread over threads
        with np.errstate(over="ignore", invalid="ignore"):
            return math.isfinite(np.add.reduce(flat))
    return math.isfinite(flat.dot(flat))


def _named(leaf: Leaf) -> str:
    return f" {leaf.name}" if leaf.path else ""
