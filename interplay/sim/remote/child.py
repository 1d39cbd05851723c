"""A child program that is started, watched, and always ended."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence

from interplay.sim.remote.wire import Fault

_POLL = 0.005  # seconds between two looks
_STDERR = 2


class Child:
    """A running program.

    It leads a process group of its own: Ctrl-C in the terminal reaches the parent alone, which then ends the child, and processes
    of a wrapper script end with it. The program's output goes to standard error.

    Args:
        argv: program and arguments; no shell reads them.
        environment: variables on top of the parent's.

    Raises:
        Fault: if it cannot be started.
    """

    def __init__(self, argv: Sequence[str], environment: Mapping[str, str]) -> None:
        try:
            self._process = subprocess.Popen(
                argv,
                stdin=subprocess.DEVNULL,
                stdout=_STDERR,
                env={**os.environ, **environment},
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            text = getattr(error, "strerror", None) or str(error)
            raise Fault(f"cannot be started: {text}", "check the path and that it may be run") from None
        self.pid = self._process.pid
        self._owner = os.getpid()

    def has_ended(self) -> bool:
        """Whether the program has ended, without reaping it: its number stays taken."""
        if self._process.returncode is not None:
            return True
        if not hasattr(os, "waitid"):
            return self._process.poll() is not None
        try:
            return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        except ChildProcessError:  # already reaped elsewhere: its number may name another process
            return self._process.poll() is not None

    def end(self, timeout: float) -> str:
        """Waits for the program's end, then kills its process group.

        Args:
            timeout: seconds.

        Returns:
            How it ended by itself, as a phrase; empty if it had to be killed.
        """
        if os.getpid() != self._owner:
            return ""  # a forked worker: the program is its parent's
        until = time.monotonic() + timeout
        while not (ended := self.has_ended()) and time.monotonic() < until:
            time.sleep(_POLL)
        self._kill_group()
        code = self._process.wait()
        return _fate(code) if ended else ""

    def _kill_group(self) -> None:
        if self._process.returncode is not None:
            return
        try:
            if hasattr(os, "killpg"):
                os.killpg(self.pid, signal.SIGKILL)
            else:
                self._process.kill()
        except (ProcessLookupError, PermissionError):
            pass  # it has ended already


def _fate(code: int) -> str:
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        return f"was ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"was ended by signal {-code}"
