"""Lost workers: training goes on from the last checkpoint with the same bits, or stops where that does not help; nobody is left behind."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

from bench.trust_workers import settings_of, torment
from interplay.core.errors import UserError
from interplay.core.settings import changed
from interplay.train.parallel import watch
from interplay.train.parallel.exchange import COMPILED, COMPILING, HEART, LostWorker
from interplay.train.parallel.watch import Watch
from interplay.train.parallel.workers import check_main
from interplay.train.run.checkpoint import latest_checkpoint
from interplay.train.supervision import Faults
from interplay.train.trainer import train
from tests.train import fake_run
from tests.train.test_population_runs import settings_of as populations_of
from tests.train.toy_worlds import Corridor

pytestmark = pytest.mark.slow

LINE = "tests.connect.toys:Line"
KILL, FREEZE = signal.SIGKILL, getattr(signal, "SIGSTOP", signal.SIGKILL)


@pytest.fixture(autouse=True)
def ctrl_c_is_heard() -> Any:
    """Also where the tests were started with SIGINT ignored, as a shell's background jobs are."""
    earlier = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, earlier)


def test_killed_and_frozen_workers_change_no_bit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    faults, same = torment(settings_of(LINE, []), tmp_path, [KILL, FREEZE, KILL, FREEZE, KILL], 5, 0.3)
    assert same
    assert len(faults) == 5
    said = capsys.readouterr().err
    # On a slow machine a fault may come before the first checkpoint.
    assert said.count("; going on from ") >= 5
    assert "; going on from the checkpoint at " in said
    assert "was killed by signal 9" in said
    assert "was frozen" in said


