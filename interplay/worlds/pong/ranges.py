"""Allowed values of a game's state (`interplay.core.ranges`); the arrays are in `state.py`."""

from __future__ import annotations

from typing import Any

import numpy as np

from interplay.core.ranges import ANYTHING, REAL, Arrays, Law, Range, count
from interplay.worlds.pong.config import BALL_WIDTH, BAT_HEIGHT, SIDEWAYS, SMASH, WIDTH
from interplay.worlds.pong.pictures import HIDDEN_ABOVE, HIDDEN_BELOW
from interplay.worlds.pong.rules import LEAST_BALL, LEAST_BAT, MOST_BALL, MOST_BAT
from interplay.worlds.pong.state import Rules

_LEAST = 1e-9  # of a speed that is not 0


def ranges_of(rules: Rules) -> dict[str, Range]:
    """Name -> range of every numeric field; bools need none."""
    speed = rules.ball_speed
    # The published code may place the ball on its path extrapolated backwards, up to a step and a ball beyond a bat's end.
    beyond = BAT_HEIGHT + SIDEWAYS * (speed * SIDEWAYS + 2 * BALL_WIDTH) if rules.classic_quirks else 0.0
    return {
        "bat.y": Range(LEAST_BAT, MOST_BAT),
        "bat.speed": Range(-rules.speed_scale, rules.speed_scale),
        "bat.top_speed": Range(_LEAST, rules.speed_scale),
        "bat.points": count(rules.rounds),
        "ball.x": Range(0.0, WIDTH - BALL_WIDTH),
        "ball.y": Range(LEAST_BALL - beyond, MOST_BALL + beyond),
        "ball.vx": Range(-SMASH * speed, SMASH * speed),
        "ball.vy": Range(-SIDEWAYS * speed, SIDEWAYS * speed),
        "ball.rounds": count(rules.rounds),
        "ball.round_step": count(rules.round_steps),
        "frames": _frame_range(rules.rounds),
        "stream": ANYTHING,
        "reward": REAL,
    }


def _frame_range(rounds: int) -> Range:
    """Of each column; it is painted, so it has to lie in the picture."""
    ball, bats = (int(HIDDEN_ABOVE), int(HIDDEN_BELOW)), (int(LEAST_BAT), int(MOST_BAT))
    columns = [(0, WIDTH - BALL_WIDTH)] * 2 + [ball] + [bats] * 2 + [(0, rounds)] * 2
    low, high = np.array(columns, np.int16).T
    return Range(low, high)


def laws_of(rules: Rules) -> tuple[Law, ...]:
    """Invariants between fields."""
    acts = np.array([not rules.follow_left, not rules.follow_right])

    def goes_on_for_too_long(given: Arrays) -> Any:
        return (given["ball.rounds"] == rules.rounds) != given["over"]

    def more_than_were_played(given: Arrays) -> Any:
        return given["bat.points"].sum(axis=1) > given["ball.rounds"]

    def stands_still(given: Arrays) -> Any:
        return abs(given["ball.vx"]) < _LEAST

    def acts_otherwise(given: Arrays) -> Any:
        return given["acting"] != (acts & ~given["over"][:, None])

    return (
        Law("over", "disagrees with the number of rounds", goes_on_for_too_long),
        Law("bat.points", "exceed the number of rounds", more_than_were_played),
        Law("ball.vx", "does not move the ball", stands_still),
        Law(
            "acting",
            "is not every learning player of an unfinished game",
            acts_otherwise,
        ),
    )
