"""Numeric observations and the global state, float32 in [-1, 1], mirrored for the right player (specification 2.5)."""

import numpy as np
from gymnasium import spaces

from interplay.core.jit import kernel, phase
from interplay.worlds.pong.config import (
    BALL_WIDTH,
    SEATS,
    SIDE,
    SIDEWAYS,
    SMASH,
    WIDTH,
    PongSettings,
)
from interplay.worlds.pong.rules import LEAST_BALL, LEAST_BAT, MOST_BALL, MOST_BAT

# Columns of the observation.
OWN_Y, OWN_SPEED, OTHER_Y, OTHER_SPEED, X, Y, VX, VY, OWN_POINTS, OTHER_POINTS, ROUND_STEP = range(11)
NUMBERS = 11
NAMES = (
    *("own y", "own speed", "other y", "other speed"),
    *("ball x", "ball y", "ball vx", "ball vy", "own points", "other points", "round step"),
)
BAT_ROOM, BALL_ROOM, BALL_ACROSS = MOST_BAT - LEAST_BAT, MOST_BALL - LEAST_BALL, float(WIDTH - BALL_WIDTH)


def numbers_space() -> spaces.Box:
    """Space of one player's numbers and of the global state."""
    return spaces.Box(-1.0, 1.0, (NUMBERS,), np.float32)


def observation_space(settings: PongSettings) -> spaces.Dict:
    """Space of one player's observation."""
    if settings.see == "numbers":
        return spaces.Dict(numbers=numbers_space())
    return spaces.Dict(pictures=spaces.Box(0, 255, (SIDE, SIDE, settings.frames), np.uint8))


@kernel
def scaled(number, least, room):
    """Maps least .. least + room to -1 .. 1, clipped."""
    return min(max(2.0 * (number - least) / room - 1.0, -1.0), 1.0)


@kernel
def ball_from(x, seat):
    """The ball's left edge, mirrored for the right player."""
    return x if seat == 0 else WIDTH - BALL_WIDTH - x


@phase
def see_numbers(state, rules, w, seat, row):
    """Writes one player's numbers."""
    ball, speed = state.ball[w], rules.ball_speed
    for side in range(SEATS):
        bat, column = state.bat[w, seat if side == 0 else 1 - seat], 2 * side
        row[OWN_Y + column] = np.float32(scaled(bat.y, LEAST_BAT, BAT_ROOM))
        row[OWN_SPEED + column] = np.float32(bat.speed / rules.speed_scale)
        row[OWN_POINTS + side] = np.float32(bat.points / rules.rounds)
    row[X] = np.float32(scaled(ball_from(ball.x, seat), 0.0, BALL_ACROSS))
    row[Y] = np.float32(scaled(ball.y, LEAST_BALL, BALL_ROOM))
    row[VX] = np.float32((ball.vx if seat == 0 else -ball.vx) / (speed * SMASH))
    row[VY] = np.float32(ball.vy / (speed * SIDEWAYS))
    row[ROUND_STEP] = np.float32(ball.round_step / rules.round_steps)


@phase
def show_numbers(state, rules, sight, w):
    """Both players' numbers."""
    for seat in range(SEATS):
        see_numbers(state, rules, w, seat, sight.numbers[w, seat])


@kernel
def write_global_state(state, table, numbers):
    """Writes the left player's numbers of each world, (W, 11)."""
    for w in range(len(numbers)):
        see_numbers(state, table[0], w, 0, numbers[w])
