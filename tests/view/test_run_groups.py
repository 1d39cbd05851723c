"""Groups of runs that differ in their seed, and their labels: the same in every verb."""

from __future__ import annotations

from pathlib import Path

import pytest

from interplay.core.errors import UserError
from interplay.view.comparison import compare
from interplay.view.curves import plot_runs
from interplay.view.run_groups import group_runs, label_groups
from interplay.view.run_table import read_row
from tests.view.runs import write_run


def make_run(folder: Path, seed: int, clip: float = 0.2, more: str = "") -> Path:
    rows = [{"agent_steps": 100 * i, "life": seed + i} for i in range(1, 9)]
    return write_run(folder, rows, seed, clip, more)


@pytest.fixture
def runs(tmp_path: Path) -> list[Path]:
    wide = [make_run(tmp_path / f"wide-seed-{seed}", seed, 0.3) for seed in range(3)]
    return [*wide, make_run(tmp_path / "narrow", 0, 0.1)]


def read(runs):
    return [read_row(path) for path in runs]


def test_runs_that_differ_in_their_seed_alone_are_a_group(runs):
    wide, narrow = group_runs(read(runs))
    assert [run.path for run in wide.runs] == runs[:3]
    assert [run.path for run in narrow.runs] == runs[3:]
    assert (wide.settings, narrow.settings) == ("clip 0.3", "clip 0.1")
    assert (wide.folders, narrow.folders) == ("wide", "narrow")
    assert (wide.seeds, narrow.seeds) == (" (3 seeds)", "")


def test_settings_that_are_not_read_make_no_group(tmp_path):
    runs = [make_run(tmp_path / "a", 0), make_run(tmp_path / "b", 1)]
    with (runs[1] / "settings.toml").open("a") as file:
        file.write("[qmix]\nmixing = 7\n")
    (group,) = group_runs(read(runs))
    assert group.settings == "dilemma/fixed"


def test_a_run_without_settings_is_a_group_of_its_own(runs):
    for run in runs[:2]:
        (run / "settings.toml").unlink()
    groups = group_runs(read(runs))
    assert [len(group.runs) for group in groups] == [1, 1, 1, 1]
    assert [group.settings for group in groups] == ["", "", "clip 0.3", "clip 0.1"]


def test_folders_without_a_stem_are_listed(tmp_path):
    names = ["a", "b", "c", "d"]
    runs = read([make_run(tmp_path / name, seed) for seed, name in enumerate(names)])
    assert group_runs(runs[:3])[0].folders == "a, b, c"
    assert group_runs(runs)[0].folders == "a, ..."


@pytest.mark.parametrize(
    "key", ["clip 0.3", "clip 0.3 (3 seeds)", "wide", "wide (3 seeds)", "wide-seed-1", "{path}/wide-seed-2"]
)
def test_curves_and_compare_take_the_same_keys(runs, tmp_path, monkeypatch, key):
    figures = []
    monkeypatch.setattr(
        "interplay.view.curves.save_figure", lambda figure, target: figures.append(figure) or target
    )
    labels = {key.format(path=tmp_path): "ours"}
    assert [group.label for group in compare(runs, "life", labels).groups] == ["ours", "clip 0.1"]
    plot_runs(runs, tmp_path / "a.png", ["life"], labels=labels)
    shown = [line.get_label() for line in figures[0].axes[0].lines]
    assert [label for label in shown if label[0] != "_"] == ["ours (3 seeds)", "clip 0.1"]


def test_a_key_of_two_groups_or_of_none_is_refused(tmp_path):
    runs = [make_run(tmp_path / f"{at}" / "same", 0, clip) for at, clip in enumerate((0.1, 0.2))]
    groups = group_runs(read(runs))
    for key in ("same", "other"):
        with pytest.raises(UserError):
            label_groups(groups, ["x", "y"], {key: "ours"})
    assert label_groups(groups, ["x", "y"], {str(runs[1]): "ours"}) == ["x", "ours"]


def test_one_name_of_two_groups_is_told_apart(tmp_path):
    own = [make_run(tmp_path / str(clip), 0, clip, 'name = "A"\n') for clip in (0.1, 0.2)]
    groups = group_runs(read([*own, make_run(tmp_path / "c", 0, 0.3)]))
    shown = label_groups(groups, [group.folders for group in groups], {})
    assert shown == ["A (0.1)", "A (0.2)", "c"]


@pytest.mark.parametrize(
    ("rate", "found"),
    [("3e-4", [["0", "1"]]), ('"linear 3e-4 0"', [["0"], ["1"]]), ("[[0, 1e-3], [1, 0]]", [["0"], ["1"]])],
)
def test_the_length_separates_runs_of_a_schedule(tmp_path, rate, found):
    """A schedule spans the run, so another length gives other weights; with a constant rate a longer run goes on from the shorter one."""
    for seed, steps in ((0, 1000), (1, 2000), (2, 2000)):
        file = make_run(tmp_path / str(seed), seed, more=f"steps = {steps}\n") / "settings.toml"
        file.write_text(file.read_text() + f"learning_rate = {rate}\n")
    runs = read([tmp_path / name for name in "012"])
    groups = group_runs(runs[:2])
    assert [[run.path.name for run in group.runs] for group in groups] == found
    settings = ["steps 1000", "steps 2000"] if len(found) > 1 else ["dilemma/fixed"]
    assert [group.settings for group in groups] == settings
    assert len(group_runs(runs)) == len(found)


def test_two_lengths_of_one_seed_are_groups_with_a_schedule_alone(tmp_path):
    for steps in (1000, 2000):
        make_run(tmp_path / str(steps), 3, more=f"steps = {steps}\n")
    runs = [tmp_path / "1000", tmp_path / "2000"]
    with pytest.raises(UserError):
        group_runs(read(runs))
    for run in runs:
        file = run / "settings.toml"
        file.write_text(file.read_text() + 'entropy_coefficient = "cosine 0.1 0"\n')
    assert [group.settings for group in group_runs(read(runs))] == ["steps 1000", "steps 2000"]
