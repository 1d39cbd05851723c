"""kill -9 at random times: at most one checkpoint interval is lost, nothing unreadable is left."""

from __future__ import annotations

import json
import multiprocessing
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from interplay.train.run.checkpoint import latest_checkpoint, list_checkpoints, problem, read_checkpoint
from tests.train import fake_run

pytestmark = pytest.mark.slow

FAKE_KILLS = 10
REAL_KILLS = 20
KILLED_EARLY = 5  # of the real ones: while the process starts, opens the run and rewinds it


@pytest.fixture
def chance() -> random.Random:
    seed = random.SystemRandom().randrange(2**32)
    print(f"seed = {seed}")  # shown when the test fails
    return random.Random(seed)


def logged(run: Path) -> list[dict[str, Any]]:
    """The whole lines of the log, in the file's order."""
    path = run / "metrics.jsonl"
    text = path.read_text() if path.exists() else ""
    return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]


def check_what_is_left(run: Path, before: int, interval: int) -> int:
    """The laws after a kill.

    Args:
        run: the run folder.
        before: agent-steps of the newest checkpoint before this process started.
        interval: updates between checkpoints.

    Returns:
        Agent-steps of the newest checkpoint now.
    """
    assert [problem(path) for path in list_checkpoints(run)] == [None] * len(list_checkpoints(run))
    latest = latest_checkpoint(run)
    saved = int(latest.name) if latest else 0
    log = logged(run)
    steps = [line["agent_steps"] for line in log]
    assert [line["updates"] for line in log] == list(range(1, len(log) + 1))
    assert steps == sorted(set(steps))
    assert before <= saved
    assert saved in {0, *steps}  # the log is written before the checkpoint
    assert sum(step > saved for step in steps) <= interval
    return saved


def test_a_trainer_that_mostly_saves(tmp_path: Path, chance: random.Random) -> None:
    each, interval = fake_run.STEPS_PER_UPDATE, fake_run.UPDATES_PER_CHECKPOINT
    run, saved, in_a_save = tmp_path / "run", 0, 0
    command = [sys.executable, "-m", "tests.train.fake_run", "train", str(run), str(10**9)]
    for _ in range(FAKE_KILLS):
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=fake_run.ROOT) as trainer:
            try:
                assert trainer.stdout is not None
                assert trainer.stdout.readline() == "ready\n"
                time.sleep(chance.uniform(0.0, 0.25))
            finally:
                trainer.kill()
        assert trainer.returncode == -signal.SIGKILL
        saved = check_what_is_left(run, saved, interval)
        in_a_save += any((run / "checkpoints").glob(".*"))
    print(f"{in_a_save} of {FAKE_KILLS} kills fell into a save; {saved:,} agent-steps")
    assert saved > 0

    total = saved + 2 * interval * each
    fake_run.train(run, total)
    state = fake_run.first_state()
    for _ in range(total // each):
        state = fake_run.update(state)
    found = latest_checkpoint(run)
    assert found is not None
    steps, got = fake_run.load(found)
    assert (steps, fake_run.digest(got)) == (total, fake_run.digest(state))
    assert [line["agent_steps"] for line in logged(run)] == list(range(each, total + 1, each))
    assert not any((run / "checkpoints").glob(".*"))


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Any]]:
    """Starts the real trainer in a process that has jax imported; compiled programs are kept between starts."""
    pytest.importorskip("jax")
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", str(tmp_path / "jax-cache"))
    monkeypatch.setenv("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
    monkeypatch.setenv("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "-1")
    monkeypatch.chdir(fake_run.ROOT)
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.train.real_run"])
    processes = []

    def begin(run: Path, steps: int) -> Any:
        from tests.train import real_run

        process = context.Process(target=real_run.go_on, args=(run, steps))
        processes.append(process)
        process.start()
        return process

    yield begin
    for process in processes:
        process.kill()


def wait_for_a_checkpoint(run: Path, process: Any, after: int, seconds: float = 120.0) -> None:
    """Waits until the run has a newer checkpoint than `after` agent-steps."""
    deadline = time.monotonic() + seconds
    while not any(int(path.name) > after for path in list_checkpoints(run)):
        assert process.is_alive(), f"the trainer ended with {process.exitcode}"
        assert time.monotonic() < deadline, "no checkpoint in time"
        time.sleep(0.01)


def result(run: Path) -> tuple[dict[str, dict[str, bytes]], list[dict[str, Any]]]:
    """Everything that a run leaves, except what depends on the clock: the last checkpoint's bits, the log."""
    path = latest_checkpoint(run)
    assert path is not None
    arrays = read_checkpoint(path).arrays
    bits = {stem: {name: array.tobytes() for name, array in some.items()} for stem, some in arrays.items()}
    clocked = ("time", "time_share", "agent_steps_per_s")
    lines = [{key: value for key, value in line.items() if key not in clocked} for line in logged(run)]
    return bits, lines


def test_the_trainer(tmp_path: Path, chance: random.Random, start: Callable[..., Any]) -> None:
    from tests.train import real_run

    run, saved, in_a_save = tmp_path / "run", 0, 0
    early = set(chance.sample(range(1, REAL_KILLS), KILLED_EARLY))
    for kill in range(REAL_KILLS):
        process = start(run, 10**9)
        if kill in early:
            time.sleep(chance.uniform(0.0, 1.0))
        else:
            wait_for_a_checkpoint(run, process, saved)
            time.sleep(chance.uniform(0.0, 0.2))
        process.kill()
        process.join()
        assert process.exitcode == -signal.SIGKILL
        saved = check_what_is_left(run, saved, 1)
        in_a_save += any((run / "checkpoints").glob(".*"))
    print(f"{in_a_save} of {REAL_KILLS} kills fell into a save; {saved:,} agent-steps")

    total, whole = saved + real_run.SLOT_STEPS, tmp_path / "whole"  # some updates more
    for folder in (run, whole):
        process = start(folder, total)
        process.join()
        assert process.exitcode == 0
    assert result(run) == result(whole)
