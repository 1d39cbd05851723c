"""Calls that do not come back: the line says where, the limit ends them, and Ctrl-C does not wait."""

from __future__ import annotations

import contextlib
import math
import os
import signal
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from interplay.connect.parallel_world import ParallelEnvWorld
from interplay.core import overdue
from interplay.core.errors import UserError
from interplay.core.overdue import OVERDUE
from interplay.core.player_calls import of_player
from interplay.core.policy import Policy
from interplay.core.stopping import finishing
from interplay.evaluate.episodes import play as evaluate
from interplay.registry import make_world
from tests.connect.planted import Sound


class Blocks(Sound):
    """Does not come back from its third step: by a lock, an event, a loop; `slow` comes back after a second, each time."""

    def __init__(self, how="lock"):
        self.how = how

    def reward(self, agent):
        if self.how == "slow":
            time.sleep(0.5)
        elif self.t == 3:
            BLOCKING[self.how]()
        return 1.0


def _lock():
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()


def _loop():
    while True:
        pass


BLOCKING = {"lock": _lock, "event": lambda: threading.Event().wait(), "loop": _loop}


def play(how, processes=0, steps=4):
    name = "tests.core.test_overdue:Blocks" if processes else Blocks
    world = ParallelEnvWorld(name, num_worlds=2, processes=processes, kwargs={"how": how})
    try:
        world.reset()
        for _ in range(steps):
            world.step(np.zeros((2, 2), np.int64))
    finally:
        world.close()


@pytest.mark.parametrize("how", BLOCKING)
def test_a_call_is_given_up_after_the_limit(how):
    began = time.monotonic()
    with OVERDUE.limited(1.0), pytest.raises(UserError) as caught:
        play(how)
    assert "world 0 has not come back from step 3" in str(caught.value)
    assert "test_overdue.py, line" in str(caught.value)
    assert time.monotonic() - began < 10
    assert OVERDUE.error == ""


class BlocksOnce(Sound):
    """Blocks for good at a step, or at a reset (0), where a file names the seed before, and removes the file."""

    def __init__(self, file, at):
        self.file, self.at, self.seed = Path(file), at, None

    def reset(self, seed=None, options=None):
        self._block(0)
        self.seed = seed
        return super().reset(seed, options)

    def reward(self, agent):
        self._block(self.t)
        return 1.0

    def _block(self, t):
        if t == self.at and self.file.exists() and self.file.read_text() == str(self.seed):
            self.file.unlink()
            _loop()


def begun(file, at):
    """Three worlds, of which 0 and 1 are of one process, after two steps."""
    name, options = "tests.core.test_overdue:BlocksOnce", {"file": str(file), "at": at}
    world = ParallelEnvWorld(name, num_worlds=3, processes=2, kwargs=options)
    world.reset()
    file.write_text(str(world._buffers["seed"][0]))
    for _ in range(2):
        assert not world.step(STILL).over.any()
    return world


STILL = np.zeros((3, 2), np.int64)


def test_a_new_process_takes_the_place_of_one_that_blocks_and_its_episodes_are_cut(tmp_path, capfd):
    with OVERDUE.limited(2.0), contextlib.closing(begun(tmp_path / "block", 3)) as world:
        cut = world.step(STILL)
        line = capfd.readouterr().err
        assert "world 0 has not come back from step 3" in line
        assert "test_overdue.py, line" in line
        assert cut.over.tolist() == [True, True, False]
        assert cut.truncated.tolist() == [[True, True], [True, True], [False, False]]
        assert cut.acting.tolist() == [[False, False], [False, False], [True, True]]
        assert cut.reward.tolist() == [[0, 0], [0, 0], [1, 1]]
        assert not cut.terminated.any()
        begun_anew = world.reset(np.array([True, True, False]))
        assert begun_anew.observation["observation"][:, 0, 0].tolist() == [0, 0, 3]
        for _ in range(3):
            end = world.step(STILL)
        assert end.observation["observation"][:, 0, 0].tolist() == [3, 3, 6]
        assert end.terminated.all(axis=1).tolist() == [False, False, True]


