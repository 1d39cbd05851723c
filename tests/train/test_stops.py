"""Signals that ask to stop: the update is finished and saved, the exit code names the signal, the second one stops at once."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from interplay.core import stopping
from interplay.core.settings import changed
from interplay.core.stopping import Stopped, finishing, listening
from interplay.train.run.checkpoint import latest_checkpoint, list_checkpoints, read_checkpoint
from interplay.train.settings import TrainSettings
from interplay.train.trainer import resume, train
from tests.train import fake_run, test_trainer
from tests.train.runs import arrays_of, log_of
from tests.train.toy_worlds import Corridor, make_corridor

pytestmark = pytest.mark.slow

ALL = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
SMALL = ["num_worlds=4", "train.shards=2", "ppo.rollout=16", "ppo.minibatch=32", "ppo.epochs=1"]
SMALL += ["network.kind=mlp", "network.hidden=[8]", "steps=1000000000", "train.checkpoint_seconds=1000"]


def settings_of(updates: int) -> TrainSettings:
    """A run that ends after so many updates."""
    return changed(test_trainer.settings_of(1), {"steps": 10**9, "train": {"max_updates": updates}}, "test")


@pytest.fixture(autouse=True)
def signals_as_in_a_terminal() -> Iterator[None]:
    """Also where the tests were started with some of them ignored, as a shell's background jobs are."""
    earlier = {number: signal.getsignal(number) for number in ALL}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    for number, handler in earlier.items():
        signal.signal(number, handler)


def tell(number: int) -> None:
    """Sends this process a signal."""
    os.kill(os.getpid(), number)


def handlers() -> list[Any]:
    return [signal.getsignal(number) for number in ALL]


@pytest.mark.parametrize("number", ALL)
def test_the_first_signal_asks_and_the_second_one_stops(
    number: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(stopping, "SAME", 0.0)
    before = handlers()
    with pytest.raises(KeyboardInterrupt) as caught, finishing() as stop:  # noqa: PT012 - the moment is the point
        assert not stop
        tell(number)
        assert (bool(stop), stop.number) == (True, number)
        assert "finishing this update and saving" in capsys.readouterr().err
        tell(number)
        raise AssertionError("the second one did not stop")
    assert handlers() == before
    assert isinstance(caught.value, Stopped) == (number != signal.SIGINT)


def test_one_request_that_comes_twice_is_one() -> None:
    """As from `timeout`, which tells the process and then its group."""
    with finishing() as stop:
        tell(signal.SIGTERM)
        tell(signal.SIGTERM)
        tell(signal.SIGHUP)
    assert stop.number == signal.SIGTERM


@pytest.mark.parametrize("number", ALL)
def test_what_was_ignored_stays_ignored(number: int) -> None:
    signal.signal(number, signal.SIG_IGN)
    with listening(), finishing() as stop:
        tell(number)
        assert not stop
        assert signal.getsignal(number) == signal.SIG_IGN


def test_a_program_that_handles_sigterm_goes_on_to_do_so() -> None:
    heard: list[int] = []
    signal.signal(signal.SIGTERM, lambda number, _: heard.append(number))
    with listening(), finishing() as stop:
        tell(signal.SIGTERM)
    assert heard == [signal.SIGTERM]
    assert not stop


def test_other_threads_install_nothing() -> None:
    seen: list[list[Any]] = []

    def look() -> None:
        with listening(), finishing():
            seen.append(handlers())

    before = handlers()
    thread = threading.Thread(target=look)
    thread.start()
    thread.join()
    assert seen == [before]


def test_who_listens_outside_learns_what_came() -> None:
    with listening() as outer:
        try:
            with finishing():
                tell(signal.SIGHUP)
        except Stopped:  # it would end pytest
            pytest.fail("it stopped at once")
        assert outer.number == signal.SIGHUP
        with pytest.raises(Stopped, match="SIGTERM"):  # nothing is left to be saved
            tell(signal.SIGTERM)


def after_updates(run: Path, updates: int, deed: Callable[[], Any]) -> threading.Thread:
    """Does something once so many updates are logged."""

    def wait() -> None:
        deadline = time.monotonic() + 300
        while not ((run / "metrics.jsonl").exists() and len(log_of(run)) >= updates):
            assert time.monotonic() < deadline
            time.sleep(0.02)
        deed()

    thread = threading.Thread(target=wait)
    thread.start()
    return thread


@pytest.mark.parametrize("number", ALL)
def test_the_update_is_finished_and_saved_and_the_run_goes_on(
    number: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = handlers()
    thread = after_updates(tmp_path / "run", 2, lambda: tell(number))
    run = train(settings_of(1_000_000), tmp_path / "run", make_corridor)
    thread.join()
    assert handlers() == before
    stopped = log_of(run)[-1]
    assert f"go on with `interplay resume {run}`" in capsys.readouterr().err
    assert read_checkpoint(latest_checkpoint(run) or "").agent_steps == stopped["agent_steps"]
    resume(run, steps=stopped["agent_steps"] + 1, make_world=make_corridor)
    assert log_of(run)[-1]["updates"] == stopped["updates"] + 1
    whole = train(settings_of(stopped["updates"] + 1), tmp_path / "whole", make_corridor)
    assert arrays_of(run) == arrays_of(whole)


def make_and_tell(num_worlds: int, seed: int, first_world: int) -> Corridor:
    """A factory in which a scheduler loses patience while the first shard is made."""
    if num_worlds > 1 and first_world == 0:
        tell(signal.SIGTERM)
    return Corridor(num_worlds, seed, first_world)


def test_before_the_first_update_nothing_more_is_begun(tmp_path: Path) -> None:
    run = train(settings_of(2), tmp_path / "run", make_and_tell)
    assert not (run / "metrics.jsonl").exists()
    assert [path.name for path in list_checkpoints(run)] == ["000000000000"]
    assert resume(run, make_world=make_and_tell) == run  # told again, with a checkpoint: it is left as it is
    assert not (run / "metrics.jsonl").exists()
    resume(run, make_world=make_corridor)
    assert arrays_of(run) == arrays_of(train(settings_of(2), tmp_path / "whole", make_corridor))


def begin(run: Path, *more: str, **how: Any) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "interplay.cli", "train", "tests.connect.toys:Line", *SMALL, *more]
    how = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | how
    return subprocess.Popen(
        [*command, "--out", str(run)], cwd=fake_run.ROOT, text=True, start_new_session=True, **how
    )


def wait_for_updates(run: Path, process: subprocess.Popen[str], updates: int = 2) -> None:
    deadline = time.monotonic() + 200
    path = run / "metrics.jsonl"
    while not (path.exists() and path.read_bytes().count(b"\n") >= updates):
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.05)


