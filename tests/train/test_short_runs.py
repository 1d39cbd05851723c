"""Short runs: how long an update is, how many worlds there are, and what is said of both before and while it runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interplay.train.settings import TrainSettings
from interplay.train.settings.short_runs import (
    LEAST_UPDATES,
    fit_worlds,
    in_updates_so_far,
    slot_steps,
)
from interplay.train.trainer import train
from interplay.train.update_loop import stopped_at_once
from tests.train.runs import log_of, short_run
from tests.train.toy_worlds import make_corridor


def settings_of(**own: Any) -> TrainSettings:
    return short_run("corridor", {"ppo": {"rollout": 32, "minibatch": 64, "epochs": 2}} | own)


@given(st.integers(1, 10**7), st.sampled_from([1, 2, 4, 8]), st.integers(1, 40), st.integers(1, 9))
def test_worlds_are_halved_no_further_than_it_takes(steps: int, shards: int, each: int, slots: int) -> None:
    settings = settings_of(steps=steps, num_worlds=shards * each, train={"shards": shards})
    found = fit_worlds(settings, slots)
    factor, rest = divmod(settings.num_worlds, found.num_worlds)
    assert (rest, factor & (factor - 1), found.num_worlds % shards) == (0, 0, 0)
    enough = LEAST_UPDATES * slot_steps(found, 32, slots) <= steps
    assert enough or found.num_worlds // shards % 2 == 1  # cannot be halved again
    assert factor == 1 or LEAST_UPDATES * 2 * slot_steps(found, 32, slots) > steps
    assert found.model_copy(update={"num_worlds": settings.num_worlds}) == settings


def test_a_run_says_its_updates_and_ends_with_the_one_in_which_it_reaches_its_steps(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = settings_of(steps=700)  # 8 worlds, 2 walkers, 32 steps: 512 at most
    run = train(settings, tmp_path / "run", make_corridor)
    assert "one update is at most 512 agent-steps; 700 are 2 updates or more" in capsys.readouterr().err
    steps = [line["agent_steps"] for line in log_of(run)]
    assert steps[-2] < 700 <= steps[-1] < 700 + 512


@given(st.integers(1, 10**6), st.integers(1, 5000), st.integers(1, 5000), st.integers(1, 50))
def test_what_is_said_again_is_how_many_updates_of_that_size_a_run_has(
    steps: int, most: int, last: int, updates: int
) -> None:
    last = min(last, most)
    words = in_updates_so_far(settings_of(steps=steps), most, updates, updates * last, last)
    if updates * last >= steps or last > 0.8 * most:
        assert words == ""
    else:
        about = int(words.split("about ")[1].split(" ")[0].replace(",", ""))
        assert (about - 1) * last < steps <= about * last


def test_the_fifth_update_says_again_how_many_there_will_be(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("interplay.train.settings.short_runs.ALL_ACT", 1.0)
    run = train(settings_of(steps=6000), tmp_path / "run", make_corridor)
    updates = json.loads((run / "metrics.jsonl").read_text().splitlines()[-1])["updates"]
    (line,) = [line for line in capsys.readouterr().err.splitlines() if "will be about" in line]
    assert int(line.split("about ")[1].split(" ")[0]) == pytest.approx(updates, rel=0.34)


def test_the_log_has_the_rate_that_is_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Not over the whole time with its compilation, which the first update has."""
    run = train(settings_of(steps=6000), tmp_path / "run", make_corridor)
    rates = [line["agent_steps_per_s"] for line in log_of(run)]
    shown = [line for line in capsys.readouterr().err.splitlines() if "/ 6,000 agent-steps" in line]
    assert rates[0] is None
    assert "/s" not in shown[0]
    assert f", {rates[-1]:,.0f}/s" in shown[-1]


def test_an_update_that_ends_at_once_is_told_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    eager = {"rollout": 32, "minibatch": 64, "epochs": 2, "learning_rate": 0.1, "target_kl": 1e-6}
    train(settings_of(steps=2000, ppo=eager), tmp_path / "run", make_corridor)
    told = [line for line in capsys.readouterr().err.splitlines() if "epochs before" in line]
    assert len(told) == 1
    assert told[0].startswith("update 1: only ")
    assert "lower ppo.learning_rate = 0.1, or raise ppo.target_kl" in told[0]
    assert stopped_at_once(settings_of(), {"epochs": 1.0}) == ""
