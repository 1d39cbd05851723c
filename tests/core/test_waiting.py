"""A compilation that takes long prints a line, once, and on a terminal its seconds."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import time
from collections.abc import Callable

import pytest

from interplay.core import waiting
from interplay.core.waiting import Waiting, thing_of


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "AFTER", 0.1)
    monkeypatch.setattr(waiting, "_BREATH", 0.01)


def wait(found: Waiting, thing: str, until: Callable[[], bool], remark: str = "") -> None:
    """Compiles something until a condition holds, or until ten seconds have passed."""
    found.begin(thing, remark)
    begin = time.monotonic()
    while not until() and time.monotonic() - begin < 10.0:
        time.sleep(0.01)
    found.end()


def for_seconds(seconds: float) -> Callable[[], bool]:
    begin = time.monotonic()
    return lambda: time.monotonic() - begin >= seconds


def listen(monkeypatch: pytest.MonkeyPatch, stream: io.StringIO | None = None) -> io.StringIO:
    stream = stream or io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr(sys, "__stderr__", stream)
    return stream


def test_one_line_names_what_is_compiled(monkeypatch):
    heard, found = listen(monkeypatch), Waiting()
    wait(found, "survival", lambda: "\n" in heard.getvalue())
    wait(found, "survival", for_seconds(0.3))
    (line,) = heard.getvalue().splitlines()
    assert line.startswith("interplay: compiling the kernels of survival, ")


def test_a_compilation_that_is_soon_over_is_not_told(monkeypatch):
    monkeypatch.setattr(waiting, "AFTER", 30.0)
    heard, found = listen(monkeypatch), Waiting()
    wait(found, "survival", for_seconds(0.05))
    time.sleep(0.1)
    assert heard.getvalue() == ""


def test_many_short_compilations_are_one_wait(monkeypatch):
    monkeypatch.setattr(waiting, "AFTER", 0.3)
    heard, found = listen(monkeypatch), Waiting()
    for _ in range(40):
        wait(found, "gridworld", for_seconds(0.02))
    assert heard.getvalue().count("the kernels of gridworld") == 1


def test_what_is_compiled_inside_belongs_to_what_it_stands_in(monkeypatch):
    heard, found = listen(monkeypatch), Waiting()
    found.begin("survival")
    found.begin("planar")
    found.end()
    wait(found, "planar", lambda: "\n" in heard.getvalue())
    found.end()
    assert "survival" in heard.getvalue()
    assert "planar" not in heard.getvalue()
    found.end()  # one that began before anybody watched
    found.begin("pong")
    assert found._depth == 1
    found.end()


@pytest.mark.parametrize("hush", [lambda found: setattr(found, "quiet", True), None])
def test_hushed_and_nameless_waits_are_silent(monkeypatch, hush):
    heard, found = listen(monkeypatch), Waiting()
    if hush:
        hush(found)
    wait(found, "survival" if hush else "", for_seconds(0.3))
    assert heard.getvalue() == ""


def test_a_note_says_why_the_packages_kernels_do_not_help(monkeypatch):
    heard, found = listen(monkeypatch), Waiting()
    wait(found, "survival", lambda: "\n" in heard.getvalue(), remark="made with Numba 0")
    assert "(made with Numba 0)" in heard.getvalue()


def test_a_terminals_line_counts_and_goes(monkeypatch):
    heard, found = listen(monkeypatch, Terminal()), Waiting()
    wait(found, "survival", lambda: "1 s so far" in heard.getvalue())
    assert heard.getvalue().startswith("\rinterplay: compiling")
    assert heard.getvalue().endswith("\r\x1b[K")
    assert "\n" not in heard.getvalue()
    wait(found, "survival", lambda: heard.getvalue().count("\x1b[K") == 1 and not found._drawn)
    length = len(heard.getvalue())
    time.sleep(0.3)
    assert len(heard.getvalue()) == length  # nobody writes when it is over


def test_a_file_gets_further_lines_ever_less_often(monkeypatch):
    """Over one long compilation, and over many short ones."""
    monkeypatch.setattr(waiting, "SOON", 0.2)
    for pieces in (1, 20):
        heard, found = listen(monkeypatch), Waiting()
        for _ in range(pieces):
            wait(found, "pong", for_seconds(1.2 / pieces))
        lines = heard.getvalue().splitlines()
        assert lines[0].startswith("interplay: compiling the kernels of pong, which are kept")
        assert 2 <= len(lines[1:]) <= 3  # at 0.2, 0.4 and 0.8 s
        assert all(line.startswith("interplay: still compiling the kernels of pong, ") for line in lines[1:])
        assert all(line.endswith(" s so far") for line in lines)


def test_worlds_are_called_by_their_folders():
    assert thing_of("interplay.worlds.mmo.world:Mmo") == "mmo"
    assert thing_of("interplay.kernels.philox") == "kernels"
    assert thing_of("interplay") == "interplay"
    assert thing_of("mine.tag:Tag") == "mine.tag"


@pytest.mark.slow
def test_compiling_from_python_prints_a_line_and_loading_none(tmp_path):
    (tmp_path / "mine.py").write_text(
        "import sys\nfrom interplay.core import waiting\nwaiting.AFTER = 0.01\n"
        "from interplay.core.jit import kernel, phase\n"
        "@phase\ndef twice(x):\n    return 2 * x\n"
        "@kernel\ndef act(x):\n    return twice(x) + 1.0\n"
        "print(act(2.0))\n"
    )
    runs = [
        subprocess.run(
            [sys.executable, "-m", "mine"],
            cwd=tmp_path,
            env={**os.environ, "INTERPLAY_CACHE": str(tmp_path / "cache")},
            capture_output=True,
            text=True,
            check=True,
        )
        for _ in range(2)
    ]
    assert [done.stdout for done in runs] == ["5.0\n", "5.0\n"]
    assert runs[0].stderr.count("compiling the kernels of __main__") == 1
    assert runs[1].stderr == ""
