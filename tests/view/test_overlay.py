"""Overlays as PNG files: what stands where, in which colour."""

from __future__ import annotations

import matplotlib.image
import numpy as np
import pytest

from interplay.core.errors import UserError
from interplay.evaluate.lifetimes.overlays import Layer, OverlayData
from interplay.view import overlay, panels, scales
from interplay.view.overlay import plot_overlay
from interplay.view.palette import rgb

pytestmark = pytest.mark.slow


def picture(path) -> np.ndarray:
    return matplotlib.image.imread(path)[..., :3]


def share(image: np.ndarray, colour) -> float:
    """Of the pixels that have a colour."""
    return float((np.abs(image - np.asarray(colour)).max(axis=2) < 0.02).mean())


def data(*layers: Layer) -> OverlayData:
    return OverlayData("test", "A test", layers)


def layer(form: str, scale: str, values: np.ndarray, **more) -> Layer:
    return Layer("one", "one", values, form, scale, "units", "A meaning.", **more)


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
    assert panels._inside(shown) == (10, 10, 20, 20)
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
    assert panels._inside(shown) == (9, 9, 21, 21)
    colours = panels._colours(shown)
    np.testing.assert_allclose(colours[15, 16] * 255, rgb(scales.STYLE_COLOURS[2]))
    np.testing.assert_allclose(colours[[12, 13], 12], [[scales.GREYS[1]] * 3, [scales.GREYS[2]] * 3])
    assert "ground: water dark" in panels.mixture(shown)[0]


def test_a_chosen_population_keeps_its_colour():
    shown = layer("map", "population", np.full((1, 4, 4), 2.0), limits=(0.0, 2.0), labels=("population 5",))
    np.testing.assert_allclose(panels._colours(shown)[0, 0] * 255, rgb(scales.population_colour(5)))
    title, channels = panels.mixture(shown)
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
    assert "the most frequent" in panels.mixture(shown)[0]
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


def test_wrong_files_are_refused(tmp_path):
    with pytest.raises(UserError, match=r"end the name in \.png"):
        plot_overlay(data(layer("bars", "plain", np.ones((1, 2)), x=(1, 2))), tmp_path / "a.gif")
