"""Options of a run's own world and those that are typed beside the run: what is typed wins, what is not typed stays."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from interplay.core.settings import build
from interplay.evaluate import play
from interplay.registry import make_world
from interplay.train.play.policy import load_policy
from interplay.train.settings import TrainSettings
from interplay.train.trainer import train
from interplay.verbs.contestants import choose_world
from tests.cli.command import typed
from tests.train.real_run import SETTINGS

pytestmark = pytest.mark.slow

LINE = "tests.connect.toys:Line"


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    """A run in a world whose dead leave, which is not the world's default."""
    out = tmp_path_factory.mktemp("runs") / "leavers"
    world = {"id": LINE, "options": {"leave": True}}
    train(build(TrainSettings, {**SETTINGS, "world": world, "steps": 1}, "test"), out)
    return out


def evaluated(capsys, run: Path, *words: str) -> float:
    """Mean return of sixteen episodes."""
    code, out, errors = typed(capsys, "evaluate", run, *words, "--episodes", "16", "--json")
    assert code == 0, errors
    return json.loads(out)["metrics"]["return"]["mean"]


def by_hand(run: Path, leave: bool) -> float:
    """The same, in a world that was made by hand."""
    world = make_world(LINE, 16, 0, leave=leave)
    return play(world, load_policy(run), episodes=16, seed=0).summary()["return"].mean


@pytest.mark.parametrize("world", [(), ("--world", LINE)])
def test_evaluate_takes_the_runs_own_options_until_others_are_typed(capsys, run, world):
    kept, changed = by_hand(run, True), by_hand(run, False)
    assert kept != changed
    assert evaluated(capsys, run, *world) == kept
    assert evaluated(capsys, run, "leave=false", *world) == changed


def test_a_tournament_of_runs_is_played_with_the_first_runs_options(capsys, run, tmp_path):
    other = tmp_path / "other"
    shutil.copytree(run, other)
    for more, kept in (((), "true"), (("--option", "leave=false"), "false")):
        out = tmp_path / f"cup-{kept}"
        words = (run, other, "random", *more, "--per-match", "3", "--matches", "6", "--out", out)
        code, _, errors = typed(capsys, "tournament", *words)
        assert code == 0, errors
        assert f"leave = {kept}" in (out / "tournament.toml").read_text()


def test_the_world_that_is_named_brings_no_runs_options(run):
    assert choose_world(["random", str(run)], "", {"agents": 4}, "x") == (LINE, {"leave": True, "agents": 4})
    assert choose_world([str(run)], "", {"leave": False}, "x") == (LINE, {"leave": False})
    assert choose_world([str(run)], LINE, {"agents": 4}, "x") == (LINE, {"agents": 4})
