"""`evaluate RUN --at-checkpoints`: what it says of a checkpoint is what evaluating that checkpoint alone says."""

from __future__ import annotations

import csv
import io
import json
import math
import shutil
import tomllib
from pathlib import Path

import pytest

from interplay.core.settings import build
from interplay.evaluate.milestones import metrics_of
from interplay.train.run.checkpoint import list_checkpoints
from interplay.train.run.settings_file import settings_of
from interplay.train.settings import TrainSettings
from interplay.train.trainer import train
from interplay.verbs import milestones, players
from interplay.view.curves import plot_runs
from interplay.view.run_log import read_run
from tests.cli.command import refusal, typed
from tests.train.real_run import SETTINGS

pytestmark = pytest.mark.slow

LINE = "tests.connect.toys:Line"
FEW = ("--episodes", "9", "--num-worlds", "4", "--seed", "5")


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    """A run that has kept its beginning and each of three updates."""
    out = tmp_path_factory.mktemp("runs") / "kept"
    kept = {"max_updates": 3, "keep_at": [0], "keep_every": 1, "keep_checkpoints": 1}
    values = {**SETTINGS, "world": {"id": LINE, "options": {"leave": True}}, "steps": 10**9}
    values["train"] = {**SETTINGS.get("train", {}), **kept}
    train(build(TrainSettings, values, "test"), out)
    assert len(list_checkpoints(out)) == 4
    return out


def rows_of(capsys, *words: object) -> list[dict]:
    code, out, errors = typed(capsys, "evaluate", *words, "--at-checkpoints", *FEW, "--json")
    assert code == 0, errors
    report = json.loads(out)
    assert report["num_worlds"] == 4
    return report["checkpoints"]


def alone(capsys, path: Path, *words: str) -> dict:
    code, out, errors = typed(capsys, "evaluate", path, *words, *FEW, "--json")
    assert code == 0, errors
    return json.loads(out)["metrics"]


@pytest.mark.parametrize("words", [(), ("--greedy",), ("leave=false",), ("--roles", "pop0=random")])
def test_each_row_is_that_checkpoint_evaluated_alone(capsys, run, words):
    rows = rows_of(capsys, run, *words)
    checkpoints = list_checkpoints(run)
    assert [row["agent_steps"] for row in rows] == [int(path.name) for path in checkpoints]
    assert [row["updates"] for row in rows] == [0, 1, 2, 3]
    for row, path in zip(rows, checkpoints, strict=True):
        single = alone(capsys, path, *words)
        assert row["episode_return"] == single["return"]["mean"]
        assert row["standard_error"]["episode_return"] == single["return"]["standard_error"]
        assert row["episode_length"] == single["steps"]["mean"]
        assert (row["low"]["truncated"], row["high"]["truncated"]) == (
            single["truncated"]["low"],
            single["truncated"]["high"],
        )
        assert "episode_length" not in row["low"]
        each = [number["mean"] for name, number in single.items() if name.startswith("return[")]
        assert row["by_agent"]["episode_return"] == each
    if not words:
        assert len({row["episode_return"] for row in rows}) > 1  # it learns, so they are not one policy


def test_rows_are_kept_and_drawn_and_what_is_there_is_not_played_again(capsys, run, tmp_path, monkeypatch):
    out = tmp_path / "evaluations"
    whole = rows_of(capsys, run, "--out", out)
    assert [row["agent_steps"] for row in whole] == read_run(out).steps.tolist()
    evaluated = tomllib.loads((out / "settings.toml").read_text())["evaluated"]
    assert [evaluated[name] for name in ("episodes", "num_worlds", "seed")] == [9, 4, 5]
    log = out / "metrics.jsonl"
    lines = log.read_text().splitlines(keepends=True)
    log.write_text("".join(lines[:-1]) + lines[-1][:20])  # killed in its last line
    played = []

    def note(table, counts):
        played.append(counts["agent_steps"])
        return row_of(table, counts)

    from interplay.evaluate.milestones import row_of

    monkeypatch.setattr("interplay.verbs.milestones.row_of", note)
    assert rows_of(capsys, run, "--out", out) == whole
    assert played == [whole[-1]["agent_steps"]]
    assert log.read_text() == "".join(lines)
    assert plot_runs([out], tmp_path / "a.png", columns=["episode_length"]).exists()
    before = sorted(path.name for path in out.iterdir())
    said = refusal(capsys, "evaluate", run, "--at-checkpoints", "--episodes", "10", "--out", out)
    assert "choose another --out" in said
    assert "choose another --out" in refusal(capsys, "evaluate", run, "--at-checkpoints", *FEW, "--out", run)
    assert sorted(path.name for path in out.iterdir()) == before


