"""The map: buildings, fences, start and waypoint, read from a JSON file (`map.json`, or one of your own)."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, NamedTuple

from interplay.core.errors import UserError
from interplay.core.reading import SMALL, read_json
from interplay.worlds.navigation.config import SIDE
from interplay.worlds.navigation.geometry import Point, Segment, distance_to

MAP = Path(__file__).with_name("map.json")


class Rectangle(NamedTuple):
    """A building: closed, its sides parallel to the axes; x to the east, y to the north, in units."""

    west: float
    south: float
    east: float
    north: float


class Town(NamedTuple):
    """The map in the square 0..`SIDE`, in units.

    Attributes:
        buildings: block walkers.
        fences: block walkers; segments.
        start: the middle of the square in which episodes begin.
        spread: half the side of that square.
        waypoint: the destination.
        radius: distance that counts as arrival.
        walls: all blocking segments: fences, sides of buildings, the border of the square.
    """

    buildings: tuple[Rectangle, ...]
    fences: tuple[Segment, ...]
    start: Point
    spread: float
    waypoint: Point
    radius: float
    walls: tuple[Segment, ...]


def load_town(path: Path | str = MAP) -> Town:
    """Reads a map.

    Raises:
        UserError: if it is unreadable or incomplete, or if start or waypoint are blocked.
    """
    try:
        data = read_json(path, SMALL)
    except UserError as error:
        raise UserError(f"map {path}: cannot be read ({error}); give a JSON file like {MAP}") from None
    return _check(_build(path, data), path)


def _build(path: Path | str, data: Any) -> Town:
    if not isinstance(data, dict):
        raise UserError(f"map {path}: is no object; write it like {MAP}")
    buildings = tuple(Rectangle(*row) for row in _rows(path, data, "buildings"))
    fences: Any = tuple(_rows(path, data, "fences"))
    start, waypoint = (
        _row(path, "start", data.get("start"), 2),
        _row(path, "waypoint", data.get("waypoint"), 2),
    )
    sizes = _row(path, "spread and radius", [data.get("spread"), data.get("radius")], 2)
    walls = [*fences, *_sides(Rectangle(0.0, 0.0, SIDE, SIDE))]
    for building in buildings:
        walls += _sides(building)
    return Town(
        buildings, fences, (start[0], start[1]), sizes[0], (waypoint[0], waypoint[1]), sizes[1], tuple(walls)
    )


def _rows(path: Path | str, data: dict[str, Any], name: str) -> list[tuple[float, ...]]:
    rows = data.get(name)
    if not isinstance(rows, list):
        raise UserError(f"map {path}: {name} is {rows!r}; give a list of rows of four numbers")
    return [_row(path, f"{name}[{i}]", row, 4) for i, row in enumerate(rows)]


def _row(path: Path | str, name: str, row: Any, length: int) -> tuple[float, ...]:
    fits = isinstance(row, list) and len(row) == length
    if not fits or not all(type(x) in (int, float) and 0 <= x <= SIDE for x in row):
        raise UserError(f"map {path}: {name} is {row!r}; give {length} numbers in 0..{SIDE:g}")
    return tuple(map(float, row))


def _sides(block: Rectangle) -> list[Segment]:
    west, south, east, north = block
    return [
        (west, south, east, south),
        (east, south, east, north),
        (east, north, west, north),
        (west, north, west, south),
    ]


def _check(town: Town, path: Path | str) -> Town:
    for i, block in enumerate(town.buildings):
        if block.west >= block.east or block.south >= block.north:
            raise UserError(f"map {path}: buildings[{i}] is {tuple(block)}; give west, south, east, north")
        if _gap(town.start, block) <= town.spread * math.sqrt(2):
            raise UserError(f"map {path}: buildings[{i}] stands where episodes start; move one of them")
        if _gap(town.waypoint, block) == 0:
            raise UserError(f"map {path}: buildings[{i}] stands on the waypoint; move one of them")
    for wall in town.walls:
        if distance_to(town.start, wall) <= town.spread * math.sqrt(2):
            raise UserError(
                f"map {path}: wall {wall} stands where episodes start; move it or lower the spread"
            )
    if town.radius <= 0:
        raise UserError(f"map {path}: radius is {town.radius}; give a number above 0")
    return town


def _gap(point: Point, block: Rectangle) -> float:
    """Distance of a point from a building; 0 inside."""
    across = max(block.west - point[0], 0.0, point[0] - block.east)
    along = max(block.south - point[1], 0.0, point[1] - block.north)
    return math.hypot(across, along)
