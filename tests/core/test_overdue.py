"""Calls that do not come back: the line says where, the limit ends them, and Ctrl-C does not wait."""

from __future__ import annotations

import os
import signal
import threading
import time

import numpy as np
import pytest

from interplay.connect.parallel_world import ParallelEnvWorld
from interplay.core import overdue
from interplay.core.errors import UserError
from interplay.core.overdue import OVERDUE
from interplay.core.stopping import finishing
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


def test_a_worker_process_names_its_world_and_place():
    with (
        OVERDUE.limited(3.0),
        pytest.raises(UserError, match=r"world 0 has not come back from step 3.*test_overdue.py"),
    ):
        play("loop", processes=1)


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
