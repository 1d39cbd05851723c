"""A checkpoint with right checksums and wrong contents is refused in one line, whichever verb opens it."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from interplay.core.errors import UserError
from interplay.core.settings import build, changed
from interplay.registry import make_world
from interplay.train.settings import TrainSettings
from interplay.train.trainer import load_policy, resume, train
from interplay.verbs.contestants import find_contestant
from tests.train.crafted import changes, copy_of
from tests.train.real_run import SETTINGS

pytestmark = pytest.mark.slow

CRAFTED = dict(changes())
WORLD = str(SETTINGS["world"]["id"])


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two updates of a tiny run."""
    settings = changed(build(TrainSettings, SETTINGS, "test"), {"train": {"max_updates": 2}}, "test")
    return train(settings, tmp_path_factory.mktemp("crafted") / "run")


def said(act: Callable[[], Any]) -> str:
    """The line that an act ends in; empty if it goes through. Anything but a `UserError` is a failure."""
    line = ""
    try:
        act()
    except UserError as error:
        line = str(error)
    assert "\n" not in line
    assert len(line) < 700, line
    return line


def play(run: Path) -> None:
    """As `evaluate` begins: the policy is loaded and started."""
    policy = load_policy(run)
    with closing(make_world(WORLD, num_worlds=2, seed=1)) as world:
        policy.start(world, 1)


def contest(run: Path) -> None:
    """As `tournament` begins."""
    with closing(make_world(WORLD, num_worlds=1)) as world:
        find_contestant(str(run), world)


def test_there_are_many() -> None:
    assert len(CRAFTED) >= 60


@pytest.mark.parametrize(
    "verb", [play, contest, lambda run: resume(run)], ids=["evaluate", "tournament", "resume"]
)
def test_a_sound_copy_goes_through(run: Path, tmp_path: Path, verb: Callable[[Path], Any]) -> None:
    assert said(lambda: verb(copy_of(run, tmp_path / "run", lambda draft: None))) == ""


def test_crafted_checkpoints_are_one_line_each(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    accepted = []
    for number, (name, change) in enumerate(CRAFTED.items()):
        copy = copy_of(run, tmp_path / str(number), change)
        lines = [said(lambda verb=verb, copy=copy: verb(copy)) for verb in (play, contest, resume)]
        if not any(lines):
            accepted.append(name)
        shutil.rmtree(copy)
    capsys.readouterr()  # the lines about skipped checkpoints
    assert accepted == []
