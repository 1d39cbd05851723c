"""Figures for papers: their size, their text, and that a legend lies over no axes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from interplay.core.errors import UserError
from interplay.view import comparison_picture, curves
from interplay.view.comparison import compare
from interplay.view.comparison_picture import plot_comparison
from interplay.view.curves import plot_runs
from interplay.view.figures import FigureLook, figure_look, line_look, panel_grid
from tests.view.figures import held
from tests.view.runs import write_run

SIX = ("episode_return", "episode_length", "life", "rating", "entropy", "kl")


def make_run(folder: Path, seed: int, clip: float, agents: int = 2) -> Path:
    rng = np.random.default_rng([seed, round(100 * clip)])
    rows = [
        {"agent_steps": 100 * i, "by_agent": {"episode_return": rng.normal(size=agents).tolist()}}
        | {name: clip * i + rng.normal() for name in SIX}
        for i in range(1, 31)
    ]
    return write_run(folder, rows, seed, clip, "steps = 3000\n")


@pytest.fixture
def runs(tmp_path: Path) -> list[Path]:
    """Three settings with long names, three seeds each."""
    name = "a-run-whose-name-is-so-long-that-no-legend-has-room-for-it"
    return [
        make_run(tmp_path / "runs" / f"{name}-{clip}-seed-{s}", s, clip)
        for clip in (0.1, 0.2, 0.3)
        for s in range(3)
    ]


def boxes(figure: Any) -> tuple[Any, list[Any], Any]:
    """Boxes in pixels of the legend, of the panels with their labels, and of the page, as it is drawn."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg

    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    renderer = canvas.get_renderer()
    panels = [axes.get_tightbbox(renderer) for axes in figure.axes if axes.axison]
    return figure.legends[0].get_window_extent(renderer), panels, figure.bbox


def assert_apart(figure: Any) -> None:
    legend, panels, page = boxes(figure)
    assert all(legend.y1 <= panel.y0 for panel in panels)
    renderer = figure.canvas.get_renderer()
    outer = [text.get_window_extent(renderer) for text in figure.texts if text.get_text()]
    for one in (legend, *panels, *outer):
        assert page.x0 - 1 <= one.x0
        assert one.x1 <= page.x1 + 1
        assert page.y0 - 1 <= one.y0
        assert one.y1 <= page.y1 + 1


@pytest.mark.parametrize("size", ["", "column", "page", "5.5", "9x8"])
@pytest.mark.parametrize("columns", [SIX[:1], SIX])
def test_a_legend_lies_below_all_panels_and_inside_of_the_page(runs, tmp_path, monkeypatch, size, columns):
    figures = held(monkeypatch, curves)
    plot_runs(runs, tmp_path / "a.png", columns, look=figure_look(size, 8.0, "A title " * 9))
    assert_apart(figures[0])
    assert len(figures[0].legends[0].get_texts()) == 3
    assert sum(axes.axison for axes in figures[0].axes) == len(columns)


@pytest.mark.parametrize("size", ["", "column", "pagex4"])
def test_a_legend_of_a_comparison_lies_below_too(runs, tmp_path, monkeypatch, size):
    figures = held(monkeypatch, comparison_picture)
    plot_comparison(compare(runs, "episode_return"), tmp_path / "a.png", figure_look(size))
    assert_apart(figures[0])
    assert [text.get_text() for text in figures[0].legends[0].get_texts()] == [
        f"clip {clip} (3 seeds)" for clip in (0.1, 0.2, 0.3)
    ]


def test_six_columns_are_two_rows(runs, tmp_path, monkeypatch):
    figures = held(monkeypatch, curves)
    plot_runs(runs, tmp_path / "a.png", SIX)
    places = {
        (axes.get_subplotspec().rowspan.start, axes.get_subplotspec().colspan.start)
        for axes in figures[0].axes
    }
    assert places == {(row, column) for row in range(2) for column in range(3)}
    width, height = figures[0].get_size_inches()
    assert width / height < 3


@pytest.mark.parametrize("count", range(1, 14))
@pytest.mark.parametrize("width", [None, 3.25, 5.5, 6.75, 20.0])
def test_a_grid_has_room_for_all_and_no_empty_row(count, width):
    rows, across = panel_grid(count, width)
    assert (rows - 1) * across < count <= rows * across
    assert across <= 3


