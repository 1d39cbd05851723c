"""Pictures of grid worlds: E4, F27 and section 7's rendering."""

from __future__ import annotations

import numpy as np
import pytest

from interplay.core.scene import Canvas
from interplay.gridworld.agents import SHAPES
from interplay.gridworld.draw import colour_of, outline
from tests.gridworld.boards import named, thing, walking

pygame = pytest.importorskip("pygame", reason="pictures need the extra render")


def scene_sim(**kwargs):
    """One agent of each shape, three in one cell, two in another, and a dead one."""
    colours = ["red", "green", "blue", "#e5862a", "k", "purple", "cyan"]
    agents = [
        thing(f"s{n}", 1, at=divmod(n, 7), render_shape=shape, render_color=colours[n % len(colours)])
        for n, shape in enumerate(SHAPES)
    ]
    agents += [thing(f"t{n}", 2, at=(4, 1), render_color=colours[n]) for n in range(3)]
    agents += [thing(f"u{n}", 2, at=(4, 3), render_color=colours[n], render_shape="s") for n in range(2)]
    agents += [thing("dead", 3, at=(4, 5), render_color="red"), thing("big", 3, at=(4, 6), render_size=800)]
    rows = 5
    sim = walking(*agents, rows=rows, cols=7, overlapping={2: 2}, actors=[], observers=[], **kwargs)
    sim.reset()
    sim.agents["dead"].active = False
    return sim


def cell(picture, row, col, rows=5, cols=7):
    """The pixels of one cell; the scene is shown with a margin."""
    height, width = picture.shape[:2]
    margin = 0.015 * min(height, width)
    scale = min((width - 2 * margin) / cols, (height - 2 * margin) / rows)
    left, top = (width - scale * cols) / 2, (height - scale * rows) / 2
    lo, hi = 0.03, 0.97
    return picture[
        int(top + scale * (row + lo)) : int(top + scale * (row + hi)),
        int(left + scale * (col + lo)) : int(left + scale * (col + hi)),
    ]


def colours_in(pixels):
    return {tuple(colour) for colour in pixels.reshape(-1, 3).tolist()}


def test_agents_are_drawn_in_their_cells_in_their_colours():
    picture = scene_sim().render()
    assert picture.dtype == np.uint8
    assert picture.shape == (512 * 5 // 7, 512, 3)
    for n in range(7):
        assert colour_of(scene_sim().agents[f"s{n}"].render_color) in colours_in(cell(picture, 0, n))
    for name in ("red", "green", "blue"):
        assert colour_of(name) in colours_in(cell(picture, 4, 1))
    assert len(colours_in(cell(picture, 4, 5))) == 1  # the dead are not drawn
    assert len(colours_in(cell(picture, 4, 0))) == 1
    assert len(colours_in(cell(picture, 4, 6))) > 1


def test_every_shape_has_an_outline_of_its_own():
    outlines = {shape: outline(shape) for shape in SHAPES}
    assert {points.shape for points in outlines.values()} == {(24, 2)}
    assert all(np.hypot(points[:, 0], points[:, 1]).max() < 1.3 for points in outlines.values())
    alike = {frozenset(same) for same in ("v1", "^2", "<3", ">4")}
    for one in SHAPES:
        for other in SHAPES:
            same = np.allclose(outlines[one], outlines[other])
            assert same == (one == other or frozenset((one, other)) in alike), (one, other)


@pytest.mark.parametrize("colour", [None, 3, (1, 2), "", "no such", "#12", "#gggggg", "#1234567"])
def test_e4_unknown_colours_are_gray(colour):
    assert colour_of(colour) == colour_of("gray")


def test_e4_colours():
    assert colour_of("#010203") == (1, 2, 3)
    assert colour_of("RED") == colour_of("red") == colour_of("r")
    assert colour_of("k") == colour_of("black")


def test_drawing_changes_nothing():
    sim = scene_sim()
    before = [array.tobytes() for array in sim.grid.board]
    sim.render()
    sim.draw(Canvas())
    assert [array.tobytes() for array in sim.grid.board] == before


def test_empty_and_tiny_grids_can_be_drawn():
    sim = walking(rows=1, cols=1, actors=[], observers=[])
    assert sim.render().ndim == 3
    sim = walking(rows=1, cols=40, actors=[], observers=[])
    assert sim.render().shape[0] >= 64


def test_f27_a_figure_without_a_display(monkeypatch):
    pytest.importorskip("matplotlib", reason="figures need the extra plot")
    monkeypatch.setenv("MPLBACKEND", "Agg")
    from matplotlib.figure import Figure

    figure = Figure()
    sim = scene_sim()
    assert sim.render(fig=figure) is figure
    assert sim.render(fig=figure) is figure
    assert len(figure.gca().images) == 1  # replaced, not added


def test_before_the_first_reset_the_grid_is_empty():
    sim = walking(*named(thing("x", at=(0, 0))).values(), rows=2, cols=2, actors=[], observers=[])
    assert len(colours_in(cell(sim.render(), 0, 0, 2, 2))) == 1
