"""One run per folder, one writer per run, and what a crash left torn is mended when the run is opened."""

from __future__ import annotations

import datetime
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from interplay.core.errors import UserError
from interplay.train.run.checkpoint import CheckpointWriter, list_checkpoints
from interplay.train.run.folder import RunFolder, default_run_path
from interplay.train.settings import TrainSettings, WorldChoice
from tests.machines.write_points import failing
from tests.train.fake_run import ROOT

ASKED = TrainSettings(world=WorldChoice(id="toy/world"), seed=5)


def save(run: Path, steps: int) -> None:
    with CheckpointWriter(run, steps) as writer:
        writer.write("learner", {"x": np.ones(2)})
        writer.commit({})


def test_a_run_opens_as_it_was_created(tmp_path: Path) -> None:
    with RunFolder.create(tmp_path / "runs" / "a", ASKED) as run:
        assert run.settings == ASKED
    with RunFolder.open(tmp_path / "runs" / "a") as run:
        assert run.settings == ASKED


def test_a_second_run_into_the_same_folder_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x"
    RunFolder.create(path, ASKED).close()
    save(path, 131_072)
    before = sorted(file.read_bytes() for file in path.rglob("*") if file.is_file())
    line = (
        f"{path} already holds a run at 131,072 agent-steps; resume it with `interplay resume {path}` "
        "or choose another --out"
    )
    with pytest.raises(UserError, match=re.escape(line)):
        RunFolder.create(path, ASKED.model_copy(update={"seed": 6}))
    with RunFolder.open(path):
        pass
    assert sorted(file.read_bytes() for file in path.rglob("*") if file.is_file()) == before


def test_other_files_do_not_make_a_run(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    RunFolder.create(tmp_path, ASKED).close()
    assert (tmp_path / "notes.txt").read_text() == "mine"


def test_a_folder_without_a_run_is_not_opened(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"holds no run: settings\.toml is missing; start one with"):
        RunFolder.open(tmp_path / "typo")
    assert list(tmp_path.iterdir()) == []


def test_damaged_settings_are_named_and_the_lock_is_free_again(tmp_path: Path) -> None:
    RunFolder.create(tmp_path, ASKED).close()
    text = (tmp_path / "settings.toml").read_text()
    (tmp_path / "settings.toml").write_text(text.replace("clip =", "clp ="))
    with pytest.raises(UserError, match=r"settings\.toml: unknown key ppo\.clp; did you mean ppo\.clip\?"):
        RunFolder.open(tmp_path)
    (tmp_path / "settings.toml").write_text(text)
    RunFolder.open(tmp_path).close()


HOLDER = """
import sys, time
from interplay.train.run.folder import RunFolder
run = RunFolder.open(sys.argv[1])
print("open", flush=True)
time.sleep(60)
"""


def test_a_second_process_is_refused_with_the_pid_until_the_first_is_killed(tmp_path: Path) -> None:
    RunFolder.create(tmp_path, ASKED).close()
    command = [sys.executable, "-c", HOLDER, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as holder:
        try:
            assert holder.stdout is not None
            assert holder.stdout.readline() == "open\n"
            for attempt in (RunFolder.open, lambda path: RunFolder.create(path, ASKED)):
                with pytest.raises(UserError, match=f"is in use by process {holder.pid} of "):
                    attempt(tmp_path)
        finally:
            holder.kill()
    RunFolder.open(tmp_path).close()


def test_a_full_disk_leaves_no_half_run(tmp_path: Path) -> None:
    full = failing("settings: half written")
    with pytest.raises(UserError, match=r"creating the run folder .*: the disk is full"), full:
        RunFolder.create(tmp_path, ASKED)
    RunFolder.create(tmp_path, ASKED).close()


def test_change_rewrites_the_settings(tmp_path: Path) -> None:
    with RunFolder.create(tmp_path, ASKED) as run:
        run.change(ASKED.model_copy(update={"steps": 77}))
        assert run.settings.steps == 77
    with RunFolder.open(tmp_path) as run:
        assert run.settings.steps == 77


@pytest.mark.parametrize("torn", [b"", b"{", b'{"agent_steps": 99', b'{"agent_steps": 99}'])
def test_opening_cuts_a_torn_last_line_and_nothing_else(tmp_path: Path, torn: bytes) -> None:
    with RunFolder.create(tmp_path, ASKED) as run:
        for steps in (64, 128):
            run.log(steps, {"return": 1.0})
    whole = run.metrics_path.read_bytes()
    with run.metrics_path.open("ab") as file:
        file.write(torn)
    with RunFolder.open(tmp_path) as run:
        assert run.metrics_path.read_bytes() == whole


def test_rewinding_drops_later_lines_and_keeps_the_others_byte_for_byte(tmp_path: Path) -> None:
    with RunFolder.create(tmp_path, ASKED) as run:
        lines = [
            '{"note": "by hand"}\n',
            '{"agent_steps": 64, "a": 1}\n',
            "not json\n",
            '{"agent_steps": 128,   "a": 2}\n',
            '{"agent_steps": 192}\n',
            '{"agent_steps": 256}\n',
        ]
        run.metrics_path.write_text("".join(lines))
        for steps in (64, 128, 256):
            save(tmp_path, steps)
        run.rewind(128)
        assert run.metrics_path.read_text() == "".join(lines[:4])
        assert [int(path.name) for path in list_checkpoints(tmp_path)] == [64, 128]
        assert (tmp_path / "checkpoints" / "aside-000000000256-1" / "manifest.json").exists()
        inode = run.metrics_path.stat().st_ino
        run.rewind(128)
        assert run.metrics_path.stat().st_ino == inode
        run.rewind(0)
        assert run.metrics_path.read_text() == lines[0] + lines[2]


@pytest.mark.parametrize("point", ["metrics: opened", "metrics: half written", "metrics: written"])
def test_rewinding_that_is_cut_short_loses_no_line(tmp_path: Path, point: str) -> None:
    with RunFolder.create(tmp_path, ASKED) as run:
        text = "".join(json.dumps({"agent_steps": steps}) + "\n" for steps in (64, 128))
        run.metrics_path.write_text(text)
        with pytest.raises(UserError, match=r"rewinding the run .*: the disk is full"), failing(point):
            run.rewind(64)
        assert run.metrics_path.read_text() == text


def test_a_rewound_run_logs_on_after_the_lines_that_stay(tmp_path: Path) -> None:
    with RunFolder.create(tmp_path, ASKED) as run:
        for steps in (64, 128, 192):
            run.log(steps, {"take": 1})
        run.rewind(64)
        for steps in (128, 192):
            run.log(steps, {"take": 2})
        run.sync()
    lines = [json.loads(line) for line in run.metrics_path.read_text().splitlines()]
    assert [(line["agent_steps"], line["take"]) for line in lines] == [(64, 1), (128, 2), (192, 2)]


def test_default_names_count_up(tmp_path: Path) -> None:
    day = datetime.date(2025, 3, 1)
    names = []
    for _ in range(3):
        path = default_run_path("survival/1v1-heals-low", day, tmp_path)
        path.mkdir()
        names.append(path.name)
    assert names == [f"survival-1v1-heals-low-2025-03-01-{n}" for n in (1, 2, 3)]
    assert default_run_path("my.module:World", day, tmp_path).name == "my-module-World-2025-03-01-1"
