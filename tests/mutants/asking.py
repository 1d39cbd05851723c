"""Asks tests whether they notice: pytest in a process of its own, in a tree of its own."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from interplay.core.jit import cache_root

PASSED, FAILED, BROKEN, LATE = "passed", "failed", "broken", "late"
_VERDICTS = {0: PASSED, 1: FAILED}


class Answer(NamedTuple):
    """What the tests said.

    Attributes:
        verdict: passed, failed, broken (they could not be run: an import fails, nothing was collected) or late.
        seconds: that they took.
        last: the last line that tells what failed.
    """

    verdict: str
    seconds: float
    last: str


def ask(tree: Path, tests: Sequence[str], plain: bool = False, limit: float = 300.0) -> Answer:
    """Runs these tests of a tree until the first failure.

    Args:
        tree: a whole copy of the repository.
        tests: files or single tests, from its root.
        plain: kernels run in plain Python.
        limit: seconds; whoever takes longer is ended with all its children.
    """
    command = [sys.executable, "-m", "pytest", "-x", "-n", "0", "-q", "-p", "no:cacheprovider",
               "--hypothesis-seed=0", "--tb=line", *tests]  # fmt: skip
    begun = time.monotonic()
    with _own_cache() as cache:
        env = {**os.environ, "PYTHONPATH": str(tree), "INTERPLAY_CACHE": str(cache)}
        env["NUMBA_DISABLE_JIT"] = "1" if plain else "0"
        process = subprocess.Popen(
            command, cwd=tree, env=env, text=True, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        try:
            said, _ = process.communicate(timeout=limit)
            verdict = _VERDICTS.get(process.returncode, BROKEN)
            # A killed interpreter (a kernel beyond its arrays) is noticed as surely as a failed assertion.
            verdict = FAILED if process.returncode < 0 else verdict
        except subprocess.TimeoutExpired:
            said, verdict = "", LATE
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    return Answer(verdict, time.monotonic() - begun, _told(said))


@contextlib.contextmanager
def _own_cache() -> Iterator[Path]:
    """A kernel cache that knows all kernels of the user's own, and takes the slip's with it when it goes."""
    with tempfile.TemporaryDirectory(prefix="interplay-mutants-cache-") as folder:
        kernels = Path(folder) / "kernels"
        kernels.mkdir()
        own = cache_root() / "kernels"
        for known in own.iterdir() if own.is_dir() else ():
            (kernels / known.name).symlink_to(known)
        yield Path(folder)


def _told(said: str) -> str:
    lines = [line for line in said.splitlines() if line.startswith(("FAILED", "ERROR", "E  "))]
    return lines[-1][:200] if lines else next(iter(said.splitlines()[-1:]), "")[:200]
