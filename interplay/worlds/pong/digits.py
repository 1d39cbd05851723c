"""Scores above the field as digits of blocks, the viewer's own on the left (specification 2.5)."""

from __future__ import annotations

import numpy as np

from interplay.worlds.pong.config import WIDTH

BLOCK = 4  # pixels
BAND = (8, 28)  # rows of the picture with digits
CENTRES = (42, 118)  # x of the centres of the own and the other's score
COLON = (12, 20), (78, 82)  # first rows of its dots; their columns

# Five rows of three blocks, as bits.
SHAPES = (
    (7, 5, 5, 5, 7),
    (2, 6, 2, 2, 7),
    (7, 1, 7, 4, 7),
    (7, 1, 7, 1, 7),
    (5, 5, 7, 1, 1),
    (7, 4, 7, 1, 7),
    (7, 4, 7, 5, 7),
    (7, 1, 1, 1, 1),
    (7, 5, 7, 5, 7),
    (7, 5, 7, 1, 7),
)
_WIDE = 3 * BLOCK  # of a digit
_STEP = 4 * BLOCK  # from one digit to the next


def ink(own: int, other: int) -> np.ndarray:
    """The black pixels of the band for points 0..99: (20, 160) bool.

    Example:
        >>> int(ink(0, 1).sum())  # 12, 8 and 2 blocks
        352
    """
    black = np.zeros((BAND[1] - BAND[0], WIDTH), bool)
    for centre, points in zip(CENTRES, (own, other), strict=True):
        text = str(points)
        left = centre - (_STEP * len(text) - BLOCK) // 2
        for place, digit in enumerate(text):
            start = left + place * _STEP
            black[:, start : start + _WIDE] |= _digit(int(digit))
    for row in COLON[0]:
        black[row - BAND[0] : row - BAND[0] + BLOCK, slice(*COLON[1])] = True
    return black


def _digit(number: int) -> np.ndarray:
    """(20, 12) bool."""
    bits = [[bool(row & 4), bool(row & 2), bool(row & 1)] for row in SHAPES[number]]
    return np.kron(np.array(bits), np.ones((BLOCK, BLOCK), bool)).astype(bool)
