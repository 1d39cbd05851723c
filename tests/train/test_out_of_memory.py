"""Runs that memory cannot hold end with one line, and leave no folder in the way of the corrected command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

from interplay.core.errors import UserError
from interplay.core.settings import build, merge
from interplay.train.run.folder import RunFolder
from interplay.train.run.out_of_memory import out_of_memory_in_one_line
from interplay.train.settings import TrainSettings
from interplay.train.trainer import train
from tests.cli.command import refusal, typed
from tests.train.real_run import SETTINGS
from tests.train.toy_worlds import Corridor, make_corridor

LINE = "tests.connect.toys:Line"
SMALL = ("network.kind=mlp", "network.hidden=[8]", "ppo.rollout=16", "ppo.epochs=1", "--workers", "1")
SMALL += ("train.shards=2", "--num-worlds", "4", "--steps", "192")


def settings_of(**own: Any) -> TrainSettings:
    return build(TrainSettings, merge({**SETTINGS, "num_worlds": 4}, own), "test")


@pytest.mark.parametrize(
    ("key", "value"), [("ppo.rollout", 10**13), ("num_worlds", 4 * 10**15)], ids=["rollout", "worlds"]
)
def test_what_cannot_be_allocated_is_refused_and_leaves_no_folder(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, key: str, value: int
) -> None:
    kept = [word for word in SMALL if word.partition("=")[0] != key]
    if key == "num_worlds":
        del kept[kept.index("--num-worlds") : kept.index("--num-worlds") + 2]
    line = refusal(capsys, "train", LINE, *kept, f"{key}={value}", "--out", tmp_path / "run")
    assert str(value // 2 if key == "num_worlds" else value) in line  # the shape that NumPy was asked for
    assert "lower num_worlds, the rollout" in line
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    "error",
    [
        MemoryError("Unable to allocate 7.3 TiB"),
        jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: Out of memory\nallocating 8 bytes"),
    ],
)
def test_memory_that_ends_on_the_way_is_one_line(error: Exception) -> None:
    says = r"^training: not enough memory \(.*\); lower num_worlds"
    with pytest.raises(UserError, match=says) as caught, out_of_memory_in_one_line():
        raise error
    assert "\n" not in str(caught.value)
    with pytest.raises(jax.errors.JaxRuntimeError, match="INTERNAL"), out_of_memory_in_one_line():
        raise jax.errors.JaxRuntimeError("INTERNAL: something else")


class Greedy(Corridor):
    """Has no memory left for its third step."""

    def _step(self, action: np.ndarray) -> Any:
        if self.state.steps[0] == 2:
            raise MemoryError("Unable to allocate 1 TiB")
        return super()._step(action)


def test_a_command_refused_in_its_first_update_leaves_no_folder(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    run = tmp_path / "runs" / "first"
    line = refusal(capsys, "train", "tests.train.test_out_of_memory:Greedy", *SMALL, "--out", run)
    assert "not enough memory (Unable to allocate 1 TiB)" in line
    assert not run.parent.exists()  # it was made for the run
    assert typed(capsys, "train", LINE, *SMALL, "--out", run)[0] == 0


def test_a_folder_that_was_there_before_stays(tmp_path: Path) -> None:
    run = tmp_path / "run"
    run.mkdir()
    (run / "notes.txt").write_text("mine")
    settings = settings_of(steps=10)
    with RunFolder.create(run, settings) as folder:
        folder.take_back()
    assert {path.name for path in run.iterdir()} <= {"notes.txt", ".lock"}
    train(settings, run, make_corridor)
    with RunFolder.open(run) as folder:
        folder.take_back()  # it has something to show
    assert (run / "settings.toml").exists()
