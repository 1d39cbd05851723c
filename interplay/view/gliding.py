"""Interpolates scenes between two steps, as the page does (interplay/view/web/src/glide.ts)."""

from __future__ import annotations

import numpy as np

from interplay.core.layers import Layer
from interplay.core.scene import Scene

PLACES = ("x", "y", "x0", "y0", "x1", "y1")
TURN = 2 * np.pi


def glide(scene: Scene, following: Scene, share: float) -> Scene:
    """`scene` with places and angles moved towards those of the next scene of the episode.

    Angles turn in the shorter direction. Rows that appear, disappear or jump do not move.

    Args:
        share: of the distance, 0 to 1.
    """
    layers = tuple(
        _moved(layer, after, share) if _alike(layer, after) else layer
        for layer, after in zip(scene.layers, following.layers, strict=False)
    )
    return scene._replace(layers=layers + scene.layers[len(layers) :])


def moves(scene: Scene, following: Scene) -> bool:
    """Whether anything moves between the two scenes."""
    if scene.picture is not None:
        return False
    half = glide(scene, following, 0.5)
    return any(
        (after.columns[key] != layer.columns[key]).any()
        for layer, after in zip(scene.layers, half.layers, strict=True)
        for key in (*PLACES, "angle")
        if key in layer.columns
    )


def _alike(layer: Layer, after: Layer) -> bool:
    return (layer.name, layer.kind, layer.rows) == (after.name, after.kind, after.rows)


def _moved(layer: Layer, after: Layer, share: float) -> Layer:
    flags = (layer.columns.get("absent"), after.columns.get("absent"), after.columns.get("jump"))
    still = np.zeros(layer.rows, bool)
    for flag in flags:
        still |= False if flag is None else flag
    columns = dict(layer.columns)
    for key in (*PLACES, "angle"):
        old, new = columns.get(key), after.columns.get(key)
        if old is None or new is None or old.shape != new.shape:
            continue
        change = new - old
        if key == "angle":
            change = change - TURN * np.rint(change / TURN)
        stays = still if old.ndim == 1 else still[:, None]
        columns[key] = np.where(stays, old, old + change * np.float32(share))
    return layer._replace(columns=columns)
