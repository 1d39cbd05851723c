"""kill -9 at random times: at most one checkpoint interval is lost, nothing unreadable is left."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

from interplay.train.checkpoint import latest_checkpoint, list_checkpoints, problem
from tests.train import fake_run

KILLS = 14
INTERVAL = fake_run.STEPS_PER_UPDATE * fake_run.UPDATES_PER_CHECKPOINT


def logged_steps(run: Path) -> list[int]:
    """Agent-steps of the log's whole lines, in the file's order."""
    path = run / "metrics.jsonl"
    text = path.read_text() if path.exists() else ""
    return [json.loads(line)["agent_steps"] for line in text.splitlines(keepends=True) if line.endswith("\n")]


def train_until_killed(run: Path, seconds: float) -> None:
    """Starts the trainer, waits until it trains, and kills it so many seconds later."""
    command = [sys.executable, "-m", "tests.train.fake_run", "train", str(run), str(10**9)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=fake_run.ROOT) as trainer:
        try:
            assert trainer.stdout is not None
            assert trainer.stdout.readline() == "ready\n"
            time.sleep(seconds)
        finally:
            trainer.kill()
    assert trainer.returncode == -signal.SIGKILL


def test_kills_at_random_times_cost_at_most_one_interval(tmp_path: Path) -> None:
    seed = random.SystemRandom().randrange(2**32)
    print(f"seed = {seed}")  # pytest shows it when the test fails
    chance = random.Random(seed)
    run, before, in_a_save = tmp_path / "run", 0, 0
    for _ in range(KILLS):
        train_until_killed(run, chance.uniform(0.0, 0.25))
        assert [problem(path) for path in list_checkpoints(run)] == [None] * len(list_checkpoints(run))
        latest = latest_checkpoint(run)
        saved = int(latest.name) if latest else 0
        steps = logged_steps(run)
        assert steps == list(range(64, 64 * len(steps) + 1, 64))
        assert before <= saved
        assert len(steps) * 64 - saved <= INTERVAL
        in_a_save += any((run / "checkpoints").glob(".*"))
        before = saved
    print(f"{in_a_save} of {KILLS} kills fell into a save; {before:,} agent-steps")
    assert before > 0

    total = before + 2 * INTERVAL
    fake_run.train(run, total)
    state = fake_run.first_state()
    for _ in range(total // fake_run.STEPS_PER_UPDATE):
        state = fake_run.update(state)
    found = latest_checkpoint(run)
    assert found is not None
    assert fake_run.load(found)[0] == total
    assert fake_run.digest(fake_run.load(found)[1]) == fake_run.digest(state)
    assert logged_steps(run) == list(range(64, total + 1, 64))
    assert not any((run / "checkpoints").glob(".*"))
