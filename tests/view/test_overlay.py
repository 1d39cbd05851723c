"""Overlays: values in their places and colours, ticks that count from the agent, bars in their heights, labels beside them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from interplay.evaluate.lifetimes.overlays import Layer, OverlayData
from interplay.view import overlay, scales
from interplay.view.overlay import plot_overlay
from interplay.view.palette import INK, rgb
from studies import field_picture
from tests.view.figures import held, ticks

image = pytest.importorskip("matplotlib.image", reason="overlays need the extra plot")
pytestmark = pytest.mark.slow


def picture(path) -> np.ndarray:
    return image.imread(path)[..., :3]


def share(pixels: np.ndarray, colour) -> float:
    """Of the pixels that have a colour."""
    return float((np.abs(pixels - np.asarray(colour)).max(axis=2) < 0.02).mean())


def data(*layers: Layer) -> OverlayData:
    return OverlayData("test", "A test", layers)


def layer(form: str, scale: str, values: np.ndarray, **more) -> Layer:
    return Layer("one", "One", values, form, scale, "units", "A meaning.", **more)


def test_a_map_shows_its_cells_in_place(tmp_path):
    values = np.zeros((10, 10))
    values[2:5, 6:9] = 1.0
    out = plot_overlay(data(layer("map", "diverging", values, limits=(-1.0, 1.0))), tmp_path / "a.png")
    image = picture(out)
    hot = np.abs(image - np.array(rgb(scales.DIVERGING[-1])) / 255).max(axis=2) < 0.02
    # The bar of colours at the right has few pixels of the last colour; the cells have most.
    rows, cols = np.nonzero(hot)
    assert np.median(rows) / image.shape[0] < 0.5 < np.median(cols) / image.shape[1] + 0.1
    assert 0.01 < hot.mean() < 0.2


def test_dimmed_frames_are_cut_away(tmp_path):
    dim = np.ones((30, 30), bool)
    dim[10:20, 10:20] = False
    dim[12, 12] = True
    counts = np.full((2, 30, 30), 3.0)
    shown = layer(
        "map", "population", counts, limits=(0.0, 6.0), dim=dim, labels=("population 0", "population 1")
    )
    assert overlay._inside(shown) == (10, 10, 20, 20)
    image = picture(plot_overlay(data(shown), tmp_path / "a.png"))
    mixture = scales.populations(counts[:, :1, :1], (0, 1), 6.0)[0, 0]
    assert share(image, mixture) > 0.3


def test_a_map_on_the_ground_is_cut_to_it_and_says_what_is_what():
    ground = np.zeros((30, 30), np.uint8)
    ground[9:21, 9:21] = 2
    ground[12, 12] = 1
    counts = np.zeros((3, 30, 30))
    counts[2, 15, 16] = 4.0
    shown = layer("map", "style", counts, limits=(0.0, 4.0), labels=("melee", "range", "mage"), ground=ground)
    assert overlay._inside(shown) == (9, 9, 21, 21)
    colours = overlay._colours(shown)
    np.testing.assert_allclose(colours[15, 16] * 255, rgb(scales.STYLE_COLOURS[2]))
    np.testing.assert_allclose(colours[[12, 13], 12], [[scales.GREYS[1]] * 3, [scales.GREYS[2]] * 3])
    assert "ground: water dark" in overlay.mixture(shown)[0]


def test_a_chosen_population_keeps_its_colour():
    shown = layer("map", "population", np.full((1, 4, 4), 2.0), limits=(0.0, 2.0), labels=("population 5",))
    np.testing.assert_allclose(overlay._colours(shown)[0, 0] * 255, rgb(scales.population_colour(5)))
    title, channels = overlay.mixture(shown)
    assert channels == [("population 5", scales.population_colour(5))]
    assert "max = 2" in title


def test_a_map_of_many_populations_is_taken_apart_and_has_a_key(tmp_path):
    counts = np.zeros((4, 12, 12))
    for k in range(4):
        counts[k, 2 * k : 2 * k + 3] = 50.0
    labels = tuple(f"population {k}" for k in range(4))
    shown = layer("map", "population", counts, limits=(0.0, 400.0), labels=labels)
    image = picture(plot_overlay(data(shown), tmp_path / "a.png"))
    alone = np.log1p(50) / np.log1p(400)
    night = np.array(rgb(scales.NIGHT)) / 255
    for k in range(4):  # each has a map of its own, as bright as in the one of all
        colour = np.array(rgb(scales.population_colour(k))) / 255 * alone + night * (1 - alone)
        assert share(image, colour) > 0.02, k
    for part, label, own in zip(overlay.parts(shown), labels, counts, strict=True):
        assert (part.title, part.labels) == (f"One: {label}", (label,))
        np.testing.assert_array_equal(part.values, own[None])
    assert "the most frequent" in overlay.mixture(shown)[0]
    homes = OverlayData("test", "A test", (shown, shown), columns=("home",), panels_across=1)
    assert overlay._arranged(homes) == (shown, (), 1)
    few = layer("map", "population", counts[:3], limits=(0.0, 400.0), labels=labels[:3])
    assert overlay._arranged(data(few)) == (None, (), 1)


@pytest.mark.parametrize("stacked", [False, True])
def test_curves_bars_and_windows_are_drawn_the_same_each_time(tmp_path, stacked):
    layers = (
        layer(
            "window",
            "style",
            np.arange(147).reshape(3, 7, 7),
            limits=(0.0, 9.0),
            labels=("melee", "range", "mage"),
        ),
        layer("window", "diverging", np.zeros((15, 15)), limits=(-1.0, 1.0)),
        layer(
            "curves",
            "plain",
            np.array([[1, 2, np.nan], [3, 2, 1]]),
            x=np.arange(1, 4),
            log_x=True,
            labels=("agents", "x"),
        ),
        layer("bars", "plain", np.ones((2, 3)), x=("a", "b", "c"), labels=("u", "v"), stacked=stacked),
        layer("bars", "plain", np.ones((2, 40)), x=tuple(range(40))),
        layer("bars", "plain", np.ones((0, 0))),
    )
    first, again = (plot_overlay(data(*layers), tmp_path / name) for name in ("a.png", "b.png"))
    assert first.read_bytes() == again.read_bytes()
    assert picture(first).std() > 0.05


def drawn(monkeypatch: Any, tmp_path: Any, *layers: Layer, **more: Any) -> Any:
    """The figure of an overlay."""
    figures = held(monkeypatch, overlay)
    overlay.plot_overlay(OverlayData("test", "A test", layers, **more), tmp_path / "a.png")
    return figures[0]


def test_a_window_counts_from_the_agent_in_its_middle(monkeypatch, tmp_path):
    values = np.arange(35.0).reshape(5, 7)[:, :5]
    axes = drawn(monkeypatch, tmp_path, layer("window", "diverging", values, limits=(0.0, 40.0))).axes[0]
    (image,) = axes.images
    np.testing.assert_allclose(image.get_array(), scales.diverging(values, (0.0, 40.0)))
    assert list(image.get_extent()) == [-2.5, 2.5, 2.5, -2.5]  # rows go down
    assert ticks(axes, "x") == ticks(axes, "y") == [f"{number}".replace("-", "−") for number in range(-2, 3)]
    (agent,) = axes.lines
    assert [list(part) for part in agent.get_data()] == [[0], [0]]


def test_a_map_is_cut_to_what_is_not_dimmed_and_keeps_its_coordinates(monkeypatch, tmp_path):
    values = np.arange(80.0).reshape(8, 10)
    dim = np.ones((8, 10), bool)
    dim[2:5, 3:9] = False
    dim[3, 4] = True
    axes = drawn(monkeypatch, tmp_path, layer("map", "diverging", values, limits=(0.0, 79.0), dim=dim)).axes[
        0
    ]
    (image,) = axes.images
    expected = scales.dim(scales.diverging(values, (0.0, 79.0)), dim)[2:5, 3:9]
    np.testing.assert_allclose(image.get_array(), expected)
    assert list(image.get_extent()) == [2.5, 8.5, 4.5, 1.5]
    bar = axes.figure.axes[-1]
    assert bar.get_ylim() == (0.0, 79.0)
    assert bar.get_ylabel() == "units"


def test_curves_are_the_values_over_x_each_in_its_colour(monkeypatch, tmp_path):
    values = np.array([[1.0, 2.0, np.nan], [3.0, 2.0, 1.0], [0.5, 0.5, 0.5]])
    labels = ("agents", "population 3", "by chance")
    shown = layer(
        "curves", "plain", values, x=np.array([1.0, 10.0, 100.0]), x_label="ticks", labels=labels, log_x=True
    )
    (axes,) = drawn(monkeypatch, tmp_path, shown).axes
    for line, row, label in zip(axes.lines, values, labels, strict=True):
        np.testing.assert_array_equal(line.get_xdata(), [1.0, 10.0, 100.0])
        np.testing.assert_array_equal(line.get_ydata(), row)
        assert line.get_label() == label
    assert [line.get_color() for line in axes.lines][:2] == [INK, scales.population_colour(3)]
    assert [line.get_linestyle() for line in axes.lines] == ["-", "-", "--"]
    assert (axes.get_xscale(), axes.get_xlabel(), axes.get_ylabel()) == ("log", "ticks", "units")
    assert {"1", "10", "100"} <= set(ticks(axes, "x"))  # numbers, as formulas are not set
    assert axes.get_ylim()[0] == 0.0


@pytest.mark.parametrize("stacked", [False, True])
def test_bars_are_as_high_as_their_values(monkeypatch, tmp_path, stacked):
    values = np.array([[1.0, 2.0, np.nan], [4.0, 5.0, 6.0]])
    shown = layer("bars", "plain", values, x=("a", "b", "c"), labels=("u", "v"), stacked=stacked)
    (axes,) = drawn(monkeypatch, tmp_path, shown).axes
    lower, upper = axes.containers
    assert [bar.get_height() for bar in (*lower, *upper)] == [1.0, 2.0, 0.0, 4.0, 5.0, 6.0]
    assert [bar.get_y() for bar in upper] == ([1.0, 2.0, 0.0] if stacked else [0.0] * 3)
    middles = [[bar.get_x() + bar.get_width() / 2 for bar in group] for group in (lower, upper)]
    aside = 0.0 if stacked else 0.2
    np.testing.assert_allclose(middles, [np.arange(3) - aside, np.arange(3) + aside], atol=1e-9)
    assert ticks(axes, "x") == ["a", "b", "c"]
    assert [group.get_label() for group in (lower, upper)] == ["u", "v"]
    assert axes.get_legend() is not None


def test_many_bars_stand_at_their_numbers(monkeypatch, tmp_path):
    shown = layer("bars", "plain", np.arange(12.0)[None], x=tuple(range(0, 60, 5)))
    (axes,) = drawn(monkeypatch, tmp_path, shown).axes
    np.testing.assert_allclose(
        [bar.get_x() + bar.get_width() / 2 for bar in axes.containers[0]], np.arange(0, 60, 5)
    )


def test_panels_stand_in_rows_and_empty_ones_say_so(monkeypatch, tmp_path):
    full = layer("curves", "plain", np.ones((1, 2)), x=np.arange(2))
    empty = layer("curves", "plain", np.ones((0, 0)))
    figure = drawn(monkeypatch, tmp_path, full, full, empty, panels_across=2)
    assert figure.get_suptitle() == "A test"
    assert [axes.get_title() for axes in figure.axes] == ["One", "One", "One", ""]
    assert [text.get_text() for text in figure.axes[2].texts] == ["no data"]
    assert [axes.axison for axes in figure.axes] == [True, True, True, False]
    assert figure.axes[0].get_gridspec().ncols == 2


def test_channels_that_mix_are_explained_once(monkeypatch, tmp_path):
    shown = layer("window", "style", np.ones((3, 3, 3)), limits=(0.0, 9.0), labels=("melee", "range", "mage"))
    figure = drawn(monkeypatch, tmp_path, shown, shown)
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["melee", "range", "mage"]
    assert "strength" in legend.get_title().get_text()
    assert "max = 9" in legend.get_title().get_text()


def test_a_field_holds_each_move_in_its_cell(monkeypatch, tmp_path):
    figures = held(monkeypatch, field_picture)
    walls = np.zeros((3, 4), bool)
    walls[0, 1] = True
    moves = np.full((3, 4, 2), np.nan)
    moves[2, 0], moves[1, 3], moves[0, 0] = (-1.0, 0.5), (0.0, 0.01), (0.0, 2.0)
    field_picture.plot_field(moves, walls, tmp_path / "a.png", {"start": (2, 1), "target": (0, 3)}, "Ways")
    (axes,) = figures[0].axes
    arrows = next(part for part in axes.collections if hasattr(part, "U"))
    np.testing.assert_array_equal(arrows.get_offsets(), [[0, 0], [0, 2]])  # column, row
    np.testing.assert_allclose(
        arrows.U, np.array([2.0, 0.5]) * 0.85 / 2
    )  # right, as long as the longest allows
    np.testing.assert_allclose(arrows.V, np.array([0.0, -1.0]) * 0.85 / 2)  # down
    marks = {line.get_label(): [int(part[0]) for part in line.get_data()] for line in axes.lines[:2]}
    assert marks == {"start": [1, 2], "target": [3, 0]}
    assert [list(part) for part in axes.lines[2].get_data()] == [[3], [1]]  # who stands still is a dot
    ground = axes.images[0].get_array()
    assert [list(cell) for cell in np.argwhere((ground != ground[2, 2]).any(axis=-1))] == [[0, 1]]
