"""The format of a scene's frames: layers, their constants, and the coding of each column (docs/specs/viewer.md 4.1).

Rounding of decoded numbers, per column:

- Places (x, y, corners, ends) are u2. The range is the visible part and half of it again on each side; the step is a power of two of
  the world's unit, of a tile where there are tiles: 1/256 for 118 of them, 1/64 for 301. Multiples of a step come back exactly (tile
  centres, halves, quarters), all others within half a step, which is 1/32,768 of the visible part or less.
- Angles are u2 parts of a turn: within 0.00005 rad, and between 0 and a turn.
- Numbers that are whole in the first frame are u1 or u2 and come back exactly; so do colours, tile numbers, flags and texts.
- All else is f4, exact.

A value that its column's type cannot hold (a place out of range, a half where numbers were whole) makes the whole column
f4 in that layer's frames until the next key frame: nothing is cut off or rounded further. Absent rows may hold any value.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import pydantic

from interplay.core.errors import UserError
from interplay.core.layers import MAX_MARKS, Array, Layer
from interplay.core.scene import MAX_LAYERS, Scene
from interplay.core.settings import Settings, build

MAX_COLUMNS = 64
MAX_SCALED = 16  # columns of a layer that are not written as they are: a frame has a bit for each
TURN = 2 * math.pi
SHARED = ("absent", "jump", "dimmed")  # bits 0 to 2 of a layer's flags; its marks follow
PICTURE = "picture"

_FREE = pydantic.ConfigDict(extra="ignore")  # a later minor version may have more keys
_TOP = {"u1": 255, "u2": 65_535}


class Column(Settings):
    """How a column is written.

    Attributes:
        name: of the column; ``flags`` packs the bool columns that `bits` names.
        type: u1, u2 (unsigned, 1 and 2 bytes) or f4.
        scale, offset: value = raw * scale + offset, float32; without a scale the raw number is the value.
        turn: raw numbers are counted modulo the type's range.
        values: numbers per row: 3 of a colour, the corners of a polygon.
        bits: names of the flags, bit 0 first; empty for a bit that is not used.
    """

    model_config = _FREE
    name: str = pydantic.Field(min_length=1)
    type: Literal["u1", "u2", "f4"]
    scale: float | None = pydantic.Field(None, gt=0)
    offset: float = 0.0
    turn: bool = False
    values: int = pydantic.Field(1, ge=1, le=65_535)
    bits: tuple[str, ...] = pydantic.Field((), max_length=len(SHARED) + MAX_MARKS)

    @pydantic.model_validator(mode="after")
    def _fits(self) -> Column:
        if self.scale is not None and self.type == "f4":
            raise ValueError("a column with a scale is u1 or u2")
        return self


class LayerSchema(Settings):
    """How a layer is written, in up to two parts of each frame.

    Attributes:
        name, kind: of the layer; a finished picture has the kind ``picture``.
        id: number of the part with its columns; None for tables.
        text: number of the part with its texts; None without texts.
        width: of tiles and pictures, columns of cells or pixels; otherwise 0.
        columns: in the order in which they are written.
        options: constants of the layer, as in `interplay.core.layers.Layer`.
    """

    model_config = _FREE
    name: str = pydantic.Field(min_length=1, max_length=64)
    kind: Literal["tiles", "circles", "boxes", "segments", "polygons", "labels", "table", "picture"]
    id: int | None = None
    text: int | None = None
    width: int = pydantic.Field(0, ge=0, le=65_535)
    columns: tuple[Column, ...] = pydantic.Field((), max_length=MAX_COLUMNS)
    options: dict[str, Any] = pydantic.Field(default_factory=dict)

    @pydantic.model_validator(mode="after")
    def _fits(self) -> LayerSchema:
        if (self.id is None) != (self.kind == "table") or (self.kind == "table" and self.text is None):
            raise ValueError("tables have texts, other layers columns")
        if (self.width > 0) != (self.kind in ("tiles", PICTURE)):
            raise ValueError("tiles and pictures have a width, no other layers")
        if sum(column.scale is not None for column in self.columns) > MAX_SCALED:
            raise ValueError(f"at most {MAX_SCALED} columns have a scale")
        if len({column.name for column in self.columns}) < len(self.columns):
            raise ValueError("a column is there twice")
        return self


class Schema(Settings):
    """What all frames of a source share.

    Attributes:
        scene: version of this form.
        bounds, up: as in `interplay.core.scene.Scene`.
        layers: in painting order; their parts are numbered 0, 1, ... in this order.
    """

    model_config = _FREE
    scene: Literal[1] = 1
    bounds: tuple[float, float, float, float] | None
    up: Literal["north", "south"]
    layers: tuple[LayerSchema, ...] = pydantic.Field(max_length=MAX_LAYERS + 1)

    @pydantic.model_validator(mode="after")
    def _numbered(self) -> Schema:
        numbers = [number for layer in self.layers for number in (layer.id, layer.text) if number is not None]
        if numbers != list(range(len(numbers))):
            raise ValueError("the layers' parts are not numbered in their order")
        return self


def schema_of(scene: Scene) -> Schema:
    """The schema that a source's first frame declares."""
    layers, number = [], 0
    axes = _axes(scene)
    for layer in scene.layers:
        values: dict[str, Any] = {"name": layer.name, "kind": layer.kind, "options": dict(layer.options)}
        if layer.kind != "table":
            values |= {"id": number, "columns": _columns(layer, axes)}
            number += 1
        if layer.kind == "tiles":
            values["width"] = layer.columns["tile"].shape[1]
        # Labels of no rows look as if there were none, and may come with the first row.
        if layer.kind in ("table", "labels") or layer.text or (layer.kind == "circles" and not layer.rows):
            values["text"] = number
            number += 1
        layers.append(build(LayerSchema, values, f'canvas layer "{layer.name}"'))
    if scene.picture is not None:
        pixels = (Column(name="rgb", type="u1", values=3),)
        width = scene.picture.shape[1]
        layers.append(LayerSchema(name=PICTURE, kind="picture", id=number, width=width, columns=pixels))
    return Schema(bounds=scene.bounds, up=scene.up, layers=tuple(layers))


