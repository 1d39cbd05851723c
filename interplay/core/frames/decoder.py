"""Frames to scenes, through the canvas, so that a file is checked as a world's drawing is."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from interplay.core.errors import UserError, one_line
from interplay.core.frames.codings import FULL, SAME, Raw
from interplay.core.frames.encoder import CHANGE, FRAME_HEAD, KEY, LAYER_HEAD, MAX_TEXT_BYTES, WORDS, Part
from interplay.core.frames.packing import Packer
from interplay.core.frames.schema import PICTURE, LayerSchema, Schema
from interplay.core.reading import parse_json
from interplay.core.scene import Canvas, Scene


class Head(NamedTuple):
    """The head of a frame.

    Attributes:
        key: it can be read without the frames before it.
        tick: its number.
        first, last: whether it is an episode's first or last one.
    """

    key: bool
    tick: int
    first: bool
    last: bool


class Frame(NamedTuple):
    """A decoded frame: see `Head`, and the scene."""

    tick: int
    first: bool
    last: bool
    scene: Scene


class Decoder:
    """Reads the frames of one source, which need not be trusted."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self._packers = {layer.id: Packer(layer) for layer in schema.layers if layer.id is not None}
        texts = {layer.text for layer in schema.layers if layer.text is not None}
        self._count = len(self._packers) + len(texts)
        self._held: list[Part] = []
        self._tick = 0

    def decode(self, frame: bytes | memoryview) -> Head:
        """Reads one frame; `scene` draws the result. After an error a key frame is needed.

        Raises:
            UserError: for bytes that are no frame of this schema, or a change of another frame than the last one.
        """
        data = memoryview(frame)
        head, layers, base = _read_head(data)
        held, self._held = self._held, []
        if not head.key and (not held or base != self._tick):
            raise UserError(f"scene frame {head.tick} changes tick {base}, not at hand; begin at a key frame")
        if layers != self._count:
            raise UserError(f"scene frame {head.tick} has {layers} layers, its schema {self._count}")
        parts: list[Part] = []
        at = FRAME_HEAD.size
        for expected in range(layers):
            if at + LAYER_HEAD.size > len(data):
                raise UserError(f"scene frame {head.tick} ends within a layer")
            number, coding, wide, rows, size = LAYER_HEAD.unpack_from(data, at)
            at += LAYER_HEAD.size
            payload = data[at : at + size]
            if number != expected or len(payload) != size or size % 4 or (head.key and coding != FULL):
                raise UserError(f"scene frame {head.tick}: layer {expected} is damaged")
            old = None if head.key else held[number]
            parts.append(self._part(number, coding, wide, rows, payload, old))
            at += size
        if at != len(data):
            raise UserError(f"scene frame {head.tick} is longer than its layers")
        self._held, self._tick = parts, head.tick
        return head

    def scene(self) -> Scene:
        """Draws what the frames so far lead to."""
        if not self._held and self._count:
            raise UserError("scene: no frame was read yet; begin at a key frame")
        canvas = Canvas(self.schema.bounds, self.schema.up)
        with np.errstate(over="ignore"):  # what became infinite is refused by the canvas
            for layer in self.schema.layers:
                self._draw(canvas, layer)
        return canvas.scene()

    def _part(
        self, number: int, coding: int, wide: int, rows: int, payload: memoryview, old: Part | None
    ) -> Part:
        packer = self._packers.get(number)
        if packer is not None:
            if wide >> packer.scaled or (old is not None and not isinstance(old, Raw)):
                raise UserError(f"scene frame: layer {number} widens columns that it has not")
            return packer.layout.read(coding, old, rows, wide, payload)
        if coding == SAME and old is not None and not payload and rows == len(old):
            return old
        texts = read_text(payload) if coding == FULL else ()
        if coding != FULL or len(texts) != rows or wide:
            raise UserError(f"scene frame: the texts of layer {number} are damaged")
        return texts

    def _draw(self, canvas: Canvas, layer: LayerSchema) -> None:
        try:
            columns: dict[str, Any] = {}
            if layer.id is not None:
                raw = self._held[layer.id]
                assert isinstance(raw, Raw)
                columns = self._packers[layer.id].unpack(raw)
            text = () if layer.text is None else self._held[layer.text]
            if layer.kind == PICTURE:
                canvas.picture(columns["rgb"].reshape(-1, layer.width, 3))
            else:
                getattr(canvas, layer.kind)(layer.name, **_arguments(layer, columns, tuple(text)))
        except UserError:
            raise
        except (TypeError, ValueError, KeyError, IndexError, AttributeError, OverflowError) as error:
            words = one_line(error)[:120]
            raise UserError(f'canvas layer "{layer.name}": no canvas draws it ({words})') from None