def test_a_run_with_populations_begins_again_if_nothing_was_saved(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = populations_of(1, workers=2)
    own = {"world": {"id": "tests.train.meadow:Meadow"}, "train": {"max_updates": None, "quiet": True}}
    _, same = torment(changed(settings, own, "test"), tmp_path, [KILL], 1, 0.3)
    assert same
    assert "was killed by signal 9; going on from the beginning" in capsys.readouterr().err


class Deadly(Corridor):
    """Kills every process but the first one."""

    def _step(self, action: np.ndarray) -> Any:
        if multiprocessing.parent_process() is not None:
            os.kill(os.getpid(), signal.SIGKILL)
        return super()._step(action)


def test_three_faults_without_an_update_stop_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = changed(settings_of("tests.train.test_recovery:Deadly", []), {"steps": 10**6}, "test")
    with pytest.raises(UserError, match=r"killed by signal 9, the third time without an update in between"):
        train(settings, tmp_path / "run")
    assert capsys.readouterr().err.count("going on from the beginning") == 2
    assert not (tmp_path / "run").exists()


def faults_in_a_row(*attempts: tuple[int, int]) -> int:
    faults = Faults()
    for begun, reached in attempts:
        faults.begin(begun)
        faults.updates = reached
        faults.count(LostWorker("worker 1 was frozen"), "go on")
    return faults.in_a_row


def test_updates_between_faults_make_them_single_ones() -> None:
    assert faults_in_a_row((0, 3)) == 1
    assert faults_in_a_row((0, 3), (2, 5), (5, 6), (6, 9)) == 1
    assert faults_in_a_row((0, 3), (2, 2)) == 2
    assert faults_in_a_row((0, 3), (2, 2), (2, 4)) == 1
    with pytest.raises(UserError, match=r"the third time without an update in between; .* then go on"):
        faults_in_a_row((0, 3), (2, 2), (2, 2))
    assert faults_in_a_row(*[(5, 7)] * 7) == 1  # chance, on a slow machine
    with pytest.raises(UserError, match="8 times after update 7"):
        faults_in_a_row(*[(5, 7)] * 8)  # it is always the eighth update that kills
    assert faults_in_a_row(*[(5, 7)] * 7, (5, 8), *[(5, 7)] * 7) == 1


class Process:
    """A worker that runs."""

    pid = os.getpid()
    exitcode = None

    def is_alive(self) -> bool:
        return True


class Scene:
    """A first worker that waits for worker 1, by a clock of the test."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        self.signs = np.zeros((2, 8), np.int64)
        self.watch = Watch([Process()], [None])
        monkeypatch.setattr(watch.time, "monotonic", lambda: self.now)

    def wait(self, seconds: float, beats: bool = True) -> None:
        for _ in range(int(seconds)):
            self.now += 1.0
            self.signs[1, HEART] += beats
            self.watch.look(self.signs, [1])


def test_silence_is_ten_times_the_first_workers_own_part(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Scene(monkeypatch)
    scene.watch.begin(7.0)
    scene.wait(69)
    with pytest.raises(LostWorker, match=r"worker 1 \(process \d+\) has been silent for 7\d s"):
        scene.wait(4)
    scene.watch.begin(0.1)
    scene.wait(68)  # the longest part counts


def test_only_a_stop_that_lasts_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """A debugger looks for a moment, and again; what happened in between was work."""
    scene = Scene(monkeypatch)
    scene.watch.begin(7.0)
    stopped = iter([False, True, False, True, False, False, True, True])
    monkeypatch.setattr(watch, "_is_stopped", lambda pid: next(stopped))

    def look() -> None:
        scene.now += 0.6
        scene.watch.look(scene.signs, [1])

    for _ in range(6):
        look()
    look()
    with pytest.raises(LostWorker, match="was frozen"):
        look()


def test_compilation_is_not_silence_as_long_as_the_heart_beats(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Scene(monkeypatch)
    scene.watch.begin(0.1)
    scene.signs[1, COMPILING] = 1
    scene.wait(3600)
    scene.signs[1, COMPILING], scene.signs[1, COMPILED] = 0, 3_600_000_000
    scene.wait(29)
    with pytest.raises(LostWorker, match="has been silent for 3"):
        scene.wait(5)
    scene.watch.begin(0.1)
    scene.signs[1, COMPILING] = 1
    with pytest.raises(LostWorker, match="has been silent"):
        scene.wait(40, beats=False)


def test_a_worker_may_start_for_two_minutes(monkeypatch: pytest.MonkeyPatch) -> None:
    scene = Scene(monkeypatch)
    scene.watch.begin(0.1)
    scene.wait(119, beats=False)
    with pytest.raises(LostWorker, match="silent"):
        scene.wait(5, beats=False)


def workers_of(process: psutil.Process) -> list[psutil.Process]:
    return [child for child in process.children() if "spawn_main" in " ".join(child.cmdline())]


def test_nobody_outlives_the_first_worker(tmp_path: Path) -> None:
    """Not even a frozen worker; what is left can be resumed."""
    run = tmp_path / "run"
    words = ["num_worlds=4", "train.shards=2", "train.checkpoint_updates=1", "ppo.rollout=16"]
    words += ["network.kind=mlp", "network.hidden=[8]", "ppo.minibatch=32", "ppo.epochs=1"]
    command = [
        sys.executable,
        "-m",
        "interplay.cli",
        "train",
        LINE,
        *words,
        "--workers",
        "2",
        "--out",
        str(run),
    ]
    with subprocess.Popen(command, cwd=fake_run.ROOT, stderr=subprocess.DEVNULL) as first:
        try:
            deadline = time.monotonic() + 200
            while latest_checkpoint(run) is None:
                assert first.poll() is None
                assert time.monotonic() < deadline
                time.sleep(0.05)
            (worker,) = workers_of(psutil.Process(first.pid))
            worker.send_signal(FREEZE)
        finally:
            first.kill()
    gone, alive = psutil.wait_procs([worker], timeout=5)
    assert (gone, alive) == ([worker], [])
    assert latest_checkpoint(run) is not None


class Ended(Process):
    """A worker that has ended."""

    exitcode = 1

    def is_alive(self) -> bool:
        return False


class Pipe:
    """Over which nothing was said."""

    def poll(self) -> bool:
        return False


def test_a_worker_that_never_began_is_told_with_the_guard_that_scripts_need() -> None:
    signs = np.zeros((2, 8), np.int64)
    with pytest.raises(
        UserError, match=r'exit code 1 before it began .* needs if __name__ == "__main__": around'
    ):
        Watch([Ended()], [Pipe()]).look(signs, [1])
    signs[1, HEART] = 1
    with pytest.raises(LostWorker, match=r"ended with exit code 1$"):
        Watch([Ended()], [Pipe()]).look(signs, [1])


def test_a_worker_that_imports_a_script_does_not_train_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    check_main()
    monkeypatch.setattr(multiprocessing.current_process(), "_inheriting", True, raising=False)
    with pytest.raises(UserError, match='put what the script does under if __name__ == "__main__":'):
        check_main()
