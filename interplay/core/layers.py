"""Layers of a scene: named columns of equal length, checked while they are built."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from interplay.core.errors import UserError

MAX_ROWS = 65_535
MAX_MARKS = 5
MAX_TEXT = 1_000  # characters of one label or cell
MAX_CHORDS = 360  # of the arc of a cone of sight

Array = np.ndarray


class Layer(NamedTuple):
    """One layer of a scene.

    Attributes:
        name: unique in its scene.
        kind: tiles, circles, boxes, segments, polygons, labels or table.
        rows: N. Tiles count their cells.
        columns: name -> (N,) float32, uint8 (palette numbers, tile ids) or bool; ``rgb`` is (N, 3) uint8,
            the corners of polygons are (N, V) float32, tile ids are (H, L) uint8.
        options: constants of the layer: str, bool, int, float, None or tuples of those.
        text: one label per row, or a table's rows of cells; otherwise empty.
    """

    name: str
    kind: str
    rows: int
    columns: Mapping[str, Array]
    options: Mapping[str, Any]
    text: tuple[Any, ...] = ()

    def value(self, key: str, default: Any = None) -> Any:
        """A column, or the constant or `default` broadcast to (N,) rows; None remains None."""
        if key in self.columns:
            return self.columns[key]
        constant = self.options.get(key, default)
        return None if constant is None else np.full(self.rows, constant)

    def drawn_bars(self) -> tuple[str, ...]:
        """Names of the bars that renderers draw."""
        return self.options.get("bars", ()) if self.options.get("show_bars", True) else ()

    def check_follows(self, first: Layer) -> None:
        """Refuses a frame of this layer whose columns or constants differ from the first frame's."""
        if set(self.columns) != set(first.columns):
            odd = ", ".join(sorted(set(self.columns) ^ set(first.columns)))
            raise UserError(
                f'canvas layer "{self.name}": {odd} changed between constant and array; pass the same kind in every frame'
            )
        for key, was in first.options.items():
            if (
                not key.startswith("legend") and self.options.get(key) != was
            ):  # the first frame's legend counts
                raise UserError(
                    f'canvas layer "{self.name}": the constant {key} changed from {was!r} to {self.options.get(key)!r}; pass it as an array'
                )