def last_logged(run: Path) -> int:
    steps: int = json.loads((run / "metrics.jsonl").read_text().splitlines()[-1])["agent_steps"]
    return steps


def test_the_command_ends_with_the_number_and_workers_do_not_end_before(tmp_path: Path) -> None:
    """The signal goes to the whole group, as a terminal and `timeout` send it."""
    run = tmp_path / "run"
    process = begin(run, "--workers", "2")
    wait_for_updates(run, process)
    os.killpg(process.pid, signal.SIGTERM)
    out, errors = process.communicate(timeout=120)
    assert process.returncode == 128 + signal.SIGTERM, errors
    assert f"run folder: {run}" in out
    assert f"go on with `interplay resume {run}`" in errors
    assert errors.splitlines()[-1] == "interplay: interrupted"
    assert "worker" not in errors
    assert read_checkpoint(latest_checkpoint(run) or "").agent_steps == last_logged(run)


def test_a_closed_terminal_loses_nothing(tmp_path: Path) -> None:
    """SIGHUP, and whatever is still said has nowhere to go."""
    run = tmp_path / "run"
    ours, theirs = pty.openpty()
    drain = threading.Thread(target=_read_all, args=(ours,), daemon=True)
    process = begin(run, "--workers", "1", stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    drain.start()
    wait_for_updates(run, process)
    os.close(ours)
    process.send_signal(signal.SIGHUP)
    assert process.wait(timeout=120) == 128 + signal.SIGHUP
    assert read_checkpoint(latest_checkpoint(run) or "").agent_steps == last_logged(run)


def _read_all(terminal: int) -> None:
    try:
        while os.read(terminal, 1024):
            pass
    except OSError:
        pass


def test_a_stop_before_there_is_anything_to_save_leaves_nothing(tmp_path: Path) -> None:
    process = begin(tmp_path / "run", "--workers", "1", "world.id=tests.train.test_stops:Slow")
    assert process.stdout is not None
    assert process.stdout.readline() == "making a world\n"
    process.send_signal(signal.SIGTERM)
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors.splitlines()[-1]) == (143, "interplay: interrupted")
    assert not (tmp_path / "run").exists()


class Slow(Corridor):
    """Takes its time to be made."""

    def __init__(self, num_worlds: int = 1, seed: int = 0, first_world: int = 0) -> None:
        print("making a world", flush=True)
        time.sleep(60)
        super().__init__(num_worlds, seed, first_world)