@pytest.mark.parametrize(
    ("size", "inches"), [("5.5x3", (5.5, 3.0)), ("column x 4", (3.25, 4.0)), ("page", (6.75, None))]
)
def test_a_figure_has_the_size_that_was_asked_for(runs, tmp_path, size, inches):
    out = plot_runs(runs[:3], tmp_path / "a.svg", SIX[:1], look=figure_look(size))
    found = re.search(r'width="([\d.]+)pt" height="([\d.]+)pt"', out.read_text())
    assert found is not None
    assert float(found[1]) / 72 == pytest.approx(inches[0], abs=0.01)
    assert inches[1] is None or float(found[2]) / 72 == pytest.approx(inches[1], abs=0.01)
    page = plot_runs(runs[:3], tmp_path / "a.pdf", SIX[:1], look=figure_look(size)).read_bytes()
    box = re.search(rb"/MediaBox \[ 0 0 ([\d.]+) ([\d.]+) \]", page)
    assert box is not None
    assert float(box[1]) / 72 == pytest.approx(inches[0], abs=0.01)


def test_text_stays_text(runs, tmp_path):
    look = figure_look("page", 9, "Clipping")
    own = {runs[0].name: "a label of my own"}
    svg = plot_runs(runs, tmp_path / "a.svg", SIX[:1], labels=own, look=look).read_text()
    words = [re.sub("<[^>]*>", "", text) for text in re.findall(r"<text[^>]*>.*?</text>", svg, re.DOTALL)]
    assert "Clipping" in words
    assert any(word.startswith("a label of my own") for word in words)
    pdf = plot_runs(runs, tmp_path / "a.pdf", SIX[:1], look=look).read_bytes()
    assert b"/FontFile2" in pdf  # TrueType, whole letters
    assert b"/Type3" not in pdf
    assert b"CreationDate" not in pdf


def test_the_same_runs_are_the_same_bytes(runs, tmp_path):
    for ending in ("png", "pdf", "svg"):
        first, second = (
            plot_runs(runs, tmp_path / f"{name}.{ending}", SIX[:2]).read_bytes() for name in "ab"
        )
        assert first == second


def test_sizes_of_letters_follow_the_font(runs, tmp_path, monkeypatch):
    figures = held(monkeypatch, curves)
    plot_runs(runs, tmp_path / "a.png", SIX[:1], look=FigureLook(font=12.0))
    axes = figures[0].axes[0]
    assert axes.xaxis.label.get_fontsize() == 12
    assert figures[0].legends[0].get_texts()[0].get_fontsize() == 11


def test_labels_stand_in_the_legend_with_their_seeds(runs, tmp_path, monkeypatch):
    figures = held(monkeypatch, curves)
    name = runs[3].name.removesuffix("-seed-0") + " (3 seeds)"
    plot_runs(runs, tmp_path / "a.png", SIX[:1], labels={name: "wide", runs[0].name: "narrow"})
    assert [text.get_text() for text in figures[0].legends[0].get_texts()][:2] == [
        "narrow (3 seeds)",
        "wide (3 seeds)",
    ]
    for labels in ({"nothing": "a"}, {name: "a", runs[0].name: "a"}):
        with pytest.raises(UserError):
            plot_runs(runs, tmp_path / "a.png", SIX[:1], labels=labels)


def test_every_line_differs_without_its_colour():
    looks = [line_look(number, 28) for number in range(28)]
    assert len({(look.marker, look.dash) for look in looks}) == 28
    assert len({look.colour for look in looks[:7]}) == 7


def test_parts_keep_their_look_in_every_panel(tmp_path, monkeypatch):
    figures = held(monkeypatch, curves)
    run = make_run(tmp_path / "one", 0, 0.1)
    plot_runs([run], tmp_path / "a.png", ["episode_return", "kl"], by="agent")
    drawn = [
        (line.get_label(), line.get_color(), line.get_marker())
        for axes in figures[0].axes
        for line in axes.get_lines()
        if not line.get_label().startswith("_")
    ]
    assert len({(colour, marker) for _, colour, marker in drawn}) == len(drawn) == 3


def test_a_figure_without_room_for_its_panels_is_refused(runs, tmp_path):
    with pytest.raises(UserError):
        plot_runs(runs, tmp_path / "a.png", SIX, look=figure_look("3x1"))
