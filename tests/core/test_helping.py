"""The helper that compiles phases beside this process: the same results, whatever becomes of it."""

import multiprocessing
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from interplay.core import helping
from interplay.core.kernel_key import returns_nothing

ACTING = """
from interplay.core.jit import kernel, phase

STEP = 2.0

@phase
def share(a, i):
    return a[i] / 3.0

@phase
def grow(a):
    for i in range(len(a)):
        a[i] += STEP + share(a, i)

@phase
def turn(a):
    for i in range(len(a)):
        a[i] *= 3.0
    return

@kernel
def act(a):
    grow(a)
    turn(a)
"""
# An earlier test of this process may have pinned it to one core, which children inherit.
IMPORTS = "import os, signal\nos.sched_setaffinity(0, range(os.cpu_count()))\nimport numpy as np\nfrom interplay.core.helping import HELPER\nimport acting\n"
# The helper is ready before anything is compiled, so it takes what comes first.
BEGIN = "HELPER.begin(('acting', 'act'), acting.act._cache.key)\nassert HELPER._line.poll(60)\n"
READY = IMPORTS + BEGIN
ALONE = IMPORTS + "HELPER.wanted = False\n"
ACT = """
a = np.array([0.1, 0.2])
acting.act(a)
(grown,) = acting.grow.overloads.values()
print(a.tobytes().hex(), "theirs" if grown.fndesc.uid >= 1 << 41 else "ours")
"""


@pytest.fixture
def module(tmp_path: Path) -> Path:
    (tmp_path / "acting.py").write_text(ACTING)
    return tmp_path


def run(folder: Path, code: str, cache: str, check: bool = True) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=folder,
        env={**os.environ, "INTERPLAY_CACHE": str(folder / cache)},
        capture_output=True,
        text=True,
        check=check,
        timeout=120,
    )


def said(folder: Path, code: str, cache: str) -> tuple[str, str]:
    """What the kernel made of two numbers, and who compiled its first phase."""
    bits, whose = run(folder, code, cache).stdout.split()
    return bits, whose


@pytest.mark.slow
def test_what_the_helper_made_gives_the_same_bits_now_and_from_the_cache(module):
    mine, whose = said(module, ALONE + ACT, "alone")
    assert whose == "ours"
    assert said(module, READY + ACT, "helped") == (mine, "theirs")
    kept = "import numpy as np, acting\na = np.array([0.1, 0.2])\nacting.act(a)\nprint(a.tobytes().hex(), len(acting.grow.overloads))"
    assert run(module, kept, "helped").stdout.split() == [mine, "0"]  # the whole kernel was kept


@pytest.mark.slow
def test_a_rule_that_differs_here_is_compiled_here(module):
    other = "acting.STEP = 5.0\n"
    mine, _ = said(module, ALONE + other + ACT, "alone")
    assert said(module, IMPORTS + other + BEGIN + ACT, "helped") == (mine, "ours")
    assert mine != said(module, ALONE + ACT, "unchanged")[0]


@pytest.mark.slow
@pytest.mark.parametrize(
    "accident",
    [
        "os.kill(HELPER._process.pid, signal.SIGKILL)\n",
        "take = HELPER.take\ndef dying(*job):\n    taken = take(*job)\n    HELPER._process and HELPER._process.kill()\n    return taken\nHELPER.take = dying\n",
        "HELPER.end()\n",
    ],
    ids=["before", "between", "let go"],
)
def test_without_its_helper_a_process_goes_on(module, accident):
    done = run(module, READY + accident + ACT, "helped")
    assert done.stderr == ""
    assert done.stdout.split()[0] == said(module, ALONE + ACT, "alone")[0]


@pytest.mark.slow
def test_a_phase_that_does_not_compile_says_why_as_ever(module):
    (module / "acting.py").write_text(ACTING.replace("a[i] *= 3.0", "a[i] *= 'three'"))
    errors = [run(module, begin + ACT, "cache", check=False).stderr for begin in (ALONE, READY)]
    for error in errors:
        assert "TypingError" in error
        assert "a[i] *= 'three'" in error


@pytest.mark.slow
def test_a_fork_leaves_the_helper_to_its_parent(module):
    fork = """
child = os.fork()
if child == 0:
    assert not HELPER.take(("acting", "grow"), ())
    HELPER.end()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
"""
    assert said(module, READY + fork + ACT, "helped")[1] == "theirs"


@pytest.mark.slow
def test_a_worker_of_a_pool_starts_none(module):
    (module / "asked.py").write_text(
        "def ask():\n    from interplay.core.helping import HELPER\n    HELPER.begin(('acting', 'act'), '')\n    return HELPER._line is None\n"
    )
    pool = """
import multiprocessing
from asked import ask
if __name__ == "__main__":
    with multiprocessing.get_context("fork").Pool(1) as pool:
        print(pool.apply(ask))
"""
    assert run(module, pool, "cache").stdout == "True\n"


def test_one_processor_has_no_room_for_a_helper(monkeypatch):
    monkeypatch.setattr(helping, "processors", lambda: 1)
    helper = helping.Helper()
    helper.begin(("acting", "act"), "")
    assert helper._line is None


def test_a_helper_answers_jobs_and_ends_when_nobody_asks(monkeypatch):
    monkeypatch.setattr(helping, "PATIENCE", 0.5)
    ours, theirs = multiprocessing.Pipe()

    def make(kernel, phase, types):
        if phase[1] == "broken":
            raise ValueError(phase)
        return {(phase, types): kernel[1]}

    server = threading.Thread(target=helping.serve, args=(theirs, make))
    server.start()
    helper = helping.Helper()
    helper._process, helper._line, helper._owner, helper._busy = None, ours, os.getpid(), True
    assert ours.poll(30)
    monkeypatch.setattr(helping, "_has_room", lambda: False)
    helper.begin(("acting", "act"), "digest")
    for name in ("grow", "broken", "turn"):
        assert helper.take(("acting", name), (1,))
        helper.wait()
    assert helper.made == {(("acting", name), (1,)): "digest" for name in ("grow", "turn")}
    assert helper.take(("acting", "late"), (1,))
    helper.begin(("acting", "another"), "digest")  # what was made of one kernel is of no use to another
    helper.wait()
    assert helper.made == {}
    server.join(30)
    assert not server.is_alive()


def test_types_that_cannot_be_sent_stay_here():
    ours, theirs = multiprocessing.Pipe()
    helper = helping.Helper()
    helper._line, helper._owner = ours, os.getpid()
    assert not helper.take(("acting", "act"), lambda: None)
    assert not theirs.poll()
    ours.close()
    theirs.close()


def _some(a):
    if a:
        return 1
    return None


def _yields(a):
    yield a


def _mixed(a):
    if a:
        return
    a.append(1)


@pytest.mark.parametrize(
    ("function", "nothing"),
    [
        (_mixed, True),
        (lambda a: None, True),
        (_some, False),
        (_yields, False),
        (lambda a: a or None, False),
        (lambda a: a if a else None, False),
        (lambda a: None if a else a, False),
        (lambda a: a and None, False),
    ],
)
def test_who_returns_nothing_is_seen(function, nothing):
    assert returns_nothing(function.__code__) is nothing
