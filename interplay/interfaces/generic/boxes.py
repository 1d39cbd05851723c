"""One entry in other numbers or another shape, its bounds with it (specification interfaces 10)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces

from interplay.core.errors import UserError
from interplay.interfaces.interface import Interface
from interplay.interfaces.nests import Array, Nest, parts
from interplay.interfaces.nests import box as make_box

# What settings may name. All are monotone, so bounds are where the bounds were.
OPERATIONS: dict[str, Callable[[Array], Array]] = {
    "negate": np.negative,
    "sign": np.sign,
    "sqrt": lambda x: np.sqrt(np.maximum(x, 0)),
    "log1p": lambda x: np.sign(x) * np.log1p(np.abs(x)),
    "tanh": np.tanh,
    "bytes_to_unit": lambda x: x / np.float32(255),
}


class Entry(Interface):
    """Base of changes of one entry of a tuple or mapping, or of a bare array. Subclasses write `_entry_space` and `_entry`.

    Args:
        index: of the entry; None is a bare array.
    """

    def __init__(self, inner: Interface | None = None, index: int | str | None = None) -> None:
        super().__init__(inner)
        self.index = index

    def _spaces(self, obs_space: spaces.Space, act_space: spaces.Space) -> tuple[spaces.Space, spaces.Space]:
        box = obs_space if self.index is None else dict(parts(obs_space) or ()).get(self.index)
        if not isinstance(box, spaces.Box):
            there = ", ".join(
                repr(place) for place, part in parts(obs_space) or () if isinstance(part, spaces.Box)
            )
            raise UserError(
                f"{self._called()}: no Box at index {self.index!r} of {obs_space}; "
                f"{f'it is one of {there}' if there else 'index None is a bare array'}"
            )
        self._box, made = box, self._entry_space(box)
        if self.index is None:
            return made, act_space
        entries = [made if place == self.index else part for place, part in parts(obs_space) or ()]
        if isinstance(obs_space, spaces.Dict):
            return spaces.Dict(list(zip(obs_space.spaces, entries, strict=True))), act_space
        return spaces.Tuple(entries), act_space

    def _observe(self, obs: Nest) -> Nest:
        if self.index is None:
            return self._entry(obs)
        if isinstance(obs, dict):
            return {**obs, self.index: self._entry(obs[self.index])}
        return tuple(self._entry(part) if place == self.index else part for place, part in enumerate(obs))

    def _entry_space(self, box: spaces.Box) -> spaces.Box:
        """The entry's space, made of its present one."""
        raise NotImplementedError

    def _entry(self, array: Array) -> Array:
        """The entry, (B, ...)."""
        raise NotImplementedError


class BoxTransform(Entry):
    """Applies a monotone elementwise operation to an entry and to its bounds.

    Args:
        op: one of `OPERATIONS`, or a function from an array to an array of the same shape; settings can only name one.

    Raises:
        UserError: for an unknown operation, in `setup` for one that changes the shape, and in play for one that leaves its
            bounds because it is not monotone.
    """

    def __init__(
        self,
        inner: Interface | None = None,
        op: str | Callable[[Array], Array] = "negate",
        index: int | str | None = None,
    ) -> None:
        super().__init__(inner, index)
        if not callable(op) and op not in OPERATIONS:
            raise UserError(f"BoxTransform: op = {op!r}; it is a function or one of {', '.join(OPERATIONS)}")
        self.op = op

    def _apply(self, array: Array) -> Array:
        if callable(self.op):
            return np.asarray(self.op(array))
        # Whole numbers would wrap, or become float16.
        return OPERATIONS[self.op](array.astype(np.float32) if array.dtype.kind in "iu" else array)

    def _entry_space(self, box: spaces.Box) -> spaces.Box:
        with np.errstate(all="ignore"):
            low, high = (self._apply(bound[None]) for bound in (box.low, box.high))
        if low.shape != (1, *box.shape):
            raise UserError(
                f"{self._called()}: it makes {low.shape} of {(1, *box.shape)}; an operation keeps the shape, use Reshape or Transpose beside it"
            )
        low, high = low[0], high[0]
        if low.dtype == np.float64 and box.dtype != np.float64:
            low, high = low.astype(np.float32), high.astype(np.float32)
        unknown = np.isnan(low) | np.isnan(high) if low.dtype.kind == "f" else np.zeros(low.shape, bool)
        least, most = np.minimum(low, high), np.maximum(low, high)
        least, most = np.where(unknown, -np.inf, least), np.where(unknown, np.inf, most)
        return make_box(least.astype(low.dtype), most.astype(low.dtype), low.dtype)

    def _entry(self, array: Array) -> Array:
        found = self._apply(array)
        space = self._made()
        found = found.astype(space.dtype, copy=False)
        if callable(self.op) and ((found < space.low) | (found > space.high)).any():
            raise UserError(
                f"{self._called()}: the operation leaves its bounds, so it is not monotone; write an interface of your own with its true bounds"
            )
        return found

    def _made(self) -> spaces.Box:
        space: Any = self.observation_space
        return space if self.index is None else space[self.index]


