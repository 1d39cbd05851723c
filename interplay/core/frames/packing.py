"""Columns of a layer as raw numbers, and back, whole rows at a time."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from interplay.core.errors import UserError
from interplay.core.frames.codings import Layout, Raw, Run, empty_block
from interplay.core.frames.schema import PICTURE, LayerSchema
from interplay.core.layers import Array

_FLOAT = np.dtype("<f4")


class Packer:
    """Packs and unpacks the columns of one layer.

    Attributes:
        scaled: how many columns have a scale.
    """

    def __init__(self, schema: LayerSchema) -> None:
        self.schema = schema
        self.layout = Layout(schema.columns, free_rows=schema.kind in ("tiles", PICTURE))
        scaled = [column for column in schema.columns if column.scale is not None]
        self.scaled, self._names = len(scaled), [column.name for column in scaled]
        self._values = scaled[0].values if scaled else 1
        self._scale = np.array([[column.scale] for column in scaled], float)
        self._offset = np.array([[column.offset] for column in scaled], float)
        self._top = np.array([[255 if column.type == "u1" else 65_535] for column in scaled], float)
        self._whole = self._scale == 1.0  # these have to come back exactly
        self._turns = np.array([column.turn for column in scaled], bool)
        self._counting, self._turning = bool(self._whole.any()), bool(self._turns.any())

    def pack(self, columns: Mapping[str, Array], rows: int, wide: int = 0) -> Raw:
        """The raw numbers of a frame.

        Args:
            columns: of the layer, as in `interplay.core.layers.Layer`.
            rows: N.
            wide: columns that travel as f4 already.
        """
        self._check_widths(columns)
        steps = np.empty((0, 0))
        if self._names:
            steps, wide = self._steps(columns, wide)
        blocks = []
        for run in self.layout.runs(wide):
            if self.schema.kind == "tiles" and rows % 4 == 0:  # a copy already, and whole words
                blocks.append(self._bytes(run.columns[0], columns, run).reshape(1, -1))
                continue
            block, size = empty_block(run, rows), rows * run.values
            if run.scaled and run.type.itemsize < 4:
                block[:, :size] = steps[run.scaled.start : run.scaled.stop]
            else:
                for row, number in enumerate(run.columns):
                    block[row, :size] = self._bytes(number, columns, run)
            blocks.append(block)
        return Raw(rows, wide, tuple(blocks))

    def _steps(self, columns: Mapping[str, Array], wide: int) -> tuple[Array, int]:
        """Raw numbers (S, N * values) of the columns with a scale, and a mask of those that do not fit their type."""
        numbers = np.array([columns[name].reshape(-1) for name in self._names], float)
        exact = (numbers - self._offset) / self._scale
        steps = np.rint(exact)
        if self._turning:
            steps[self._turns] %= 65_536
        wrong = (steps < 0) | (steps > self._top)
        if self._counting:
            wrong |= (steps != exact) & self._whole
        if wrong.any():
            absent = columns.get("absent")
            if absent is not None:
                wrong &= ~np.repeat(absent, self._values)
            for number in np.flatnonzero(wrong.any(axis=1)):
                wide |= 1 << int(number)
            np.clip(steps, 0, self._top, out=steps)
        return steps, wide

    def _bytes(self, number: int, columns: Mapping[str, Array], run: Run) -> Array:
        column = self.schema.columns[number]
        if column.bits:
            packed = np.zeros(len(next(iter(columns.values()))), np.uint8)
            for bit, name in enumerate(column.bits):
                if name:
                    packed |= columns[name].view(np.uint8) << np.uint8(bit)
            return packed
        array = columns[column.name].reshape(-1)
        return array if run.type.itemsize == 1 else array.astype(_FLOAT, copy=False).view(run.type)

    def _check_widths(self, columns: Mapping[str, Array]) -> None:
        for column in self.schema.columns:
            width = self.schema.width or (column.values if column.values > 1 else 0)
            if width and column.name in columns and columns[column.name].shape[1] != width:
                raise UserError(
                    f'canvas layer "{self.schema.name}": {column.name} has {columns[column.name].shape[1]} columns, '
                    f"the first frame had {width}; draw the same in every frame"
                )

    def unpack(self, raw: Raw) -> dict[str, Array]:
        """The columns of raw numbers; raises the errors of `pack`."""
        found: dict[str, Array] = {}
        for run, block in zip(self.layout.runs(raw.wide), raw.blocks, strict=True):
            for row, number in enumerate(run.columns):
                column, numbers = self.schema.columns[number], block[row, : raw.rows * run.values]
                if column.bits:
                    for bit, name in enumerate(column.bits):
                        if name:
                            found[name] = (numbers >> bit & 1).astype(bool)
                    continue
                if run.type.itemsize == 4:
                    numbers = numbers.view(_FLOAT)
                elif column.scale is not None:
                    numbers = (numbers * column.scale + column.offset).astype(np.float32)
                width = self.schema.width if self.schema.kind == "tiles" else column.values
                tall = self.schema.kind == "tiles" or column.values > 1
                found[column.name] = numbers.reshape(-1, width) if tall else numbers
        return found
