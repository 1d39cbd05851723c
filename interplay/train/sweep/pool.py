"""The processes of a sweep: each is handed one run at a time and stays for the next, so that nothing is compiled twice."""

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
        process, pipe: what was started, and the way to it.
        name: of the run that it trains; empty while it waits.
    """

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        # No daemon: simulators that are programs may be started by it. It ends with its parent all the same.
        self.process = context.Process(target=work, args=(theirs, os.getpid()))
        self.process.start()
        theirs.close()  # so that the pipe ends when the process does
        self.name = ""


class Pool:
    """At most so many processes, started when there is a run for them.

    Args:
        most: processes.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._all: list[_Process] = []

    @property
    def busy(self) -> list[str]:
        """Names of the runs that are being trained."""
        return [one.name for one in self._all if one.name]

    @property
    def free(self) -> bool:
        """Whether another run can begin."""
        return len(self.busy) < self._most

    def hand(self, name: str, job: Job) -> None:
        """Lets a run begin, in a process that has trained before where one waits."""
        one = next((one for one in self._all if not one.name), None)
        if one is None:
            one = _Process()
            self._all.append(one)
        one.name = name
        with contextlib.suppress(OSError):  # it is lost, as `gather` will see
            one.pipe.send(job)

    def gather(self, seconds: float) -> Iterator[tuple[str, Outcome | int | None]]:
        """Waits as long for something to come; gives names of runs with their outcomes, or the exit code of a lost process."""
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

    def ask_to_stop(self) -> None:
        """Asks every process to finish its update, save and stop."""
        for one in self._all:
            if one.name and one.process.pid:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(one.process.pid, signal.SIGTERM)

    def close(self) -> None:
        """Ends all processes, whatever they do."""
        for one in self._all:
            one.pipe.close()
            one.process.kill()
        for one in self._all:
            one.process.join()
        self._all = []
