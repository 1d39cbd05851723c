"""Disks that are full: `interplay play`, `record` and `view` end with one line and the same exit code."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from interplay.cli.main import USER_ERROR
from interplay.core.replay import ReplayReader
from interplay.view.server.serving import Address
from tests.cli.command import ROOT
from tests.view.server.asking import Watcher

LIMIT = 4_096  # bytes of a file
FULL = Path("/dev/full")


LIMITED = (
    f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({LIMIT}, {LIMIT})); "
    "from interplay.cli.main import main; main()"
)


@contextmanager
def running(*arguments: str, limited: bool = True) -> Iterator[subprocess.Popen[str]]:
    """A command whose files cannot grow beyond `LIMIT`."""
    with subprocess.Popen(
        [sys.executable, *(("-c", LIMITED) if limited else ("-m", "interplay.cli")), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"},
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def played(path: Path, limited: bool, steps: int) -> tuple[int, list[str]]:
    """Plays and records so many steps; exit code of the command, and its lines of errors without that on an unbuilt page."""
    with running("play", "dilemma/fixed", "--out", str(path), "--no-browser", limited=limited) as process:
        assert process.stdout is not None
        base, token = process.stdout.readline().strip().split("/#token=")
        address = Address("127.0.0.1", int(base.rpartition(":")[2]), token)
        with Watcher(address) as page:
            page.until("hello")
            page.say("take", slot=0)
            page.until("taken")
            page.say("speed", ticks_per_second=0)
            page.say("wait", on=False)
            page.say("run", on=True)
            while not page.ticks or page.ticks[-1] < steps:
                if page.hear()["type"] == "bye":
                    break
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
        lines = [line for line in errors.splitlines() if "the page was not built" not in line]
        return process.returncode, lines


def test_play_ends_as_record_does_where_the_disk_is_full(tmp_path):
    path = tmp_path / "mine.replay"
    code, lines = played(path, True, 10**9)
    assert (code, len(lines)) == (USER_ERROR, 1)
    assert str(path) in lines[0]
    with ReplayReader(path) as reader:
        assert not reader.closed
        assert reader.ticks >= 100
    recorded = tmp_path / "other.replay"
    options = ("--option", "rounds=100000", "--out", str(recorded))
    with running("record", "random", "--world", "dilemma/fixed", *options) as process:
        _, errors = process.communicate(timeout=120)
    assert (process.returncode, len(errors.splitlines())) == (code, 1)
    assert not recorded.exists()


def test_play_on_a_disk_with_room_ends_well(tmp_path):
    path = tmp_path / "mine.replay"
    assert played(path, False, 300) == (0, [])
    with ReplayReader(path) as reader:
        assert reader.closed


@pytest.mark.skipif(not FULL.exists(), reason="only Linux has a full device")
@pytest.mark.parametrize(
    "arguments",
    [
        ("view", "dilemma/fixed", "--no-browser"),
        ("play", "dilemma/fixed", "--no-browser"),
        ("transcript", "random", "--world", "dilemma/fixed"),
    ],
)
def test_what_cannot_be_printed_is_one_line(arguments):
    with FULL.open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "interplay.cli", *arguments],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=120,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
    assert (done.returncode, len(done.stderr.splitlines())) == (USER_ERROR, 1), done.stderr
