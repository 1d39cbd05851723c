"""Progress lines for compilations that take long: what is compiled, and the time so far.

One line on standard error for each thing compiled, after two seconds of it. A terminal shows the seconds; a file
gets another line after `SOON` seconds, and then each time that the wait has doubled.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from typing import Any

AFTER = 2.0  # seconds of compilation before the first line
TRAINING = "training"
SOON = 15.0  # seconds until a second line
_BREATH = 0.3  # seconds until a line on a terminal goes on with the next kernel


class Waiting:
    """The compilations of this process so far.

    Attributes:
        world: the owner of the kernels compiled next, as `thing_of` names it; empty if unknown.
        quiet: nothing is printed, as another process of the same run does that.
    """

    def __init__(self) -> None:
        self.world = ""
        self.quiet = False
        self._lock = threading.Lock()
        self._depth = 0
        self._thing = ""
        self._began = 0.0
        self._waited: dict[str, float] = {}  # thing -> seconds
        self._due: dict[str, float] = {}  # thing that was reported -> seconds at which it is reported again
        self._over = threading.Event()
        self._drawn = False  # a line is on the terminal

    def begin(self, thing: str, remark: str = "") -> None:
        """Starts a compilation, possibly inside another.

        Args:
            thing: its purpose, see `thing_of`; empty for one that is never reported.
        """
        with self._lock:
            self._depth += 1
            if self._depth > 1:
                return
            self._thing, self._began = thing, time.monotonic()
            if not thing or self.quiet:
                return
            due = self._due.get(thing, AFTER) - self._waited.get(thing, 0.0)
            patience = _BREATH if thing in self._due and _on_terminal() else max(due, 0.0)
            self._over = threading.Event()
            arguments = (thing, remark, patience, self._over)
            threading.Thread(target=self._watch, args=arguments, daemon=True, name="waiting").start()

    def end(self) -> None:
        """The compilation that began last ends; a terminal's line goes. Nothing happens if none began."""
        with self._lock:
            if self._depth == 0:
                return
            self._depth -= 1
            if self._depth > 0:
                return
            if self._thing:
                earlier = self._waited.get(self._thing, 0.0)
                self._waited[self._thing] = earlier + time.monotonic() - self._began
            self._over.set()
            if self._drawn:
                self._drawn = False
                _write("\r\x1b[K")

    def _watch(self, thing: str, remark: str, patience: float, over: threading.Event) -> None:
        """In a thread of its own: the line, and its seconds on a terminal; otherwise further lines."""
        first = f"interplay: compiling {_what(thing)}, which are kept for the next time{f' ({remark})' if remark else ''}"
        while not over.wait(patience):
            with self._lock:
                if over.is_set():
                    return
                seconds = self._waited.get(thing, 0.0) + time.monotonic() - self._began
                line = f"interplay: still compiling {_what(thing)}" if thing in self._due else first
                self._drawn = _on_terminal()
                _write(
                    f"\r{first if self._drawn else line}, {seconds:.0f} s so far"
                    + ("" if self._drawn else "\n")
                )
                self._due[thing] = 2 * seconds if thing in self._due else SOON
            patience = 1.0 if self._drawn else max(self._due[thing] - seconds, 0.0)


WAITING = Waiting()


def _on_terminal() -> bool:
    """Whether a line may be redrawn: a terminal on which nothing else draws, as a progress bar would."""
    shown: Any = sys.stderr  # None where Python has no console
    return shown is not None and shown.isatty() and shown is sys.__stderr__


def _write(text: str) -> None:
    with contextlib.suppress(OSError, ValueError):  # standard error was closed
        print(text.lstrip("\r") if text.endswith("\n") else text, end="", file=sys.stderr, flush=True)


def thing_of(name: str) -> str:
    """The everyday name of a module, or a ``"module:attribute"``: our worlds and packages by their folders, others whole.

    Example:
        >>> thing_of("interplay.worlds.survival.world:Survival"), thing_of("interplay.planar.sight")
        ('survival', 'planar')
        >>> thing_of("my_package.tag:Tag")
        'my_package.tag'
    """
    module = name.partition(":")[0]
    parts = module.split(".")
    if parts[0] != "interplay" or len(parts) == 1:
        return module
    return parts[2] if parts[1] == "worlds" and len(parts) > 2 else parts[1]


def _what(thing: str) -> str:
    if thing == TRAINING:
        return "the programs of training (minutes for a large network)"
    return f"the kernels of {thing}"
