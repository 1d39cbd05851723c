"""Words as rows of coloured chips with their symbols' numbers; a structured claim as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from interplay.core.scene import rgb
from interplay.worlds.werewolf.drawing.chronicle import claim

if TYPE_CHECKING:
    from interplay.core.scene import Canvas
    from interplay.worlds.werewolf.config import WerewolfSettings
    from interplay.worlds.werewolf.drawing.spectator import Moment

LARGEST, SMALLEST = 1.05, 0.5  # sides of a chip; smaller ones need more rows or are left out
MOST_ROWS = 2
WIDEST_CLAIM = len("disagree 00 p")  # characters
CLAIM = 0.66  # height of a claim's line at most
LEGIBLE = 0.4  # side from which a number fits on a chip
# Colours of symbols 0, 1, ...: the palette (Okabe and Ito 2008) and two greys, repeated.
SYMBOLS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#4a4f57", "#c3c9d0")
LIGHT_INK_ON = (0, 7)  # symbols with white numbers on dark colours
INK, PAPER = (32, 36, 43), (255, 255, 255)
LETTER = 0.48  # width of a letter, of its height


class Layout(NamedTuple):
    """Layout of a seat's word."""

    length: int  # symbols of a word
    shown: int  # drawn chips; if there are fewer than `length`, the number of the others follows
    per_row: int  # of chips
    rows: int
    side: float  # of a chip with its margin
    claim: float  # height of the line with the structured claim; 0 = none

    @property
    def width(self) -> float:
        """Of the whole block."""
        return max(self.per_row * self.side, WIDEST_CLAIM * LETTER * self.claim)

    @property
    def height(self) -> float:
        """Of the whole block."""
        return self.rows * self.side + 1.1 * self.claim


def lay_out(length: int, claims: bool, room: float, most_rows: int = MOST_ROWS) -> Layout:
    """Fits words of `length` symbols into rows of width `room`.

    Example:
        >>> lay_out(3, False, room=8.0)[:5]
        (3, 3, 3, 1, 1.05)
        >>> lay_out(21, False, room=3.0)[:5]
        (21, 11, 6, 2, 0.5)
    """
    claim = min(CLAIM, room / (WIDEST_CLAIM * LETTER)) if claims else 0.0
    for rows in range(1, min(most_rows, length) + 1):
        per_row = -(-length // rows)
        side = min(LARGEST, room / per_row)
        if side >= SMALLEST:
            return Layout(length, length, per_row, rows, side, claim)
    if not length:
        return Layout(0, 0, 0, 0, 0.0, claim)
    per_row = max(min(length, 2), int(room / SMALLEST + 1e-9))
    rows = min(most_rows, -(-length // per_row))
    places = per_row * rows
    return Layout(length, length if places >= length else places - 1, per_row, rows, room / per_row, claim)


def draw_words(
    canvas: Canvas, moment: Moment, settings: WerewolfSettings, layout: Layout, x: np.ndarray, y: np.ndarray
) -> None:
    """Draws each seat's word in a block around (x, y)."""
    if layout.length:
        _draw_chips(canvas, moment.words[:, : layout.shown], layout, x, y)
    if not layout.claim:
        return
    parts = moment.words[:, layout.length :]
    spoken = np.all(parts >= 0, axis=1)
    texts = [
        claim(part, settings.n_players, short=True) if is_spoken else ""
        for part, is_spoken in zip(parts, spoken, strict=True)
    ]
    below = y + layout.height / 2 - 0.5 * layout.claim
    canvas.labels("claims", x, below, texts, absent=~spoken, size=layout.claim)


def _draw_chips(canvas: Canvas, symbols: np.ndarray, layout: Layout, x: np.ndarray, y: np.ndarray) -> None:
    n, shown = symbols.shape
    chip_x, chip_y = _places(layout, shown, x, y)
    symbol = symbols.reshape(-1)
    absent = symbol < 0
    number = np.where(absent, 0, symbol) % len(SYMBOLS)
    colour = np.array([rgb(name) for name in SYMBOLS])[number]
    half, fresh = 0.45 * layout.side, np.ones(n * shown, bool)
    canvas.boxes("word", chip_x, chip_y, half, half, colour=colour, absent=absent, jump=fresh, width=0.02)
    if layout.side >= LEGIBLE:
        canvas.labels(
            "symbols",
            chip_x,
            chip_y,
            [str(value) if value >= 0 else "" for value in symbol],
            colour=np.where(np.isin(number, LIGHT_INK_ON)[:, None], PAPER, INK).astype(np.uint8),
            absent=absent,
            size=_height(symbol, layout.side),
            halo=False,
        )
    if shown < layout.length:
        last = np.arange(n) * shown + shown - 1
        more = f"+{layout.length - shown}"
        canvas.labels(
            "rest",
            chip_x[last] + layout.side,
            chip_y[last],
            [more] * n,
            absent=absent[last],
            size=min(0.9, 2 / len(more)) * layout.side,
        )


def _places(layout: Layout, shown: int, x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Centres of the chips, (n * shown,) twice; rows are filled from the left, a single one is centred."""
    place = np.arange(shown)
    row, column = place // layout.per_row, place % layout.per_row
    aside = (column - (layout.per_row - 1) / 2) * layout.side
    down = (row + 0.5) * layout.side - layout.height / 2
    return (x[:, None] + aside).reshape(-1), (y[:, None] + down).reshape(-1)


def _height(symbol: np.ndarray, side: float) -> np.ndarray:
    """Text height of each symbol, smaller for three or more digits."""
    digits = np.floor(np.log10(np.maximum(symbol, 1))) + 1
    return np.minimum(1.05 * side, 1.75 * side / digits)