class Reshape(Entry):
    """Gives an entry another shape.

    Args:
        shape: the new one; -1 is whatever is left.
    """

    def __init__(
        self, inner: Interface | None = None, shape: Sequence[int] = (-1,), index: int | str | None = None
    ) -> None:
        super().__init__(inner, index)
        self.shape = tuple(shape)

    def _entry_space(self, box: spaces.Box) -> spaces.Box:
        try:
            low, high = box.low.reshape(self.shape), box.high.reshape(self.shape)
        except ValueError:
            raise UserError(f"{self._called()}: {box.shape} has {box.low.size} numbers") from None
        self._to = low.shape
        return make_box(low, high, box.dtype)

    def _entry(self, array: Array) -> Array:
        return array.reshape(len(array), *self._to)


class Transpose(Entry):
    """Gives an entry its axes in another order.

    Args:
        axes: the new order; None turns it round.
    """

    def __init__(
        self,
        inner: Interface | None = None,
        axes: Sequence[int] | None = None,
        index: int | str | None = None,
    ) -> None:
        super().__init__(inner, index)
        self.axes = None if axes is None else tuple(axes)

    def _entry_space(self, box: spaces.Box) -> spaces.Box:
        order = tuple(reversed(range(len(box.shape)))) if self.axes is None else self.axes
        if sorted(order) != list(range(len(box.shape))):
            raise UserError(f"{self._called()}: it has the axes 0..{len(box.shape) - 1}; name each once")
        self._order = (0, *(axis + 1 for axis in order))
        return make_box(box.low.transpose(order), box.high.transpose(order), box.dtype)

    def _entry(self, array: Array) -> Array:
        return np.ascontiguousarray(array.transpose(self._order))


class Downsample(Entry):
    """Shrinks a picture, (height, width, channels) uint8, by means over blocks of `factor` x `factor` pixels, halves rounded up.

    Rows and columns that fill no block are left out. Means of classes, as in Doom's ``labels``, say nothing.
    """

    def __init__(
        self, inner: Interface | None = None, factor: int = 2, index: int | str | None = None
    ) -> None:
        super().__init__(inner, index)
        if factor < 1:
            raise UserError(f"Downsample: factor = {factor}; a block has a side of 1 pixel at least")
        self.factor = factor

    def _entry_space(self, box: spaces.Box) -> spaces.Box:
        if box.dtype != np.uint8 or len(box.shape) != 3 or min(box.shape[:2]) < self.factor:
            raise UserError(
                f"{self._called()}: {box} is no picture (height, width, channels) uint8 of a block at least"
            )
        low, high = self._entry(np.stack([box.low, box.high]))
        return make_box(low, high, np.uint8)

    def _entry(self, array: Array) -> Array:
        k, pixels = self.factor, self.factor**2
        rows, columns = (size // k * k for size in array.shape[1:3])
        sums = np.full((len(array), rows // k, columns // k, array.shape[3]), pixels // 2, np.uint32)
        for i in range(k):
            for j in range(k):
                sums += array[:, i:rows:k, j:columns:k]
        return (sums // pixels).astype(np.uint8)
