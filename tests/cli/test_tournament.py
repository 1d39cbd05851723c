"""`interplay tournament`: what a person types, sees, stops and mistypes."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from interplay.core.errors import UserError
from interplay.core.settings import build
from interplay.train.settings import TrainSettings
from interplay.train.trainer import train
from interplay.verbs.tournament_kinds import standing_in
from tests.cli.command import MARSH, ROOT, refusal, typed
from tests.evaluate.farm_play import FewCores
from tests.train.real_run import SETTINGS

DUEL = "survival/1v1-heals-low"
LINE = "tests.connect.toys:Line"
CUP = ("tournament", "random", "hunter", "zone", "--world", DUEL, "--matches", "2", "--max-steps", "300")
MERGE = ("tournament", "random", "random@2", "--merge", "--world", "mmo/forage", "--option", "interior=20",
         "--caps", "8", "--matches", "2", "--window", "50", "--horizon", "50")  # fmt: skip


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    """A run of Line, as short as can be."""
    out = tmp_path_factory.mktemp("runs") / "line"
    train(build(TrainSettings, {**SETTINGS, "steps": 1}, "test"), out)
    return out


def test_a_round_robin_is_played_printed_and_kept(capsys, tmp_path):
    out = tmp_path / "cup"
    code, said, errors = typed(capsys, *CUP, "--out", out)
    assert code == 0, errors
    assert "ratings over 6 matches" in said
    assert said.index("hunter") < said.index("random")
    report = json.loads((out / "ratings.json").read_text())
    assert report["matches"] == 6
    assert {row["player"] for row in report["players"]} == {"random", "hunter", "zone"}
    assert (out / "ratings.png").read_bytes().startswith(b"\x89PNG")
    code, again, _ = typed(capsys, "tournament", "--resume", "--out", out, "--json")
    assert code == 0
    found = json.loads(again)
    assert {**found, "world": DUEL} == report


def test_merges_are_played_printed_and_kept(capsys, tmp_path):
    out = tmp_path / "merges"
    code, said, errors = typed(capsys, *MERGE, "--out", out)
    assert code == 0, errors
    assert "mean life beside another home, 8 places" in said
    assert "died: lava" in said
    assert "5,000 are wanted" in said
    cells = json.loads((out / "ratings.json").read_text())["cells"]
    assert len(cells) == 4
    assert all(cell["life"] > 0 for cell in cells)
    assert typed(capsys, "tournament", "--resume", "--out", out)[1] == said


def hears_ctrl_c() -> None:
    """Also where the tests were started with SIGINT ignored, as a shell's background jobs are."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_keeps_everything_and_says_how_to_go_on(tmp_path, number):
    out = tmp_path / "cup"
    command = [sys.executable, "-m", "interplay.cli", *CUP, "--out", str(out)]
    command[command.index("2")] = "400"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env=env,
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=hears_ctrl_c,
    )
    results = out / "results.jsonl"
    while not (results.exists() and results.stat().st_size) and process.poll() is None:
        time.sleep(0.02)
    process.send_signal(number)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == 128 + number, errors
    last, end = errors.splitlines()[-2:]
    assert f"go on with `interplay tournament --resume --out {out}`" in last
    assert end == "interplay: interrupted"
    kept = int(last.split(" of 1,200 matches are kept")[0])
    assert 0 < kept == results.read_bytes().count(b"\n")


def test_folders_are_needed_and_told_apart(capsys, tmp_path):
    assert "needs a folder" in refusal(capsys, *CUP)
    assert "no players" in refusal(capsys, "tournament", "--out", tmp_path / "cup")
    assert "holds no tournament" in refusal(capsys, "tournament", "--resume", "--out", tmp_path / "cup")
    assert "need a world" in refusal(capsys, "tournament", "random", "zone", "--out", tmp_path / "cup")
    assert typed(capsys, *MERGE, "--out", tmp_path / "cup")[0] == 0
    assert "kind is merge there and round robin here" in refusal(
        capsys, *CUP, "--resume", "--out", tmp_path / "cup"
    )
    assert "go on with it by --resume" in refusal(capsys, *MERGE, "--out", tmp_path / "cup")
    for more in ({"record": 1}, {"workers": 2}, {"place": FewCores(0)}):
        with pytest.raises(UserError):
            standing_in(tmp_path / "cup", **more)


@pytest.mark.parametrize(
    "words", ["--per-match 3", "--caps 8", "--quota per_population", "--window 5", "--horizon 5"]
)
def test_a_tournament_that_goes_on_takes_no_other_numbers(capsys, tmp_path, words):
    line = refusal(capsys, "tournament", "--resume", "--out", tmp_path / "cup", *words.split())
    assert "goes on with the settings that it has; leave it out" in line


def test_runs_play_and_are_known_again(capsys, tmp_path, run):
    mine = tmp_path / "mine"
    shutil.copytree(run, mine)
    out = tmp_path / "cup"
    words = ("tournament", mine, "random", f"{run}/checkpoints/{next((run / 'checkpoints').iterdir()).name}")
    code, _, errors = typed(capsys, *words, "--per-match", "3", "--matches", "6", "--out", out)
    assert code == 0, errors
    settings = (out / "tournament.toml").read_text()
    assert f'world = "{LINE}"' in settings
    name = next((run / "checkpoints").iterdir()).name
    assert settings.count(f'"checkpoint {name} ') == 2
    # The run goes on: its newest checkpoint is another player now.
    train(build(TrainSettings, {**SETTINGS, "steps": 1, "seed": 5}, "test"), tmp_path / "other")
    shutil.rmtree(mine)
    shutil.copytree(tmp_path / "other", mine)
    said = refusal(capsys, "tournament", "--resume", "--out", out)
    assert f"{mine} is checkpoint " in said
    assert f"the tournament began with checkpoint {name} " in said


def test_a_run_that_reads_other_observations_is_named(capsys, tmp_path, run):
    said = refusal(capsys, "tournament", run, "random", "--world", MARSH, "--out", tmp_path / "cup")
    assert f'{run}: observation "depth" was absent in its training and is float32 (1,) here' in said
    assert not (tmp_path / "cup").exists()


def test_a_damaged_run_is_named(capsys, tmp_path, run):
    torn = tmp_path / "torn"
    shutil.copytree(run, torn)
    (checkpoint,) = (torn / "checkpoints").iterdir()
    file = checkpoint / "policy-pop0.safetensors"
    file.write_bytes(file.read_bytes()[:-7])
    code, _, errors = typed(capsys, "tournament", torn, "random", "--world", LINE, "--out", tmp_path / "cup")
    assert code == 2
    assert "policy-pop0.safetensors" in errors
    assert (
        errors.splitlines()[-1] == f"interplay: {torn}: none of the 1 checkpoints is sound; start a new run"
    )
    file.unlink()
    said = refusal(capsys, "tournament", checkpoint, "random", "--world", LINE, "--out", tmp_path / "cup")
    assert "policy-pop0.safetensors" in said
    assert not (tmp_path / "cup").exists()
