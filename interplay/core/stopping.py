"""Signals that stop a program: Ctrl-C, a scheduler's SIGTERM, a closed terminal's SIGHUP.

`finishing` is for work that can be saved: the first signal is a request, the second one stops at once. `listening` is for the rest of a
command: every signal stops at once, and its `Stop` holds the number. A signal that was ignored when the program
started (``nohup``, a shell's background jobs) remains ignored. SIGTERM and SIGHUP are left to a program that handles them itself.
Outside the main thread, where Python gets no signals, nothing is installed.
"""

from __future__ import annotations

import contextlib
import signal
import sys
import time
from collections.abc import Iterator
from types import FrameType

from interplay.core.overdue import OVERDUE

SAME = 0.5  # seconds: `timeout` signals a process and then its group, a closing terminal has two signals from shell and kernel
_POLITE = tuple(number for name in ("SIGTERM", "SIGHUP") if (number := getattr(signal, name, None)))


class Stopped(KeyboardInterrupt):
    """SIGTERM or SIGHUP, where it stops at once as Ctrl-C does.

    Attributes:
        number: of the signal.
    """

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.number = number


class Stop:
    """Whether a signal to stop has come.

    Attributes:
        number: of the first signal; None: none has come.
        gentle: whether the work is finished and saved before it ends.
    """

    def __init__(self) -> None:
        self.number: int | None = None
        self.gentle = False
        self._when = 0.0

    def __bool__(self) -> bool:
        return self.number is not None

    def handle(self, number: int, _frame: FrameType | None) -> None:
        """Handles a signal.

        Raises:
            KeyboardInterrupt: if nothing can be saved, or at the second signal.
        """
        now = time.monotonic()
        if OVERDUE.error:
            raise KeyboardInterrupt
        if self.number is None:
            self.number, self._when = number, now
            if self.gentle and not OVERDUE.found:
                OVERDUE.hurried = True
                _print(_request_line(number))
                return
        elif self.gentle and now - self._when < SAME and not OVERDUE.found:
            return
        raise KeyboardInterrupt if number == signal.SIGINT else Stopped(number)


_open: list[Stop] = []


@contextlib.contextmanager
def listening() -> Iterator[Stop]:
    """SIGTERM and SIGHUP raise `Stopped` in the block, unless `finishing` is in it; Ctrl-C raises by itself."""
    stop = _open[-1] if _open else Stop()
    with _installed(stop, _POLITE):
        _open.append(stop)
        try:
            yield stop
        finally:
            _open.pop()


@contextlib.contextmanager
def finishing() -> Iterator[Stop]:
    """Records the first signal in the block, so that the caller can finish and save; the second one raises.

    Inside `listening` the same `Stop` is yielded, so that the outer block sees it.

    Example:
        >>> with finishing() as stop:
        ...     bool(stop)
        False
    """
    stop = _open[-1] if _open else Stop()
    with _installed(stop, (signal.SIGINT, *_POLITE)):
        stop.gentle = True
        try:
            yield stop
        finally:
            stop.gentle = OVERDUE.hurried = False


@contextlib.contextmanager
def _installed(stop: Stop, numbers: tuple[int, ...]) -> Iterator[None]:
    """Handles the signals that no other handler has, for `stop`; restores the old handlers afterwards."""
    earlier = {}
    try:
        for number in numbers:
            handler = signal.getsignal(number)
            if handler is signal.SIG_DFL or (
                number == signal.SIGINT and handler not in (None, signal.SIG_IGN)
            ):
                signal.signal(number, stop.handle)
                earlier[number] = handler
    except ValueError:
        pass  # not the main thread, which alone can handle signals
    try:
        yield
    finally:
        for number, handler in earlier.items():
            signal.signal(number, handler)


def _request_line(number: int) -> str:
    if number == signal.SIGINT:
        return "\nfinishing this update and saving; Ctrl-C again stops now"
    return f"{signal.Signals(number).name}: finishing this update and saving; a second one stops now"


def _print(line: str) -> None:
    # Inside a handler: the terminal may be gone, and a line may be half written.
    with contextlib.suppress(OSError, RuntimeError, ValueError):
        print(line, file=sys.stderr, flush=True)