def _axes(scene: Scene) -> dict[str, tuple[float, float]]:
    """(scale, offset) of places along x and along y."""
    if scene.bounds is None:
        return {}
    x0, y0, x1, y1 = scene.bounds
    ground = next((layer for layer in scene.layers if layer.kind == "tiles"), None)
    cell = 1.0 if ground is None else ground.options["cell"]
    return {axis: _axis(low, high, cell) for axis, low, high in (("x", x0, x1), ("y", y0, y1))}


def _axis(low: float, high: float, cell: float) -> tuple[float, float]:
    """The scale of an axis: the finest step, by halves of a cell, with 65,536 steps over twice the visible part, centred on it."""
    scale = cell * 2.0 ** math.ceil(math.log2(2 * (high - low) / 65_536 / cell))
    return scale, (round((low + high) / 2 / scale) - 32_768) * scale


def _columns(layer: Layer, axes: Mapping[str, tuple[float, float]]) -> tuple[Column, ...]:
    """The coding of each column; columns of one type are adjacent, which is faster."""
    found, flags, room = [], {}, MAX_SCALED
    for key, array in layer.columns.items():
        if array.dtype == bool:
            flags[key] = array
        elif array.dtype == np.uint8:
            values = 3 if key == "rgb" else 1
            found.append(Column(name=key, type="u1", values=values))
        else:
            column = _number(key, array, axes) if room else Column(name=key, type="f4", values=_values(array))
            room -= column.scale is not None
            found.append(column)
    if flags:
        names = (*SHARED, *(f"mark.{name}" for name in layer.options.get("marks", ())))
        bits = tuple(name if name in flags else "" for name in names)
        found.append(Column(name="flags", type="u1", bits=bits))
    if len(found) > MAX_COLUMNS:
        raise UserError(
            f'canvas layer "{layer.name}": {len(found)} columns; a frame holds at most {MAX_COLUMNS}, draw fewer bars'
        )
    return tuple(sorted(found, key=lambda column: ("f4", "u2", "u1").index(column.type)))


def _number(key: str, array: Array, axes: Mapping[str, tuple[float, float]]) -> Column:
    if key in ("x", "y", "x0", "y0", "x1", "y1"):
        scale, offset = axes[key[0]]
        return Column(name=key, type="u2", scale=scale, offset=offset, values=_values(array))
    if key == "angle":
        return Column(name=key, type="u2", scale=TURN / 65_536, turn=True)
    whole = bool((array == np.rint(array)).all() and (array >= 0).all())
    most = float(array.max()) if array.size else math.inf
    for kind, top in _TOP.items():
        if whole and most <= top:
            return Column(name=key, type=kind, scale=1.0)  # type: ignore[arg-type]
    return Column(name=key, type="f4")


def _values(array: Array) -> int:
    return 1 if array.ndim == 1 else array.shape[1]