def test_evaluations_of_other_seeds_and_lengths_are_one_group(run, monkeypatch):
    """Their settings differ in the seed alone; those of another setting or of other options of the evaluation differ."""
    checkpoint = list_checkpoints(run)[-1]
    settings, player = settings_of(checkpoint, acts=False), players.seat(run, "", {}, False, (), True)
    how = {"episodes": 9, "num_worlds": 4, "seed": 5, "max_steps": None, "greedy": False, "roles": ()}

    def text(options=(), **changes):
        changed = settings.model_copy(update=changes)
        monkeypatch.setattr(milestones, "settings_of", lambda path, acts: changed)
        return milestones._settings_text(checkpoint, player, {**how, **dict(options)}).splitlines()

    first = text()
    assert first[0] == f"seed = {settings.seed}"
    assert text(seed=settings.seed + 1, steps=7) == [f"seed = {settings.seed + 1}", *first[1:]]
    assert text(num_worlds=settings.num_worlds + 1)[1:] != first[1:]
    others = {"episodes": 8, "num_worlds": 3, "seed": 6, "max_steps": 7, "greedy": True}
    others |= {"roles": ("pop0=random",)}
    texts = {"".join(text({name: value})) for name, value in others.items()}
    assert len(texts - {"".join(first)}) == len(others)


def test_a_table_with_the_columns_that_are_asked_for(capsys, run):
    code, out, errors = typed(capsys, "evaluate", run, "--at-checkpoints", *FEW, "--csv")
    assert (code, errors.replace("\n", "")) == (0, "") or "preparing" in errors
    table = list(csv.DictReader(io.StringIO(out)))
    rows = rows_of(capsys, run)
    for cells, row in zip(table, rows, strict=True):
        for name in metrics_of(rows):
            assert (cells[name] == "nan" and row[name] is None) or math.isclose(float(cells[name]), row[name])
        each = [float(cell) for name, cell in cells.items() if name.startswith("episode_return[")]
        assert each == row["by_agent"]["episode_return"]
        assert len(each) > 1
    _, out, _ = typed(capsys, "evaluate", run, "--at-checkpoints", *FEW, "--column", "episode_length")
    assert out.splitlines()[1] == f"all: {run.name} at each checkpoint, sampled" == table[0]["players"]
    assert out.splitlines()[2].split() == ["agent-steps", "episode_length"]
    assert len(out.splitlines()) == 7


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--at-checkpoints", "--column", "kils"), "no column 'kils'; there are "),
        (("--at-checkpoints", "--json", "--csv"), "--json --csv: a table has one form"),
        (("--csv",), "--csv: that is for the table of all checkpoints; add --at-checkpoints"),
    ],
)
def test_what_is_refused(capsys, run, words, said):
    assert said in refusal(capsys, "evaluate", run, *FEW, *words)


def test_damaged_checkpoints_are_left_out_and_said(capsys, run, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(run, copy)
    whole = rows_of(capsys, copy)
    for path in list_checkpoints(copy)[1:]:
        (path / "record.json").write_text("{}")
    code, out, errors = typed(capsys, "evaluate", copy, "--at-checkpoints", *FEW, "--json")
    assert (code, errors.count("left out: ")) == (0, 3)
    assert json.loads(out)["checkpoints"] == whole[:1]
    shutil.rmtree(copy / "checkpoints")
    assert "holds no checkpoints" in refusal(capsys, "evaluate", copy, "--at-checkpoints", *FEW)
    assert "holds no checkpoints" in refusal(
        capsys, "evaluate", "random", "--world", LINE, "--at-checkpoints", *FEW
    )
