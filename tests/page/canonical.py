"""A scene as bytes that Python and the page's script make alike, so that their digests can be compared."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator
from typing import Any

import numpy as np

from interplay.core.layers import Layer
from interplay.core.scene import Scene


def digest(scene: Scene) -> str:
    """SHA-256 of `scene_bytes`."""
    return hashlib.sha256(scene_bytes(scene)).hexdigest()


def scene_bytes(scene: Scene) -> bytes:
    """Every layer with its columns and texts; interplay/view/web/tests/canonical.ts does the same."""
    layers = list(scene.layers)
    if scene.picture is not None:
        height, width, _ = scene.picture.shape
        layers.append(Layer("picture", "picture", height * width, {"rgb": scene.picture}, {}))
    return b"".join(part for layer in layers for part in _layer_parts(layer))


def _layer_parts(layer: Layer) -> Iterator[bytes]:
    yield f"{layer.name}\n{layer.kind}\n{layer.rows}\n".encode()
    for name in sorted(layer.columns):
        column = np.ascontiguousarray(layer.columns[name])
        yield f"{name}\n".encode() + column.tobytes()
    for row in layer.text:
        for cell in (row,) if isinstance(row, str) else row:
            yield _cell_bytes(cell)


def _cell_bytes(cell: Any) -> bytes:
    if isinstance(cell, str):
        return b"s" + cell.encode() + b"\n"
    if cell is None or isinstance(cell, bool):
        return f"{cell}\n".encode()
    # Which of JSON's numbers was a float, the script cannot tell.
    return b"f" + (b"nan     " if cell != cell else struct.pack("<d", float(cell)))
