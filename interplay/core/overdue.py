"""Calls of users' code that do not return: a line after ten seconds with the place, and an end after a limit.

A thread looks at the calls twice a second; a step itself only counts its calls. While a call is overdue, the first Ctrl-C
interrupts it instead of waiting for the end of an update (`interplay.core.stopping`).
"""

from __future__ import annotations

import contextlib
import math
import signal
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from typing import Protocol

from interplay.core.errors import UserError
from interplay.core.user_code import place_of

CURE = "fix it, or raise the limit"
AFTER = 10.0  # seconds
SLOWER = 3  # times as long as the longest call that came back
_GRACE = 5.0  # more seconds for what waits for another process, which gives the line
_BREATH = 0.5  # seconds between two looks


class Stepping(Protocol):
    """What steps users' code, one call after another.

    Attributes:
        calls: calls begun so far.
        thread: in which they are made.
        silent: no line is given, as another process gives one.
    """

    calls: int
    thread: int
    silent: bool

    def busy(self) -> str:
        """The call in progress, e.g. ``world 3 has not come back from step 50``; empty between calls."""


class _Clock:
    """How long the present call of a `Stepping` has lasted.

    Attributes:
        line: of the call, once it is overdue.
    """

    def __init__(self) -> None:
        self.line = ""
        self.given_up = False
        self._calls, self._since, self._longest = -1, 0.0, 0.0

    def look(self, stepping: Stepping) -> float:
        """Seconds since the call began, to the precision of the looks."""
        now, busy = time.monotonic(), stepping.busy()
        if not busy or stepping.calls != self._calls:
            if self._calls >= 0:
                self._longest = max(self._longest, now - self._since)
            self._calls, self._since = stepping.calls if busy else -1, now
            self.line, self.given_up = "", False
            return 0.0
        lasted = now - self._since
        if not self.line and lasted > max(AFTER, SLOWER * self._longest):
            self.line = _line(stepping, lasted)
            if not stepping.silent:
                print_line(f"{self.line}; Ctrl-C stops at once")
        return lasted


class Overdue:
    """Watches the steps of this process.

    Attributes:
        limit: seconds after which a call is given up.
        give_up: called with a line then, in the watching thread; by default the main thread is interrupted.
        error: the line of a call that was given up.
        hurried: a signal to stop has come, so a call that is overdue is interrupted.
    """

    def __init__(self) -> None:
        self.limit = math.inf
        self.give_up: Callable[[str], None] = self._interrupt
        self.error = ""
        self.hurried = False
        # Held where a call is given up, and where one ends: its signal comes before its end, or never.
        self.lock = threading.Lock()
        self._clocks: weakref.WeakKeyDictionary[Stepping, _Clock] = weakref.WeakKeyDictionary()
        self._thread: threading.Thread | None = None

    @property
    def found(self) -> bool:
        """Whether a call is overdue now."""
        return any(clock.line for clock in list(self._clocks.values()))

    def refuse_late(self) -> None:
        """Raises the error of a call in any thread that is longer than the limit, or a Ctrl-C if one has come while it is overdue.

        Calls in the main thread are given up without it.
        """
        with self.lock:
            for stepping, clock in list(self._clocks.items()):
                lasted = clock.look(stepping)
                if self.hurried and clock.line:
                    raise KeyboardInterrupt
                if lasted > self._most(stepping):
                    raise UserError(f"{_line(stepping, lasted)}; {CURE}")

    @contextlib.contextmanager
    def limited(self, seconds: float | None) -> Iterator[None]:
        """Gives up calls in the block after so many seconds; None never does."""
        before, self.limit = self.limit, seconds or math.inf
        try:
            yield
        finally:
            self.limit = before

    def watch(self, stepping: Stepping) -> None:
        """Begins to watch; it ends with the object."""
        self._clocks[stepping] = _Clock()
        if self._thread is None:
            self._thread = threading.Thread(target=self._look, daemon=True, name="overdue")
            self._thread.start()

    def _look(self) -> None:
        while True:
            time.sleep(_BREATH)
            for stepping, clock in list(self._clocks.items()):
                with self.lock:
                    self._judge(stepping, clock)

    def _judge(self, stepping: Stepping, clock: _Clock) -> None:
        """Gives up a call that is late."""
        lasted = clock.look(stepping)
        late = lasted > self._most(stepping)
        main = stepping.thread == threading.main_thread().ident  # only this one can be interrupted
        if clock.given_up or not main or not (late or (self.hurried and clock.line)):
            return
        clock.given_up = True
        if self.hurried:
            _interrupt_main()
        else:
            self.give_up(_line(stepping, lasted))

    def _most(self, stepping: Stepping) -> float:
        """Seconds after which a call is given up."""
        return self.limit + (_GRACE if stepping.silent else 0.0)

    def _interrupt(self, line: str) -> None:
        self.error = f"{line}; {CURE}"
        _interrupt_main()


def _line(stepping: Stepping, lasted: float) -> str:
    place = "" if stepping.silent else place_of(stepping.thread)
    return f"{stepping.busy()} for {lasted:.0f} s{place}"


def _interrupt_main() -> None:
    """A Ctrl-C, which also ends the waiting for a lock."""
    if hasattr(signal, "pthread_kill"):
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
    else:
        signal.raise_signal(signal.SIGINT)


def print_line(line: str) -> None:
    """A line on stderr, for calls in any thread or process."""
    with contextlib.suppress(OSError, ValueError):  # the terminal may be gone
        print(f"interplay: {line}", file=sys.stderr, flush=True)


OVERDUE = Overdue()


def refuse_overdue() -> None:
    """Raises the error of a call that was given up, if there is one."""
    if OVERDUE.error:
        line, OVERDUE.error = OVERDUE.error, ""
        raise UserError(line) from None
