"""Spawned processes that work on tasks from a pipe and end with the process that started them."""

from __future__ import annotations

import contextlib
import enum
import multiprocessing
import multiprocessing.connection
import os
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol, TypeVar

from interplay.core.errors import UserError
from interplay.core.helping import processors

LOST: Any = object()  # instead of a message: the process has ended, or is frozen
BEAT_EVERY = 2.0  # seconds between signs of life of a process
QUIET = 10.0  # seconds without a sign before a line
SILENT = 30.0  # seconds without a sign after which a process is killed
PATIENCE = 120.0  # seconds for processes to begin, before those that did go on alone
_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG


class Sign(enum.Enum):
    """A message that only shows that its process runs."""

    BEAT = 0


class Process(Protocol):
    """A started process."""

    @property
    def exitcode(self) -> int | None: ...

    def join(self) -> None: ...

    def terminate(self) -> None: ...

    def kill(self) -> None: ...


class Place(Protocol):
    """Starts processes: on this machine, or on the machines of a cluster (`interplay.connect.cluster`)."""

    def start(self, work: Callable[..., None], arguments: tuple[Any, ...]) -> tuple[Any, Process]:
        """Starts ``work(pipe, *arguments)``; returns the other end of its pipe, and the process."""
        ...

    def cores(self) -> int:
        """Cores in all."""
        ...


class ThisMachine:
    """Spawns processes, which end with this one."""

    def start(self, work: Callable[..., None], arguments: tuple[Any, ...]) -> tuple[Any, Process]:
        context = multiprocessing.get_context("spawn")
        pipe, theirs = context.Pipe()
        # Not a daemon, which could not start processes for its environments; `kill` or a lost parent ends it.
        process = context.Process(target=_run, args=(work, theirs, os.getpid(), arguments))
        process.start()
        theirs.close()  # so that the pipe ends when the process does
        return pipe, process

    def cores(self) -> int:
        return processors()


HERE = ThisMachine()


class TaskProcess:
    """A process with a pipe.

    Args:
        work: importable; ``work(pipe, *arguments)`` receives tasks and sends results until the pipe ends.
        place: starts the process.

    Attributes:
        tasks: sent and not finished, the oldest first.
        silence: seconds since its last sign of life; None before the first.
        looked: when `receive` last looked for one.
    """

    def __init__(self, work: Callable[..., None], *arguments: Any, place: Place = HERE) -> None:
        self.tasks: deque[Any] = deque()
        self.silence: float | None = None
        self.looked = time.monotonic()
        self.pipe, self._process = place.start(work, arguments)

    def send(self, task: Any, message: Any) -> None:
        """Sends a task's message; `receive` reports a lost process."""
        self.tasks.append(task)
        with contextlib.suppress(OSError):
            self.pipe.send(message)

    def exit_code(self) -> int | None:
        """Waits for the end of the process."""
        self._process.join()
        return self._process.exitcode

    def terminate(self) -> None:
        """Sends SIGTERM."""
        self._process.terminate()

    def kill(self) -> None:
        """Ends the process at once; `exit_code` waits for it."""
        self.pipe.close()
        self._process.kill()


P = TypeVar("P", bound=TaskProcess)


def receive(processes: Sequence[P], seconds: float = 1.0) -> Iterator[tuple[P, Any]]:
    """Waits up to `seconds` for messages; yields each with its process, `LOST` for a process that has ended.

    A process without a sign of life for `SILENT` seconds is killed, and lost.
    """
    ready = multiprocessing.connection.wait([one.pipe for one in processes], seconds)
    now = time.monotonic()
    for one in list(processes):
        waited = min(now - one.looked, BEAT_EVERY)  # the rest of the time this process was itself not there
        one.looked = now
        if one.pipe in ready:
            try:
                while one.pipe.poll():
                    message = one.pipe.recv()
                    one.silence = 0.0
                    if message is not Sign.BEAT:
                        yield one, message
            except (EOFError, OSError):
                yield one, LOST
        elif one.silence is not None:
            before, one.silence = one.silence, one.silence + waited
            if before < QUIET <= one.silence:
                _tell(f"a process gives no sign of life for {QUIET:.0f} s; it is killed after {SILENT:.0f} s")
            if one.silence >= SILENT:
                one.kill()
                yield one, LOST


class Starts:
    """Watches which processes begin; on a cluster without a free core for them, some never do."""

    def __init__(self) -> None:
        self._counts, self._waited, self._looked = (0, 0), 0.0, 0.0

    def check(self, processes: Sequence[TaskProcess]) -> None:
        """Prints a line when no further process has begun for `PATIENCE` seconds; to be called while tasks wait.

        Raises:
            UserError: if no process at all has begun in that time.
        """
        counts = (sum(one.silence is not None for one in processes), len(processes))
        now, before = time.monotonic(), self._waited
        self._waited += min(now - self._looked, BEAT_EVERY)
        self._looked = now
        if counts != self._counts:
            self._counts, self._waited = counts, 0.0
        begun, total = counts
        if begun == total or not before < PATIENCE <= self._waited:
            return
        if not begun:
            raise UserError(
                f"none of {total} processes has begun in {PATIENCE:.0f} s; free cores for them, then go on with --resume"
            )
        _tell(f"going on with {begun} of {total} processes: no more began in {PATIENCE:.0f} s")


def kill_all(processes: Iterable[TaskProcess]) -> None:
    """Ends processes at once and waits for their ends."""
    killed = list(processes)
    for one in killed:
        one.kill()
    for one in killed:
        one.exit_code()


def ignore_terminal_signals() -> None:
    """Ignores SIGINT and SIGHUP, which the process that started this one handles."""
    for name in ("SIGINT", "SIGHUP"):
        if number := getattr(signal, name, None):
            signal.signal(number, signal.SIG_IGN)


def exit_with_parent(parent: int) -> None:
    """Ends this process when process `parent`, which started it, ends; on Linux even while frozen."""
    watch_parent()
    if sys.platform == "linux":
        import ctypes

        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(1)


def watch_parent() -> None:
    """Ends this process when its parent ends, by a thread; a thread of the parent may end before."""
    threading.Thread(target=_wait_for_parent, daemon=True).start()


def _wait_for_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


class _Beating:
    """A pipe through which a thread sends signs of life."""

    def __init__(self, pipe: Any) -> None:
        self._pipe, self._lock = pipe, threading.Lock()
        threading.Thread(target=self._beat, daemon=True).start()

    def send(self, message: Any) -> None:
        with self._lock:
            self._pipe.send(message)

    def _beat(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                self.send(Sign.BEAT)
                time.sleep(BEAT_EVERY)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._pipe, name)


def _tell(line: str) -> None:
    with contextlib.suppress(OSError):
        print(line, file=sys.stderr, flush=True)


def _run(work: Callable[..., None], pipe: Any, parent: int, arguments: tuple[Any, ...]) -> None:
    ignore_terminal_signals()
    exit_with_parent(parent)
    with contextlib.suppress(EOFError, OSError):  # the process that sends tasks is gone
        work(_Beating(pipe), *arguments)
