"""Turns: whose it is follows the running mean by hand, and populations that rest keep their weights."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from interplay.core.settings import build
from interplay.train.making import registry_factory
from interplay.train.run.checkpoint import list_checkpoints, read_checkpoint
from interplay.train.selfplay.alternation import Alternation
from interplay.train.settings import AlternateGroup, TrainSettings
from interplay.train.trainer import train
from interplay.train.update_loop import _without_a_mean
from tests.train.runs import log_of, short_run, worker_of

pytestmark = pytest.mark.slow

NAMES = ("villager", "werewolf", "seer")


def turns_of(**own: Any) -> Alternation:
    asked = {"metric": "win_vil", "at_high": "werewolf", "at_low": "villager", "episodes": 10} | own
    return Alternation(build(AlternateGroup, asked, "test"), NAMES)


def played(turns: Alternation, *updates: tuple[int, float]) -> list[str]:
    """Who learns after each update, by first letters."""
    told = []
    for episodes, value in updates:
        turns.add({"episodes": episodes, "win_vil": value} if episodes else {"episodes": 0})
        told.append("".join(name[0] for name, learns in zip(NAMES, turns.learns(), strict=True) if learns))
    return told


def test_turns_by_hand() -> None:
    updates = (
        (6, 0.9),  # too few: both learn, and the seer, whom turns do not concern
        (4, 0.5),  # (5.4 + 2) / 10 = .74
        (10, 0.6),  # .6, between: the wolves go on
        (10, 0.34),
        (0, 0.0),  # nobody finished
        (5, 0.6),  # (3.4 + 3) / 15 = .43: the villagers go on
        (5, 1.0),  # (3 + 5) / 10 = .8: the ten newest
    )
    assert played(turns_of(), *updates) == ["vws", "ws", "ws", "vs", "vs", "vs", "ws"]
    assert played(turns_of(between="both"), *updates) == ["vws", "ws", "vws", "vs", "vs", "vws", "ws"]
    assert played(turns_of(between="none"), *updates) == ["vws", "ws", "s", "vs", "vs", "s", "ws"]
    assert played(turns_of(high=0.75), *updates) == ["vws", "vws", "vws", "vs", "vs", "vs", "ws"]


def test_an_update_without_a_case_is_left_out() -> None:
    assert played(turns_of(), (10, 0.7), (10, float("nan")), (10, 0.1)) == ["ws", "ws", "vs"]


def test_episodes_without_other_players_are_left_out() -> None:
    """6 of 50 are too few; the 10 of both updates have a mean of (6 * 1 + 4 * 0.2) / 10 = .68."""
    turns = turns_of()
    for value, others, mean, full in ((1.0, 6, 1.0, False), (0.2, 4, 0.68, True)):
        numbers = {"episodes": 50, "episodes_with_others": others, "win_vil": value, "of_others": ["win_vil"]}
        assert turns.add(numbers)["win_vil_mean"] == pytest.approx(mean)
        assert (turns.turn == "werewolf") == full


@pytest.mark.parametrize(
    ("side", "named"), [("", ["train.best_by", "alternate.metric", "curriculum.stages: until"]), ("[a]", [])]
)
def test_settings_that_wait_for_a_zero_sum_metric_are_named(side: str, named: list[str]) -> None:
    metric = f"episode_return{side}"
    settings = short_run(
        "matrix/rock-paper-scissors",
        train={"best_by": metric},
        ppo={"rollout": 16},
        population={"by": "name", "groups": {"a": ["agent_0"], "b": ["agent_1"]}},
        alternate={"metric": metric, "at_high": "a", "at_low": "b", "high": 0.0, "low": -0.1},
        curriculum={"stages": [{"until": f"{metric} > 5"}, {}]},
    )
    worker = worker_of(settings, registry_factory(settings))
    worker.update()
    lines = _without_a_mean(worker)
    assert [line.partition(" = ")[0] for line in lines] == named
    assert all("episode_return[a]" in line for line in lines)


def test_turns_go_on_from_a_record() -> None:
    first, second = turns_of(), turns_of()
    played(first, (6, 0.9), (5, 0.7), (3, 0.1))
    second.load(json.loads(json.dumps(first.describe())))
    after = ((4, 0.2), (4, 0.3), (9, 0.81))
    assert played(first, *after) == played(second, *after)
    assert first.mean == second.mean


def test_without_a_metric_everybody_learns() -> None:
    turns = Alternation(AlternateGroup(), NAMES)
    assert turns.add({"episodes": 10}) == {}
    assert turns.learns().all()
    assert turns.describe() == {}


def settings_of(updates: int, workers: int = 1) -> TrainSettings:
    return short_run(
        "tests.train.toy_worlds:Corridor",
        train={"workers": workers, "max_updates": updates, "checkpoint_updates": 1, "keep_checkpoints": 99},
        ppo={"rollout": 16, "minibatch": 64, "epochs": 1, "learning_rate": 1e-4, "target_kl": "off"},
        population={"by": "name", "groups": {"left": ["walker_0"], "right": ["walker_1"]}, "block": 32},
        alternate={
            "metric": "episode_length",
            "at_high": "left",
            "at_low": "right",
            "high": 18.0,
            "low": 17.5,
            "episodes": 20,
        },
    )


def test_those_who_rest_keep_their_weights(tmp_path: Path) -> None:
    whole = train(settings_of(12), tmp_path / "whole")
    log = log_of(whole)
    turns = [(line["learning[left]"], line["learning[right]"]) for line in log]
    assert {(1, 0), (0, 1)} <= set(turns), [line["episode_length_mean"] for line in log]
    saved = [read_checkpoint(path).arrays for path in list_checkpoints(whole)]
    for before, after, learns in zip(saved, saved[1:], turns[1:], strict=False):
        for name, learnt in zip(("left", "right"), learns, strict=True):
            stems = [stem for stem in before if stem.endswith(f"-{name}")]
            same = all(
                np.array_equal(before[stem][key], after[stem][key]) for stem in stems for key in before[stem]
            )
            assert same == (not learnt)
