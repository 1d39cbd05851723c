"""Scenes of every kind of layer by chance, and what a decoded scene owes the one that was drawn."""

from __future__ import annotations

import numpy as np

from interplay.core.frames import Schema
from interplay.core.scene import Canvas, Scene

KINDS = ("tiles", "circles", "plain circles", "boxes", "segments", "polygons", "labels", "table", "picture")
BOUNDS = (-3.0, 2.0, 17.0, 12.0)
CELLS = (1, 0, True, 1.0, None, "Übermut", 0.1, float("nan"), float("-inf"), -7, 10**30)


def draw(kinds: tuple[str, ...], rng: np.random.Generator, rows: int, odd: bool = False) -> Scene:
    """A scene of these layers.

    Args:
        kinds: of `KINDS`.
        rng: where the numbers come from.
        rows: of the layers whose rows may change.
        odd: some places are far outside, and numbers that were whole are not.
    """
    canvas = Canvas(BOUNDS, up="north")
    for kind in kinds:
        PAINTERS[kind](canvas, kind, rng, rows, odd)
    return canvas.scene()


def places(
    rng: np.random.Generator, shape: int | tuple[int, int], odd: bool
) -> tuple[np.ndarray, np.ndarray]:
    x, y = rng.uniform(-3, 17, shape), rng.uniform(2, 12, shape)
    return (x * 1000, y - 1e6) if odd else (x, y)


def flags(rng: np.random.Generator, rows: int, *names: str) -> dict[str, np.ndarray]:
    return {name: rng.random(rows) < 0.3 for name in names}


def paint_tiles(canvas, name, rng, rows, odd):
    ids = np.zeros((5, 7), int)
    ids[rng.integers(5), rng.integers(7)] = rng.integers(256)
    canvas.tiles(name, ids, palette=("#102030", "#FFFFFF"), origin=(-3, 2), cell=0.5)


def paint_circles(canvas, name, rng, rows, odd):
    x, y = places(rng, rows, odd)
    health = rng.integers(0, 100, rows) + 0.5 * odd
    canvas.circles(
        name,
        x,
        y,
        radius=rng.uniform(0.1, 0.5, rows),
        angle=rng.uniform(-10, 10, rows),
        colour=rng.integers(0, 256, rows),
        fill=False,
        width=0.25,
        opacity=0.5,
        glyph="team",
        bars={"health": (health, 100), "food": (rng.integers(0, 900, rows), rng.uniform(1, 9, rows))},
        marks={"frozen": rng.random(rows) < 0.5, "immune": rng.random(rows) < 0.5},
        sight=(rng.uniform(1, 3, rows), 1.25, 9),
        labels=[f"<{number}>" for number in rng.integers(0, 3, rows)],
        **flags(rng, rows, "absent", "jump", "dimmed"),
    )


def paint_plain(canvas, name, rng, rows, odd):
    x, y = places(rng, 3, odd)
    bars = {"health": ([1.0, 2.0, 3.0], 9)}
    canvas.circles(name, x, y, radius=1, angle=0.5, colour="#A0b0c0", bars=bars, show_bars=False)


def paint_boxes(canvas, name, rng, rows, odd):
    x, y = places(rng, rows, odd)
    half = rng.uniform(0.1, 1, rows)
    rgb = rng.integers(0, 256, (rows, 3), dtype=np.uint8)
    canvas.boxes(name, x, y, half, 0.5, rng.uniform(0, 6, rows), rgb, **flags(rng, rows, "jump"))


def paint_segments(canvas, name, rng, rows, odd):
    (x0, y0), (x1, y1) = places(rng, rows, odd), places(rng, rows, False)
    legend = {"near": "#102030", "far": "#ffffff"}
    canvas.segments(
        name, x0, y0, x1, y1, 4, dashed="dots", legend=legend, **flags(rng, rows, "absent", "dimmed")
    )


def paint_polygons(canvas, name, rng, rows, odd):
    x, y = places(rng, (rows, 5), odd)
    canvas.polygons(name, x, y, colour=rng.integers(0, 9, rows), **flags(rng, rows, "absent"))


def paint_labels(canvas, name, rng, rows, odd):
    x, y = places(rng, rows, odd)
    texts = [["a", "Überraschung", "", '"[1]"'][number] for number in rng.integers(0, 4, rows)]
    how = {"size": rng.uniform(0.2, 1, rows), "align": "left"}
    canvas.labels(name, x, y, texts, **flags(rng, rows, "absent", "jump"), **how)


def paint_table(canvas, name, rng, rows, odd):
    cells = [[CELLS[number] for number in rng.integers(0, len(CELLS), 2)] for _ in range(rows)]
    canvas.table(name, ["a", "b"], cells, caption=True)


def paint_picture(canvas, name, rng, rows, odd):
    canvas.picture(np.full((6, 4, 3), rng.integers(0, 2) * 99, np.uint8))


PAINTERS = {
    "tiles": paint_tiles,
    "circles": paint_circles,
    "plain circles": paint_plain,
    "boxes": paint_boxes,
    "segments": paint_segments,
    "polygons": paint_polygons,
    "labels": paint_labels,
    "table": paint_table,
    "picture": paint_picture,
}


def check_alike(found: Scene, drawn: Scene, schema: Schema) -> None:
    """Holds a decoded scene against the one that was drawn, within what the schema's steps allow and no further."""
    assert (found.bounds, found.up) == (drawn.bounds, drawn.up)
    np.testing.assert_equal(found.picture, drawn.picture)
    for there, here, said in zip(found.layers, drawn.layers, schema.layers, strict=False):
        where = here.name
        assert (there.name, there.kind, there.rows) == (here.name, here.kind, here.rows)
        assert there.options == here.options, where
        assert repr(there.text) == repr(here.text), where
        assert there.columns.keys() == here.columns.keys(), where
        present = ~here.columns.get("absent", np.zeros(len(here.columns.get("x", ())), bool))
        scales = {column.name: column for column in said.columns}
        for key, column in here.columns.items():
            got = there.columns[key]
            assert (got.shape, got.dtype) == (column.shape, column.dtype), (where, key)
            if column.dtype != np.float32:
                np.testing.assert_array_equal(got, column)
                continue
            how = scales[key]
            got, column = got[present].astype(float), column[present].astype(float)
            apart = np.abs(got - column)
            if how.turn:
                turn = 2 * np.pi
                apart = np.minimum(apart % turn, turn - apart % turn)
            allowed = 0.0 if how.scale in (None, 1.0) else how.scale / 2 + 2e-7 * (np.abs(column) + 8)
            assert (apart <= allowed).all(), (where, key, apart.max())
    assert len(found.layers) == len(drawn.layers)
