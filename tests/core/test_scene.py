"""Scenes: what a canvas records, what it refuses, and which frames may follow each other."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interplay.core.errors import UserError
from interplay.core.scene import MAX_LAYERS, Canvas


def canvas() -> Canvas:
    return Canvas(bounds=(0, 0, 10, 10))


def agents(**changes: object) -> Canvas:
    c = canvas()
    arguments = {"x": [1.0, 2.0], "y": [3.0, 4.0], "radius": 0.5, **changes}
    c.circles("agents", **arguments)  # type: ignore[arg-type]
    return c


def test_layers_keep_the_order_of_declaration_and_their_rows():
    c = canvas()
    c.tiles("ground", np.arange(6).reshape(2, 3))
    c.circles("agents", [1.0, 2.0], [3.0, 4.0])
    c.boxes("boxes", [1.0], [1.0], 0.5, [2.0])
    c.segments("attacks", [0.0], [0.0], [1.0], [1.0])
    c.polygons("areas", [[0.0, 1.0, 1.0]], [[0.0, 0.0, 1.0]])
    c.labels("names", [1.0], [1.0], ["<b>not bold</b>"])
    c.table("players", ["name", "score"], [["a", 1], ["b", 2.5]])
    scene = c.scene()
    assert [(layer.kind, layer.rows) for layer in scene.layers] == [
        ("tiles", 6),
        ("circles", 2),
        ("boxes", 1),
        ("segments", 1),
        ("polygons", 1),
        ("labels", 1),
        ("table", 2),
    ]
    assert scene.layer("names").text == ("<b>not bold</b>",)
    with pytest.raises(KeyError):
        scene.layer("nothing")


def test_python_numbers_are_constants_and_arrays_are_columns():
    layer = agents(radius=0.5, angle=np.array([0.0, 1.0]), colour=3).scene().layer("agents")
    assert layer.options["radius"] == 0.5
    assert layer.options["colour"] == 3
    np.testing.assert_array_equal(layer.value("angle"), np.float32([0.0, 1.0]))
    np.testing.assert_array_equal(layer.value("radius"), [0.5, 0.5])
    assert layer.value("missing") is None
    # A NumPy scalar is a value that may change, not a constant.
    assert "radius" in agents(radius=np.float64(0.5)).scene().layer("agents").columns


def test_columns_are_copies_of_what_was_handed_in():
    x, absent, colour = np.float32([1, 2]), np.array([False, True]), np.uint8([0, 1])
    layer = agents(x=x, absent=absent, colour=colour).scene().layer("agents")
    x[:], absent[:], colour[:] = 9, True, 7
    np.testing.assert_array_equal(layer.columns["x"], [1, 0])  # absent rows are cleaned
    np.testing.assert_array_equal(layer.columns["absent"], [False, True])
    np.testing.assert_array_equal(layer.columns["colour"], [0, 1])


def test_absent_rows_may_hold_anything():
    layer = agents(x=[1.0, np.nan], absent=np.array([False, True])).scene().layer("agents")
    assert layer.columns["x"].tolist() == [1.0, 0.0]


def test_what_has_a_place_needs_bounds_and_tables_do_not():
    c = Canvas()
    c.table("status", ["step"], [[1]])
    assert c.scene().bounds is None
    c.circles("agents", [0.0], [0.0])
    with pytest.raises(UserError, match=r"canvas\.show"):
        c.scene()
    c.show(-1, -1, 1, 1, up="north")
    assert (c.scene().bounds, c.scene().up) == ((-1, -1, 1, 1), "north")


def test_names_are_unique_and_layers_limited():
    c = agents()
    with pytest.raises(UserError, match="drawn twice"):
        c.circles("agents", [0.0], [0.0])
    with pytest.raises(UserError, match="1 to 64"):
        c.circles("", [0.0], [0.0])
    for i in range(MAX_LAYERS - 1):
        c.table(f"t{i}", ["a"], [])
    with pytest.raises(UserError, match="at most 64 layers"):
        c.table("one more", ["a"], [])


def test_tables_hold_plain_cells():
    c = canvas()
    c.table("players", ["name", "score"], [["a", np.float64(1.5)], [None, np.int64(2)]])
    assert c.scene().layer("players").text == (("a", 1.5), (None, 2))
    assert type(c.scene().layer("players").text[0][1]) is float


def past(**options):
    """A scene of a moment and a board."""
    c = canvas()
    c.table("status", ["moment"], [["day 1"]])
    c.table("board", ["seat", "vote"], [[0, 1]], **options)
    return c.scene()


def test_the_past_of_a_column_is_told_once():
    told = past(history=["vote", "vote"], heads="status").layer("board").options
    assert (told["history"], told["heads"]) == (("vote",), "status")


def test_a_frame_with_the_same_layers_follows_whatever_its_rows():
    first = agents(radius=0.5, colour=np.uint8([0, 1])).scene()
    agents(x=[5.0], y=[6.0], radius=0.5, colour=np.uint8([1])).scene().check_follows(first)


def test_a_frame_with_other_layers_does_not_follow():
    first = agents().scene()
    more = agents()
    more.table("extra", ["a"], [])
    with pytest.raises(UserError, match="extra"):
        more.scene().check_follows(first)


@given(
    st.lists(st.tuples(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6), st.booleans()), max_size=20),
    st.floats(0, 100),
)
def test_every_column_has_one_finite_value_per_row(rows, radius):
    x, y = (np.array([row[i] for row in rows], float) for i in (0, 1))
    absent = np.array([row[2] for row in rows], bool)
    c = canvas()
    c.circles(
        "agents", x, y, radius=np.full(len(rows), radius), angle=0.0, absent=absent, bars={"a": (x, 1.0)}
    )
    layer = c.scene().layer("agents")
    assert layer.rows == len(rows)
    for column in layer.columns.values():
        assert column.shape == (len(rows),)
        assert np.isfinite(column).all()


def test_dashes_and_dots_are_kept():
    c = canvas()
    c.segments("lines", [1], [1], [2], [2], dashed="dots")
    c.segments("others", [1], [1], [2], [2], dashed=np.True_)
    assert [layer.options["dashed"] for layer in c.scene().layers] == ["dots", True]
