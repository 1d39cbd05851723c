"""Valid values of a world's state, declared next to its arrays: ranges of numbers, and invariants between fields.

Kernels do not check bounds, so a number that is used as an index, a count or a link has to be valid before it becomes state.
A world declares a `Range` for every field and an `Invariant` for each relation between fields. `check_state` checks a snapshot against both
(`docs/decisions/0009-declared-state.md`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from interplay.core.errors import UserError

Array = np.ndarray
Arrays = Mapping[str, Array]

MOST_32 = 2**31 - 2**20  # the highest valid int32 counter: it has room for a million further steps
MOST_64 = 2**62
MOST_REAL = 1e12  # most of a float64 that rules compute with: its fourth power is finite, also as float32 once it is rounded


class Range(NamedTuple):
    """Valid numbers of a field: low <= number <= high, or one of `also`. NaN is valid only in `also`.

    Attributes:
        low, high: inclusive; numbers, or arrays of the field's shape without its world axis; None = no bound.
        also: further valid numbers.
    """

    low: Any = None
    high: Any = None
    also: tuple[float, ...] = ()

    def __str__(self) -> str:
        parts = [f"{_brief(self.low, min)}..{_brief(self.high, max)}", *map(str, self.also)]
        return " or ".join(parts)


ANYTHING = Range()  # every bit pattern is sound: random streams
FLAG = Range(0, 1)  # a bool; its byte in a file may be anything
REAL = Range(-MOST_REAL, MOST_REAL)  # rewards, sums, places that are no index


def count(most: Any = MOST_64) -> Range:
    """0..most."""
    return Range(0, most)


def index(size: Any, none: bool = False) -> Range:
    """A row of a table of so many; with `none` also -1 for no row."""
    return Range(-1 if none else 0, size - 1)


def one_of(*values: float) -> Range:
    """One of these numbers."""
    return Range(values[0], values[0], values[1:])


def exactly(values: Any) -> Range:
    """These numbers only: settings in array form. NaN equals itself."""
    nan = np.asarray(values).dtype.kind == "f" and bool(np.isnan(values).any())
    return Range(values, values, (np.nan,) if nan else ())


def of_space(space: Any) -> Range:
    """The range of a gymnasium leaf space, and 0, which unused entries hold."""
    if hasattr(space, "low"):
        dtype = np.dtype(space.dtype)
        most = float(np.finfo(dtype).max) if dtype.kind == "f" else None
        return Range(_bound(space.low, -most if most else None), _bound(space.high, most), (0,))
    if hasattr(space, "nvec"):
        return Range(space.start, space.start + space.nvec - 1, (0,))
    start = int(getattr(space, "start", 0))
    return Range(start, start + int(getattr(space, "n", 2) if space.shape == () else 2) - 1, (0,))


class Invariant(NamedTuple):
    """An invariant between fields.

    Attributes:
        field: the one that an error names.
        problem: in words that follow the value: ``"is not the number of the living"``.
        broken: arrays -> (W, ...) bool, true where it is violated; invariants are checked in order, each may rely on those before it.
    """

    field: str
    problem: str
    broken: Callable[[Arrays], Array]


def fit_snapshot(owner: str, given: Arrays, arrays: Arrays) -> dict[str, Array]:
    """The arrays of a snapshot, if names, shapes and dtypes are those of `arrays`."""
    if set(given) != set(arrays):
        odd = ", ".join(sorted(set(given) ^ set(arrays)))
        raise UserError(
            f"{owner}: snapshot of another world, stack or version (fields {odd} do not match); save it again"
        )
    fitting = {name: np.asarray(given[name]) for name in arrays}
    for name, array in arrays.items():
        found = fitting[name]
        if found.shape != array.shape or found.dtype != array.dtype:
            raise UserError(
                f"{owner}: snapshot field {name} is {found.dtype}{found.shape}, needed is {array.dtype}{array.shape}; "
                "load it with the same settings and num_worlds"
            )
    return fitting


def check_state(
    owner: str, given: Arrays, ranges: Mapping[str, Range], laws: Iterable[Invariant] = ()
) -> None:
    """Checks a snapshot's arrays, of fitting names, shapes and dtypes, against ranges and invariants.

    Args:
        owner: the world's id, for the error.
        given: name -> array with the world axis first.
        ranges: name -> range; bool fields hold 0 or 1 and need none, other fields without one may hold anything.
        laws: invariants, checked if all ranges hold.
    """
    for name, array in given.items():
        allowed = ranges.get(name, FLAG if array.dtype == bool else ANYTHING)
        wrong = outside(array, allowed)
        if wrong is not None:
            raise UserError(_complaint(owner, name, _raw(array), wrong, f"is outside {allowed}"))
    for law in laws:
        broken = np.asarray(law.broken(given))
        if broken.any():
            raise UserError(_complaint(owner, law.field, given[law.field], broken, law.problem))


def outside(array: Array, allowed: Range) -> Array | None:
    """Which numbers are invalid, as an array of bools of the same shape; None if all are valid."""
    array = _raw(array)
    if not array.size or array.dtype.kind not in "iuf":
        return None
    low, high = _needed(array, allowed)
    if low is None and high is None:
        return None
    if not (np.ndim(low) or np.ndim(high)) and _surely_inside(array, low, high):
        return None
    wrong = np.zeros(array.shape, bool)
    if low is not None:
        wrong |= ~(array >= low)
    if high is not None:
        wrong |= ~(array <= high)
    for value in allowed.also:
        wrong &= ~np.isnan(array) if np.isnan(value) else array != value
    return wrong if wrong.any() else None


def _needed(array: Array, allowed: Range) -> tuple[Any, Any]:
    """The bounds that the dtype does not keep by itself."""
    low, high = allowed.low, allowed.high
    if array.dtype.kind != "f":
        kept = np.iinfo(array.dtype)
        low = None if low is None or np.all(np.asarray(low) <= kept.min) else low
        high = None if high is None or np.all(np.asarray(high) >= kept.max) else high
    return low, high


def _surely_inside(array: Array, low: Any, high: Any) -> bool:
    """Whether the least and the most are inside; NaN, which both hand on, is not."""
    return bool((low is None or array.min() >= low) and (high is None or array.max() <= high))


def _complaint(owner: str, name: str, array: Array, wrong: Array, says: str) -> str:
    at = tuple(int(i) for i in np.argwhere(wrong)[0])
    where = f"[{', '.join(map(str, at[1:]))}]" if len(at) > 1 else ""
    value = array[at] if wrong.ndim <= array.ndim and wrong.shape == array.shape[: wrong.ndim] else ""
    shown = f" = {value}" if np.ndim(value) == 0 and str(value) else ""
    return f"{owner}: snapshot field {name}{where} of world {at[0]}{shown} {says}; it is damaged or not of this world, use another"


def _raw(array: Array) -> Array:
    """The plain array; bools as bytes, since a file may have set these to anything."""
    plain = np.asarray(array).view(np.ndarray)
    return plain.view(np.uint8) if plain.dtype == bool else plain


def _bound(bound: Array, most: float | None) -> Any:
    """A Box's bound, as one number if all are equal; infinite sides become the dtype's end."""
    if most is not None:
        bound = np.clip(bound, -abs(most), abs(most))
    values = np.unique(bound)
    return values[0].item() if len(values) == 1 else bound


def _brief(bound: Any, of: Callable[[Any], Any]) -> str:
    return "" if bound is None or not np.size(bound) else str(of(np.ravel(bound).tolist()))
