"""Grey pictures of 84 x 84 pixels, reduced by area from 160 x 210, mirrored for the right player (specification 2.5).

Seven small pixels cover five large rows twice over, and 21 columns cover 40. In units of half a row and of a 21st of a column
every edge is a whole number, so a pixel's grey is exact: a count of its `UNITS` white ones. Only what moved is painted. Older
pictures of the stack copy the changed pixels from the next one. `render.picture` is the same in full size and colour.
"""

import numpy as np

from interplay.core.jit import kernel, phase
from interplay.worlds.pong.config import (
    BALL_HEIGHT,
    BALL_WIDTH,
    BAT_HEIGHT,
    BAT_WIDTH,
    BATS,
    BOTTOM,
    HEIGHT,
    SEATS,
    SIDE,
    TOP,
    WIDTH,
)
from interplay.worlds.pong.observe import ball_from
from interplay.worlds.pong.render import BAND, ink
from interplay.worlds.pong.state import BALL_X, BALL_Y, BAT_Y, FRAME, SCORE

DOWN_ONE, DOWN_PIXEL = 2, 5  # units of a large row and of a small one
ALONG_ONE, ALONG_PIXEL = 21, 40
UNITS = DOWN_PIXEL * ALONG_PIXEL
HALF = SIDE // 2  # columns of each score
HIDDEN_ABOVE, HIDDEN_BELOW = float(TOP - BALL_HEIGHT), float(BOTTOM)  # y of an invisible ball
# Rows of the small picture with scores.
FIRST_SCORE, END_SCORE = BAND[0] * DOWN_ONE // DOWN_PIXEL, -(-BAND[1] * DOWN_ONE // DOWN_PIXEL)


# -- helpers ----------------------------------------------------------------------------------------


