"""Scenes in characters, against a slow twin that puts every thing where its place says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from interplay.core.scene import Canvas
from interplay.core.scene_text import scene_lines

X0, Y0, WIDE, HIGH = -2.0, 3.0, 8.0, 4.0
LETTERS = "0123456789abcdefghijklmnopqrstuvwxyz"

PLACES = [-0.31, 0.013, 0.21, 0.48, 0.77, 0.99, 1.21]  # shares of the scene, in and outside of it

things = st.lists(
    st.tuples(
        st.sampled_from(PLACES), st.sampled_from(PLACES), st.booleans(), st.sampled_from([0.1, 1.1, 1.3])
    ),
    max_size=5,
)


def canvas_of(up, layers, tiles):
    canvas = Canvas(bounds=(X0, Y0, X0 + WIDE, Y0 + HIGH), up=up)
    if tiles:
        canvas.tiles("ground", np.zeros((4, 8), int), origin=(X0, Y0))
    for name, rows in layers.items():
        x, y = (
            np.array([row[k] * size for row in rows], float) + at
            for k, size, at in ((0, WIDE, X0), (1, HIGH, Y0))
        )
        absent, size = np.array([row[2] for row in rows], bool), np.array([row[3] for row in rows], float)
        if name == "agents":
            canvas.circles(name, x, y, radius=size, absent=absent)
        else:
            canvas.boxes(name, x, y, size, 0.1, absent=absent)
    return canvas.scene()


@settings(max_examples=120)
@given(
    st.sampled_from(["north", "south"]), things, things, st.booleans(), st.integers(1, 12), st.integers(1, 6)
)
def test_everything_stands_where_it_is(up, agents, crates, tiles, columns, rows):
    layers = {"agents": agents, "crates": crates}
    if tiles:
        columns, rows = 8, 4
    grid = [[" "] * columns for _ in range(rows)]
    for name, things in layers.items():
        for i, (right, far, absent, size) in enumerate(things):
            across, down = right * columns, far * rows
            assume(all(abs(part - round(part)) > 1e-4 for part in (across, down)))  # where rounding decides
            assume(not -1 < across < 0 and not -1 < down < 0)  # just outside: cut towards the edge
            inside = 0 <= across < columns and 0 <= down < rows
            if inside and not absent and (tiles or size < 0.15 * WIDE):
                row = rows - 1 - int(down) if up == "north" else int(down)
                grid[row][int(across)] = LETTERS[i % 36] if name == "agents" else name[0].upper()
    edge = "+" + "-" * columns + "+"
    expected = [edge, *("|" + "".join(row) + "|" for row in grid), edge]
    assert scene_lines(canvas_of(up, layers, tiles), columns, rows) == expected


def test_south_grows_down_and_north_grows_up():
    drawn = {}
    for up in ("south", "north"):
        canvas = Canvas(bounds=(0, 0, 3, 3), up=up)
        canvas.circles("agents", [0.5, 1.5, 2.5], [0.5, 1.5, 1.5], radius=0.1)
        drawn[up] = scene_lines(canvas.scene(), columns=3, rows=3)
    assert drawn["south"] == ["+---+", "|0  |", "| 12|", "|   |", "+---+"]
    assert drawn["north"] == drawn["south"][::-1]


@pytest.mark.parametrize(("rows", "last"), [(10, "9"), (11, "a"), (36, "z"), (37, "0")])
def test_agents_are_their_numbers(rows, last):
    canvas = Canvas(bounds=(0, 0, rows, 1))
    canvas.circles("agents", np.arange(rows) + 0.5, np.full(rows, 0.5), radius=0.01)
    assert scene_lines(canvas.scene(), columns=rows, rows=1)[1][-2] == last


def test_tables_follow_line_by_line():
    canvas = Canvas()
    canvas.table("a", ["x", "y"], [[1, "two"], [None, 2.5]])
    canvas.table("b", ["z"], [[True]])
    assert scene_lines(canvas.scene()) == ["1  two", "None  2.5", "True"]
