"""Fewer worlds for a short run that is started from the command line, unless somebody chose their number."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.command import typed

pytest.importorskip("jax", reason="training needs the train extra")

WORLD = "survival/1v1-heals-low"
FEW = "300,000 agent-steps are few for 256 worlds: 64 are trained on; --num-worlds 256 keeps them"


@pytest.fixture
def trained(monkeypatch: pytest.MonkeyPatch) -> list:
    """Settings of the runs that would have been trained."""
    seen: list = []
    monkeypatch.setattr(
        "interplay.train.trainer.train", lambda settings, out, **_: seen.append(settings) or "run"
    )
    return seen


@pytest.mark.parametrize(
    ("more", "worlds"),
    [([], 64), (["--num-worlds", "256"], 256), (["num_worlds=128"], 128), (["--steps", "1000000"], 256)],
)
def test_a_short_run_has_fewer_worlds_unless_somebody_chose(capsys, trained, more, worlds):
    code, _, errors = typed(capsys, "train", WORLD, "--steps", "300000", *more)
    assert code == 0, errors
    assert trained[0].num_worlds == worlds
    assert (FEW in errors) == (worlds == 64)


def test_fewer_worlds_are_told_though_progress_is_not(capsys, trained):
    assert FEW in typed(capsys, "train", WORLD, "--steps", "300000", "train.quiet=true")[2]


def test_ten_steps_are_one_small_update(capsys, trained):
    assert typed(capsys, "train", WORLD, "--steps", "10")[0] == 0
    assert trained[0].num_worlds == trained[0].train.shards == 4


def test_a_file_that_says_its_worlds_keeps_them(capsys, trained, tmp_path: Path):
    file = tmp_path / "settings.toml"
    file.write_text(f'steps = 10\nnum_worlds = 32\n[world]\nid = "{WORLD}"\n')
    assert typed(capsys, "train", file)[0] == 0
    assert trained[0].num_worlds == 32
