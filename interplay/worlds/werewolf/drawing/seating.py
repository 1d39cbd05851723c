"""Places around the table: equal distances along an ellipse, or along nested ellipses for a crowd."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

MOST_ON_A_RING = 44
CLOSEST, FARTHEST = 0.3, 3.0  # tried distances between neighbours in a crowd
_FINE = 2048  # points along an ellipse


class Seating(NamedTuple):
    """Positions of the seats."""

    x: np.ndarray  # (n,) centres
    y: np.ndarray
    out_x: np.ndarray  # (n,) outward unit vectors
    out_y: np.ndarray
    apart: float  # distance between neighbours, along the ring
    radius: float  # of the disc of a seat
    table: tuple[float, float]  # half axes of the table
    crowded: bool  # whether there are several rings


def seats(
    n: int, centre: tuple[float, float], half: tuple[float, float], largest: float, share: float
) -> Seating:
    """Places `n` seats clockwise from the top; a crowd fills the outermost ring first.

    Args:
        centre: of the table.
        half: half axes of the outermost ring.
        largest: maximal radius of a disc.
        share: maximal radius as a share of the distance between neighbours.

    Example:
        >>> four = seats(4, centre=(0, 0), half=(2, 2), largest=1, share=0.3)
        >>> [(round(float(x)), round(float(y))) for x, y in zip(four.x, four.y)]
        [(0, -2), (2, 0), (0, 2), (-2, 0)]
    """
    if n <= MOST_ON_A_RING:
        rings, numbers, apart = [half], [n], _around(half) / n
    else:
        rings, numbers, apart = _crowd(n, half)
    places = [_along(number, ring) for number, ring in zip(numbers, rings, strict=True)]
    x, y, out_x, out_y = (np.concatenate(parts) for parts in zip(*places, strict=True))
    radius = min(largest, share * apart)
    inside = 2.2 * radius + 0.2
    table = (max(rings[-1][0] - inside, 0.5), max(rings[-1][1] - inside, 0.5))
    return Seating(centre[0] + x, centre[1] + y, out_x, out_y, apart, radius, table, n > MOST_ON_A_RING)


def beside(
    table: Seating, width: float, height: float, gap: float, left: float, right: float
) -> tuple[np.ndarray, np.ndarray]:
    """Centres of blocks of `width` x `height`, one per seat, which overlap neither discs nor each other.

    Blocks lie above the upper half of the ring and below the lower one. At the ring's ends they lie to the left or right if that fits
    between `left` and `right`; in a crowd they lie below the discs.
    """
    rim = gap * table.radius
    if table.crowded:
        return table.x, table.y + rim + height / 2
    room = np.where(table.out_x > 0, right - table.x, table.x - left) - rim
    sideways = (np.abs(table.out_x) > 0.62) & (room >= width)
    down = np.where(table.out_y < 0, -1.0, 1.0)
    x = np.where(sideways, table.x + np.sign(table.out_x) * (rim + width / 2), table.x)
    y = np.where(sideways, table.y, table.y + down * (rim + height / 2))
    return np.clip(x, left + width / 2, right - width / 2), y


def _crowd(n: int, half: tuple[float, float]) -> tuple[list[tuple[float, float]], list[int], float]:
    """Nested rings with the largest distance at which all seats fit."""
    for apart in np.arange(FARTHEST, CLOSEST, -0.02):
        count = int(0.55 * half[1] / apart) + 1
        rings = [(half[0] - k * apart, half[1] - k * apart) for k in range(count)]
        holds = [int(_around(ring) / apart) for ring in rings]
        if sum(holds) >= n:
            break
    used = int(np.searchsorted(np.cumsum(holds), n)) + 1
    numbers = [*holds[: used - 1], n - sum(holds[: used - 1])]
    return rings[:used], numbers, float(apart)


def _ellipse(half: tuple[float, float]) -> tuple[np.ndarray, np.ndarray]:
    """Angles clockwise from the top, and the arc length to each."""
    turn = np.linspace(0.0, 2 * np.pi, _FINE + 1)
    x, y = half[0] * np.sin(turn), -half[1] * np.cos(turn)
    return turn, np.concatenate([[0.0], np.cumsum(np.hypot(np.diff(x), np.diff(y)))])


def _around(half: tuple[float, float]) -> float:
    return float(_ellipse(half)[1][-1])


def _along(n: int, half: tuple[float, float]) -> tuple[np.ndarray, ...]:
    """Points at equal distances clockwise from the top, and the outward unit vector at each."""
    turn, arc = _ellipse(half)
    at = np.interp(np.arange(n) / n * arc[-1], arc, turn)
    normal_x, normal_y = np.sin(at) / half[0], -np.cos(at) / half[1]
    length = np.hypot(normal_x, normal_y)
    return half[0] * np.sin(at), -half[1] * np.cos(at), normal_x / length, normal_y / length
