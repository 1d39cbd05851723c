"""Every curve, band, line and bar of a picture of runs holds the numbers of the log, over its steps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from interplay.view import curves
from interplay.view.curves import Reference, plot_runs
from interplay.view.palette import POPULATIONS
from interplay.view.run_log import read_run
from interplay.view.seed_means import pooled
from tests.view.figures import held, lines, titled
from tests.view.runs import read_log, write_log, write_run

pytest.importorskip("matplotlib", reason="learning curves need the extra plot")

STEPS = np.arange(1, 121) * 1000.0


def logged(folder: Path, values: Any, seed: int = 0, world: str = "somewhere") -> Path:
    """A run that logged these values, 1,000 agent-steps apart."""
    rows = [{"agent_steps": step, "life": value} for step, value in zip(STEPS, values, strict=True)]
    return write_run(folder, rows, seed, world=world)


def panel(monkeypatch: Any, runs: list[Path], **asked: Any) -> Any:
    figures = held(monkeypatch, curves)
    plot_runs(runs, runs[0].parent / "a.png", columns=["life"], **asked)
    return titled(figures[0], "life")


def means(values: np.ndarray, places: np.ndarray = STEPS) -> np.ndarray:
    """Of each window the mean of the line through the points, on a fine grid; at the ends the part evenly about the middle."""
    found = []
    for middle in np.arange(1000, 120_001, 2000):
        reach = min(1000, middle - places[0], places[-1] - middle)
        found.append(np.interp(middle + reach * (np.arange(-1999, 2000, 2) / 2000), places, values).mean())
    return np.array(found)


def test_a_run_is_shown_raw_and_by_the_means_of_its_windows(monkeypatch, tmp_path):
    values = np.random.default_rng(1).normal(size=len(STEPS))
    axes = panel(monkeypatch, [logged(tmp_path / "a", values)])
    raw, curve = lines(axes)
    np.testing.assert_array_equal(raw, [STEPS, values])
    np.testing.assert_allclose(curve[1], means(values), atol=1e-4)
    np.testing.assert_allclose(curve[0], np.arange(1000, 120_001, 2000))  # the middles of windows
    assert axes.get_xlim() == (0.0, 120_000 * 1.02)
    assert axes.get_ylabel() == "life (ticks)"


def test_means_over_episodes_stand_where_these_began(monkeypatch, tmp_path):
    """Logged at 1,000 .. 120,000; episodes of the 2nd and 3rd line began in the other order, the 4th has none."""
    run = logged(tmp_path / "a", np.arange(120.0))
    lines_of = read_log(run)
    for at, began in ((1, 700.0), (2, 300.0), (119, 60_500.0)):
        lines_of[at] |= {"episodes_began": began, "of_episodes": ["life"]}
    for line in lines_of:
        line |= {"slot_steps": 2 * line["agent_steps"], "kl": 1.0}
        if "episodes_began" not in line:
            del line["life"]
    write_log(run, lines_of)
    raw, curve = lines(panel(monkeypatch, [run]))
    np.testing.assert_array_equal(raw, [[300.0, 700.0, 60_500.0], [2.0, 1.0, 119.0]])
    np.testing.assert_array_equal(curve[0], np.arange(1000, 60_500, 2000))
    np.testing.assert_allclose(
        curve[1][1:], np.interp(curve[0][1:], *raw)
    )  # between the two, as far as the last
    log = read_run(run)
    np.testing.assert_array_equal(log.places("kl"), STEPS)
    moved = log.against("slot_steps")
    np.testing.assert_array_equal(moved.steps, 2 * STEPS)
    assert moved.places("life")[[1, 2, 119]].tolist() == [1400.0, 600.0, 121_000.0]


def test_runs_of_several_seeds_are_their_mean_in_a_band_from_the_lowest_to_the_highest(monkeypatch, tmp_path):
    rng = np.random.default_rng(2)
    values = [rng.normal(size=len(STEPS)) for _ in range(3)]
    runs = [logged(tmp_path / "abc"[i], each, seed=i) for i, each in enumerate(values)]
    axes = panel(monkeypatch, [*runs, logged(tmp_path / "d", values[0] + 9, world="elsewhere")])
    windows = np.array([means(each) for each in values])
    (band,) = axes.collections
    corners = band.get_paths()[0].vertices
    for x, low, high in zip(np.arange(1000, 120_001, 2000), windows.min(0), windows.max(0), strict=True):
        heights = corners[np.isclose(corners[:, 0], x), 1]
        assert (heights.min(), heights.max()) == (pytest.approx(low, abs=1e-4), pytest.approx(high, abs=1e-4))
    together, raw, alone = axes.lines
    np.testing.assert_allclose(together.get_ydata(), windows.mean(0), atol=1e-4)
    np.testing.assert_allclose(raw.get_ydata(), values[0] + 9)
    np.testing.assert_allclose(alone.get_ydata(), windows[0] + 9, atol=1e-4)
    assert together.get_label() == "world somewhere (3 seeds)"
    assert alone.get_label() == "world elsewhere"
    assert [line.get_color() for line in (together, raw, alone)] == [POPULATIONS[i] for i in (0, 1, 1)]


def test_a_curve_counts_the_seeds_that_have_its_metric(monkeypatch, tmp_path):
    """Four runs of one group, of which three logged it."""
    runs = [logged(tmp_path / "abc"[i], np.zeros(len(STEPS)), seed=i) for i in range(3)]
    other = write_run(
        tmp_path / "d", [{"agent_steps": step, "x": 1.0} for step in STEPS], 3, world="somewhere"
    )
    assert panel(monkeypatch, [*runs, other]).lines[0].get_label() == "a, ... (3 seeds)"


def test_two_groups_of_one_folder_name_are_both_drawn(monkeypatch, tmp_path):
    runs = [logged(tmp_path / "xy"[i] / "a", np.ones(len(STEPS)), world=f"{i}" * 41) for i in range(2)]
    labels = panel(monkeypatch, runs).get_legend_handles_labels()[1]
    assert labels == ["a", str(runs[1])]


def test_a_line_of_few_episodes_is_no_peak(monkeypatch, tmp_path):
    """Every other line is a mean over one episode, 50 above the others' mean over 99."""
    run = logged(tmp_path / "a", np.zeros(len(STEPS)))
    rows = [
        {
            "agent_steps": step,
            "life": 60.0 if at % 2 else 10.0,
            "lives": 1 if at % 2 else 99,
        }
        for at, step in enumerate(STEPS)
    ]
    write_log(run, rows)
    _, curve = lines(panel(monkeypatch, [run]))
    np.testing.assert_allclose(
        curve[1][2:-2], (99 * 10 + 60) / 100
    )  # at the ends points are joined otherwise
    assert curve[1].max() < 11


