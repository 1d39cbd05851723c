"""A run folder is data: links and special files in it lead nowhere."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from interplay.core.errors import UserError
from interplay.evaluate.tournaments.folder import TournamentFolder, kind_of
from interplay.evaluate.tournaments.results_log import ResultsLog
from interplay.train.run.checkpoint import (
    CheckpointWriter,
    find_checkpoint,
    keep_best,
    latest_checkpoint,
    list_checkpoints,
    problem,
    prune_checkpoints,
    read_checkpoint,
)
from interplay.train.run.folder import RunFolder
from interplay.train.settings import TrainSettings, WorldChoice
from interplay.view.run_log import read_run
from tests.evaluate import cup

ASKED = TrainSettings(world=WorldChoice(id="toy/world"), seed=5)


def save(run: Path, steps: int) -> Path:
    with CheckpointWriter(run, steps) as writer:
        writer.write("learner", {"x": np.full(2, steps)})
        return writer.commit({"updates": 1, "seconds": 0.0}, "toy/world", 1, ASKED)


@pytest.fixture
def run(tmp_path: Path) -> Path:
    path = tmp_path / "run"
    with RunFolder.create(path, ASKED) as folder:
        folder.log(64, {"return": 1.0})
        save(path, 64)
    return path


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder that is not the run's, with what nobody may touch."""
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "file").write_text('{"agent_steps": 10, "mine": 1}\n{"torn": ')
    (folder / ".removed-1").mkdir()
    (folder / ".removed-1" / "thesis").write_text("mine")
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def move_out(path: Path, outside: Path) -> None:
    """Puts a link in the place of a file or folder."""
    if path.is_dir():
        shutil.rmtree(path)
        path.symlink_to(outside)
    else:
        path.unlink(missing_ok=True)
        path.symlink_to(outside / "file")


@pytest.mark.parametrize("name", [".lock", "settings.toml", "metrics.jsonl", "checkpoints", "tensorboard"])
def test_links_in_a_run_folder_are_refused_and_what_they_name_is_not_touched(
    run: Path, outside: Path, name: str
) -> None:
    (run / "tensorboard").mkdir(exist_ok=True)
    move_out(run / name, outside)
    before = contents(outside)
    with pytest.raises(UserError, match=f"{name} is a link"):
        RunFolder.open(run)
    with pytest.raises(UserError, match=rf"{name} is a link"):
        RunFolder.create(run, ASKED)
    assert contents(outside) == before


@pytest.mark.parametrize("name", [".lock", "settings.toml", "metrics.jsonl"])
def test_pipes_in_a_run_folder_are_refused_without_waiting(run: Path, name: str) -> None:
    (run / name).unlink()
    os.mkfifo(run / name)
    with pytest.raises(UserError, match=f"{name} is no ordinary file; move it away"):
        RunFolder.open(run)
    if name != ".lock":
        with pytest.raises(UserError, match="pipe"):
            read_run(run)


def test_a_linked_folder_of_checkpoints_is_neither_swept_nor_written_to(run: Path, outside: Path) -> None:
    shutil.rmtree(run / "checkpoints")
    (run / "checkpoints").symlink_to(outside)
    before = contents(outside)
    for act in (
        lambda: CheckpointWriter(run, 128),
        lambda: list_checkpoints(run),
        lambda: latest_checkpoint(run),
    ):
        with pytest.raises(UserError, match="checkpoints is a link"):
            act()
    assert contents(outside) == before


def test_a_linked_checkpoint_is_skipped_by_name_and_goes_as_a_link(run: Path, outside: Path) -> None:
    """Also a link to a sound one: what is pruned here would be gone there."""
    shutil.copytree(run / "checkpoints" / "000000000064", outside / "sound")
    linked = run / "checkpoints" / "000000000032"
    linked.symlink_to(outside / "sound")
    before = contents(outside)
    assert problem(linked) == f"{linked} is a link; put the checkpoint itself there"
    prune_checkpoints(run, 1)
    assert not linked.is_symlink()
    assert not any((run / "checkpoints").glob(".removed-*"))
    assert contents(outside) == before
    (outside / "latest").symlink_to(run / "checkpoints" / "000000000064")  # the user's own, typed by him
    assert read_checkpoint(find_checkpoint(outside / "latest")).agent_steps == 64


