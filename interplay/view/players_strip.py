"""Draws the strip with the players below a picture: ``red: runs/a at 300,000, greedy · blue: attack_move``."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from interplay.view import palette
from interplay.view.legend import LEAST, LETTERS, SMALLEST
from interplay.view.palette import rgb
from interplay.view.pen import Pen, text_width

SHARE = 0.25  # of a picture's height; a higher strip is left out
BETWEEN, SPACED = " · ", "   ·   "


@lru_cache(maxsize=16)
def strip_of(line: str, width: int, height: int) -> np.ndarray:
    """The strip of a picture of `width` x `height` pixels, (rows, width, 3) uint8; no rows without text or room."""
    for size in (max(LETTERS * min(width, height), SMALLEST), LEAST):
        lines = _wrapped(line, width - 1.2 * size, size)
        rows = round(1.4 * size * len(lines) + 0.4 * size) if line else 0
        if rows <= SHARE * height:
            break
    else:
        rows = 0
    if not rows:
        return np.zeros((0, width, 3), np.uint8)
    pen = Pen(width, rows, rgb(palette.PAGE), 1)
    for number, words in enumerate(lines):
        y = 1.4 * size * (number + 0.6)
        pen.write(words, 0.6 * size, y, size, rgb(palette.INK), (0.0, 0.5), halo=False)
    return pen.picture()


def _wrapped(line: str, room: float, size: float) -> list[str]:
    """Breaks the line into parts that fit, between sides if possible, else between words."""
    lines = [""]
    for number, side in enumerate(line.split(BETWEEN)):
        whole = f"{lines[-1]}{SPACED if number else ''}{side}"
        if text_width(whole, size) <= room:
            lines[-1] = whole
            continue
        lines.append("")
        for word in side.split():
            longer = f"{lines[-1]} {word}".strip()
            if text_width(longer, size) > room and lines[-1]:
                lines.append("")
                longer = word
            lines[-1] = longer
    return [one for one in lines if one]
