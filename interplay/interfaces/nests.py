"""Nested values: arrays in tuples and mappings, walked beside the Gymnasium space that has their structure.

B is the leading axis of every array here: matches, or rows of a batch of worlds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from gymnasium import spaces

from interplay.core.errors import UserError

Array = np.ndarray
Nest = Any  # an array, a tuple of nests, or a mapping name -> nest

LEAVES = (spaces.Box, spaces.Discrete, spaces.MultiDiscrete, spaces.MultiBinary)


def parts(space: spaces.Space) -> list[tuple[Any, spaces.Space]] | None:
    """(place, space) of each part of a Tuple or Dict, in the space's order; None for a leaf."""
    if isinstance(space, spaces.Tuple):
        return list(enumerate(space.spaces))
    if isinstance(space, spaces.Dict):
        return list(space.spaces.items())
    return None


def like(space: spaces.Space, values: list[Any]) -> Nest:
    """Values in the places of the parts of a Tuple or Dict."""
    return dict(zip(space.spaces, values, strict=True)) if isinstance(space, spaces.Dict) else tuple(values)


def leaves(space: spaces.Space, path: str = "") -> Iterator[tuple[str, spaces.Space]]:
    """(path, leaf) of every leaf of a space: ``"0/speed"`` is entry ``speed`` of part 0; a space without parts is ``""``."""
    inside = parts(space)
    if inside is None:
        yield path, space
        return
    for place, part in inside:
        yield from leaves(part, f"{path}/{place}" if path else str(place))


def flat(space: spaces.Space, value: Nest) -> list[Any]:
    """The leaves of a value, in the order of `leaves`; all leaves of a part that is None are None."""
    inside = parts(space)
    if inside is None:
        return [value]
    return [one for place, part in inside for one in flat(part, None if value is None else value[place])]


def map_nest(function: Callable[..., Any], space: spaces.Space, *values: Nest) -> Nest:
    """``function(leaf space, leaf of each value)`` in the places of a space's leaves."""
    inside = parts(space)
    if inside is None:
        return function(space, *values)
    found = [map_nest(function, part, *(value[place] for value in values)) for place, part in inside]
    return like(space, found)


def map_space(function: Callable[[Any], spaces.Space], space: spaces.Space) -> spaces.Space:
    """A space with ``function(leaf)`` in the places of its leaves."""
    inside = parts(space)
    if inside is None:
        return function(space)
    made = [map_space(function, part) for _, part in inside]
    if isinstance(space, spaces.Dict):
        return spaces.Dict(list(zip(space.spaces, made, strict=True)))
    return spaces.Tuple(made)


def check_space(owner: str, space: spaces.Space) -> None:
    """Refuses spaces with leaves that are no arrays."""
    for path, leaf in leaves(space):
        if not isinstance(leaf, LEAVES):
            raise UserError(
                f"{owner}: {path or 'the space'} is {leaf}, no space of arrays; use Box, Discrete, MultiDiscrete, "
                "MultiBinary, or Tuples and Dicts of those"
            )


def fit(owner: str, space: spaces.Space, value: Nest, rows: int | None) -> Nest:
    """A value as arrays of the space's shapes and dtypes, in its order; arrays that fit are not copied.

    Args:
        value: with a leading axis of `rows`.
        rows: B; None for a value without that axis, which is added.
    """
    inside = parts(space)
    if inside is not None:
        _check_parts(owner, space, value, [place for place, _ in inside])
        fitting = [fit(f"{owner}, {place}", part, value[place], rows) for place, part in inside]
        return like(space, fitting)
    try:
        array = np.asarray(value)
    except ValueError:
        raise UserError(f"{owner}: rows of unequal length make no array; it is one of {space}") from None
    array = array[None] if rows is None else array
    shape = (len(array) if rows is None else rows, *(space.shape or ()))
    dtype = np.dtype(space.dtype)
    if array.shape != shape:
        raise UserError(f"{owner}: shape {array.shape}, expected {shape} (rows, ...) of {space}")
    if array.dtype == dtype:
        return array
    if not np.can_cast(array.dtype, dtype, "same_kind"):
        raise UserError(f"{owner}: dtype {array.dtype}, expected {dtype} of {space}")
    return array.astype(dtype)


