"""Draws a match from above."""

from __future__ import annotations

import numpy as np

from interplay.core.scene import Canvas
from interplay.worlds.soccer.config import (
    BALL_RADIUS,
    BODY_RADIUS,
    GOAL_DEPTH,
    GOAL_WIDTH,
    SIDE,
    SoccerSettings,
)
from interplay.worlds.soccer.observe import Motion
from interplay.worlds.soccer.state import SoccerState

_BORDER, _GRASS, _LINE, _GOAL, _BALL = "#3c6e35", "#4f8a45", "#dfe8dc", "#c9d2d8", "#ffffff"
_MARGIN = 2.0  # m around the largest pitch
_LARGER = 3.5  # times their true radius: ball and players are small on a pitch of 90 m


def draw_match(canvas: Canvas, state: SoccerState, settings: SoccerSettings, seen: Motion, w: int) -> None:
    """Draws pitch, goals, players and ball of world `w`; home plays to the right."""
    reach_x, reach_y = settings.length[1] + _MARGIN, settings.width[1] + _MARGIN
    canvas.show(-reach_x, -reach_y, reach_x, reach_y, up="north")
    (length, width), goal = state.size[w], state.size[w, 1] * GOAL_WIDTH
    canvas.boxes("pitch", [0.0], [0.0], [length], [width], colour=_BORDER)
    canvas.boxes("field", [0.0], [0.0], [length - SIDE], [width - SIDE], colour=_GRASS)
    canvas.boxes("lines", [0.0], [0.0], [length - SIDE], [width - SIDE], colour=_LINE, fill=False)
    canvas.segments("middle", [0.0], [SIDE - width], [0.0], [width - SIDE], colour=_LINE)
    ends = np.array([GOAL_DEPTH - length, length - GOAL_DEPTH])
    canvas.boxes("goals", ends, [0.0, 0.0], GOAL_DEPTH, [goal, goal], colour=_GOAL, opacity=0.6)
    team = np.repeat([0, 1], settings.players)
    begun = bool(state.steps[w] == 0)
    x, y = seen.place[w, :, 0], seen.place[w, :, 1]
    canvas.circles(
        "agents",
        x,
        y,
        BODY_RADIUS * _LARGER,
        angle=np.arctan2(seen.sin[w], seen.cos[w]),
        colour=team,
        glyph="team",
        jump=np.full(len(team), begun),
        labels=[str(number) for number in range(settings.players)] * 2,
        legend=("home", "away"),
    )
    # A ball in the air is drawn larger, as it is nearer to the eye.
    radius = BALL_RADIUS * _LARGER * (1.0 + max(seen.ball[w, 2], 0.0) / 10.0)
    canvas.circles("ball", [seen.ball[w, 0]], [seen.ball[w, 1]], [radius], colour=_BALL, jump=[begun])
    row = [
        f"{state.steps[w] * settings.decision:.2f} s",
        _RESULTS[int(state.result[w])],
        int(state.throw_ins[w]),
    ]
    canvas.table("match", ["time", "result", "throw-ins"], [row], caption=True)


_RESULTS = {0: "no goal", 1: "home scored", -1: "away scored"}
