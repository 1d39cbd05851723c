"""The process pool of a sweep; processes stay for the next run, so that nothing is compiled twice."""

from __future__ import annotations

import contextlib
import multiprocessing
import multiprocessing.connection
import os
import signal
from collections.abc import Iterator

from interplay.train.sweep.work import Job, Outcome, work


class _Process:
    """A process of the pool.

    Attributes:
        process, pipe: the process and the connection to it.
        name: of the run it trains; empty while idle.
    """

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        # Not a daemon, since it may start simulator programs; `work` ends it with its parent.
        self.process = context.Process(target=work, args=(theirs, os.getpid()))
        self.process.start()
        theirs.close()  # so that the pipe ends when the process does
        self.name = ""


class Pool:
    """A pool of processes, started on demand."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._all: list[_Process] = []

    @property
    def busy(self) -> list[str]:
        """Names of the runs in training."""
        return [one.name for one in self._all if one.name]

    @property
    def free(self) -> bool:
        """Whether another run can begin."""
        return len(self.busy) < self._most

    def submit(self, name: str, job: Job) -> None:
        """Begins a run in an idle process, or in a new one."""
        one = next((one for one in self._all if not one.name), None)
        if one is None:
            one = _Process()
            self._all.append(one)
        one.name = name
        with contextlib.suppress(OSError):  # the process is lost; `outcomes` reports it
            one.pipe.send(job)

    def outcomes(self, seconds: float) -> Iterator[tuple[str, Outcome | int | None]]:
        """Waits up to `seconds`; yields names of runs with their outcome, or the exit code of a lost process."""
        ready = multiprocessing.connection.wait([one.pipe for one in self._all], seconds)
        for one in [one for one in self._all if one.pipe in ready]:
            name = one.name
            try:
                outcome: Outcome | int | None = one.pipe.recv()
                one.name = ""
            except (EOFError, OSError):
                one.process.join()
                outcome = one.process.exitcode
                one.pipe.close()
                self._all.remove(one)
            if name:
                yield name, outcome

    def request_stop(self) -> None:
        """Makes every process finish its update, save and stop."""
        for one in self._all:
            if one.name and one.process.pid:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(one.process.pid, signal.SIGTERM)

    def close(self) -> None:
        """Kills all processes."""
        for one in self._all:
            one.pipe.close()
            one.process.kill()
        for one in self._all:
            one.process.join()
        self._all = []
