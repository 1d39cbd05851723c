"""What ends a run, when it saves, and who learns; a stop and a resumption change nothing about it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from interplay.core.settings import changed
from interplay.train.run.checkpoint import list_checkpoints, read_checkpoint
from interplay.train.settings import TrainSettings
from interplay.train.trainer import resume, train
from tests.train.runs import log_of, short_run
from tests.train.toy_worlds import make_corridor, make_two_kinds

pytestmark = pytest.mark.slow

STEPS = 8 * 4 * 2  # agent-steps of one update


def settings_of(**group: Any) -> TrainSettings:
    ppo = {"rollout": 8, "minibatch": 64, "epochs": 1}
    return short_run("corridor", num_worlds=4, steps=STEPS * 10, train={"shards": 1} | group, ppo=ppo)


def saved(run: Path) -> list[int]:
    """The updates after which it saved."""
    return [read_checkpoint(path).record["updates"] for path in list_checkpoints(run)]


def test_checkpoints_after_so_many_updates_and_none_at_the_end(tmp_path: Path) -> None:
    run = train(
        settings_of(checkpoint_updates=2, max_updates=5, checkpoint_at_end=False, keep_checkpoints=9),
        tmp_path / "run",
        make_corridor,
    )
    assert saved(run) == [2, 4]
    assert len(log_of(run)) == 5


def bits_of(run: Path) -> dict[int, dict[str, bytes]]:
    """Agent-steps of each checkpoint -> the bits of its weights."""
    return {
        (found := read_checkpoint(path)).agent_steps: {
            name: array.tobytes() for name, array in found.arrays["policy-pop0"].items()
        }
        for path in list_checkpoints(run)
    }


def test_named_agent_steps_are_kept_beside_the_newest(tmp_path: Path) -> None:
    every = bits_of(
        train(settings_of(checkpoint_updates=1, keep_checkpoints=99), tmp_path / "all", make_corridor)
    )
    named = (0, STEPS + 1, STEPS * 5)
    keep = {"keep_checkpoints": 1, "keep_at": named, "keep_every": 3 * STEPS - 1}
    asked = [*named[1:], *range(3 * STEPS - 1, max(every) + 1, 3 * STEPS - 1)]
    kept = {0} | {min(steps for steps in every if steps >= one) for one in asked if one <= max(every)}
    assert 4 < len(kept) < len(every) - 2
    assert max(every) not in kept

    often = bits_of(train(settings_of(checkpoint_updates=1, **keep), tmp_path / "often", make_corridor))
    assert set(often) == kept | {max(every)}
    assert {steps: often[steps] for steps in often if steps} == {
        steps: every[steps] for steps in often if steps
    }
    seldom = train(settings_of(checkpoint_at_end=False, **keep), tmp_path / "seldom", make_corridor)
    assert set(bits_of(seldom)) == kept

    # Stopped on the way, what it kept last damaged: resumed, it is made again, bit for bit.
    run = train(settings_of(checkpoint_updates=1, max_updates=6, **keep), tmp_path / "run", make_corridor)
    assert len(bits_of(run)) > 3
    for path in list_checkpoints(run)[-2:]:
        (path / "manifest.json").write_text("{}")
    settings = run / "settings.toml"
    settings.write_text(settings.read_text().replace("max_updates = 6", 'max_updates = "off"'))
    resume(run, make_world=make_corridor)
    assert bits_of(run) == often


def test_several_workers_stop_together_without_saving(tmp_path: Path) -> None:
    group = {"shards": 2, "workers": 2, "max_updates": 2, "checkpoint_at_end": False}
    run = train(settings_of(**group), tmp_path / "run", make_corridor)
    assert (saved(run), len(log_of(run))) == ([], 2)


def test_a_resumed_run_counts_the_episodes_before_the_stop(tmp_path: Path) -> None:
    through = log_of(train(settings_of(max_episodes=12), tmp_path / "through", make_corridor))
    episodes = np.cumsum([line["episodes"] for line in through])
    assert len(through) > 2
    assert episodes[-2] < 12 <= episodes[-1]
    first = train(settings_of(max_updates=2), tmp_path / "run", make_corridor)
    settings = first / "settings.toml"
    text = settings.read_text()
    assert "max_updates = 2" in text
    settings.write_text(
        text.replace("max_updates = 2", 'max_updates = "off"').replace(
            'max_episodes = "off"', "max_episodes = 12"
        )
    )
    resume(first, make_world=make_corridor)
    again = log_of(first)
    assert [line["episodes"] for line in again] == [line["episodes"] for line in through]


def test_seconds_end_a_run_and_quiet_ones_say_nothing(tmp_path: Path, capsys: Any) -> None:
    run = train(settings_of(max_seconds=1e-6, quiet=True), tmp_path / "run", make_corridor)
    assert len(log_of(run)) == 1
    assert capsys.readouterr() == ("", "")


def test_only_the_kinds_that_are_named_learn(tmp_path: Path) -> None:
    settings = settings_of(checkpoint_updates=1, max_updates=3, keep_checkpoints=9)
    kinds = [kind.name for kind in make_two_kinds(1, 0, 0).kinds]
    run = train(changed(settings, {"train": {"learners": kinds[1:]}}, "x"), tmp_path / "run", make_two_kinds)
    first, *_, last = (read_checkpoint(path).arrays["policy-pop0"] for path in list_checkpoints(run))
    for name in first:
        if first[name].size:
            still = np.array_equal(first[name], last[name])
            assert still == name.startswith(f"{kinds[0]}/"), name