class LayerBuilder:
    """Collects one layer; the first call fixes the number of rows."""

    def __init__(self, name: str, kind: str) -> None:
        if not isinstance(name, str) or not name or len(name) > 64:
            raise UserError(f"canvas: layer name {name!r}; pass a text of 1 to 64 characters")
        self.name, self.kind = name, kind
        self.rows = -1
        self.columns: dict[str, Array] = {}
        self.options: dict[str, Any] = {}
        self.text: tuple[Any, ...] = ()

    def layer(self) -> Layer:
        """The layer, its absent rows cleaned and every number checked to be finite."""
        if self.rows > MAX_ROWS and self.kind != "tiles":
            raise self.wrong(f"{self.rows} rows; a layer has at most {MAX_ROWS:,}, split it into several")
        absent = self.columns.get("absent")
        for key, column in self.columns.items():
            if column.dtype == np.float32:
                if absent is not None:
                    column[absent] = 0.0
                if not np.isfinite(column).all():
                    row = int(np.argwhere(~np.isfinite(column))[0][0])
                    raise self.wrong(
                        f"{key} of row {row} is not finite; mark rows that are not there as absent"
                    )
        return Layer(self.name, self.kind, self.rows, self.columns, self.options, self.text)

    def places(self, **values: Any) -> None:
        """Columns of coordinates; scalars make a layer of one row."""
        arrays = {key: np.atleast_1d(self._numbers(key, value)) for key, value in values.items()}
        self.rows = max(array.shape[0] for array in arrays.values())
        for key, array in arrays.items():
            self._column(key, array)

    def corners(self, x: Any, y: Any) -> None:
        """The corners of polygons, (N, V) or (V,)."""
        xs, ys = (np.atleast_2d(self._numbers(key, value)) for key, value in (("x", x), ("y", y)))
        if xs.shape != ys.shape or xs.ndim != 2 or xs.shape[1] < 3:
            raise self.wrong(f"corners have shapes x {xs.shape}, y {ys.shape}; pass (N, V) twice with V >= 3")
        self.rows = xs.shape[0]
        self.columns.update(x=xs, y=ys)

    def tiles(self, ids: Any) -> None:
        """The tile numbers of a ground, (H, L) integers 0..255."""
        array = np.asarray(ids)
        if array.ndim != 2 or not array.size or not _are_bytes(array):
            raise self.wrong(f"ids are {array.dtype}{array.shape}; pass whole numbers 0..255 of shape (H, L)")
        self.columns["tile"] = array.astype(np.uint8)
        self.rows = array.size

    def number(self, key: str, value: Any, minimum: float | None = None) -> None:
        """A constant (a Python number) or a column of numbers."""
        column = self._numbers(key, value)
        if minimum is not None and np.any(column < minimum):
            raise self.wrong(f"{key} = {float(np.min(column))}; it must be at least {minimum}")
        if type(value) in (int, float):
            self.constant(key, value)
        else:
            self._column(key, np.atleast_1d(column))

    def flag(self, key: str, value: Any) -> None:
        """A column of booleans; None means no such column, that is False for every row."""
        if value is None:
            return
        array = np.atleast_1d(np.asarray(value))
        if array.dtype != bool:
            raise self.wrong(f"{key} has dtype {array.dtype}; pass booleans")
        self._column(key, array.copy())

    def colour(self, value: Any) -> None:
        """A palette number or "#rrggbb" (constants), (N,) palette numbers, or (N, 3) uint8."""
        if isinstance(value, str):
            if not is_hex(value):
                raise self.wrong(f'colour = {value!r}; write it as "#rrggbb"')
            self.options["colour"] = value.lower()
            return
        array = np.asarray(value)
        if not _are_bytes(array) or (array.ndim == 2 and array.shape != (self.rows, 3)):
            raise self.wrong(
                f'colour is {array.dtype}{array.shape}; pass numbers 0..255, one or three for each row, or "#rrggbb"'
            )
        if type(value) is int:
            self.options["colour"] = value
        elif array.ndim == 2:
            self.columns["rgb"] = array.astype(np.uint8)
        else:
            self._column("colour", np.atleast_1d(array).astype(np.uint8))

    def bars(self, bars: Mapping[str, tuple[Any, Any]], shown: bool = True) -> None:
        """Bars: columns ``bar.NAME`` and, as constant or column, ``bar.NAME.full``; a constant marks bars that are not drawn."""
        for key, (value, full) in bars.items():
            self._column(f"bar.{key}", np.atleast_1d(self._numbers(key, value)))
            self.number(f"bar.{key}.full", full, minimum=0.0)
        self.options["bars"] = tuple(bars)
        if not shown:
            self.options["show_bars"] = False

    def marks(self, marks: Mapping[str, Any]) -> None:
        """Marks: boolean columns ``mark.NAME``."""
        if len(marks) > MAX_MARKS:
            raise self.wrong(f"{len(marks)} marks ({', '.join(marks)}); a layer has at most {MAX_MARKS}")
        for key, value in marks.items():
            self.flag(f"mark.{key}", value)
        self.options["marks"] = tuple(marks)

    def sight(self, depth: Any, angle: Any, chords: int = 16, blockers: Sequence[str] | None = None) -> None:
        """A cone: ``sight.depth``, ``sight.angle`` (constants or columns), the constants ``sight.chords``, ``sight.blockers``."""
        if "angle" not in self.columns and "angle" not in self.options:
            raise self.wrong("sight needs the heading; pass angle too")
        self.number("sight.depth", depth, minimum=0.0)
        self.number("sight.angle", angle, minimum=0.0)
        if not 1 <= int(chords) <= MAX_CHORDS:
            raise self.wrong(f"sight has {chords} chords; pass 1 to {MAX_CHORDS}")
        self.options["sight.chords"] = int(chords)
        if blockers is not None:
            if isinstance(blockers, str) or not all(isinstance(name, str) for name in blockers):
                raise self.wrong(f"sight is blocked by {blockers!r:.60}; pass the names of layers")
            self.options["sight.blockers"] = tuple(blockers)

    def legend(self, words: str | Sequence[str] | Mapping[str, str]) -> None:
        """Names of the layer's things: one text, one for each number, or text -> colour; empty = no such constant."""
        if words:
            several = (words,) if isinstance(words, str) else tuple(words)
            if isinstance(words, Mapping):
                if wrong := [colour for colour in words.values() if not is_hex(colour)]:
                    raise self.wrong(f'legend: {wrong[0]!r:.60} is no colour; pass "#rrggbb" for each text')
                self.options["legend.colours"] = tuple(words.values())
            texts = strings(self.name, several, len(several))
            self.options["legend"] = texts[0] if isinstance(words, str) else texts

    def palette(self, value: str | Sequence[str]) -> None:
        """``"terrain"``, or the colours of tiles."""
        if value != "terrain" and (isinstance(value, str) or not value or not all(map(is_hex, value))):
            raise self.wrong(f'palette = {value!r:.60}; pass "terrain" or colours, each as "#rrggbb"')
        self.constant("palette", value if isinstance(value, str) else tuple(value))

    def constant(self, key: str, value: Any) -> None:
        """A constant of the layer."""
        parts = value if isinstance(value, tuple) else (value,)
        if any(isinstance(part, float) and not np.isfinite(part) for part in parts):
            raise self.wrong(f"{key} = {value}; pass finite numbers")
        self.options[key] = value

    def constants(self, **values: Any) -> None:
        """Several constants."""
        for key, value in values.items():
            self.constant(key, value)

    def flags(self, **values: Any) -> None:
        """Several columns of booleans."""
        for key, value in values.items():
            self.flag(key, value)

    def wrong(self, what: str) -> UserError:
        """The error of a wrong argument of this layer."""
        return UserError(f'canvas layer "{self.name}": {what}')

    def _numbers(self, key: str, value: Any) -> Array:
        array = np.asarray(value)
        if array.dtype.kind not in "iufb":
            raise self.wrong(f"{key} has dtype {array.dtype}; pass numbers")
        return array.astype(np.float32)

    def _column(self, key: str, array: Array) -> None:
        if array.ndim != 1 or array.shape[0] not in (1, self.rows):
            raise self.wrong(
                f"{key} has shape {array.shape}, the layer has {self.rows} rows; pass one value per row"
            )
        self.columns[key] = array if array.shape[0] == self.rows else np.repeat(array, self.rows)


