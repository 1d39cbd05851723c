"""The raw numbers of a layer, and the four codings of changes (docs/specs/viewer.md 4.2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from interplay.core.errors import UserError
from interplay.core.frames.schema import Column
from interplay.core.layers import MAX_ROWS, Array

SAME, FULL, DIFFERENCE, PATCH = range(4)
_TYPES: dict[str, np.dtype] = {
    "u1": np.dtype("u1"),
    "u2": np.dtype("<u2"),
    "f4": np.dtype("<u4"),
}  # f4 by its bits


class Raw(NamedTuple):
    """A layer's columns as they are written.

    Attributes:
        rows: N.
        wide: bit i is set where the i-th column with a scale travels as f4.
        blocks: one for each run of columns that are alike: (columns, N * values, padded with zeros to whole words of 4 bytes).
    """

    rows: int
    wide: int
    blocks: tuple[Array, ...]


class Run(NamedTuple):
    """Adjacent columns of one type: their type, numbers per row, indices in the layer, and which have a scale."""

    type: np.dtype
    values: int
    columns: range
    scaled: range


class Layout:
    """Positions of a layer's columns in its bytes.

    Args:
        free_rows: whether more than 65,535 rows are allowed, as for tiles.
    """

    def __init__(self, columns: Sequence[Column], free_rows: bool = False) -> None:
        self.columns = tuple(columns)
        self.most_rows = 2**32 - 1 if free_rows else MAX_ROWS
        self._runs: dict[int, tuple[Run, ...]] = {}

    def runs(self, wide: int) -> tuple[Run, ...]:
        """The runs, with these columns widened."""
        if wide not in self._runs:
            self._runs[wide] = self._find_runs(wide)
        return self._runs[wide]

    def _find_runs(self, wide: int) -> tuple[Run, ...]:
        found: list[Run] = []
        key: tuple[object, ...] | None = None
        scaled = 0
        for number, column in enumerate(self.columns):
            counts = column.scale is not None
            widened = counts and wide >> scaled & 1
            kind = _TYPES["f4" if widened else column.type]
            now = (kind, column.values, counts, widened)
            if now == key:
                last = found.pop()
                start, first = last.columns.start, last.scaled.start
            else:
                start, first, key = number, scaled, now
            scaled += counts
            found.append(Run(kind, column.values, range(start, number + 1), range(first, scaled)))
        return tuple(found)

    def full_size(self, rows: int, wide: int) -> int:
        """Bytes of so many rows."""
        return sum(
            len(run.columns) * _words(rows * run.values * run.type.itemsize) for run in self.runs(wide)
        )

    def changed(self, old: Raw, new: Raw) -> Array:
        """The rows (k,) that differ between two frames with equal numbers of rows and equally widened columns."""
        found: Array | None = None
        for run, was, now in zip(self.runs(new.wide), old.blocks, new.blocks, strict=True):
            differs = (was != now)[:, : new.rows * run.values]
            differs = differs.any(axis=0) if len(differs) > 1 else differs[0]
            if run.values > 1:
                differs = differs.reshape(new.rows, run.values).any(axis=1)
            found = differs if found is None else found | differs
        assert found is not None  # a layer without columns is text
        return found.nonzero()[0]

    def write_full(self, new: Raw) -> bytes:
        """Coding 1: the columns one after another."""
        return b"".join(block.tobytes() for block in new.blocks)

    def write_difference(self, old: Raw, new: Raw) -> bytes:
        """Coding 2: new minus old modulo the type's range; for f4 the exclusive or of the bits."""
        return b"".join(
            (was ^ now if now.dtype.itemsize == 4 else now - was).tobytes()
            for was, now in zip(old.blocks, new.blocks, strict=True)
        )

    def write_patch(self, new: Raw, changed: Array) -> bytes:
        """Coding 3: how many rows, which, and those by column."""
        parts = [np.uint32(len(changed)).tobytes(), changed.astype("<u4").tobytes()]
        for run, block in zip(self.runs(new.wide), new.blocks, strict=True):
            rows = block[:, : new.rows * run.values].reshape(len(run.columns), new.rows, run.values)
            parts.append(_padded(rows[:, changed].reshape(len(run.columns), -1), run.type).tobytes())
        return b"".join(parts)

    def patch_size(self, count: int, wide: int) -> int:
        """Bytes of a patch of so many rows."""
        return 4 + 4 * count + self.full_size(count, wide)

    def read(self, coding: int, old: Raw | None, rows: int, wide: int, payload: memoryview) -> Raw:
        """The raw numbers after a frame.

        Args:
            coding: of the payload.
            old: before it; None where nothing is known.
            rows, wide: after it.
            payload: its bytes.
        """
        if rows > self.most_rows:
            raise UserError(f"{rows:,} rows of a layer; {self.most_rows:,} are read at most")
        if coding == FULL:
            return Raw(rows, wide, self._blocks(payload, rows, wide))
        if old is None or (rows, wide) != (old.rows, old.wide):
            raise UserError(f"coding {coding} of a layer that was not as it says; begin at a key frame")
        if coding == SAME and not payload:
            return old
        if coding == DIFFERENCE:
            steps = self._blocks(payload, rows, wide)
            pairs = zip(old.blocks, steps, strict=True)
            return Raw(rows, wide, tuple(a ^ b if b.dtype.itemsize == 4 else a + b for a, b in pairs))
        if coding == PATCH and len(payload) >= 4:
            return self._patched(old, payload)
        raise UserError(f"coding {coding} with {len(payload):,} bytes is none of this format")

    def _patched(self, old: Raw, payload: memoryview) -> Raw:
        count = int(np.frombuffer(payload, "<u4", 1)[0])
        if len(payload) != self.patch_size(count, old.wide):
            raise UserError(f"a patch of {count:,} rows has {len(payload):,} bytes; they do not fit")
        changed = np.frombuffer(payload, "<u4", count, 4)
        if count and changed.max() >= old.rows:
            raise UserError(f"a patch of row {changed.max():,} of {old.rows:,}; there is none")
        blocks = []
        steps = self._blocks(payload[4 + 4 * count :], count, old.wide)
        for run, block, step in zip(self.runs(old.wide), old.blocks, steps, strict=True):
            fresh, shape = block.copy(), (len(run.columns), -1, run.values)
            rows = fresh[:, : old.rows * run.values].reshape(shape)  # a copy, without the padding in between
            rows[:, changed] = step[:, : count * run.values].reshape(shape)
            fresh[:, : old.rows * run.values] = rows.reshape(len(run.columns), -1)
            blocks.append(fresh)
        return Raw(old.rows, old.wide, tuple(blocks))

    def _blocks(self, payload: memoryview, rows: int, wide: int) -> tuple[Array, ...]:
        if len(payload) != self.full_size(rows, wide):
            raise UserError(f"{rows:,} rows of a layer in {len(payload):,} bytes; they do not fit")
        blocks, at = [], 0
        for run in self.runs(wide):
            length = _words(rows * run.values * run.type.itemsize) // run.type.itemsize
            count = len(run.columns) * length
            blocks.append(np.frombuffer(payload, run.type, count, at).reshape(len(run.columns), length))
            at += count * run.type.itemsize
        return tuple(blocks)


def empty_block(run: Run, rows: int) -> Array:
    """Zeros for the columns of a run."""
    return np.zeros(
        (len(run.columns), _words(rows * run.values * run.type.itemsize) // run.type.itemsize), run.type
    )


def _padded(rows: Array, kind: np.dtype) -> Array:
    length = _words(rows.shape[1] * kind.itemsize) // kind.itemsize
    out = np.zeros((len(rows), length), kind)
    out[:, : rows.shape[1]] = rows
    return out


def _words(size: int) -> int:
    """Bytes, rounded up to whole words of 4."""
    return -(-size // 4) * 4