def _check_parts(owner: str, space: spaces.Space, value: Any, places: list[Any]) -> None:
    if isinstance(space, spaces.Dict):
        if not isinstance(value, Mapping) or set(value) != set(places):
            given: Any = sorted(map(str, value)) if isinstance(value, Mapping) else type(value).__name__
            raise UserError(f"{owner}: a mapping with {', '.join(map(str, places))} is needed, not {given}")
    elif not isinstance(value, tuple | list) or len(value) != len(places):
        given = len(value) if isinstance(value, tuple | list) else type(value).__name__
        raise UserError(f"{owner}: a tuple of {len(places)} belongs here, not {given}")


def box(low: Any, high: Any, dtype: Any) -> spaces.Box:
    """A Box of these bounds in this dtype."""
    return spaces.Box(low, high, dtype=np.dtype(dtype).type)


class Layout:
    """A space's leaves in a list, found once for all steps.

    Args:
        space: of ONE row.

    Attributes:
        space: the same.
        leaves: its leaves, in their order.
    """

    def __init__(self, space: spaces.Space) -> None:
        self.space = space
        self.leaves = [leaf for _, leaf in leaves(space)]
        self._forms = [(leaf.shape or (), np.dtype(leaf.dtype)) for leaf in self.leaves]
        self._whole = len(self.leaves) == 1 and parts(space) is None
        inside = parts(space) or []
        plain = all(parts(part) is None for _, part in inside)
        self._places: list[Any] | None = [place for place, _ in inside] if plain else None
        self._named = isinstance(space, spaces.Dict)

    def fit(self, owner: str, value: Nest, rows: int | None) -> list[Array]:
        """The leaves of `fit`."""
        if rows is not None:
            found = self._at_once(value)
            if found is not None and all(
                type(array) is np.ndarray and array.shape == (rows, *shape) and array.dtype == dtype
                for array, (shape, dtype) in zip(found, self._forms, strict=True)
            ):
                return found
        return flat(self.space, fit(owner, self.space, value, rows))

    def flat(self, value: Nest) -> list[Any]:
        """The leaves of a value that fits."""
        found = self._at_once(value)
        return flat(self.space, value) if found is None else found

    def nest(self, arrays: list[Any]) -> Nest:
        """Leaves in their places."""
        if self._whole:
            return arrays[0]
        if self._places is not None:
            return dict(zip(self._places, arrays, strict=True)) if self._named else tuple(arrays)
        left = iter(arrays)
        return map_nest(lambda _: next(left), self.space)

    def _at_once(self, value: Nest) -> list[Any] | None:
        """The leaves of a flat value; None for others."""
        if self._whole:
            return [value]
        if (
            self._places is None
            or type(value) is not (dict if self._named else tuple)
            or len(value) != len(self._places)
        ):
            return None
        if self._named and any(place not in value for place in self._places):
            return None
        return [value[place] for place in self._places]


def check_inside(owner: str, layout: Layout, arrays: list[Array]) -> None:
    """Refuses whole numbers outside a space of choices, since they would be used as indices."""
    for leaf, array in zip(layout.leaves, arrays, strict=True):
        if isinstance(leaf, spaces.Box):
            continue
        low = getattr(leaf, "start", 0)
        count = getattr(leaf, "nvec", 2 if isinstance(leaf, spaces.MultiBinary) else getattr(leaf, "n", 2))
        wrong = (array < low) | (array - low >= count)
        if wrong.any():
            raise UserError(f"{owner}: {array[wrong][0]} is outside {leaf}; fix the model")


def one_of(leaf: spaces.Space, array: Any) -> Any:
    """A copy of one value, as its space samples it: a number for Discrete, otherwise an array."""
    return array if isinstance(leaf, spaces.Discrete) else np.array(array)


def first_row(space: spaces.Space, value: Nest) -> Nest:
    """Row 0 of every leaf, as its space samples it; arrays are not copied."""
    return map_nest(
        lambda leaf, array: array[0] if isinstance(leaf, spaces.Discrete) else np.asarray(array[0]),
        space,
        value,
    )


def read_only(arrays: list[Array]) -> list[Array]:
    """Views through which nothing can be written."""
    views = [array.view() for array in arrays]
    for view in views:
        view.flags.writeable = False
    return views


def memory_of(array: Any) -> int:
    """Names the memory that an array looks at: equal for all views of one."""
    while getattr(array, "base", None) is not None:
        array = array.base
    return id(array)


def owned(arrays: list[Array], taken: set[int]) -> list[Array]:
    """The arrays without shared memory: those that share memory with `taken`, or with each other, are copied."""
    found = []
    for array in arrays:
        own = array.copy() if memory_of(array) in taken or not array.flags.writeable else array
        taken.add(memory_of(own))
        found.append(own)
    return found