def split_frames(data: bytes | memoryview) -> Iterator[memoryview]:
    """Splits bytes into consecutive frames."""
    left = memoryview(data)
    while left:
        _read_head(left)
        size = FRAME_HEAD.size + FRAME_HEAD.unpack_from(left)[5]
        if size > len(left):
            raise UserError("scene frame: it ends too early")
        yield left[:size]
        left = left[size:]


def read_text(payload: bytes | memoryview) -> tuple[Any, ...]:
    """Labels or cells out of a frame."""
    if len(payload) > MAX_TEXT_BYTES:
        raise UserError(f"scene frame: a text of {len(payload):,} bytes; {MAX_TEXT_BYTES:,} are read at most")
    try:
        rows = parse_json(bytes(payload))
    except ValueError as error:
        raise UserError(f"scene frame: a text is not JSON ({error})") from None
    if not isinstance(rows, list):
        raise UserError("scene frame: a text is no list")
    return tuple(tuple(map(_cell, row)) if isinstance(row, list) else row for row in rows)


def _cell(cell: Any) -> Any:
    if isinstance(cell, dict) and cell.get("number") in WORDS:
        return WORDS[cell["number"]]
    return cell


def _read_head(data: memoryview) -> tuple[Head, int, int]:
    """The head, the number of layers, and the tick that the frame is relative to."""
    if len(data) < FRAME_HEAD.size:
        raise UserError("scene frame: it ends within its head")
    kind, flags, layers, tick, base, _ = FRAME_HEAD.unpack_from(data)
    if kind not in (KEY, CHANGE) or flags > 3 or (kind == KEY and base != tick):
        raise UserError(f"scene frame: kind {kind}, flags {flags} are none of this format")
    return Head(kind == KEY, tick, bool(flags & 1), bool(flags & 2)), layers, base


@cache
def _parameters(kind: str) -> frozenset[str]:
    return frozenset(inspect.signature(getattr(Canvas, kind)).parameters) - {"self", "name"}


def _arguments(layer: LayerSchema, columns: dict[str, Any], text: tuple[Any, ...]) -> dict[str, Any]:
    """The arguments of this version's canvas; a later version may have more (docs/specs/viewer.md 5)."""
    found = _all_arguments(layer, columns, text)
    return {key: value for key, value in found.items() if key in _parameters(layer.kind)}


def _all_arguments(layer: LayerSchema, columns: dict[str, Any], text: tuple[Any, ...]) -> dict[str, Any]:
    found = {key: tuple(value) if isinstance(value, list) else value for key, value in layer.options.items()}
    colours, words = found.pop("legend.colours", ()), found.get("legend")
    if isinstance(colours, tuple) and isinstance(words, tuple) and colours:
        pairs = list(zip(words, colours, strict=False))
        if all(isinstance(one, str) for pair in pairs for one in pair):
            found["legend"] = dict(pairs)
    if layer.kind == "table":
        return {"columns": found.pop("titles"), "rows": text, **found}
    found |= columns
    if "rgb" in found:
        found["colour"] = found.pop("rgb")
    if layer.kind == "tiles":
        found["ids"] = found.pop("tile")
    if layer.kind == "labels":
        found["texts"] = text
    if layer.kind == "circles":
        found["bars"] = {
            name: (found.pop(f"bar.{name}"), found.pop(f"bar.{name}.full")) for name in found.pop("bars", ())
        }
        found["marks"] = {name: found.pop(f"mark.{name}") for name in found.pop("marks", ())}
        if "sight.chords" in found:
            parts = ("depth", "angle", "chords", *("blockers",) * ("sight.blockers" in found))
            found["sight"] = tuple(found.pop(f"sight.{part}") for part in parts)
        if text:
            found["labels"] = text
    return found
