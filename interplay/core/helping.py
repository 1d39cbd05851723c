"""A second process that compiles phases of a kernel while this one compiles the others.

To continue after a phase that returns nothing, its caller needs only the types; the code is needed when the caller's own code is made.
So such a phase is handed to the helper whenever that is free, and its result, with those of the phases inside, is fetched
later. The helper first compares its digest of the whole kernel with ours (`interplay.core.kernel_key`). If they differ,
or the helper fails or ends, everything is compiled here.

The helper is this Python with this search path. It starts when a kernel has to be compiled and there is a second
processor. It communicates over a private pair of sockets, and ends when they close or after a time without requests.
"""

from __future__ import annotations

import atexit
import contextlib
import multiprocessing
import os
import pickle
import platform
import subprocess
import sys
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

PATIENCE = 10.0  # seconds without a job after which a helper ends
_START = "import sys; sys.path[:] = sys.argv[3:]; from interplay.core.phases import help_out; help_out(int(sys.argv[1]), sys.argv[2])"

Name = tuple[str, str]  # a module, and a function in it
Made = dict[tuple[Name, Any], Any]  # (phase, types of arguments) -> the parts of what was compiled


class Helper:
    """The helper of this process, if it has one.

    Attributes:
        wanted: whether there may be one.
        made: its results for the present kernel that were not fetched yet.
    """

    def __init__(self) -> None:
        self.wanted = True
        self.made: Made = {}
        self._kernel: tuple[Name, str] | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._line: Connection | None = None
        self._owner = 0
        self._busy = False

    def begin(self, kernel: Name, key: str) -> None:
        """Starts a helper for a kernel with that digest, unless there is one or no processor for it."""
        if self._kernel != (kernel, key):
            self._kernel, self.made = (kernel, key), {}
        if self._owner != os.getpid():  # a fork has no part in its parent's
            self._process, self._line = None, None
        if self._line is not None or not self.wanted or not _has_room():
            return
        ours, theirs = multiprocessing.Pipe()
        command = [sys.executable, "-c", _START, str(theirs.fileno()), kernel[0], *sys.path]
        quiet = subprocess.DEVNULL
        try:
            self._process = subprocess.Popen(
                command, pass_fds=[theirs.fileno()], stdin=quiet, stdout=quiet, stderr=quiet
            )
        except OSError:
            self.wanted = False
            return
        finally:
            theirs.close()
        self._line, self._owner, self._busy = ours, os.getpid(), True  # with starting

    def take(self, phase: Name, types: Any) -> bool:
        """Whether the helper, if it is free, begins to compile a phase of the kernel."""
        if self._line is None or self._owner != os.getpid() or (self._busy and not self._line.poll()):
            return False
        try:
            job = pickle.dumps((self._kernel, phase, types))
        except (pickle.PicklingError, TypeError, AttributeError):
            return False  # types that exist only in this process
        self.wait()
        try:
            if self._line is not None:
                self._line.send_bytes(job)
                self._busy = True
        except OSError:
            self.end()
        return self._busy

    def wait(self) -> None:
        """What the helper is busy with is in `made`, unless it failed."""
        if not self._busy or self._line is None or self._owner != os.getpid():
            return
        self._busy = False
        try:
            kernel, made = pickle.loads(self._line.recv_bytes())
        except (OSError, EOFError):
            self.end()
            return
        if kernel == self._kernel:
            self.made.update(made)

    def end(self) -> None:
        """Ends the helper."""
        if self._line is not None and self._process is not None and self._owner == os.getpid():
            self._line.close()
            self._process.kill()
            self._process.wait()
        self._process, self._line, self._busy = None, None, False


HELPER = Helper()
atexit.register(HELPER.end)


def serve(line: Connection, make: Callable[[Any, Name, Any], Made]) -> None:
    """In the helper: reports that it is ready and compiles what is requested until requests end."""
    line.send_bytes(pickle.dumps((None, {})))
    while line.poll(PATIENCE):
        try:
            kernel, phase, types = pickle.loads(line.recv_bytes())
        except (OSError, EOFError):
            return
        made: Made = {}
        with contextlib.suppress(Exception):  # the other process compiles it too and raises the error
            made = make(kernel, phase, types)
        line.send_bytes(pickle.dumps((kernel, made)))


def _has_room() -> bool:
    """Whether a helper can be started and has a processor; workers of a pool have none to spare."""
    if os.name != "posix" or not sys.executable or getattr(sys, "frozen", False):
        return False
    return multiprocessing.parent_process() is None and processors() > 1


def processors() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def processor_model() -> str:
    """The model of the processor, where Linux names it."""
    with contextlib.suppress(OSError), open("/proc/cpuinfo") as lines:
        for line in lines:
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
