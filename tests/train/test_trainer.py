"""Whole runs: they learn, play what they learnt, and faults are one clear line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from interplay.core.errors import UserError
from interplay.train.run.checkpoint import latest_checkpoint, read_checkpoint
from interplay.train.settings import TrainSettings
from interplay.train.trainer import load_policy, resume, train
from tests.train.runs import arrays_of, log_of, short_run
from tests.train.toy_worlds import Corridor, make_corridor, make_two_kinds

pytestmark = pytest.mark.slow

SLOT_STEPS = 32 * 16 * 2  # of one update; those who arrived take no more actions


def settings_of(updates: int, workers: int = 1, **ppo: Any) -> TrainSettings:
    group = {"rollout": 32, "minibatch": 128, "epochs": 4, "learning_rate": 3e-3, "target_kl": 0.05} | ppo
    limits = {"shards": 4, "workers": workers, "max_updates": updates, "keep_checkpoints": 2}
    return short_run("corridor", num_worlds=16, train=limits, ppo=group, network={"hidden": [16, 16]})


@pytest.fixture(scope="module")
def four_updates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return train(settings_of(4), tmp_path_factory.mktemp("four") / "run", make_corridor)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return train(settings_of(14), tmp_path_factory.mktemp("trained") / "run", make_corridor)


def test_learns_the_corridor(trained: Path) -> None:
    log = log_of(trained)
    assert next(line for line in log if line["episodes"])["episode_return"] < 0.0
    assert log[-1]["episode_return"] > 0.5  # 0.6 is the best there is
    assert log[-1]["explained_variance"] > 0.5
    assert [line["slot_steps"] for line in log] == [SLOT_STEPS * (i + 1) for i in range(14)]
    assert {"kl", "clip_fraction", "entropy", "epochs", "time_share", "agent_steps_per_s", "arrived"} <= set(
        log[-1]
    )


class Counting(Corridor):
    """Counts the actions that it reads."""

    read = 0

    def _step(self, action: np.ndarray) -> Any:
        Counting.read += int(np.count_nonzero(self.state.acting))
        return super()._step(action)


def test_agent_steps_are_the_actions_that_worlds_read(tmp_path: Path) -> None:
    """A walker acts until it arrives or is cut; those who wait take no actions."""
    read: list[
        int
    ] = []  # until the end of each update; what is played at the end of the run counts for nothing
    log = log_of(train(settings_of(3), tmp_path / "run", Counting, lambda *_: read.append(Counting.read)))
    assert log[-1]["agent_steps"] == read[-1] < 3 * SLOT_STEPS
    assert sorted({line["agent_steps"] for line in log}) == [line["agent_steps"] for line in log]
    assert int((latest_checkpoint(tmp_path / "run") or tmp_path).name) == read[-1]


def test_another_seed_is_another_run(four_updates: Path, tmp_path: Path) -> None:
    other = train(settings_of(4).model_copy(update={"seed": 1}), tmp_path / "run", make_corridor)
    assert arrays_of(other) != arrays_of(four_updates)


def test_several_kinds_have_a_network_each(tmp_path: Path) -> None:
    run = train(settings_of(8, entropy_coefficient=0.01), tmp_path / "run", make_two_kinds)
    checkpoint = read_checkpoint(latest_checkpoint(run) or "")
    assert {name.split("/")[0] for name in checkpoint.arrays["policy-pop0"]} == {"walker", "guide"}
    told = [line for line in log_of(run) if line["episodes"]]
    by_agent = [line["by_agent"]["episode_return"][2] / line["episode_length"] for line in told]
    assert by_agent[-1] > 0.5 > by_agent[0]  # the guide says the parity: 1 a step is the best


def test_the_policy_plays_and_arrives(trained: Path) -> None:
    for greedy in (False, True):
        policy = load_policy(trained, greedy=greedy)
        world = Corridor(32, seed=5)
        policy.start(world, seed=3)
        timestep = world.reset()
        for _ in range(8):  # 4 are needed
            timestep = world.step(policy.act(timestep))
        assert world.metrics["arrived"].mean() > 0.9


def test_a_policy_for_other_spaces_is_refused_in_one_line(four_updates: Path) -> None:
    policy = load_policy(four_updates)
    with pytest.raises(UserError, match="not trained for agents of kind walker"):
        policy.start(make_two_kinds(1, 0, 0))


class Poisoned(Corridor):
    """Says NaN in the fifth step of its second episode."""

    def _read(self) -> Any:
        step = super()._read()
        if self.state.stream[0, 1] == 1 and self.state.steps[0] == 5:
            step.observation["noise"][0, 1] = np.nan
        return step


def make_poisoned(num_worlds: int, seed: int, first_world: int) -> Poisoned:
    return Poisoned(num_worlds, seed, first_world)


@pytest.mark.parametrize("workers", [1, 2])
def test_nan_stops_the_run_names_the_tensor_and_keeps_the_checkpoint(tmp_path: Path, workers: int) -> None:
    settings = settings_of(50, workers, rollout=8)
    settings = settings.model_copy(
        update={"train": settings.train.model_copy(update={"checkpoint_seconds": 0.0})}
    )
    with pytest.raises(UserError, match=r'update \d+: observation\["noise"\] is not finite'):
        train(settings, tmp_path / "run", make_poisoned)
    assert latest_checkpoint(tmp_path / "run") is not None


class Frozen(Corridor):
    """A world that cannot be saved, as those of other packages."""

    def save(self) -> dict[str, np.ndarray]:
        raise UserError("corridor: this world cannot be saved")


def make_frozen(num_worlds: int, seed: int, first_world: int) -> Frozen:
    return Frozen(num_worlds, seed, first_world)


def test_worlds_that_cannot_be_saved_begin_anew(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = train(settings_of(4).model_copy(update={"steps": SLOT_STEPS}), tmp_path / "run", make_frozen)
    assert "cannot be saved; a resumed run will begin new episodes" in capsys.readouterr().err
    assert log_of(run)[-1]["updates"] == 2
    resume(run, steps=10**9, make_world=make_frozen)
    assert log_of(run)[-1]["updates"] == 4
