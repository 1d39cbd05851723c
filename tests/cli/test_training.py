"""From training to a picture of it, through the command line alone, on a tiny world."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from interplay.verbs.settings import build_settings, workers_for
from tests.cli.command import MARSH, ROOT, refusal, typed
from tests.cli.command import interplay as command
from tests.connect.planted import Sound

pytestmark = pytest.mark.slow

pytest.importorskip("jax", reason="training needs the train extra")

SMALL = ["network.kind=mlp", "network.hidden=[8]", "ppo.rollout=16", "ppo.epochs=2", "train.shards=1"]


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory) -> Path:
    """A finished run of two updates."""
    folder = tmp_path_factory.mktemp("runs") / "marsh"
    steps = ["--steps", "512", "--num-worlds", "8", "--workers", "1", "--seed", "3"]
    done = command("train", MARSH, *SMALL, *steps, "--out", folder)
    assert done.returncode == 0, done.stderr
    assert str(folder) in done.stdout
    return folder


def test_a_run_can_be_evaluated_drawn_and_recorded(capsys, run_folder, tmp_path):
    code, out, errors = typed(capsys, "evaluate", run_folder, "--episodes", "4", "--json")
    assert code == 0, errors
    report = json.loads(out)
    assert (report["world"], report["metrics"]["steps"]["n"]) == (MARSH, 4)
    pytest.importorskip("matplotlib", reason="curves need the plot extra")
    curve = tmp_path / "curve.png"
    code, out, errors = typed(capsys, "curves", run_folder, "--out", curve)
    assert code == 0, errors
    assert curve.read_bytes().startswith(b"\x89PNG")
    pytest.importorskip("pygame", reason="pictures need the render extra")
    picture = tmp_path / "frogs.png"
    assert typed(capsys, "record", run_folder, "--out", picture)[0] == 0
    assert picture.exists()


def test_greedy_play_is_another_play(capsys, run_folder):
    def metrics(*more: str) -> dict:
        return json.loads(typed(capsys, "evaluate", run_folder, "--episodes", "8", "--json", *more)[1])[
            "metrics"
        ]

    assert metrics("--greedy") == metrics("--greedy")
    assert metrics("--greedy") != metrics()


def test_resume_goes_on_to_a_new_total(run_folder):
    before = sorted(path.name for path in (run_folder / "checkpoints").iterdir())
    done = command("resume", run_folder, "--steps", "1024")
    assert done.returncode == 0, done.stderr
    after = sorted(path.name for path in (run_folder / "checkpoints").iterdir())
    assert int(after[-1]) == 1024 > int(before[-1])
    assert "nothing to do" not in done.stderr
    again = command("resume", run_folder)
    assert again.returncode == 0, again.stderr
    assert "nothing to do: the run had ended at 1,024 agent-steps; go further with --steps" in again.stderr


def test_a_run_begins_with_the_weights_of_another(capsys, run_folder, tmp_path):
    world = [MARSH, *SMALL, "--num-worlds", "8", "--workers", "1", "--steps", "128"]
    done = command("train", *world, "--start-from", run_folder, "--out", tmp_path / "next")
    assert done.returncode == 0, done.stderr
    begin, end = sorted((tmp_path / "next" / "checkpoints").iterdir())
    source = sorted((run_folder / "checkpoints").iterdir())[-1]
    weights = "policy-pop0.safetensors"
    assert (begin / weights).read_bytes() == (source / weights).read_bytes() != (end / weights).read_bytes()
    line = refusal(
        capsys, "train", *world, "network.hidden=[9]", "--start-from", run_folder, "--out", tmp_path / "no"
    )
    assert "set network.hidden=[8]" in line
    assert not (tmp_path / "no").exists()
    assert "--start-from" in refusal(capsys, "train", "experiment.py", "--start-from", run_folder)


def test_an_experiment_takes_no_option_not_even_a_zero(capsys):
    assert "--seed: the experiment" in refusal(capsys, "train", "experiment.py", "--seed", "0")


def test_a_second_run_into_the_folder_is_refused_and_harms_nothing(capsys, run_folder):
    def contents() -> dict[Path, bytes]:
        files = (path for path in run_folder.rglob("*") if path.is_file() and path.name != ".lock")
        return {path: path.read_bytes() for path in files}

    before = contents()
    assert "interplay resume" in refusal(capsys, "train", MARSH, *SMALL, "--out", run_folder)
    assert contents() == before


def test_a_missing_package_is_one_sentence():
    """In a process of its own: modules that are imported twice are two, and other tests hold the first."""
    code = (
        "import sys; sys.modules['equinox'] = None\n"  # as if it were not installed
        "from interplay.cli.main import run\n"
        f"sys.exit(run(['train', {MARSH!r}]))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert 'equinox; install it with pip install "interplay[train]"' in line


def test_flags_go_over_pairs_and_pairs_over_the_file(tmp_path):
    file = tmp_path / "settings.toml"
    file.write_text(f'seed = 1\nsteps = 5\nnum_worlds = 8\n[world]\nid = "{MARSH}"\n[train]\nworkers = 1\n')
    settings = build_settings(str(file), ["seed=2", "steps=6"], {"steps": 7}, trust=True)
    assert (settings.seed, settings.steps, settings.num_worlds) == (2, 7, 8)
    assert (settings.world.id, settings.train.workers) == (MARSH, 1)


def test_a_worlds_own_settings_lie_under_the_users(tmp_path):
    world = "survival/1v1-heals-low"
    own = build_settings(world, [], {})
    assert (own.num_worlds, own.ppo.rollout, own.ppo.reward_scale) == (256, 64, 0.2)
    file = tmp_path / "settings.toml"
    file.write_text(f'num_worlds = 8\n[world]\nid = "{world}"\n[ppo]\nclip = 0.1\n')
    changed = build_settings(str(file), ["ppo.reward_scale=1"], {})
    assert (changed.num_worlds, changed.ppo.rollout, changed.ppo.reward_scale) == (8, 64, 1.0)
    assert build_settings("world.id", [f"world.id={MARSH}"], {}).ppo.reward_scale == 1.0


def test_workers_fit_cores_and_shards():
    assert workers_for(1) == 1
    assert workers_for("four") == 1  # the settings will say what is wrong
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    assert workers_for(1024) <= cores < 2 * workers_for(1024)


class Wanders(Sound):
    """Changes the working folder to its neighbour `elsewhere` at each reset."""

    def reset(self, seed=None, options=None):
        os.chdir(Path.cwd().parent / "elsewhere")
        return super().reset(seed, options)


def test_an_environment_that_changes_the_working_folder_changes_no_place(capsys, monkeypatch, tmp_path):
    for name in ("here", "elsewhere"):
        (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path / "here")
    steps = ["--steps", "128", "--num-worlds", "2", "--workers", "1"]
    code, _, errors = typed(
        capsys, "train", "tests.cli.test_training:Wanders", *SMALL, *steps, "--out", "run"
    )
    assert code == 0, errors
    monkeypatch.chdir(tmp_path / "here")
    players = [
        "tournament",
        "random",
        "interplay.core.policy:RandomPolicy",
        "--world",
        "tests.cli.test_training:Wanders",
    ]
    code, _, errors = typed(capsys, *players, "--matches", "2", "--score", "return", "--out", "cup")
    assert code == 0, errors
    assert not any((tmp_path / "elsewhere").iterdir())
    assert len(list((tmp_path / "here" / "run" / "checkpoints").glob("0*"))) == 1
    assert len((tmp_path / "here" / "cup" / "results.jsonl").read_text().splitlines()) == 2
