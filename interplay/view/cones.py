"""Cones of sight cut off at obstacles, by the rays of `interplay.planar.sight`.

A scene names the layers that block a cone; the renderer cuts it, so recordings store nothing for it.
interplay/view/web/src/cones.ts does the same for the page; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from interplay.core.layers import Layer
from interplay.view.palette import MARKS

RAYS: int = MARKS["rays"]  # spread evenly over a cone, besides those past corners and rims
PAST: float = MARKS["past"]  # rad by which a ray misses a corner
ROUND: list[float] = MARKS["round"]  # where rays meet a disc, as a share of its half width seen from the eye
MOST: int = MARKS["most_pairs"]  # pairs of eye and obstacle; with more, cones are drawn uncut


class Eye(NamedTuple):
    """Apex of a cone: place, heading (rad), depth and full angle (rad)."""

    x: float
    y: float
    angle: float
    depth: float
    field: float


class Blockers(NamedTuple):
    """Obstacles of a cone.

    Attributes:
        discs: (D, 3) float, x, y, radius.
        boxes: (B, 5) float, x, y, half extents, angle.
        rooms: (B,) bool, outlined boxes, which block from the inside.
    """

    discs: np.ndarray
    boxes: np.ndarray
    rooms: np.ndarray


def blockers(layer: Layer, layers: Sequence[Layer]) -> Blockers | None:
    """Obstacles of the cones of `layer`; None for none, or more than `MOST` pairs.

    Args:
        layer: its option ``sight.blockers`` names layers of circles and boxes.
        layers: of the scene. Absent and dimmed rows block nothing.
    """
    named = [other for other in layers if other.name in layer.options.get("sight.blockers", ())]
    discs, boxes, rooms = [np.empty((0, 3))], [np.empty((0, 5))], [np.empty(0, bool)]
    for other in named:
        there = ~(other.value("absent", False) | other.value("dimmed", False))
        if other.kind == "circles":
            discs.append(_columns(other, ("x", "y", "radius"))[there])
        if other.kind == "boxes":
            found = _columns(other, ("x", "y", "half_x", "half_y", "angle"))[there]
            room = not other.options["fill"]
            found[:, 2:4] -= room * other.options["width"] / 2
            boxes.append(found)
            rooms.append(np.full(len(found), room))
    found = Blockers(np.concatenate(discs), np.concatenate(boxes), np.concatenate(rooms))
    count = len(found.discs) + len(found.boxes)
    return found if 0 < count * layer.rows <= MOST else None


def cone(eye: Eye, chords: int, blocked: Blockers | None) -> np.ndarray:
    """The corners of a cone, (P, 2), the eye first; `chords` is the number of pieces of the arc."""
    x, y, angle, depth, field = eye
    turns = np.linspace(-field / 2, field / 2, chords + 1)
    if blocked is None or depth <= 0 or not 0 < field < np.pi * chords:
        reach = np.full(chords + 1, depth)
    else:
        near = _near(blocked, eye)
        turns = _turns(near, eye, turns)
        chord = field / chords
        within = np.clip((turns + field / 2) % chord, 0.0, chord)
        rim = depth * np.cos(chord / 2) / np.cos(within - chord / 2)
        reach = np.minimum(rim, _first(near, x, y, angle + turns))
    way = angle + turns
    rim_points = np.array([x, y]) + reach[:, None] * np.stack([np.cos(way), np.sin(way)], axis=1)
    return np.vstack([[[x, y]], rim_points])


def _columns(layer: Layer, names: Sequence[str]) -> np.ndarray:
    return np.stack([np.asarray(layer.value(name), float) for name in names], axis=1)


def _near(blocked: Blockers, eye: Eye) -> Blockers:
    """Obstacles within reach: those that do not contain the eye, and rooms that do."""
    discs, boxes, rooms = blocked
    x, y, depth = eye.x, eye.y, eye.depth
    far = np.hypot(discs[:, 0] - x, discs[:, 1] - y)
    discs = discs[(far >= discs[:, 2]) & (far - discs[:, 2] < depth)]
    at = np.abs(_own(boxes, x - boxes[:, 0], y - boxes[:, 1]))
    inside = (at <= boxes[:, 2:4]).all(axis=1)
    close = np.hypot(boxes[:, 0] - x, boxes[:, 1] - y) - np.hypot(boxes[:, 2], boxes[:, 3]) < depth
    kept = close & (inside == rooms)
    return Blockers(discs, boxes[kept], rooms[kept])


def _own(boxes: np.ndarray, dx: np.ndarray, dy: np.ndarray) -> np.ndarray:
    """Displacements (..., B) in each box's own frame, (..., B, 2)."""
    c, s = np.cos(boxes[:, 4]), np.sin(boxes[:, 4])
    return np.stack([c * dx + s * dy, c * dy - s * dx], axis=-1)


def _turns(near: Blockers, eye: Eye, turns: np.ndarray) -> np.ndarray:
    """Angles of the rays from the heading: evenly spaced, and past each corner and rim in the field."""
    boxes, discs = near.boxes, near.discs
    x, y, angle, _, field = eye
    c, s = np.cos(boxes[:, 4]), np.sin(boxes[:, 4])
    ways = []
    for i, j in ((-1, -1), (1, -1), (1, 1), (-1, 1)):
        hx, hy = i * boxes[:, 2], j * boxes[:, 3]
        corner = np.arctan2(boxes[:, 1] - y + s * hx + c * hy, boxes[:, 0] - x + c * hx - s * hy)
        ways += [corner - PAST, corner + PAST]
    far = np.hypot(discs[:, 0] - x, discs[:, 1] - y)
    half = np.arcsin(np.minimum(discs[:, 2] / np.maximum(far, 1e-300), 1.0))
    middle = np.arctan2(discs[:, 1] - y, discs[:, 0] - x)
    ways += [middle + part * half for part in ROUND] + [middle - half - PAST, middle + half + PAST]
    past = (np.concatenate(ways) - angle + np.pi) % (2 * np.pi) - np.pi
    even = np.linspace(-field / 2, field / 2, RAYS + 1)
    return np.sort(np.concatenate([turns, even, past[np.abs(past) < field / 2]]))


def _first(near: Blockers, x: float, y: float, way: np.ndarray) -> np.ndarray:
    """Distance of the first obstacle along rays (R,); infinity for none."""
    c, s = np.cos(way)[:, None], np.sin(way)[:, None]
    dx, dy = near.discs[:, 0] - x, near.discs[:, 1] - y
    along = c * dx + s * dy
    room = near.discs[:, 2] ** 2 - (c * dy - s * dx) ** 2
    met = np.where((along > 0) & (room >= 0), along - np.sqrt(np.maximum(room, 0.0)), np.inf)
    start = _own(near.boxes, x - near.boxes[:, 0], y - near.boxes[:, 1])
    step = _own(near.boxes, c, s)
    half = near.boxes[:, 2:4]
    step = np.where(np.abs(step) < 1e-12, 1e-12, step)
    enter = ((-np.sign(step) * half - start) / step).max(axis=-1)
    leave = ((np.sign(step) * half - start) / step).min(axis=-1)
    boxed = np.where(near.rooms, leave, np.where((enter >= 0) & (enter <= leave), enter, np.inf))
    return np.minimum(met.min(axis=1, initial=np.inf), boxed.min(axis=1, initial=np.inf))