@kernel
def grey(white):
    """0..255 from a number of white units, halves rounded up."""
    return np.uint8((2 * 255 * white + UNITS) // (2 * UNITS))


@kernel
def shared(first, end, other_first, other_end):
    """Length of the overlap of two intervals."""
    return max(min(end, other_end) - max(first, other_first), 0)


@kernel
def rows_of(r, y, height):
    """Units of small row r within y .. y + height."""
    return shared(r * DOWN_PIXEL, (r + 1) * DOWN_PIXEL, y * DOWN_ONE, (y + height) * DOWN_ONE)


@kernel
def columns_of(c, x, width):
    """Units of small column c within x .. x + width."""
    return shared(c * ALONG_PIXEL, (c + 1) * ALONG_PIXEL, x * ALONG_ONE, (x + width) * ALONG_ONE)


@kernel
def ground(r):
    """White units of an empty pixel in row r: the field is black, the rest white."""
    return (DOWN_PIXEL - rows_of(r, TOP, BOTTOM - TOP)) * ALONG_PIXEL


@kernel
def first_row(y):
    """The first small row that y touches."""
    return y * DOWN_ONE // DOWN_PIXEL


@kernel
def end_row(y):
    """The row after the last one that something ending at y touches."""
    return (y * DOWN_ONE + DOWN_PIXEL - 1) // DOWN_PIXEL


@kernel
def first_column(x):
    """The first small column that x touches."""
    return x * ALONG_ONE // ALONG_PIXEL


@kernel
def end_column(x):
    """The column after the last one that something ending at x touches."""
    return (x * ALONG_ONE + ALONG_PIXEL - 1) // ALONG_PIXEL


@kernel
def white_of_ball(r, c, x, y, bat_y, other_y):
    """White units that a ball at (x, y) adds to a pixel, beyond those of bats."""
    # With `classic_quirks` the ball may leave the field, where everything is white.
    top, end = max(y, TOP), min(y + BALL_HEIGHT, BOTTOM)
    white = rows_of(r, top, end - top) * columns_of(c, x, BALL_WIDTH)
    for side in range(SEATS):
        bat_x, bat_top = BATS[side], bat_y if side == 0 else other_y
        left, right = max(x, bat_x), min(x + BALL_WIDTH, bat_x + BAT_WIDTH)
        high, low = max(top, bat_top), min(end, bat_top + BAT_HEIGHT)
        if left < right and high < low:
            white -= rows_of(r, high, low - high) * columns_of(c, left, right - left)
    return white


# -- phases: one picture (84, 84, K) of one player, one place of its stack --------------------------


@phase
def take_over(picture, layer, y, height, x, width):
    """Copies a rectangle from the next picture of the stack."""
    for r in range(first_row(y), end_row(y + height)):
        for c in range(first_column(x), end_column(x + width)):
            picture[r, c, layer] = picture[r, c, layer + 1]


@phase
def wipe(picture, layer, y, height, x, width):
    """Clears a rectangle of the field."""
    for r in range(first_row(y), end_row(y + height)):
        empty = grey(ground(r))
        for c in range(first_column(x), end_column(x + width)):
            picture[r, c, layer] = empty


@phase
def paint_bat(picture, layer, side, y):
    """Paints the bat on the left (0) or right side of the picture."""
    x = BATS[side]
    for r in range(first_row(y), end_row(y + BAT_HEIGHT)):
        empty, rows = ground(r), rows_of(r, y, BAT_HEIGHT)
        for c in range(first_column(x), end_column(x + BAT_WIDTH)):
            picture[r, c, layer] = grey(empty + rows * columns_of(c, x, BAT_WIDTH))


@phase
def paint_ball(picture, layer, frame, seat):
    """Paints the ball; called after both bats, which its pixels include."""
    x, y, bat_y, other_y = frame[BALL_X + seat], frame[BALL_Y], frame[BAT_Y + seat], frame[BAT_Y + 1 - seat]
    for r in range(first_row(y), end_row(y + BALL_HEIGHT)):
        empty = ground(r)
        for c in range(first_column(x), end_column(x + BALL_WIDTH)):
            white = empty + white_of_ball(r, c, x, y, bat_y, other_y)
            white += rows_of(r, bat_y, BAT_HEIGHT) * columns_of(c, BATS[0], BAT_WIDTH)
            white += rows_of(r, other_y, BAT_HEIGHT) * columns_of(c, BATS[1], BAT_WIDTH)
            picture[r, c, layer] = grey(white)


@phase
def paint_score(picture, layer, scores, side, points):
    """Paints a score on the left (0, the viewer's) or right half of the band."""
    for r in range(FIRST_SCORE, END_SCORE):
        for c in range(HALF):
            picture[r, side * HALF + c, layer] = scores[side, points, r - FIRST_SCORE, c]


@phase
def paint_all(picture, layer, scores, frame, seat):
    """Paints the whole picture of a frame."""
    for r in range(SIDE):
        empty = grey(ground(r))
        for c in range(SIDE):
            picture[r, c, layer] = empty
    paint_score(picture, layer, scores, 0, frame[SCORE + seat])
    paint_score(picture, layer, scores, 1, frame[SCORE + 1 - seat])
    paint_bat(picture, layer, 0, frame[BAT_Y + seat])
    paint_bat(picture, layer, 1, frame[BAT_Y + 1 - seat])
    paint_ball(picture, layer, frame, seat)


@phase
def move_picture_on(picture, layer, scores, frame, following, seat):
    """Changes an older picture from `frame` to `following`, copying from the next of the stack."""
    for side in range(SEATS):
        column, owner = BATS[side], seat if side == 0 else 1 - seat
        y, later = frame[BAT_Y + owner], following[BAT_Y + owner]
        if y != later:
            take_over(picture, layer, y, BAT_HEIGHT, column, BAT_WIDTH)
            take_over(picture, layer, later, BAT_HEIGHT, column, BAT_WIDTH)
        if frame[SCORE + owner] != following[SCORE + owner]:
            paint_score(picture, layer, scores, side, following[SCORE + owner])
    take_over(picture, layer, frame[BALL_Y], BALL_HEIGHT, frame[BALL_X + seat], BALL_WIDTH)
    take_over(picture, layer, following[BALL_Y], BALL_HEIGHT, following[BALL_X + seat], BALL_WIDTH)


@phase
def renew_picture(picture, layer, scores, frame, following, seat):
    """Changes the newest picture from `frame` to `following`."""
    wipe(picture, layer, frame[BALL_Y], BALL_HEIGHT, frame[BALL_X + seat], BALL_WIDTH)
    for side in range(SEATS):
        owner = seat if side == 0 else 1 - seat
        wipe(picture, layer, frame[BAT_Y + owner], BAT_HEIGHT, BATS[side], BAT_WIDTH)
        if frame[SCORE + owner] != following[SCORE + owner]:
            paint_score(picture, layer, scores, side, following[SCORE + owner])
    for side in range(SEATS):
        paint_bat(picture, layer, side, following[BAT_Y + (seat if side == 0 else 1 - seat)])
    paint_ball(picture, layer, following, seat)


# -- pictures of scores -------------------------------------------------------------------------------


def score_table(most: int) -> np.ndarray:
    """Grey pixels of scores 0..most in either half: (2, most + 1, rows, 42) uint8, the viewer's first."""
    table = np.zeros((SEATS, most + 1, END_SCORE - FIRST_SCORE, HALF), np.uint8)
    band = np.ones((HEIGHT, WIDTH), bool)
    for points in range(most + 1):
        band[slice(*BAND)] = ~ink(points, points)
        fine = np.repeat(np.repeat(band, DOWN_ONE, axis=0), ALONG_ONE, axis=1)
        white = fine.reshape(SIDE, DOWN_PIXEL, SIDE, ALONG_PIXEL).sum(axis=(1, 3))
        rows = _grey_of_arrays(white[FIRST_SCORE:END_SCORE])
        table[:, points] = rows[:, :HALF], rows[:, HALF:]
    return table


# The kernel's Python function also works on arrays.
_grey_of_arrays = getattr(grey, "py_func", grey)


# -- phases: one world ------------------------------------------------------------------------------


@phase
def write_frame(state, w, frame):
    """Writes the positions in whole pixels: (FRAME,)."""
    ball = state.ball[w]
    frame[BALL_Y] = int(min(max(ball.y, HIDDEN_ABOVE), HIDDEN_BELOW))
    for seat in range(SEATS):
        frame[BALL_X + seat] = int(ball_from(ball.x, seat))
        frame[BAT_Y + seat] = int(state.bat[w, seat].y)
        frame[SCORE + seat] = state.bat[w, seat].points


@phase
def show_beginning(state, sight, w):
    """Fills the stack with the first frame of an episode."""
    for k in range(state.frames.shape[1]):
        write_frame(state, w, state.frames[w, k])
    paint_stack(state, sight, w)


@phase
def paint_stack(state, sight, w):
    """Paints all pictures of a world from its frames."""
    for k in range(state.frames.shape[1]):
        for seat in range(SEATS):
            paint_all(sight.pictures[w, seat], k, sight.scores, state.frames[w, k], seat)


@phase
def show_step(state, sight, thread, w):
    """Updates pictures and frames after a step."""
    frames, following = state.frames[w], sight.scratch[thread]
    last = state.frames.shape[1] - 1
    write_frame(state, w, following)
    for seat in range(SEATS):
        for k in range(last):
            move_picture_on(sight.pictures[w, seat], k, sight.scores, frames[k], frames[k + 1], seat)
        renew_picture(sight.pictures[w, seat], last, sight.scores, frames[last], following, seat)
    for k in range(last):
        for column in range(FRAME):
            frames[k, column] = frames[k + 1, column]
    for column in range(FRAME):
        frames[last, column] = following[column]