@pytest.mark.parametrize(
    "name", ["best", ".staging-best", ".removed-best", ".staging-000000000128", "000000000128"]
)
def test_links_where_a_checkpoint_is_made_make_way(run: Path, outside: Path, name: str) -> None:
    (run / "checkpoints" / name).symlink_to(outside)
    before = contents(outside)
    keep_best(save(run, 128))
    assert contents(outside) == before
    assert problem(run / "checkpoints" / "best") is None
    assert not (run / "checkpoints" / "000000000128").is_symlink()


@pytest.mark.parametrize("name", ["record.json", "learner.safetensors", "manifest.json"])
@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
def test_files_of_a_checkpoint_are_files(run: Path, outside: Path, name: str, kind: str) -> None:
    path = run / "checkpoints" / "000000000064" / name
    data = path.read_bytes()
    path.unlink()
    if kind == "link":  # to the same bytes
        (outside / "same").write_bytes(data)
        path.symlink_to(outside / "same")
    else:
        path.mkdir() if kind == "folder" else os.mkfifo(path)
    said = problem(path.parent) or ""
    assert str(path.parent) in said
    assert "\n" not in said


def test_a_checkpoint_that_says_other_steps_than_its_name_is_refused(run: Path) -> None:
    path = run / "checkpoints" / "000000000064"
    moved = path.rename(path.with_name("000000000128"))
    assert "it is of 64 agent-steps, " in (problem(moved) or "")
    assert problem(moved.rename(path.with_name("aside-000000000064-1"))) is None
    assert "it is of 64 agent-steps" in (
        problem(path.with_name("aside-000000000064-1").rename(path.with_name("aside-7-1"))) or ""
    )
    assert problem(path.with_name("aside-7-1").rename(path.with_name("the one I like"))) is None


def test_files_that_a_manifest_does_not_name_are_not_copied_to_best(run: Path, outside: Path) -> None:
    path = run / "checkpoints" / "000000000064"
    (path / "more.safetensors").symlink_to(outside / "file")
    best = keep_best(path)
    assert sorted(file.name for file in best.iterdir()) == [
        "learner.safetensors",
        "manifest.json",
        "record.json",
    ]


@pytest.mark.parametrize("name", [".lock", "tournament.toml", "results.jsonl", "ratings.json"])
def test_links_in_a_tournaments_folder_are_refused(tmp_path: Path, outside: Path, name: str) -> None:
    out, settings = tmp_path / "cup", cup.settings()
    TournamentFolder(out, settings).close()
    move_out(out / name, outside)
    before = contents(outside)
    with pytest.raises(UserError, match=f"{name} is a link"):
        TournamentFolder(out, settings, resume=True)
    assert contents(outside) == before


def test_a_tournaments_settings_notice_an_edit(tmp_path: Path) -> None:
    out, settings = tmp_path / "cup", cup.settings()
    TournamentFolder(out, settings).close()
    file = out / "tournament.toml"
    text = file.read_text()
    file.write_text(text.replace("seed = 11", "seed = 12"))
    for act in (lambda: kind_of(out), lambda: TournamentFolder(out, settings, resume=True)):
        with pytest.raises(UserError, match=r"tournament\.toml was changed since the tournament began"):
            act()
    file.write_text("# a note\n" + text)  # a person may still write into it what changes nothing
    TournamentFolder(out, settings, resume=True).close()
    file.write_text(text.partition("\n")[2])  # of an older version
    TournamentFolder(out, settings, resume=True).close()


@pytest.mark.parametrize(
    "open_log", [ResultsLog, lambda path: RunFolder.create(path.parent, ASKED).log(1, {"a": 1})]
)
def test_logs_do_not_follow_links(tmp_path: Path, outside: Path, open_log: Callable[[Path], object]) -> None:
    folder = tmp_path / "new"
    folder.mkdir()
    for name in ("results.jsonl", "metrics.jsonl"):
        (folder / name).symlink_to(outside / "file")
    before = contents(outside)
    with pytest.raises(UserError, match="link"):
        open_log(folder / "results.jsonl")
    assert contents(outside) == before