def test_a_reset_that_blocks_is_done_by_a_new_process_and_its_other_worlds_are_cut_a_step_later(
    tmp_path, capfd
):
    with OVERDUE.limited(2.0), contextlib.closing(begun(tmp_path / "block", 0)) as world:
        shown = world.reset(np.array([True, False, False]))
        assert "world 0 has not come back from its reset" in capfd.readouterr().err
        assert shown.observation["observation"][:, 0, 0].tolist() == [0, 2, 2]
        assert shown.acting.all()
        cut = world.step(STILL)
        assert cut.over.tolist() == [False, True, False]
        assert cut.truncated.tolist() == [[False, False], [True, True], [False, False]]
        assert cut.reward.tolist() == [[1, 1], [0, 0], [1, 1]]


def test_a_process_whose_reset_always_blocks_is_given_up(tmp_path):
    name, options = "tests.core.test_overdue:Stuck", {"file": str(tmp_path / "never"), "at": 0}
    with OVERDUE.limited(0.7), pytest.raises(UserError, match="world 0 has not come back from its reset"):
        ParallelEnvWorld(name, num_worlds=1, processes=1, kwargs=options).reset()


class Stuck(BlocksOnce):
    """Blocks in each reset with a seed that is not that of the first look at it."""

    def reset(self, seed=None, options=None):
        return _loop() if seed else super().reset(seed, options)


def test_the_line_comes_once_and_names_the_place(monkeypatch, capfd):
    monkeypatch.setattr(overdue, "AFTER", 1.0)
    with OVERDUE.limited(3.0), pytest.raises(UserError):
        play("event")
    assert capfd.readouterr().err.count("world 0 has not come back from step 3") == 1


def test_steps_that_take_their_time_and_come_back_are_not_given_up(monkeypatch, capfd):
    monkeypatch.setattr(overdue, "AFTER", 1.5)
    with OVERDUE.limited(4.0):
        play("slow")  # one second for each world and step
    assert "come back" not in capfd.readouterr().err


@pytest.mark.parametrize("seconds", [0.5, 2.0])
def test_the_first_interrupt_ends_a_call_that_is_overdue(seconds, monkeypatch):
    monkeypatch.setattr(overdue, "AFTER", 1.0)
    timer = threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt), finishing():
        play("lock")
    assert time.monotonic() - began < 8


def test_a_limit_ends_work_that_would_be_finished_first():
    with OVERDUE.limited(1.0), finishing() as stop, pytest.raises(UserError, match="step 3"):
        play("loop")
    assert not stop


class Elsewhere:
    """A call of another process, which gives its line and ends it."""

    calls, thread, silent = 1, 0, True

    def busy(self):
        return "world 0 has not come back from its process"


def test_a_call_of_another_process_has_more_time_and_ends_at_once_after_a_ctrl_c(monkeypatch):
    now, elsewhere, calls = [100.0], Elsewhere(), overdue.Overdue()
    monkeypatch.setattr(overdue, "time", SimpleNamespace(monotonic=lambda: now[0], sleep=time.sleep))
    calls._clocks[elsewhere] = overdue._Clock()
    calls.limit = 20.0
    for now[0] in (100.0, 121.0, 124.9):  # five seconds in which the process itself gives up
        calls.refuse_late()
    now[0] = 125.1
    with pytest.raises(UserError, match="world 0 has not come back from its process for 25 s"):
        calls.refuse_late()
    calls.limit, calls.hurried = math.inf, True
    with pytest.raises(KeyboardInterrupt):
        calls.refuse_late()


class Sleeper(Policy):
    """A player that does not come back."""

    name = "sleeper"

    def act(self, timestep):
        _lock()


def test_a_player_is_given_up_in_an_evaluation():
    with OVERDUE.limited(1.0), pytest.raises(UserError, match="player sleeper has not come back from act"):
        evaluate(make_world("dilemma/fixed", 2), Sleeper(), episodes=2)
    assert OVERDUE.error == ""


class Asks(Sleeper):
    """A player that calls another one again and again."""

    name = "asks"

    def act(self, timestep):
        while True:
            of_player(self, time.sleep, 0.1)


def test_a_player_that_asks_another_one_is_one_call():
    with OVERDUE.limited(1.0), pytest.raises(UserError, match="player asks has not come back from act"):
        evaluate(make_world("dilemma/fixed", 2), Asks(), episodes=2)
    assert OVERDUE.error == ""
