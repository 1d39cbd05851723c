"""A newer checkpoint takes over while the world goes on; with a policy of one weight, so that it takes no network and no time."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from interplay.core.policy import Policy
from interplay.core.settings import build
from interplay.core.world import TimeStep, World
from interplay.train.run.checkpoint import CheckpointWriter
from interplay.train.settings import TrainSettings
from interplay.verbs.viewing import Newest, newest_of
from interplay.view.server.play import Cast
from interplay.view.server.refusals import Replaced
from tests.view.server.asking import Watcher, no_root, served
from tests.view.server.tables import TableWorld


class OneWeight(Policy):
    """Everybody chooses what the weight says; it remembers how many steps it has played."""

    names = ("pop0",)
    no_memory = (*Policy.no_memory, "choice")

    def __init__(self) -> None:
        self.choice = 1

    def start(self, world: World, seed: int = 0) -> None:
        super().start(world, seed)
        self.steps = np.zeros(1, np.int64)

    def act(self, timestep: TimeStep) -> Any:
        self.steps += 1
        return np.full(timestep.acting.shape, self.choice)

    def load_weights(self, tensors: Sequence[Mapping[str, np.ndarray]]) -> None:
        self.choice = int(tensors[0]["choice"][0])


def write(run: Path, steps: int, choice: int, settings: TrainSettings | None = None) -> Path:
    """A checkpoint of the one weight."""
    (run / "checkpoints").mkdir(parents=True, exist_ok=True)
    with CheckpointWriter(run, steps) as writer:
        writer.write("policy-pop0", {"choice": np.float32([choice])})
        return writer.commit({"populations": ["pop0"]}, world_id="table", world_version=1, settings=settings)


def damage(checkpoint: Path) -> Path:
    """The same with another byte at the end of its weights."""
    file = checkpoint / "policy-pop0.safetensors"
    data = file.read_bytes()
    file.write_bytes(data[:-1] + bytes([data[-1] ^ 1]))
    return checkpoint


def test_a_newer_checkpoint_takes_over_and_a_damaged_one_does_not(tmp_path, monkeypatch):
    monkeypatch.setattr("interplay.view.server.session.RENEW_SECONDS", 0.05)
    monkeypatch.setattr("tests.view.server.asking.PATIENCE", 15.0)  # nothing is compiled here
    run, policy, world = tmp_path / "run", OneWeight(), TableWorld(length=100_000)
    write(run, 4, choice=1)
    newest = Newest(run, policy, seed=0)

    def cast(kind: str, name: str) -> Cast:
        return Cast(world, policy, newest.words, newest.renew)

    with served(no_root(["table"]), cast) as own, Watcher(own) as page:
        assert page.hear()["policy"] == "run at 4"
        page.say("speed", ticks_per_second=100)
        page.say("select", slot=0)
        page.until("agent", chosen={"action": 1}, policy="run at 4")

        damaged = damage(write(tmp_path / "elsewhere", 8, choice=2))
        os.rename(damaged, run / "checkpoints" / damaged.name)
        status = page.until("status")
        while status["note"] is None:
            status = page.until("status")
        assert status["policy"] == "run at 4"
        assert "is damaged: policy-pop0.safetensors: its checksum does not match" in status["note"]
        assert "\n" not in status["note"]
        for _ in range(2):
            told = page.until("agent")
            assert (told["chosen"], told["policy"]) == ({"action": 1}, "run at 4")

        write(run, 12, choice=2)
        assert page.until("status", policy="run at 12")["note"] is None
        assert page.until("agent", policy="run at 12")["tick"] > told["tick"]
        page.until("agent", policy="run at 12", chosen={"action": 2})
        tick = page.stand_still()
        assert (world.state.steps[0], policy.steps[0]) == (tick, tick)


def test_what_was_written_while_the_policy_was_loaded_is_found_by_the_next_look(tmp_path):
    run, policy = tmp_path / "run", OneWeight()
    policy.start(TableWorld(), 0)
    write(run, 4, choice=1)
    before = newest_of(run)
    write(run, 8, choice=2)  # the weights of 4 are loaded already
    newest = Newest(run, policy, 0, before=before)
    assert newest.words == "run at 4"
    assert (newest.renew(), newest.words, newest.renew()) == ("run at 8", "run at 8", None)


def test_a_run_trained_anew_under_its_name_takes_over_at_equal_steps(tmp_path, monkeypatch):
    monkeypatch.setattr("interplay.view.server.session.RENEW_SECONDS", 0.05)
    run, policy = tmp_path / "run", OneWeight()
    write(run, 4, choice=1)
    newest = Newest(run, policy, seed=0)
    with served(
        no_root(["table"]), lambda *_: Cast(TableWorld(length=100_000), policy, "it", newest.renew)
    ) as own:
        with Watcher(own) as page:
            page.say("speed", ticks_per_second=100)
            page.say("select", slot=0)
            page.until("agent", chosen={"action": 1})
            shutil.rmtree(run)
            write(run, 4, choice=2)
            page.until("agent", chosen={"action": 2})
            page.stand_still()
        shutil.rmtree(run)
        write(run, 4, choice=0)
        with Watcher(own) as page:  # time stands, and the world is the same
            page.until("hello")
            assert policy.choice == 0


def settings(**options: float) -> TrainSettings:
    values = {"world": {"id": "dilemma/fixed", "options": options}, "train": {"quiet": True}, "steps": 8}
    return build(TrainSettings, values, "test")


def test_a_run_of_other_settings_begins_in_a_world_of_its_own(tmp_path, monkeypatch):
    monkeypatch.setattr("interplay.view.server.session.RENEW_SECONDS", 0.05)
    run, made = tmp_path / "run", []
    write(run, 4, choice=1, settings=settings(temptation=5.0))

    def cast(kind: str, name: str) -> Cast:
        policy = OneWeight()
        policy.settings = settings(temptation=7.0 if made else 5.0)  # type: ignore[attr-defined]
        made.append(policy)
        return Cast(TableWorld(length=100_000), policy, "it", Newest(run, policy, seed=0).renew)

    with served(no_root(["table"]), cast) as own:
        with Watcher(own) as page:
            page.until("hello")
            write(run, 8, choice=1, settings=settings(temptation=5.0).model_copy(update={"steps": 16}))
            page.until("frame")
            shutil.rmtree(run)
            write(run, 4, choice=2, settings=settings(temptation=7.0))
            told = page.until("bye")
            assert (told["again"], "world.options" in told["reason"]) == (True, True)
        with Watcher(own) as page:
            page.until("hello")
            page.until("frame")
    assert len(made) == 2


def test_options_of_a_stage_and_steps_are_not_taken_for_others(tmp_path):
    run, policy = tmp_path / "run", OneWeight()
    policy.start(TableWorld(), 0)
    policy.settings = settings(temptation=6.0)  # type: ignore[attr-defined]
    write(run, 4, 1, settings(temptation=6.0))
    newest = Newest(run, policy, 0)
    longer = settings(temptation=6.0).model_copy(update={"steps": 999})
    write(run, 8, 2, longer)
    assert newest.renew() == "run at 8"
    with CheckpointWriter(run, 12) as writer:  # the stage of a curriculum with the same options
        writer.write("policy-pop0", {"choice": np.float32([2])})
        record = {"populations": ["pop0"], "curriculum": {"played": [1, {"temptation": 6.0}]}}
        writer.commit(record, "table", 1, settings(temptation=5.0))
    assert newest.renew() == "run at 12"
    with CheckpointWriter(run, 16) as writer:
        writer.write("policy-pop0", {"choice": np.float32([2])})
        record = {"populations": ["pop0"], "curriculum": {"played": [2, {"temptation": 7.0}]}}
        writer.commit(record, "table", 1, settings(temptation=5.0))
    with pytest.raises(Replaced, match=r"world\.options"):
        newest.renew()


def test_a_league_is_followed_by_its_first_learner_and_by_its_newest_copy_after_a_restart(tmp_path):
    """The learner begins anew with each period, so that in the first one after it its newest copy plays."""
    league = {"learners": {"main": {"meets": [{"by": "latest"}], "restart_after": 1}}}
    settings = build(TrainSettings, {"world": {"id": "table"}, "league": league}, "test")
    run, policy = tmp_path / "run", OneWeight()
    policy.settings, policy.names = settings, ("main",)
    policy.start(TableWorld(), 0)
    (run / "checkpoints").mkdir(parents=True)

    def save(steps: int, age: int, copies: int) -> None:
        with CheckpointWriter(run, steps) as writer:
            names = ["main", *(f"main-{number:04d}" for number in range(1, copies + 1))]
            for choice, name in enumerate(names):
                writer.write(f"policy-{name}", {"choice": np.float32([choice])})
            owner, number = np.zeros(copies, np.int64), np.arange(1, copies + 1)
            writer.write("pool", {"age": np.array([age]), "owner": owner, "number": number})
            writer.commit({"populations": names}, world_id="table", world_version=1, settings=settings)

    save(4, 0, 1)
    newest, seen = Newest(run, policy, seed=0), []
    assert newest.words == "run@main-0001 at 4"
    for steps, age, copies in ((8, 1, 1), (12, 0, 2)):
        save(steps, age, copies)
        seen.append((newest.renew(), policy.choice))
    assert seen == [("run at 8", 0), ("run@main-0002 at 12", 2)]