def test_what_is_compared_with_is_shown_as_far_as_the_runs_reach(monkeypatch, tmp_path):
    """A window that a run is in the middle of is shown whole; one that it has not come to is not."""
    windows = ((0.0, 50_000.0, 1.0), (100_000.0, 200_000.0, 2.0), (120_000.0, 130_000.0, 3.0))
    said = [
        Reference("theirs", "life", windows=windows),
        Reference("chance", "life", level=0.25),
        Reference("other", "kills", level=9.0),
    ]
    axes = panel(monkeypatch, [logged(tmp_path / "a", np.zeros(len(STEPS)))], references=said)
    found = [(line.get_label(), line.get_xdata(), line.get_ydata()) for line in axes.lines[2:]]
    assert [(list(x), list(y)) for _, x, y in found] == [
        ([0.0, 50_000.0], [1.0, 1.0]),
        ([100_000.0, 200_000.0], [2.0, 2.0]),
        ([0, 1], [0.25, 0.25]),  # across the whole panel
    ]
    shown = [text.get_text() for text in axes.figure.legends[0].get_texts()]
    assert shown == ["a", "theirs", "chance"]


def test_what_was_published_by_steps_of_slots_is_not_shown_over_other_axes(monkeypatch, tmp_path):
    said = [
        Reference("theirs", "life", windows=((0.0, 50_000.0, 1.0),)),
        Reference("chance", "life", level=0.25),
    ]
    run = logged(tmp_path / "a", np.zeros(len(STEPS)))
    axes = panel(monkeypatch, [run], references=said, against="agent_steps")
    assert [line.get_label() for line in axes.lines[2:]] == ["chance"]


def test_points_are_joined_in_the_order_of_their_places():
    """Of 306 episodes 2.55 make a point: the one at 1 joins the 300 at 2."""
    places, values = pooled(
        np.array([3.0, 1.0, 2.0]), np.array([7.0, 50.0, 10.0]), np.array([5.0, 1.0, 300.0])
    )
    np.testing.assert_allclose(places, [601 / 301, 3.0])
    np.testing.assert_allclose(values, [3050 / 301, 7.0])


def test_panels_of_a_world_are_named_by_it_and_compared_with_what_was_published(monkeypatch, tmp_path):
    figures = held(monkeypatch, curves)
    run = logged(tmp_path / "a", np.zeros(len(STEPS)), world="survival/1v1-heals-low")
    plot_runs([run], tmp_path / "a.png")
    assert figures[0].get_suptitle() == "survival/1v1-heals-low"
    plot_runs([run, logged(tmp_path / "b", STEPS, world="elsewhere")], tmp_path / "a.png")
    assert figures[1].get_suptitle() == ""
    plot_runs([run], tmp_path / "a.png", title="Mine")
    assert figures[2].get_suptitle() == "Mine"


def test_a_run_without_a_number_is_left_out_with_a_note(monkeypatch, tmp_path):
    runs = [logged(tmp_path / name, STEPS, seed=i) for i, name in enumerate("abc")]
    (runs[0] / "metrics.jsonl").write_text("")
    (runs[1] / "metrics.jsonl").write_text('{"agent_steps": NaN}\n')
    figures = held(monkeypatch, curves)
    plot_runs(runs, tmp_path / "a.png", columns=["life"])
    note = "".join(figures[0].get_supxlabel().split())
    assert "ahasloggednothing" in note
    assert "b/metrics.jsonl" in note
    labels = [line.get_label() for line in titled(figures[0], "life").lines]
    assert "c" in labels
    assert not {"a", "b"} & set(labels)


def test_curves_of_different_worlds_say_so(monkeypatch, tmp_path):
    runs = [logged(tmp_path / name, STEPS, world=f"of/{name}") for name in "ab"]
    figures = held(monkeypatch, curves)
    plot_runs(runs, tmp_path / "a.png", columns=["life"])
    assert "of/a, of/b" in figures[0].get_supxlabel()


@pytest.mark.parametrize(
    ("value", "read"),
    [
        (3, 3.0),
        (0.5, 0.5),
        ([1, 2.5], 1.75),
        ([[1, 2], [3, 6]], 3.0),
        (True, None),
        ([True, 1], None),
        ([], None),
        ([1, None], None),
        ("1", None),
        ({"a": 1}, None),
    ],
)
def test_numbers_and_lists_of_them_are_columns_and_nothing_else_is(tmp_path, value, read):
    """A switch is no number, and a list with a gap has no mean."""
    rows = [{"agent_steps": 1, "x": value}, {"agent_steps": 2}]
    log = read_run(write_log(tmp_path, rows))
    assert ("x" in log.columns) == (read is not None)
    np.testing.assert_array_equal(log.column("x"), [np.nan if read is None else read, np.nan])
