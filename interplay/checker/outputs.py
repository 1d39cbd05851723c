"""All outputs of a world as a flat list of fields, and the first difference between two lists."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from interplay.core.hashing import hash_rows
from interplay.core.world import Array, TimeStep, World

SAVED = "save/"  # how names of snapshot fields begin


class Field(NamedTuple):
    """One array of a time step.

    Attributes:
        array: (W, ...), or (W, A, ...) where `slots` is given.
        slots: which agent each column of axis 1 belongs to; None for arrays of whole worlds.
    """

    array: Array
    slots: tuple[int, ...] | None


class Difference(NamedTuple):
    """The first place where two worlds differ: `row` counts in the rows that were compared."""

    field: str
    row: int
    agent: int | None
    ours: object
    theirs: object


def flatten(path: str, tree: Any) -> Iterator[tuple[str, Any]]:
    """The leaves of nested mappings, with their paths."""
    if isinstance(tree, Mapping):
        for name, part in tree.items():
            yield from flatten(f"{path}/{name}", part)
    elif tree is not None:
        yield path, tree


def read_fields(world: World, step: TimeStep, metrics: bool = True) -> dict[str, Field]:
    """The arrays of a time step, and the metrics of this moment that are numbers per world or agent, by name."""
    everyone = tuple(range(len(world.agents)))
    fields = {}
    for title, tree in (("observation", step.observation), ("action_mask", step.action_mask)):
        for kind in world.kinds:
            part = world.by_kind(tree).get(kind.name)
            path = title if len(world.kinds) == 1 else f"{title}/{kind.name}"
            fields.update({name: Field(np.asarray(leaf), kind.slots) for name, leaf in flatten(path, part)})
    for name in ("reward", "acting", "terminated", "truncated"):
        fields[name] = Field(np.asarray(getattr(step, name)), everyone)
    fields["over"] = Field(np.asarray(step.over), None)
    if metrics:
        for name, values in world.lasting_metrics.items():
            array = np.asarray(values)
            if is_metric(world, array):  # others are findings, and cannot be compared by world
                fields[f"metrics/{name}"] = Field(array, everyone if array.ndim == 2 else None)
    return fields


def is_metric(world: World, array: Array) -> bool:
    """Whether an array holds numbers per world, (W,), or per agent, (W, A)."""
    shapes = ((world.num_worlds,), (world.num_worlds, len(world.agents)))
    return array.shape in shapes and array.dtype.kind in "fiub"


def copy_fields(world: World, step: TimeStep) -> dict[str, Field]:
    """`read_fields`, safe from the world's next call."""
    return {name: Field(part.array.copy(), part.slots) for name, part in read_fields(world, step).items()}


def first_difference(
    ours: Mapping[str, Field],
    theirs: Mapping[str, Field],
    our_rows: Sequence[int] | Array,
    their_rows: Sequence[int] | Array,
) -> Difference | None:
    """The first difference between row our_rows[i] of one world and row their_rows[i] of another; NaN equals NaN."""
    our_rows, their_rows = list(our_rows), list(their_rows)
    for name in {**ours, **theirs}:
        if name not in ours or name not in theirs:
            return Difference(name, 0, None, "absent" if name not in ours else "present", "the opposite")
        a, b = ours[name].array[our_rows], theirs[name].array[their_rows]
        if name.startswith(SAVED):
            a, b = as_long(a, b)
        if a.shape != b.shape or a.dtype != b.dtype:
            return Difference(name, 0, None, f"{a.dtype}{a.shape}", f"{b.dtype}{b.shape}")
        unequal = a != b
        if unequal.any():
            unequal &= (a == a) | (b == b)
        if unequal.any():
            at = tuple(int(i) for i in np.argwhere(unequal)[0])
            slots = ours[name].slots
            agent = slots[at[1]] if slots is not None and len(at) > 1 else None
            return Difference(name, at[0], agent, a[at].item(), b[at].item())
    return None


def as_long(a: Array, b: Array) -> tuple[Array, Array]:
    """Two arrays of snapshots, the shorter padded with zeros, since rows have the length of the longest in their batch."""
    if a.ndim != b.ndim or a.shape == b.shape:
        return a, b
    longest = tuple(max(pair) for pair in zip(a.shape[1:], b.shape[1:], strict=True))
    return _padded(a, longest), _padded(b, longest)


def _padded(array: Array, shape: tuple[int, ...]) -> Array:
    wider = np.zeros((len(array), *shape), array.dtype)
    wider[tuple(slice(0, size) for size in array.shape)] = array
    return wider


def digest(fields: Mapping[str, Field]) -> Array:
    """A 64-bit hash of each world's outputs, (W,) uint64."""
    return hash_rows({name: part.array for name, part in fields.items()})
