"""Progress lines for compilations that take long: what is compiled, its usual duration, the time so far.

One line on standard error for each thing compiled, after two seconds of it. A terminal shows the seconds; a file
gets another line when the usual time is over, and then each time that the wait has doubled. The duration is
kept beside the compiled code for the next time, for training by world, algorithm and network. Until then the package's own
figures are shown.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import sys
import threading
import time
from pathlib import Path
from typing import Any

AFTER = 2.0  # seconds of compilation before the first line
TRAINING = "training"
SOON = 15.0  # seconds until a second line if the duration is unknown
_BREATH = 0.3  # seconds until a line on a terminal goes on with the next kernel
_KEPT = "waits.json"
# Wall seconds from the start of Python to a first step with an empty cache on two free cores of an EPYC
# (docs/results/first-use.md), and of XLA's programs for a small network.
_USUAL = {
    "battle": 7.0,
    "broadcast": 15.0,
    "foragers": 17.0,
    "maze_navigation": 13.0,
    "mmo": 18.0,
    "pacman": 15.0,
    "pommerman": 10.0,
    "pong": 9.0,
    "reach_the_target": 16.0,
    "survival": 13.0,
    "team_battle": 18.0,
    "traffic_corridor": 16.0,
    "werewolf": 21.0,
    TRAINING: 12.0,
}


class Waiting:
    """The compilations of this process so far.

    Attributes:
        world: whose kernels are compiled next, as `thing_of` names it; empty if unknown.
        programs: the owner of training's programs, beginning with `TRAINING`: see `train_on`.
        quiet: nothing is printed or kept, as another process of the same run does that.
    """

    def __init__(self) -> None:
        self.world = ""
        self.programs = TRAINING
        self.quiet = False
        self._lock = threading.Lock()
        self._depth = 0
        self._thing = ""
        self._began = 0.0
        self._waited: dict[str, float] = {}  # thing -> seconds
        self._due: dict[str, float] = {}  # thing that was reported -> seconds at which it is reported again
        self._over = threading.Event()
        self._drawn = False  # a line is on the terminal

    def train_on(self, *parts: str) -> None:
        """Names what the programs of training are compiled for: the world, the algorithm, the network."""
        self.programs = " ".join([TRAINING, *parts])

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

    def keep(self) -> None:
        """Keeps each thing's time if it is the longest so far, since a later, partial compilation takes less."""
        if self.quiet or all(seconds < AFTER for seconds in self._waited.values()):
            return
        from interplay.core.errors import UserError
        from interplay.core.files import os_errors_as_user_errors, replace_file

        known = _kept()
        # Training without a name may be that of any network.
        longer = {
            thing: round(s, 1)
            for thing, s in self._waited.items()
            if thing != TRAINING and s > max(known.get(thing, 0.0), AFTER)
        }
        file = _kept_in()
        if longer and file is not None:
            try:
                with os_errors_as_user_errors("keeping", file):
                    replace_file(file, json.dumps(known | longer, indent=2) + "\n", "waits")
            except UserError:
                return  # the next one waits without knowing how long

    def _watch(self, thing: str, remark: str, patience: float, over: threading.Event) -> None:
        """In a thread of its own: the line, and its seconds on a terminal; otherwise further lines."""
        words, expected = _how_long(thing)
        first = _line(thing, remark) + words
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
                self._due[thing] = max(expected, 2 * seconds if thing in self._due else SOON)
            patience = 1.0 if self._drawn else max(self._due[thing] - seconds, 0.0)


WAITING = Waiting()
atexit.register(WAITING.keep)


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
    return "the programs of training" if thing.startswith(TRAINING) else f"the kernels of {thing}"


def _how_long(thing: str) -> tuple[str, float]:
    """What is known of how long it takes, in words and in seconds."""
    if before := _kept().get(thing):
        return f"; it took {before:.0f} s before", before
    usual = _USUAL.get(thing.partition(" ")[0], 0.0)
    if thing.startswith(TRAINING):
        return f"; {usual:.0f} s for a small network on a free core, minutes for a large one", usual
    return (f"; usually {usual:.0f} s" if usual else ""), usual


def _line(thing: str, remark: str) -> str:
    return f"interplay: compiling {_what(thing)}, which are kept for the next time{f' ({remark})' if remark else ''}"


def _kept_in() -> Path | None:
    from interplay.core.kernel_cache import cache_root, private_folder

    root = cache_root()
    return None if private_folder(root) is None else root / _KEPT


def _kept() -> dict[str, float]:
    """Seconds of each thing that was compiled before; empty if the file is missing or invalid."""
    from interplay.core.errors import UserError
    from interplay.core.reading import SMALL, read_json

    file = _kept_in()
    if file is None or not file.exists():
        return {}
    try:
        found: Any = read_json(file, SMALL)
    except UserError:
        return {}
    if not isinstance(found, dict):
        return {}
    return {thing: float(s) for thing, s in found.items() if isinstance(s, int | float) and s > 0}
