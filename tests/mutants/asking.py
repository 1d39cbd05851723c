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

from interplay.core.kernel_cache import cache_root

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


def ask(
    tree: Path, tests: Sequence[str], plain: bool = False, limit: float = 300.0, cache: Path | None = None
) -> Answer:
    """Runs these tests of a tree until the first failure.

    Args:
        tree: a whole copy of the repository.
        tests: files or single tests, from its root.
        plain: kernels run in plain Python.
        limit: seconds; whoever takes longer is ended with all its children.
        cache: of compiled code; None is the user's own.
    """
    command = [sys.executable, "-m", "pytest", "-x", "-n", "0", "-q", "-p", "no:cacheprovider", "--tb=line",
               *_profile(tree), *tests]  # fmt: skip
    begun = time.monotonic()
    env = {**os.environ, "PYTHONPATH": str(tree), "NUMBA_DISABLE_JIT": "1" if plain else "0"}
    env["JAX_PERSISTENT_CACHE_ENABLE_XLA_CACHES"] = "none"  # else the folder is part of a program's key
    if cache is not None:
        env["INTERPLAY_CACHE"] = str(cache)
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


def _profile(tree: Path) -> list[str]:
    """The suite's own settings for slips, where there are any: failing examples are not made smaller."""
    conftest = tree / "tests" / "conftest.py"
    there = conftest.exists() and '"noticing"' in conftest.read_text()
    return ["--hypothesis-profile=noticing"] if there else []


@contextlib.contextmanager
def throwaway_cache() -> Iterator[Path]:
    """A cache that has every kernel of the user's own; what is compiled with a slip goes with it.

    XLA's programs are shared: their keys are the programs.
    """
    own = cache_root()
    with tempfile.TemporaryDirectory(prefix="interplay-mutants-cache-") as folder:
        programs = own / "xla-of-mutants"
        programs.mkdir(mode=0o700, parents=True, exist_ok=True)
        (Path(folder) / "xla").symlink_to(programs)
        for known in [*own.glob("kernels/*/*.kernel"), *own.glob("xla-flags*")]:
            link = Path(folder) / known.relative_to(own)
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(known)
        yield Path(folder)


def _told(said: str) -> str:
    lines = [line for line in said.splitlines() if line.startswith(("FAILED", "ERROR", "E  "))]
    return lines[-1][:200] if lines else next(iter(said.splitlines()[-1:]), "")[:200]
