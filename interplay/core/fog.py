"""Scenes from the view of one agent: rows that it does not observe are removed, so that they never reach a human player.

`World.visible` names what an agent may see of each layer; all other layers are hidden. A hidden layer of agents, with a row a slot,
has only absent rows; other hidden layers are empty, so that not even their number shows.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from interplay.core.errors import UserError
from interplay.core.layers import Array, Layer
from interplay.core.scene import Scene

# Layer -> True (all of it), (N,) bool (these rows; of tiles (H, L)), or (K,) int (only these rows are left, where the places or number
# of the other rows are secret). ``"layer/column"`` -> (N,) bool: of other rows this column is 0.
Visible = Mapping[str, Any]
EVERYTHING: Visible = MappingProxyType({"*": True})  # of worlds that hide nothing
UNSEEN = 255  # number of a tile that is hidden
AGENTS = "agents"  # the layer whose rows are slots
_TILED = ("tiles", "picture")


def hideable(scene: Scene) -> Scene:
    """The same scene with layers from which rows can be removed; `fogged` keeps its columns."""
    return scene._replace(layers=tuple(map(_hideable, scene.layers)))


def fogged(scene: Scene, visible: Visible) -> Scene:
    """What is left of a scene for an agent.

    Args:
        scene: that `hideable` gave.
        visible: what the agent observes.

    Example:
        >>> from interplay.core.scene import Canvas
        >>> canvas = Canvas(bounds=(0, 0, 9, 9))
        >>> canvas.circles("agents", [1.0, 2.0], [3.0, 4.0])
        >>> fogged(hideable(canvas.scene()), {"agents": np.array([True, False])}).layer("agents").columns["x"].tolist()
        [1.0, 0.0]
    """
    if visible.get("*") is True:
        return scene
    names = {layer.name for layer in scene.layers} | {"picture"}
    unknown = sorted({key.partition("/")[0] for key in visible} - names)
    if unknown:
        raise UserError(f"visible: {', '.join(unknown)} is no layer; name those that draw declares")
    columns = {f"{layer.name}/{name}" for layer in scene.layers for name in layer.columns}
    for key in visible:
        layer, _, column = key.partition("/")
        if column and key not in columns:  # it would hide nothing
            raise UserError(f"visible: {layer} has no column {column}; name one that draw gives by row")
    picture = scene.picture
    if picture is not None and visible.get("picture") is not True:
        picture = np.zeros_like(picture)
    return scene._replace(layers=tuple(_seen(layer, visible) for layer in scene.layers), picture=picture)


def _hideable(layer: Layer) -> Layer:
    if layer.kind in (*_TILED, "table") or "absent" in layer.columns:
        return layer
    return layer._replace(columns={**layer.columns, "absent": np.zeros(layer.rows, bool)})


def _seen(layer: Layer, visible: Visible) -> Layer:
    shown = visible.get(layer.name, False)
    if layer.kind == "tiles":
        tiles = layer.columns["tile"]
        return layer._replace(
            columns={"tile": np.where(_mask(layer, shown, tiles.shape), tiles, UNSEEN).astype(np.uint8)}
        )
    if np.ndim(shown) == 1 and np.asarray(shown).dtype.kind in "iu":
        order = np.asarray(shown, np.int64)
        return _taken(_blanked(layer, np.isin(np.arange(layer.rows), order), visible), order)
    mask = _mask(layer, shown, (layer.rows,))
    if layer.kind == "table" or (shown is False and layer.name != AGENTS):
        return _taken(layer, np.flatnonzero(mask))
    return _blanked(layer, mask, visible)


def _taken(layer: Layer, order: Array) -> Layer:
    """The layer with these rows only."""
    columns = {name: column[order] for name, column in layer.columns.items()}
    text = tuple(layer.text[row] for row in order) if layer.text else ()
    return layer._replace(rows=len(order), columns=columns, text=text)


def _blanked(layer: Layer, mask: Array, visible: Visible) -> Layer:
    """Rows outside a mask are absent and hold no values."""
    columns = {}
    for name, column in layer.columns.items():
        own = visible.get(f"{layer.name}/{name}")
        kept = mask if own is None else mask & _mask(layer, own, mask.shape)
        columns[name] = np.where(
            kept.reshape(-1, *[1] * (column.ndim - 1)), column, np.zeros(1, column.dtype)
        )
    columns["absent"] = columns["absent"] | ~mask
    text = (
        tuple(text if kept else "" for text, kept in zip(layer.text, mask, strict=True)) if layer.text else ()
    )
    return layer._replace(columns=columns, text=text)


def _mask(layer: Layer, shown: Any, shape: tuple[int, ...]) -> Array:
    if isinstance(shown, bool | np.bool_):
        return np.full(shape, bool(shown))
    mask = np.asarray(shown)
    if mask.shape != shape or mask.dtype != bool:
        raise UserError(f"visible: {layer.name} has mask {mask.dtype}{mask.shape}; give True or bool{shape}")
    return mask
