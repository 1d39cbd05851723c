"""One process of a sweep: trains the runs that it is handed, one after another, with everything that it has compiled.

What a run says goes into its own log. A run that fails is told, and the next one begins.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
import sys
import time
import traceback
from pathlib import Path
from typing import Any, NamedTuple

from interplay.core.errors import USER_ERRORS
from interplay.core.files import open_log
from interplay.core.stopping import Stopped, listening
from interplay.train.parallel.workers import die_with_parent

KEEP = 16  # runs, after which what jax keeps of them is let go: some 15 MiB each, and half a second to make again
DONE, STOPPED, FAILED = "done", "stopped", "failed"


class Job(NamedTuple):
    """A run to be trained.

    Attributes:
        folder: of the run; what is there already is gone on with.
        log: file that takes its words.
        settings: as JSON.
    """

    folder: Path
    log: Path
    settings: str


class Outcome(NamedTuple):
    """What came of a job.

    Attributes:
        status: `DONE`, `STOPPED` where it can go on, or `FAILED`.
        seconds: that it took.
        error: why it failed, one line.
    """

    status: str
    seconds: float
    error: str = ""


def work(pipe: Any, parent: int) -> None:
    """The body of a process: trains what comes out of the pipe, until it ends or nobody is there to hand out more."""
    for name in ("SIGINT", "SIGHUP"):  # the terminal's; the coordinator hears them and sends SIGTERM
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    die_with_parent(parent)
    with contextlib.suppress(EOFError, OSError):  # the coordinator is gone
        for number in itertools.count(1):
            outcome = _trained(pipe.recv())
            if number % KEEP == 0:
                import jax

                jax.clear_caches()
            pipe.send(outcome)


def _trained(job: Job) -> Outcome:
    began = time.monotonic()
    with _logged(job.log):
        try:
            status, error = _train(job), ""
        except Exception as fault:
            status, error = FAILED, " ".join(str(fault).split())
            if not isinstance(fault, USER_ERRORS):
                traceback.print_exc()
                error = f"{type(fault).__name__}: {error}; see {job.log}"
            print(f"interplay: {error}", file=sys.stderr, flush=True)
    return Outcome(status, time.monotonic() - began, error)


def _train(job: Job) -> str:
    from interplay.train.settings import TrainSettings
    from interplay.train.trainer import resume, train

    try:
        with listening() as stop:
            if (job.folder / "settings.toml").exists():
                resume(job.folder)
            else:
                train(TrainSettings.model_validate_json(job.settings), job.folder)
    except Stopped:
        return STOPPED
    return DONE if stop.number is None else STOPPED


@contextlib.contextmanager
def _logged(path: Path) -> Any:
    """Whatever is printed in the block, by whomever, goes to the end of a file."""
    sys.stdout.flush()
    sys.stderr.flush()
    handle, kept = open_log(path), (os.dup(1), os.dup(2))
    try:
        os.dup2(handle, 1)
        os.dup2(handle, 2)
        yield
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        for number, copy in zip((1, 2), kept, strict=True):
            os.dup2(copy, number)
            os.close(copy)
        os.close(handle)
