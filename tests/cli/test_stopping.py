"""How a verb ends after a signal: the exit code of the first one, and no word to a terminal that is gone."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest
import typer

from interplay.cli import stopping
from interplay.cli.stopping import let_go, signals_as_exit_codes
from interplay.core.stopping import finishing


@pytest.fixture(autouse=True)
def signals_are_heard():
    """Also where the tests were started with them ignored."""
    earlier = {number: signal.signal(number, signal.SIG_DFL) for number in (signal.SIGTERM, signal.SIGHUP)}
    yield
    for number, handler in earlier.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_work_that_was_finished_after_a_signal_ends_with_its_number(number):
    done = []
    with pytest.raises(typer.Exit) as caught, signals_as_exit_codes():  # noqa: PT012 - the moment is the point
        with finishing():
            os.kill(os.getpid(), number)
        done.append("saved")
    assert done == ["saved"]
    assert caught.value.exit_code == 128 + number


def test_a_terminal_that_is_gone_changes_nothing_once_a_signal_came(monkeypatch):
    calls = []
    monkeypatch.setattr(stopping, "let_go", lambda: calls.append("let go"))
    with pytest.raises(typer.Exit) as caught, signals_as_exit_codes():  # noqa: PT012 - the moment is the point
        with finishing():
            os.kill(os.getpid(), signal.SIGHUP)
        raise OSError("the terminal is gone")
    assert (calls, caught.value.exit_code) == (["let go"], 129)
    with pytest.raises(OSError, match="a full disk"), signals_as_exit_codes():
        raise OSError("a full disk")


def test_both_streams_are_let_go(monkeypatch, tmp_path):
    streams = {name: (tmp_path / name).open("w") for name in ("stdout", "stderr")}
    for name, stream in streams.items():
        monkeypatch.setattr(sys, name, stream)
    let_go()
    for name, stream in streams.items():
        print("said to nobody", file=stream, flush=True)
        assert (tmp_path / name).read_text() == ""
        stream.close()


@pytest.mark.parametrize(
    ("name", "words", "status"),
    [("session world:0", "", 0), ("session world:0", "", 2), ("another", "in order\n", 2)],
)
def test_a_thread_that_computes_at_the_end_is_not_taken_away_inside_compiled_code(name, words, status):
    """Python would run what is registered for its end, and then abort where such a thread is in C++."""
    script = (
        "import atexit, threading, time\n"
        "from interplay.cli.stopping import leave\n"
        "atexit.register(print, 'in order')\n"
        f"threading.Thread(target=time.sleep, args=(60,), name={name!r}, daemon=True).start()\n"
        f"leave(('session', 'overlay'), 0.1, {status})\n"
        f"raise SystemExit({status})\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=50)
    assert (done.returncode, done.stdout, done.stderr) == (status, words, "")
