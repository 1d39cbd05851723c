"""Encodes a layer of an overlay for the page: a byte for each cell, and its meaning (docs/specs/viewer.md 6.1)."""

from __future__ import annotations

import struct
from typing import Any, NamedTuple

import numpy as np

from interplay.core.errors import UserError
from interplay.evaluate.lifetimes.overlays import Layer
from interplay.view.run_log import one_line

HEAD = struct.Struct("<BBHHHIff")
OVERLAY = 3  # first byte of the frame, beside the scene's 1 and 2
LEVELS = 254  # between the lowest and the highest value
MOST_CELLS = 4_194_304  # of a frame
_FORMS = ("map", "window")


class Cells(NamedTuple):
    """One value for each cell.

    Attributes:
        values: (H, L) float64, NaN for none.
        lowest, highest: of the scale, in the layer's unit.
        diverging: whether the scale has a middle; other scales begin at 0.
        log: the scale is linear in log(1 + value).
    """

    values: np.ndarray
    lowest: float
    highest: float
    diverging: bool
    log: bool


def cells_of(layer: Layer) -> Cells:
    """The cells of a map or a window, summed over channels; cells with a count of 0 have no value."""
    values = np.asarray(layer.values, float)
    if layer.form not in _FORMS:
        raise UserError(
            f"layer {layer.name}: {layer.form} cannot lie over a world; make it a map or a window"
        )
    if values.ndim == 3:
        values = values.sum(axis=0)
    if values.size > MOST_CELLS or max(values.shape) >= 2**16:
        raise UserError(f"layer {layer.name}: {values.size:,} cells, {MOST_CELLS:,} are drawn at most")
    diverging = layer.scale == "diverging"
    values = np.where(np.isfinite(values) & (diverging | (values > 0)), values, np.nan)
    if layer.dim is not None:
        values[layer.dim] = np.nan
    if diverging and layer.limits is not None:
        return Cells(values, float(layer.limits[0]), float(layer.limits[1]), True, False)
    known = values[np.isfinite(values)]
    return Cells(values, 0.0, float(known.max()) if len(known) else 0.0, False, True)


def encode_cells(number: int, tick: int, cells: Cells) -> bytes:
    """The binary frame: head, then a byte for each cell, 0 for none and 1..255 from the lowest to the highest, padded to 4.

    Args:
        number: of the overlay in the session's list, below 256.

    Example:
        >>> encode_cells(2, 7, Cells(np.array([[0.0, np.nan, 1.0]]), 0.0, 1.0, True, False))[20:]
        b'\\x01\\x00\\xff\\x00'
    """
    height, width = cells.values.shape
    low, high, values = cells.lowest, cells.highest, cells.values
    if cells.log:
        low, high, values = np.log1p(low), np.log1p(high), np.log1p(values)
    share = np.clip((values - low) / max(high - low, 1e-300), 0.0, 1.0)
    data = np.where(np.isnan(share), 0, 1 + np.rint(LEVELS * np.nan_to_num(share))).astype(np.uint8).tobytes()
    head = HEAD.pack(OVERLAY, number, width, height, 0, tick, cells.lowest, cells.highest)
    return head + data + bytes(-len(data) % 4)


def describe_cells(layer: Layer, cells: Cells) -> dict[str, Any]:
    """The meaning of the bytes, for the page."""
    known = cells.values[np.isfinite(cells.values)]
    return {
        "title": one_line(layer.title),
        "unit": one_line(layer.unit),
        "meaning": one_line(layer.meaning),
        "form": layer.form,
        "diverging": cells.diverging,
        "log": cells.log,
        "origin": [float(x) for x in layer.origin],
        "cell": float(layer.cell),
        "seen": [float(known.min()), float(known.max())] if len(known) else None,
    }
