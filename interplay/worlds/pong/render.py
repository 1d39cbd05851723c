"""Draws a game as primitives, and as a player's full picture of 160 x 210 (specification 2.1 and 2.5)."""

from __future__ import annotations

import numpy as np

from interplay.core.scene import Canvas
from interplay.worlds.pong.config import (
    BALL_HEIGHT,
    BALL_WIDTH,
    BAT_HEIGHT,
    BAT_WIDTH,
    BATS,
    BOTTOM,
    HEIGHT,
    TOP,
    WIDTH,
)
from interplay.worlds.pong.observe import ball_from
from interplay.worlds.pong.state import PongState

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
    """The scores, 0..99, as black pixels of the band, the viewer's own on the left: (20, 160) bool.

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


WHITE = 255
_PAPER, _FIELD, _LINE = "#ffffff", "#20242b", "#6b7280"
_SCORE_SIZE = 20.0  # pixels, height of a line


def picture(state: PongState, w: int, seat: int) -> np.ndarray:
    """The full picture of world `w` as the player in a seat sees it: (210, 160, 3) uint8, black and white.

    The field is mirrored for the right player, the score is not: each sees itself and its own points on the left. Positions are
    rounded down in the viewer's picture.
    """
    image = np.full((HEIGHT, WIDTH), WHITE, np.uint8)
    image[slice(*BAND)][ink(*(int(state.bat[w, side]["points"]) for side in (seat, 1 - seat)))] = 0
    field = image[TOP:BOTTOM]
    field[:] = 0
    for x, side in zip(BATS, (seat, 1 - seat), strict=True):
        y = int(state.bat[w, side]["y"]) - TOP
        field[y : y + BAT_HEIGHT, x : x + BAT_WIDTH] = WHITE
    x, y = int(ball_from(state.ball[w]["x"], seat)), int(state.ball[w]["y"]) - TOP
    field[max(y, 0) : max(y + BALL_HEIGHT, 0), x : x + BALL_WIDTH] = WHITE
    return np.repeat(image[:, :, None], 3, axis=2)


def draw_game(canvas: Canvas, state: PongState, agents: tuple[str, ...], rounds: int, w: int) -> None:
    """Draws the field with bats and ball; the left player is on the left."""
    canvas.show(0, 0, WIDTH, HEIGHT, up="south")
    canvas.boxes("paper", [WIDTH / 2], [HEIGHT / 2], WIDTH / 2, HEIGHT / 2, colour=_PAPER)
    middle, half = (TOP + BOTTOM) / 2, (BOTTOM - TOP) / 2
    canvas.boxes("field", [WIDTH / 2], [middle], WIDTH / 2, half, colour=_FIELD)
    canvas.segments("net", [WIDTH / 2], [TOP], [WIDTH / 2], [BOTTOM], colour=_LINE, dashed=True)
    bats, ball = state.bat[w], state.ball[w]
    x, y = np.array(BATS) + BAT_WIDTH / 2, bats["y"] + BAT_HEIGHT / 2
    canvas.boxes("agents", x, y, BAT_WIDTH / 2, BAT_HEIGHT / 2, colour=np.arange(len(agents)))
    served = bool(ball["round_step"] == 0)
    canvas.boxes(
        "ball",
        [ball["x"] + BALL_WIDTH / 2],
        [ball["y"] + BALL_HEIGHT / 2],
        BALL_WIDTH / 2,
        BALL_HEIGHT / 2,
        colour=_PAPER,
        jump=[served],
    )
    points = [str(number) for number in bats["points"]]
    canvas.labels("points", CENTRES, [sum(BAND) / 2] * len(points), points, size=_SCORE_SIZE, halo=False)
    left, right = points
    row = [f"{ball['rounds']} of {rounds}", int(ball["round_step"]), f"{left} : {right}"]
    canvas.table("game", ["rounds", "step", "points"], [row], caption=True)
