"""A run that fails before its first checkpoint leaves its folder free for the corrected command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import equinox as eqx
import pytest

from interplay.core.errors import UserError
from interplay.train.settings import TrainSettings
from interplay.train.trainer import train
from tests.train.runs import short_run


class Broken(eqx.Module):
    """A network of the user's own that cannot be made."""

    def __init__(self, *_: Any, **__: Any) -> None:
        raise RuntimeError("no such layer")


def settings_of(fail: str = "", **own: Any) -> TrainSettings:
    values = {
        "world": {"options": {"fail": fail}},
        "num_worlds": 2,
        "steps": 40,
        "train": {"shards": 1, "quiet": True},
        "ppo": {"rollout": 2, "minibatch": 4, "epochs": 1},
    }
    return short_run("tests.connect.painters:Painter", values, **own)


@pytest.mark.parametrize("fail", ["reset", "shape", "step"])
def test_a_world_that_fails_at_once_or_after_an_update_blocks_no_retry(fail: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="world 0"):
        train(settings_of(fail), tmp_path / "run")  # steps of two, so that step 3 is in the second update
    assert not (tmp_path / "run").exists()
    assert train(settings_of(), tmp_path / "run") == tmp_path / "run"


def test_a_network_that_cannot_be_made_blocks_no_retry(tmp_path: Path) -> None:
    with pytest.raises((UserError, RuntimeError), match="no such layer"):
        train(settings_of(network={"kind": "tests.train.test_failed_starts:Broken"}), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_run_with_a_checkpoint_stays(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="world 0"):
        train(
            settings_of("step", train={"shards": 1, "quiet": True, "checkpoint_updates": 1}), tmp_path / "run"
        )
    assert (tmp_path / "run" / "metrics.jsonl").stat().st_size