def _are_bytes(array: Array) -> bool:
    """Whether all are whole numbers from 0 to 255."""
    if array.dtype == np.uint8 or not array.size:
        return array.dtype.kind in "iub"
    return array.dtype.kind in "iub" and bool(array.min() >= 0 and array.max() <= 255)


def is_hex(colour: str) -> bool:
    """True for ``"#rrggbb"``."""
    return len(colour) == 7 and colour[0] == "#" and all(c in "0123456789abcdefABCDEF" for c in colour[1:])


def strings(name: str, texts: Sequence[str], rows: int) -> tuple[str, ...]:
    """Checked texts, one per row."""
    if isinstance(texts, str) or len(texts) != rows or (length := _length(texts)) < 0:
        raise UserError(f'canvas layer "{name}": texts = {texts!r:.60}; pass {rows} strings, one per row')
    if length > MAX_TEXT and any(len(text) > MAX_TEXT for text in texts):
        raise UserError(f'canvas layer "{name}": a text has more than {MAX_TEXT} characters; shorten it')
    return tuple(texts)


def _length(texts: Sequence[str]) -> int:
    """Total number of characters; -1 if one is no text. Joined first, since most of thousands of labels are empty."""
    try:
        return len("".join(texts))
    except TypeError:
        return -1


def cells(name: str, rows: Sequence[Sequence[Any]], width: int) -> tuple[tuple[Any, ...], ...]:
    """Checked cells of a table: str, int, float, bool or None."""
    checked = []
    for i, row in enumerate(rows):
        plain = tuple(cell.item() if isinstance(cell, np.generic) else cell for cell in row)
        owner = f'canvas table "{name}": row {i}'
        if len(plain) != width:
            raise UserError(f"{owner} has {len(plain)} cells, the table {width} columns")
        for cell in plain:
            if not (cell is None or isinstance(cell, str | int | float)):
                raise UserError(f"{owner} holds a {type(cell).__name__}; pass texts and numbers")
            if isinstance(cell, str) and len(cell) > MAX_TEXT:
                raise UserError(f"{owner} has a text of more than {MAX_TEXT} characters; shorten it")
        checked.append(plain)
    return tuple(checked)
