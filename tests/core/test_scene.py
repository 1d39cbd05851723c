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


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"x": [1.0, np.nan]}, "x of row 1 is not finite"),
        ({"y": [1.0, 2.0, 3.0]}, "one value per row"),
        ({"x": ["a", "b"]}, "pass numbers"),
        ({"radius": -1.0}, "at least 0.0"),
        ({"radius": [0.5, -0.5]}, "at least 0.0"),
        ({"radius": float("inf")}, "finite"),
        ({"absent": [0, 1]}, "pass booleans"),
        ({"colour": "red"}, "#rrggbb"),
        ({"colour": "#12345"}, "#rrggbb"),
        ({"colour": 256}, "0..255"),
        ({"colour": [0.5, 1.0]}, "0..255"),
        ({"colour": np.zeros((3, 3), np.uint8)}, "colour"),
        ({"opacity": 1.5}, "from 0"),
        ({"labels": ["only one"]}, "2 strings"),
        ({"labels": "ab"}, "2 strings"),
        ({"labels": ["a", 2]}, "2 strings"),
        ({"labels": ["a", "x" * 2000]}, "1000 characters"),
        ({"labels": ["x" * 1001, ""]}, "1000 characters"),
        ({"sight": (10.0, 1.0)}, "pass angle too"),
        ({"marks": {str(i): np.array([True, False]) for i in range(6)}}, "at most 5"),
        ({"bars": {"health": ([1.0, 2.0], -1)}}, "at least 0"),
    ],
)
def test_wrong_arguments_are_one_line_that_names_the_layer(changes, message):
    with pytest.raises(UserError, match=message) as caught:
        agents(**changes)
    assert "agents" in str(caught.value)
    assert "\n" not in str(caught.value)


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


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"radius": 0.7}, "radius changed from 0.5 to 0.7; pass it as an array"),
        ({"radius": [0.5, 0.5]}, "constant and array"),
        ({"absent": np.array([True, False])}, "absent"),
        ({"bars": {"food": ([1.0, 2.0], 10)}}, "food"),
    ],
)
def test_a_frame_with_other_constants_or_columns_does_not_follow(changes, message):
    with pytest.raises(UserError, match=message):
        agents(**changes).scene().check_follows(agents().scene())


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


REFUSED = {  # call -> the key or value that the error names
    "ids of one axis": (lambda c: c.tiles("ground", np.zeros(3, int)), "ids"),
    "ids above a byte": (lambda c: c.tiles("ground", np.full((2, 2), 256)), "ids"),
    "ids below 0": (lambda c: c.tiles("ground", np.full((2, 2), -1)), "ids"),
    "real ids": (lambda c: c.tiles("ground", np.zeros((2, 2))), "ids"),
    "no ids": (lambda c: c.tiles("ground", np.zeros((0, 2), int)), "ids"),
    "unknown palette": (lambda c: c.tiles("ground", [[1]], palette="lava"), "palette"),
    "no palette": (lambda c: c.tiles("ground", [[1]], palette=()), "palette"),
    "no colour": (lambda c: c.tiles("ground", [[1]], palette=("#12345",)), "palette"),
    "no side": (lambda c: c.tiles("ground", [[1]], cell=0), "cell"),
    "endless side": (lambda c: c.tiles("ground", [[1]], cell=np.inf), "cell"),
    "no origin": (lambda c: c.tiles("ground", [[1]], origin=(0, np.nan)), "origin"),
    "dotted": (lambda c: c.segments("ground", [1], [1], [2], [2], dashed="dotted"), "dashed"),
    "many rows": (lambda c: c.circles("ground", np.zeros(65_536), np.zeros(65_536)), "65536"),
    "short row": (lambda c: c.table("ground", ["a", "b"], [[1]]), "row 0"),
    "nested cell": (lambda c: c.table("ground", ["a"], [[[1, 2]]]), "row 0"),
    "no width": (lambda c: c.circles("ground", [1], [1], width=np.nan), "width"),
    "no chords": (lambda c: c.circles("ground", [1], [1], angle=0, sight=(1, 1, 0)), "chords"),
    "many chords": (lambda c: c.circles("ground", [1], [1], angle=0, sight=(1, 1, 361)), "chords"),
    "unknown column": (lambda c: past(history=["votes"]), "votes"),
    "text of columns": (lambda c: past(history="vote"), "vote"),
    "unknown heads": (lambda c: past(history=["vote"], heads="nowhere"), "nowhere"),
    "empty bounds": (lambda c: Canvas(bounds=(0, 0, 0, 1)), "bounds"),
    "turned bounds": (lambda c: Canvas(bounds=(0, 1, 1, 0)), "bounds"),
    "endless bounds": (lambda c: Canvas(bounds=(0, 0, np.nan, 1)), "bounds"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_no_renderer_could_draw_is_refused(case):
    call, named = REFUSED[case]
    with pytest.raises(UserError, match=named):
        call(canvas())
