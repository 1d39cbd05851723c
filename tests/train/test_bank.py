"""A bank: equal settings are one run, whatever else is asked for, and other ones are another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from interplay.core.settings import build, merge
from interplay.train.advantage import Returns, generalised_advantage
from interplay.train.bank import _trained_once, is_complete, name_of, train_in_bank, trained_once
from interplay.train.run.checkpoint import list_checkpoints, read_checkpoint
from interplay.train.settings import TrainSettings
from interplay.train.trainer import train
from tests.cli.command import refusal

pytestmark = pytest.mark.slow

SETTINGS: dict[str, Any] = {
    "world": {"id": "dilemma/fixed"},
    "num_worlds": 4,
    "steps": 10**6,
    "train": {"shards": 1, "max_updates": 2, "checkpoint_updates": 1, "quiet": True},
    "ppo": {"rollout": 8, "minibatch": 32, "epochs": 1},
    "network": {"kind": "mlp", "hidden": [8]},
}


def settings_of(**more: Any) -> TrainSettings:
    return build(TrainSettings, merge(SETTINGS, more), "test")


def bits(run: Path) -> dict[str, bytes]:
    arrays = read_checkpoint(list_checkpoints(run)[-1]).arrays["policy-pop0"]
    return {name: array.tobytes() for name, array in arrays.items()}


def test_names_are_of_what_a_run_is_made_of_and_not_of_how_fast_it_goes(tmp_path: Path) -> None:
    name = name_of(settings_of())
    assert name.startswith("dilemma-fixed-seed-0-")
    assert name_of(settings_of(train={"checkpoint_seconds": 7.0, "quiet": False})) == name
    others = [
        settings_of(seed=1),
        settings_of(steps=10**5),
        settings_of(ppo={"clip": 0.1}),
        settings_of(world={"options": {"rounds": 7}}),
        settings_of(train={"keep_every": 100}),
        settings_of(network={"hidden": [9]}),
    ]
    assert len({name, *map(name_of, others)}) == 1 + len(others)


def test_other_rules_or_another_checkpoint_of_the_same_name_are_another_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = train(settings_of(), tmp_path / "first")
    warm = settings_of(train={"start_from": str(first)})
    name = name_of(warm)
    assert name != name_of(settings_of())
    for path in list_checkpoints(first):
        path.rename(tmp_path / f"aside-{path.name}")
    (first / "settings.toml").unlink()
    (first / "metrics.jsonl").unlink()
    again = train(settings_of(seed=5), first)  # in the same folder
    assert name_of(settings_of(train={"start_from": str(again)})) != name
    plain = name_of(settings_of())
    monkeypatch.setattr("interplay.worlds.dilemma.world.DilemmaWorld.version", 99)
    assert name_of(settings_of()) != plain


def test_a_run_is_trained_once_and_gone_on_with_where_it_was_stopped(tmp_path: Path) -> None:
    bank, whole = tmp_path / "bank", train(settings_of(), tmp_path / "whole")
    run = train_in_bank(settings_of(), bank)
    assert is_complete(run, settings_of())
    assert bits(run) == bits(whole)
    times = {path: path.stat().st_mtime_ns for path in run.rglob("*") if path.is_file()}
    assert train_in_bank(settings_of(train={"quiet": True}), bank) == run
    assert times == {path: path.stat().st_mtime_ns for path in run.rglob("*") if path.is_file()}
    # As if it had been killed after its first update: the last checkpoint is not there.
    last = list_checkpoints(run)[-1]
    last.rename(tmp_path / "lost")
    assert not is_complete(run, settings_of())
    assert train_in_bank(settings_of(), bank) == run
    assert bits(run) == bits(whole)
    assert [path.name for path in bank.iterdir()] == [run.name]


def test_a_bank_names_its_runs_itself(capsys: Any) -> None:
    said = refusal(capsys, "train", "dilemma/fixed", "--out", "a", "--bank", "b")
    assert "a bank names its runs itself; leave one out" in said


def test_another_trainer_is_another_run(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = settings_of()
    told, name = trained_once(asked), name_of(asked)
    assert (
        trained_once(settings_of(seed=3, num_worlds=64)) == told
    )  # a seed, or more worlds, are no other trainer
    assert trained_once(settings_of(ppo={"learning_rate": 1e-3})) != told
    monkeypatch.setattr("interplay.train.bank._trained_once", _trained_once.__wrapped__)
    assert name_of(asked) == name
    monkeypatch.setattr("interplay.train.algorithms.base.generalised_advantage", slipped)
    assert name_of(asked) != name


def slipped(*given: Any) -> Returns:
    """Values that are a little higher than they ought to be."""
    advantage, target = generalised_advantage(*given)
    return Returns(advantage, target + 0.01)
