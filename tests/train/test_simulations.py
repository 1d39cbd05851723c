"""Training simulations: one that cannot be brought back begins new episodes."""

from __future__ import annotations

from pathlib import Path

import pytest

from interplay.train.settings import TrainSettings
from interplay.train.trainer import resume, train
from tests.train.runs import log_of, short_run

WORLDS, ROLLOUT = 8, 24  # a rollout is no multiple of an episode: runs stop in the middle of some


def settings_of(world_id: str, updates: int) -> TrainSettings:
    return short_run(
        world_id,
        num_worlds=WORLDS,
        train={"max_updates": updates, "keep_checkpoints": 2},
        ppo={"rollout": ROLLOUT, "minibatch": 64, "epochs": 2, "reward_scale": 0.02},
        network={"hidden": [16], "input_scale": True},
    )


def test_randomness_from_elsewhere_begins_new_episodes_and_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    world_id = "tests.sim.odd_simulations:forgetful"
    run = train(settings_of(world_id, 2).model_copy(update={"steps": 1}), tmp_path / "run")
    assert log_of(run)[-1]["updates"] == 1
    resume(run, steps=10**9)
    said = [line for line in capsys.readouterr().err.splitlines() if "self.rng" in line]
    assert len(said) == 1
    assert said[0].endswith("set everything in reset; this run goes on with new episodes")
    assert log_of(run)[-1]["updates"] == 2
