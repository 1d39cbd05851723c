"""Wild snapshots: sound ones with numbers planted that no rule would have written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from interplay.core.world import Array

Snapshot = Mapping[str, Array]
Trick = Callable[[np.random.Generator, Array, Sequence[Array]], str]

_SEVERAL = 0.2  # share of snapshots with more than one field planted
_NEAR = 3  # how far beyond a number that is there already


class Planted(NamedTuple):
    """A snapshot with wild numbers in it.

    Attributes:
        snapshot: name -> array; fields that were left alone are those of the sound one.
        field: the first field that was changed.
        story: what was planted where, in words.
    """

    snapshot: dict[str, Array]
    field: str
    story: str


def plant(rng: np.random.Generator, sound: Sequence[Snapshot]) -> Planted:
    """Plants wild numbers into one of several sound snapshots of a world.

    Args:
        sound: taken at different moments; fields of one may be put into another.
    """
    base = sound[int(rng.integers(len(sound)))]
    names = [name for name, array in base.items() if array.size]
    number = 1 + int(rng.random() < _SEVERAL) * int(rng.integers(1, 4))
    changed, stories = {}, []
    for name in rng.choice(names, min(number, len(names)), replace=False):
        array = base[name].copy()
        others = [other[name] for other in sound if other[name].shape == array.shape]
        with np.errstate(all="ignore"):
            stories.append(f"{name}: {_trick_for(rng, array)(rng, array, others)}")
        changed[str(name)] = array
    return Planted({**base, **changed}, next(iter(changed)), "; ".join(stories))


def plant_each(rng: np.random.Generator, sound: Sequence[Snapshot]) -> Iterator[Planted]:
    """The wildest number that there is, once in every field."""
    wildest: dict[str, Trick] = {"i": _extreme, "u": _extreme, "f": _not_finite, "b": _raw_bytes}
    base = sound[-1]
    for name, array in base.items():
        if array.size and array.dtype.kind in wildest:
            copied = array.copy()
            story = wildest[array.dtype.kind](rng, copied, [])
            yield Planted({**base, name: copied}, name, f"{name}: {story}")


def _trick_for(rng: np.random.Generator, array: Array) -> Trick:
    general: list[Trick] = [_bits, _mixed, _swapped, _repeated, _flipped]
    own: dict[str, list[Trick]] = {
        "i": [_extreme, _beside, _sized, _linked],
        "u": [_extreme, _beside, _sized, _linked],
        "f": [_not_finite, _huge, _beside],
        "b": [_raw_bytes, _inverted],
    }
    tricks = general + 2 * own.get(array.dtype.kind, [])
    return tricks[int(rng.integers(len(tricks)))]


def _places(rng: np.random.Generator, array: Array) -> Array:
    """One number, a few, or all."""
    dice = rng.random()
    if dice < 0.1:
        return np.arange(array.size)
    return rng.integers(0, array.size, 1 if dice < 0.7 else 4)


def _write(rng: np.random.Generator, array: Array, values: Array | float) -> None:
    at = _places(rng, array)
    array.reshape(-1)[at] = np.broadcast_to(np.asarray(values), at.shape).astype(array.dtype)


def _extreme(rng: np.random.Generator, array: Array, others: Sequence[Array]) -> str:
    kept = np.iinfo(array.dtype)
    value = [kept.max, kept.min, kept.max - 1, kept.min + 1, -1 if kept.min else 0][rng.integers(5)]
    at = _places(rng, array)
    array.reshape(-1)[at] = value
    return f"the number {value}"


def _beside(rng: np.random.Generator, array: Array, others: Sequence[Array]) -> str:
    """Just beyond the least or the greatest that is there."""
    value = array.max() + array.dtype.type(rng.integers(1, _NEAR)) if rng.random() < 0.5 else array.min() - 1
    _write(rng, array, value)
    return "a number just beyond those that are there"


def _sized(rng: np.random.Generator, array: Array, others: Sequence[Array]) -> str:
    """A size of the array itself, which is one too much for an index, or near it."""
    size = int(rng.choice(array.shape)) * int(rng.choice(array.shape)) ** int(rng.integers(0, 2))
    value = size + int(rng.integers(-1, 2))
    _write(rng, array, np.asarray(value))
    return f"the number {value}"


def _linked(rng: np.random.Generator, array: Array, others: Sequence[Array]) -> str:
    """Links in a circle: i to i, or i to j and j to i."""
    rows = array.reshape(len(array), -1)
    i, j = rng.integers(0, rows.shape[1], 2)
    w = rng.integers(len(rows))
    rows[w, i], rows[w, j] = np.asarray([j, i]).astype(array.dtype)
    return "links in a circle"


def _not_finite(rng: np.random.Generator, array: Array, others: Sequence[Array]) -> str:
    value = (np.nan, np.inf, -np.inf)[rng.integers(3)]
    _write(rng, array, value)
    return f"the number {value}"


def _huge(rng: np.random.Generator, array: Array, others: Sequence[Array]) -> str:
    most = float(np.finfo(array.dtype).max)
    value = (most, -most, 1e20, -1e9, 1e-300)[rng.integers(5)]
    _write(rng, array, value)
    return f"the number {value:g}"


def _raw_bytes(rng: np.random.Generator, array: Array, others: Sequence[Array]) -> str:
    """A bool with a byte that is neither 0 nor 1, as a file may hold it."""
    at = _places(rng, array)
    array.reshape(-1).view(np.uint8)[at] = rng.integers(2, 256)
    return "bools of other bytes than 0 and 1"


def _inverted(rng: np.random.Generator, array: Array, others: Sequence[Array]) -> str:
    at = _places(rng, array)
    array.reshape(-1)[at] = ~array.reshape(-1)[at]
    return "bools turned round"


def _bits(rng: np.random.Generator, array: Array, others: Sequence[Array]) -> str:
    raw = array.reshape(-1).view(np.uint8)
    at = rng.integers(0, raw.size, rng.integers(1, 9))
    raw[at] ^= rng.integers(1, 256, at.shape).astype(np.uint8)
    return "random bits"


def _mixed(rng: np.random.Generator, array: Array, others: Sequence[Array]) -> str:
    array[...] = others[int(rng.integers(len(others)))]
    return "the field of another moment"


def _swapped(rng: np.random.Generator, array: Array, others: Sequence[Array]) -> str:
    """Two worlds, or two rows of one, in each other's place."""
    rows = array if array.ndim == 1 or rng.random() < 0.3 else array[rng.integers(len(array))]
    i, j = rng.integers(0, len(rows), 2) if len(rows) else (0, 0)
    kept = rows[i].copy()
    rows[i] = rows[j]
    rows[j] = kept
    return "two rows in each other's place"


def _repeated(rng: np.random.Generator, array: Array, others: Sequence[Array]) -> str:
    flat = array.reshape(-1)
    i, j = rng.integers(0, array.size, 2)
    flat[i] = flat[j]
    return "a number twice"


def _flipped(rng: np.random.Generator, array: Array, others: Sequence[Array]) -> str:
    at = _places(rng, array)
    flat = array.reshape(-1)
    flat[at] = ~flat[at] if array.dtype.kind == "b" else np.negative(flat[at])
    return "signs turned round"
