"""A run with a folder that is removed, moved or replaced in mid-training ends at the next log line or checkpoint."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from interplay.cli.main import explain
from interplay.core.errors import Removed
from interplay.train.run.folder import RunFolder
from interplay.train.run.metrics_log import MetricsLog
from interplay.train.trainer import train
from tests.train.runs import arrays_of, go_on, short_run

WORLD = "matrix/rock-paper-scissors"


def settings_for(**train: Any) -> Any:
    return short_run(WORLD, {"ppo": {"rollout": 8, "minibatch": 64}, "train": {"quiet": True, **train}})


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    "train_settings",
    [
        {"max_updates": 6},
        {"max_updates": 6, "log_every": 5, "checkpoint_updates": 1},
        {"max_updates": 3, "log_every": 5},
    ],
    ids=["at the next log line", "at the next checkpoint", "at the end"],
)
@pytest.mark.parametrize("how", ["removed", "moved", "replaced"])
def test_it_ends(tmp_path: Path, how: str, train_settings: dict[str, Any]) -> None:
    """With exit code 1; what lies in its place now is left as it is."""
    run, there, updates = tmp_path / "run", {}, []

    def on_update(_: Path, numbers: Mapping[str, Any]) -> None:
        updates.append(numbers["updates"])
        if len(updates) != 2:
            return
        if how == "removed":
            shutil.rmtree(run)
        else:
            run.rename(tmp_path / "elsewhere")
        if how == "replaced":
            train(settings_for(max_updates=1, checkpoint_at_end=False), run)
            there.update(contents(run))

    with pytest.raises(Removed) as ended:
        train(settings_for(**train_settings), run, on_update=on_update)
    assert max(updates) <= 3
    assert explain(ended.value)[1] == 1
    assert contents(run) == there if how == "replaced" else not run.exists()


@pytest.mark.parametrize(
    "write", [lambda run: run.log(64, {"kl": 0.5}), lambda run: run.log_ending(64, [{}])]
)
def test_a_first_line_is_not_written_into_another_run(
    tmp_path: Path, write: Callable[[RunFolder], None]
) -> None:
    with RunFolder.create(tmp_path / "run", settings_for()) as run:
        run.path.rename(tmp_path / "elsewhere")
        with RunFolder.create(tmp_path / "run", settings_for()) as other, pytest.raises(Removed):
            write(run)
    assert not other.metrics_path.exists()


def test_a_log_that_is_removed_alone_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    with MetricsLog(path) as log:
        log.write(64, {"kl": 0.5})
        path.rename(tmp_path / "kept")
        with pytest.raises(Removed):
            log.write(128, {"kl": 0.25})
        path.write_text("another")
        with pytest.raises(Removed):
            log.write(128, {"kl": 0.25})
        (tmp_path / "kept").replace(path)
        log.write(192, {"kl": 0.125})
    assert path.read_text().count("\n") == 2


def test_a_run_that_is_moved_between_two_commands_goes_on(tmp_path: Path) -> None:
    """The check is of the running process alone."""
    whole = train(settings_for(max_updates=2), tmp_path / "whole")
    run = train(settings_for(max_updates=1), tmp_path / "run").rename(tmp_path / "moved")
    assert arrays_of(go_on(run, 2)) == arrays_of(whole)
