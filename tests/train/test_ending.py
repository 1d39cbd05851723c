"""The end of a run: every episode that began in it is in its log once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from interplay.core.world import TimeStep
from interplay.train.run.checkpoint import latest_checkpoint, read_checkpoint
from interplay.train.run.metrics_log import drop_ending
from interplay.train.settings import TrainSettings
from interplay.train.trainer import resume, train
from tests.train.runs import short_run
from tests.train.toy_worlds import LIMIT, Corridor, make_corridor

pytestmark = pytest.mark.slow

ROLLOUT = 6  # steps of an update; an episode has up to 20
UNLIKE = ("time", "agent_steps_per_s", "time_share")


def settings_of(updates: int, workers: int = 1, **more: Any) -> TrainSettings:
    values = {
        "train": {"workers": workers, "max_updates": updates},
        "ppo": {"rollout": ROLLOUT, "minibatch": 48, "epochs": 1},
    }
    return short_run("corridor", values, **more)


def log_of(run: Path) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text().splitlines()]
    return [{name: value for name, value in line.items() if name not in UNLIKE} for line in lines]


def under_way(run: Path) -> int:
    """Episodes that had begun and not ended when the last checkpoint was saved."""
    arrays = read_checkpoint(latest_checkpoint(run)).arrays
    return sum(
        int((own["windows/of"] >= 0).sum()) for name, own in arrays.items() if name.startswith("shard")
    )


@pytest.fixture(scope="module")
def straight(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return train(settings_of(9), tmp_path_factory.mktemp("straight") / "run", make_corridor)


def test_every_episode_that_began_is_in_the_log_once(straight: Path) -> None:
    lines = log_of(straight)
    ended = int(read_checkpoint(latest_checkpoint(straight)).record["episodes"])
    assert under_way(straight) > 0
    assert sum(line["episodes"] for line in lines) == ended + under_way(straight)
    endings = [line for line in lines if line.get("ending")]
    assert len(lines) == 9 + len(endings)
    assert lines[-len(endings) :] == endings
    assert {(line["agent_steps"], line["updates"]) for line in endings} == {(lines[8]["agent_steps"], 9)}
    began = [line["episodes_began"] for line in lines if line["episodes"]]
    assert began == sorted(began)
    assert all(0 < line["episode_length"] <= LIMIT for line in endings)


def test_an_end_that_was_lost_is_played_again_and_one_that_is_there_is_not(
    straight: Path, tmp_path: Path
) -> None:
    """A process may be killed between the last checkpoint and the last lines."""
    run = train(settings_of(9), tmp_path / "run", make_corridor)
    before = (run / "metrics.jsonl").read_bytes()
    resume(run, make_world=make_corridor)
    assert (run / "metrics.jsonl").read_bytes() == before
    drop_ending(run / "metrics.jsonl")
    assert len(log_of(run)) == 9
    resume(run, make_world=make_corridor)
    assert log_of(run) == log_of(straight)


class Endless(Corridor):
    """A corridor in which only the first worlds' episodes end."""

    def _step(self, action: np.ndarray) -> TimeStep:
        super()._step(action)
        s = self.state
        s.over[2:] = False
        s.terminated[2:] = s.truncated[2:] = False
        s.acting[2:] = True
        return self._read()


def make_endless(**asked: Any) -> Endless:
    return Endless(**asked)


def test_episodes_that_never_end_do_not_keep_a_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = train(settings_of(4), tmp_path / "run", make_endless)
    assert len(log_of(run)) == 4
    assert f"5 of {under_way(run)} episodes had not ended 12 steps after the end" in capsys.readouterr().err
