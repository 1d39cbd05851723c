"""One process of a sweep: trains runs one after another, with a log file for the output of each."""

from __future__ import annotations

import contextlib
import itertools
import os
import sys
import time
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from interplay.core.errors import USER_ERRORS, UserError, one_line
from interplay.core.files import open_log, os_errors_as_user_errors
from interplay.core.settings_text import show
from interplay.core.shared_folder import check_mark
from interplay.core.stopping import Stopped, listening
from interplay.core.trust import add_trusted, programs
from interplay.core.versions import check_versions

if TYPE_CHECKING:
    from interplay.train.settings import TrainSettings

_PINNED = ("opponents", "league.learners", "train.evaluate_against", "train.start_from")
KEEP = 16  # runs between clearings of jax's caches: some 15 MiB each, and half a second to refill
DONE, STOPPED, FAILED = "done", "stopped", "failed"


class Job(NamedTuple):
    """A run to train.

    Attributes:
        folder: of the run, which is resumed if it exists.
        log: file for its output.
        settings: as JSON.
    """

    folder: Path
    log: Path
    settings: str


class Outcome(NamedTuple):
    """Result of a job.

    Attributes:
        status: `DONE`, `STOPPED` (resumable) or `FAILED`.
        seconds: duration.
        error: of a failure, one line.
    """

    status: str
    seconds: float
    error: str = ""


def work(pipe: Any, wanted: Mapping[str, str], mark: str) -> None:
    """Trains jobs from the pipe; SIGTERM stops a run.

    Args:
        wanted: as for `check_versions`; a refusal is sent.
        mark: a file in the sweep's folder, for `check_mark`.
    """
    try:
        check_versions(wanted)
        check_mark(mark)
    except UserError as error:
        pipe.send(str(error))
        return
    for number in itertools.count(1):
        outcome = _trained(pipe.recv())
        if number % KEEP == 0:
            import jax

            jax.clear_caches()
        pipe.send(outcome)


def _trained(job: Job) -> Outcome:
    began = time.monotonic()
    try:
        with _logged(job.log):
            status, error = _tried(job)
    except UserError as fault:  # the log cannot be opened
        status, error = FAILED, str(fault)
    return Outcome(status, time.monotonic() - began, error)


def _tried(job: Job) -> tuple[str, str]:
    """The status of a job and its error, which is also logged."""
    try:
        return _train(job), ""
    except Exception as fault:
        error = one_line(fault)
        if not isinstance(fault, USER_ERRORS):
            traceback.print_exc()
            error = f"{type(fault).__name__}: {error}; see {job.log}"
        print(f"interplay: {error}", file=sys.stderr, flush=True)
        return FAILED, error


def _train(job: Job) -> str:
    from interplay.train.run.copies import trust_copies
    from interplay.train.run.settings_file import NAME
    from interplay.train.settings import TrainSettings
    from interplay.train.trainer import resume, train

    file = job.folder / NAME
    try:
        with listening() as stop:
            settings = TrainSettings.model_validate_json(job.settings)
            if file.exists():
                _check_same(file, settings)
                add_trusted(file, programs(settings))  # another machine of this user may have begun the run
                trust_copies(settings, file)
                resume(job.folder)
            else:
                train(settings, job.folder)
    except Stopped:
        return STOPPED
    return DONE if stop.number is None else STOPPED


def _check_same(file: Path, wanted: TrainSettings) -> None:
    """Refuses an existing run with other settings than the sweep's."""
    from interplay.core.seals import canonical, differing, read_sealed
    from interplay.train.run.settings_file import settings_in

    there = settings_in(read_sealed(file), file)
    for key, (was, now) in differing(canonical(there), canonical(wanted)).items():
        # Paths of other runs were replaced by their newest checkpoints when the run began.
        pinned = now not in (None, "off", []) and key.startswith(_PINNED)
        if key != "train.workers" and not pinned and not key.startswith("pins."):
            raise UserError(
                f"{file}: {key} = {show(was)}, but the sweep's run has {show(now)}; move this run away, "
                "undo the edit, or choose another --out"
            )


@contextlib.contextmanager
def _logged(path: Path) -> Any:
    """Appends all output of the process in the block to a file."""
    sys.stdout.flush()
    sys.stderr.flush()
    with os_errors_as_user_errors("opening the run's log", path):
        handle = open_log(path)
    kept = (os.dup(1), os.dup(2))
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
