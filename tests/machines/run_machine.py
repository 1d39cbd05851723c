"""A run folder under training, stops, kills, resumes, pruning, moves and damage, by a trainer that learns nothing.

The laws: a checkpoint that was saved is there and sound until it is pruned, set aside or damaged; a run goes on from the newest
sound one with exactly the state that it had; its log has every update once; nothing is written outside of its folder.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule

from interplay.core.errors import UserError
from interplay.core.hashing import mix64
from interplay.train.run import folder
from interplay.train.run.checkpoint import (
    CheckpointWriter,
    latest_checkpoint,
    list_checkpoints,
    problem,
    prune_checkpoints,
    read_checkpoint,
)
from interplay.train.run.folder import RunFolder
from interplay.train.settings import TrainSettings, WorldChoice
from tests.machines.counting import Counting
from tests.machines.write_points import AtPoint, KillAt, Killed, quick_disk

STEPS = 64  # of one update
KEPT = 3  # checkpoints
FILES = ("shard-0", "shard-1", "record", "manifest")
POINTS = (
    "staging: made",
    *(f"{file}: {how}" for file in FILES for how in ("opened", "half written", "written")),
    "checkpoint: complete",
    "checkpoint: renamed",
)
PLACES = ("a", "b", "with blanks and ümlauts", "deeper/c")


class Quiet(folder.Writers):
    """Curves are no part of the laws."""

    def __init__(self, run: Path, settings: TrainSettings, first_step: int = 0) -> None:
        self._open = {}


def state_after(updates: int) -> np.ndarray:
    """(2, 8) uint64, in which a lost or a doubled update shows."""
    state = np.arange(16, dtype=np.uint64).reshape(2, 8)
    for _ in range(updates):
        state = update(state)
    return state


def update(state: np.ndarray) -> np.ndarray:
    return mix64(state + np.uint64(1))


def save(run: Path, steps: int, state: np.ndarray) -> None:
    with CheckpointWriter(run, steps) as writer:
        for shard, rows in enumerate(state):
            writer.write(f"shard-{shard}", {"state": rows})
        writer.commit({"first": int(state[0, 0])}, world_id="fake", world_version=1)


class RunMachine(Counting):
    """A run's folder, who trains in it, and what has to be there."""

    @initialize()
    def begin(self) -> None:
        self.note("begin")
        self.logs, folder.Writers = folder.Writers, Quiet  # type: ignore[misc]
        self.home = tempfile.TemporaryDirectory(prefix="interplay-run-", dir=quick_disk())
        self.outside = Path(self.home.name) / "outside"
        self.outside.mkdir()
        (self.outside / "thesis.tex").write_text("years of work")
        self.path = Path(self.home.name) / "runs" / PLACES[0]
        self.sound: set[int] = set()
        self.damaged: set[int] = set()
        self.aside = 0
        self.run: RunFolder | None = None
        self.steps, self.state = 0, state_after(0)

    def teardown(self) -> None:
        if not hasattr(self, "home"):
            return
        folder.Writers = self.logs  # type: ignore[misc]  # first: what follows fails where a fault was planted
        try:
            self.look_at_every_file()
            self.leave()
        finally:
            self.home.cleanup()

    # -- the trainer -----------------------------------------------------------------------------

    def running(self) -> RunFolder:
        """The run, begun or resumed if nobody trains."""
        if self.run is None:
            self.start()
        assert self.run is not None
        return self.run

    def start(self) -> None:
        if not (self.path / "settings.toml").exists():
            self.run = RunFolder.create(self.path, TrainSettings(world=WorldChoice(id="fake"), steps=1))
            self.steps, self.state = 0, state_after(0)
            return
        self.run = RunFolder.open(self.path)
        if self.damaged and not self.sound:
            with pytest.raises(UserError, match=f"none of the {len(self.damaged)} checkpoints is sound"):
                latest_checkpoint(self.path, lambda line: None)
            self.throw_away_what_is_damaged()
        said: list[str] = []
        latest = latest_checkpoint(self.path, said.append)
        newest = max(self.sound, default=0)
        assert len(said) == sum(steps > newest for steps in self.damaged), said
        assert (latest is not None) == bool(self.sound)
        self.take_up(newest)

    def take_up(self, steps: int) -> None:
        """Goes on from the checkpoint of so many steps, 0 for the beginning."""
        assert self.run is not None
        self.steps, self.state = steps, state_after(0)
        if steps:
            self.state = self.loaded(steps)
        self.run.rewind(steps)
        later = {one for one in self.sound | self.damaged if one > steps}
        self.aside += len(later)
        self.sound -= later
        self.damaged -= later
        assert self.logged() == list(range(STEPS, steps + 1, STEPS)), "every update is logged once"

    def loaded(self, steps: int) -> np.ndarray:
        """The state of a checkpoint; exactly what it was."""
        found = read_checkpoint(self.folder_of(steps))
        state = np.stack([found.arrays[f"shard-{shard}"]["state"] for shard in range(2)])
        assert found.agent_steps == steps
        assert (state == state_after(steps // STEPS)).all()
        return state

    def learn(self, updates: int) -> None:
        run = self.running()
        for _ in range(updates):
            self.steps, self.state = self.steps + STEPS, update(self.state)
            run.log(self.steps, {"first": float(self.state[0, 0])})

    def learn_and_save(self, updates: int) -> None:
        self.learn(updates)
        self.running().sync()
        save(self.path, self.steps, self.state)
        self.saved()

    def leave(self) -> None:
        """Nobody trains any more; the lock is free."""
        if self.run is not None:
            self.run.close()
            self.run = None

    def logged(self) -> list[int]:
        file = self.path / "metrics.jsonl"
        lines = file.read_bytes().splitlines() if file.exists() else []
        return [json.loads(line)["agent_steps"] for line in lines]

    def folder_of(self, steps: int) -> Path:
        folders = [path for path in list_checkpoints(self.path) if int(path.name) == steps]
        assert len(folders) == 1, f"checkpoint {steps} is not there"
        return folders[0]

    def throw_away_what_is_damaged(self) -> None:
        for steps in self.damaged:
            shutil.rmtree(self.folder_of(steps))
        self.damaged.clear()

    def saved(self) -> None:
        """What a save changes in what has to be there."""
        if self.steps in self.damaged:
            self.damaged.discard(self.steps)
            self.aside += 1
        self.sound.add(self.steps)

    # -- laws -------------------------------------------------------------------------------------

    @invariant()
    def everything_is_where_it_has_to_be(self) -> None:
        if not hasattr(self, "home"):
            return
        assert {int(path.name) for path in list_checkpoints(self.path)} == self.sound | self.damaged
        folder = self.path / "checkpoints"
        names = [path.name for path in folder.iterdir()] if folder.is_dir() else []
        assert sum(name.startswith("aside-") for name in names) == self.aside, "nothing sound is deleted"
        assert all(name.isdecimal() or name.startswith(("aside-", ".")) for name in names)
        if self.sound:
            assert problem(self.folder_of(max(self.sound))) is None
        assert [path.name for path in self.outside.iterdir()] == ["thesis.tex"]
        assert (self.outside / "thesis.tex").read_text() == "years of work"
        assert {path.name for path in Path(self.home.name).iterdir()} <= {"outside", "runs"}

    def look_at_every_file(self) -> None:
        for steps in self.sound:
            self.loaded(steps)
        assert all(problem(self.folder_of(steps)) for steps in self.damaged)

    # -- rules --------------------------------------------------------------------------------------

    @rule(updates=st.integers(1, 4))
    def train(self, updates: int) -> None:
        self.note("train")
        self.learn(updates)

    @rule(updates=st.integers(0, 2))
    def train_and_save(self, updates: int) -> None:
        self.note("save")
        self.learn_and_save(updates)

    @rule()
    def save_and_prune(self) -> None:
        self.note("prune")
        self.learn_and_save(1)
        prune_checkpoints(self.path, KEPT)
        there = sorted(self.sound | self.damaged)
        self.sound -= set(there[:-KEPT])
        self.damaged -= set(there[:-KEPT])
        assert self.steps in self.sound

    @rule()
    def stop(self) -> None:
        self.note("stop")
        self.learn_and_save(0)
        self.leave()

    @rule(torn=st.integers(0, 20))
    def kill(self, torn: int) -> None:
        """While it computes; a line of the log may be half written."""
        self.note("kill")
        self.running()
        self.leave()
        if torn and (self.path / "metrics.jsonl").exists():
            with (self.path / "metrics.jsonl").open("ab") as file:
                file.write(b'{"agent_steps": 99999, "x'[:torn])

    @rule(point=st.sampled_from(POINTS))
    def kill_in_a_save(self, point: str) -> None:
        self.note("kill in a save")
        self.learn(1)
        there = self.steps in self.sound
        with KillAt(point, self.path) as kill, contextlib.suppress(Killed):
            save(self.path, self.steps, self.state)
        assert kill.met or there
        self.leave()
        kill.restore()
        if point == "checkpoint: renamed" or there:
            self.saved()
        elif point == "checkpoint: complete" and self.steps in self.damaged:
            self.damaged.discard(self.steps)  # it has made way already
            self.aside += 1

    @rule(point=st.sampled_from(POINTS[:-1]), code=st.sampled_from((errno.ENOSPC, errno.EIO)))
    def disk_fails(self, point: str, code: int) -> None:
        self.note("disk fails")
        self.learn(1)
        if self.steps in self.sound | self.damaged:
            return
        with (
            AtPoint(point, 1, OSError(code, os.strerror(code))),
            pytest.raises(UserError, match="are intact"),
        ):
            save(self.path, self.steps, self.state)  # fmt: skip
        self.leave()

    @rule()
    def resume(self) -> None:
        self.note("resume")
        self.leave()
        self.running()

    @precondition(lambda self: self.sound)
    @rule(index=st.integers(0, 9))
    def go_back(self, index: int) -> None:
        """Resumes from a checkpoint that the user names; later ones are set aside."""
        self.note("go back")
        self.running()
        if self.sound:
            self.take_up(sorted(self.sound)[index % len(self.sound)])

    @precondition(lambda self: self.sound)
    @rule(
        index=st.integers(0, 9), file=st.sampled_from(FILES), how=st.sampled_from(("cut", "gone", "flipped"))
    )
    def damage(self, index: int, file: str, how: str) -> None:
        self.note("damage")
        steps = sorted(self.sound)[index % len(self.sound)]
        suffix = ".safetensors" if file.startswith("shard") else ".json"
        path = self.folder_of(steps) / f"{file}{suffix}"
        data = path.read_bytes()
        if how == "gone":
            path.unlink()
        elif how == "cut":
            path.write_bytes(data[: len(data) // 2])
        else:  # a letter of a key or of a number: no blank, which would mean the same
            at = (
                data.index(b"first") if file == "record" else len(data) - 3 if suffix == ".safetensors" else 4
            )
            path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        self.sound.discard(steps)
        self.damaged.add(steps)
        assert problem(self.folder_of(steps)) is not None

    @rule(place=st.sampled_from(PLACES))
    def rename(self, place: str) -> None:
        self.note("rename")
        self.running()
        self.leave()
        target = Path(self.home.name) / "runs" / place
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            self.path.rename(target)
            self.path = target

    @rule()
    def somebody_else_comes(self) -> None:
        """A second trainer, and a second run in the folder, are refused; nothing is touched."""
        self.note("second process")
        self.running()
        with pytest.raises(UserError, match="is in use by process"):
            RunFolder.open(self.path)
        self.leave()
        if self.sound or self.damaged:
            with pytest.raises(UserError, match="already holds a run"):
                RunFolder.create(self.path, TrainSettings(world=WorldChoice(id="other")))

    @rule(
        total=st.integers(2, 10**9),
        point=st.sampled_from(("", "opened", "half written", "written", "renamed")),
    )
    def ask_for_more(self, total: int, point: str) -> None:
        """The settings are the old ones or the new ones, whenever the kill comes."""
        self.note("settings")
        run = self.running()
        old, new = run.settings, run.settings.model_copy(update={"steps": total})
        point = "" if new == old else point  # nothing is written then
        if point:
            with KillAt(f"settings: {point}", self.path) as kill, pytest.raises(Killed):
                run.change(new)
            self.leave()
            kill.restore()
        else:
            run.change(new)
            self.leave()
        found = RunFolder.open(self.path)
        found.close()
        assert found.settings == (old if point and point != "renamed" else new)
