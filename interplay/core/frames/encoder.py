"""Scenes to frames."""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Iterator
from typing import Any

from interplay.core.errors import UserError
from interplay.core.frames.codings import DIFFERENCE, FULL, PATCH, SAME, Layout, Raw
from interplay.core.frames.packing import Packer
from interplay.core.frames.schema import PICTURE, Schema, schema_of
from interplay.core.layers import Layer
from interplay.core.reading import DIGITS
from interplay.core.scene import Scene

KEY, CHANGE = 1, 2
FRAME_HEAD = struct.Struct("<BBHIII")  # kind, flags, layers, tick, base tick, bytes of all layers
LAYER_HEAD = struct.Struct("<BBHII")  # number, coding, columns that travel as f4, rows, bytes
MAX_TEXT_BYTES = 4 * 2**20  # of a layer's texts in a frame
WORDS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}  # what JSON has no number for

Part = Raw | tuple[Any, ...]


class Encoder:
    """Makes the frames of one source; each is relative to the one before.

    Args:
        first: scene with the layers, columns and constants of every later one.
        recording: frames will be compressed: small differences instead of numbers.

    Attributes:
        schema: the description of the frames for a `Decoder`.
    """

    def __init__(self, first: Scene, recording: bool = True) -> None:
        self.schema: Schema = schema_of(first)
        self._first, self._recording = first, recording
        self._packers = {layer.id: Packer(layer) for layer in self.schema.layers if layer.id is not None}
        self._held: list[Part] = []
        self._tick = 0

    def encode(
        self, scene: Scene, tick: int, *, key: bool = False, first: bool = False, last: bool = False
    ) -> bytes:
        """The frame of a scene."""
        self._check(scene)
        key = key or not self._held
        parts = self._parts(scene, key)
        coded = [
            self._layer(number, part, None if key else self._held[number])
            for number, part in enumerate(parts)
        ]
        body = b"".join(coded)
        base = tick if key else self._tick
        head = FRAME_HEAD.pack(KEY if key else CHANGE, first | last << 1, len(coded), tick, base, len(body))
        self._held, self._tick = parts, tick
        return head + body

    def _check(self, scene: Scene) -> None:
        first = self._first
        scene.check_follows(first)
        if (scene.bounds, scene.up) != (first.bounds, first.up):
            raise UserError(
                f"scene: bounds {scene.bounds}, {scene.up} after {first.bounds}, {first.up}; "
                "call canvas.show with the same numbers in every frame"
            )
        if (scene.picture is None) != (first.picture is None):
            raise UserError("scene: a picture in some frames and none in others; draw one in all of them")

    def _parts(self, scene: Scene, key: bool) -> list[Part]:
        parts: list[Part] = []
        drawn: list[Layer] = [*scene.layers]
        if scene.picture is not None:
            height, width, _ = scene.picture.shape
            drawn.append(Layer(PICTURE, PICTURE, height * width, {"rgb": scene.picture}, {}))
        for layer, declared in zip(drawn, self.schema.layers, strict=True):
            if declared.id is not None:
                held = None if key else self._held[declared.id]
                wide = held.wide if isinstance(held, Raw) else 0
                parts.append(self._packers[declared.id].pack(layer.columns, layer.rows, wide))
            if declared.text is not None:
                parts.append(layer.text)
            elif layer.text:
                raise UserError(f'canvas layer "{layer.name}": labels came late; pass them in every frame')
        return parts

    def _layer(self, number: int, part: Part, held: Part | None) -> bytes:
        if isinstance(part, Raw):
            assert held is None or isinstance(held, Raw)
            coding, payload = self._coded(self._packers[number].layout, part, held)
            return LAYER_HEAD.pack(number, coding, part.wide, part.rows, len(payload)) + payload
        if isinstance(held, tuple) and not isinstance(held, Raw) and _same(held, part):
            return LAYER_HEAD.pack(number, SAME, 0, len(part), 0)
        payload = write_text(part)
        return LAYER_HEAD.pack(number, FULL, 0, len(part), len(payload)) + payload

    def _coded(self, layout: Layout, new: Raw, old: Raw | None) -> tuple[int, bytes]:
        if old is None or (old.rows, old.wide) != (new.rows, new.wide):
            return FULL, layout.write_full(new)
        changed = layout.changed(old, new)
        if not len(changed):
            return SAME, b""
        if layout.patch_size(len(changed), new.wide) < layout.full_size(new.rows, new.wide):
            return PATCH, layout.write_patch(new, changed)
        if self._recording:
            return DIFFERENCE, layout.write_difference(old, new)
        return FULL, layout.write_full(new)


def write_text(rows: tuple[Any, ...]) -> bytes:
    """Labels, or a table's cells, as JSON padded with spaces to whole words."""
    try:
        text = json.dumps(list(_sayable(rows)), ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:
        raise UserError("scene: a text holds half a character; fix it before it is drawn") from None
    if len(text) > MAX_TEXT_BYTES:
        raise UserError(f"scene: texts of a layer have {len(text):,} bytes; a frame holds {MAX_TEXT_BYTES:,}")
    return text + b" " * (-len(text) % 4)


def _same(old: tuple[Any, ...], new: tuple[Any, ...]) -> bool:
    """Whether texts are the same: 1, 1.0 and True are equal, but not written alike."""
    if old != new or not old or isinstance(old[0], str):
        return old == new
    return all(list(map(type, a)) == list(map(type, b)) for a, b in zip(old, new, strict=True))


def _sayable(rows: tuple[Any, ...]) -> Iterator[Any]:
    """The value with ``{"number": "nan"}`` and the like for numbers that strict JSON lacks."""
    for cell in rows:
        if isinstance(cell, tuple):
            yield list(_sayable(cell))
        elif isinstance(cell, float) and not math.isfinite(cell):
            yield {"number": str(cell)}
        elif type(cell) is int and abs(cell) >= 10**DIGITS:
            raise UserError(f"scene: a cell is a whole number of more than {DIGITS} digits; draw it as text")
        else:
            yield cell
