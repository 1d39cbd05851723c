"""Arrows between players and the players they named, bent towards the middle of the table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from interplay.worlds.werewolf.drawing import panels
from interplay.worlds.werewolf.drawing.seating import Seating

if TYPE_CHECKING:
    from interplay.core.scene import Canvas
    from interplay.worlds.werewolf.drawing.spectator import Moment

ARROW = ("#39424f", "#c9cfe4")  # day, night
CHOSEN = ("#b3261e", "#ff8a5c")
THIN, PLAIN, THICK = 0.04, 0.1, 0.18  # widths, of a seat's radius
BENT = 0.3  # share of the distance to the middle
FURTHER = 2  # names drawn after the first
_BEND = np.linspace(0.0, 1.0, 13)  # points along an arrow


def draw_names(canvas: Canvas, moment: Moment, table: Seating, middle: tuple[float, float]) -> None:
    """Arrows to first names (thick if chosen), thin lines to further ones, rings for self-votes."""
    n, b = moment.names.shape
    colour, fresh = panels.shade(ARROW, moment, n), np.ones(n, bool)
    opacity = 0.4 if table.crowded else 1.0
    for place in range(1, min(b, 1 + FURTHER)):
        name = moment.names[:, place]
        x, y = outlines(table, name, middle, THIN * table.radius, head=False)
        canvas.polygons(
            f"name {place + 1}", x, y, colour, absent=_nowhere(name), jump=fresh, opacity=0.45 * opacity
        )
    first = moment.names[:, 0]
    for layer, width, wanted, shades in (
        ("names", PLAIN, first != moment.chosen, ARROW),
        ("names of the chosen", THICK, first == moment.chosen, CHOSEN),
    ):
        x, y = outlines(table, first, middle, width * table.radius)
        canvas.polygons(
            layer,
            x,
            y,
            panels.shade(shades, moment, n),
            absent=_nowhere(first) | ~wanted,
            jump=fresh,
            opacity=opacity,
        )
    canvas.circles(
        "own names",
        table.x,
        table.y,
        1.28 * table.radius,
        colour=colour,
        fill=False,
        dashed=True,
        width=PLAIN * table.radius,
        absent=first != np.arange(n),
    )


def outlines(
    table: Seating, name: np.ndarray, middle: tuple[float, float], width: float, head: bool = True
) -> tuple[np.ndarray, np.ndarray]:
    """Arrows from each seat's rim to that of the seat `name` (n,), as polygons: (n, V) x and y; rows of -1 are meaningless."""
    place = np.stack([table.x, table.y], axis=1)
    start, end = place, place[np.maximum(name, 0)]
    halfway = (start + end) / 2
    # A little to the left, so that two seats naming each other have separate arrows.
    aside = _unit(end - start)[:, ::-1] * (1, -1) * 0.4 * table.radius
    inwards = BENT * (np.array(middle) - halfway)
    most = 0.4 * np.hypot(*(end - start).T) / np.maximum(np.hypot(*inwards.T), 1e-9)
    bend = halfway + np.minimum(most, 1.0)[:, None] * inwards + aside
    start = start + table.radius * _unit(bend - start)
    inbound = _unit(end - bend)
    tip = end - 1.12 * table.radius * inbound
    long = (0.24 * table.radius + 1.8 * width) * head
    neck = tip - long * inbound
    t = _BEND[:, None, None]
    points = (1 - t) ** 2 * start + 2 * t * (1 - t) * bend + t**2 * neck
    side = _unit(np.gradient(points, axis=0))[..., ::-1] * (-1, 1) * width / 2
    across = inbound[:, ::-1] * (-1, 1) * 0.55 * long
    corners = [*(points + side), neck + across, tip, neck - across, *(points - side)[::-1]]
    outline = np.stack(corners, axis=1)
    return outline[..., 0], outline[..., 1]


def _unit(vector: np.ndarray) -> np.ndarray:
    length: np.ndarray = np.maximum(np.hypot(vector[..., 0], vector[..., 1]), 1e-9)
    return vector / length[..., None]


def _nowhere(name: np.ndarray) -> np.ndarray:
    found: np.ndarray = (name < 0) | (name == np.arange(len(name)))
    return found
