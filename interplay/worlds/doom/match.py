"""The world's side of its matches: processes, commands, deadlines, and matches that are lost."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import tempfile
import threading
import time
import weakref
from collections.abc import Iterable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from interplay.worlds.doom.config import LAUNCH, DoomSettings
from interplay.worlds.doom.engine import find_map
from interplay.worlds.doom.host import DONE, MOST, RESET, run_match, sweep

_LOOKS = 20  # of the watch in a deadline


class Match:
    """One match in a process of its own, which is started by the first command and anew after a loss.

    Args:
        given: arguments of `run_match` between pipe and folder.
    """

    def __init__(self, given: tuple[Any, ...], deadline: float) -> None:
        self._given, self._deadline = given, deadline
        self._pipe: Connection | None = None
        self._process: Any = None
        self._folder = Path()
        self.due = 0.0  # of the answer, by the monotonic clock; 0: none is expected
        self.late = False

    @property
    def pid(self) -> int | None:
        """Process group of the match's engines; None where none runs."""
        return None if self._process is None else self._process.pid

    def send(self, command: bytes) -> None:
        """Sends a command; `receive` has to follow."""
        if self.due:  # an interrupt came between the two
            self.receive()
        launch = self._pipe is None
        if self._pipe is None:
            self._start()
        assert self._pipe is not None
        self.late = False
        self.due = time.monotonic() + (max(LAUNCH, self._deadline) if launch else self._deadline)
        with contextlib.suppress(OSError):  # `receive` reports it
            os.write(self._pipe.fileno(), command)

    def receive(self) -> str:
        """Waits for the answer: why the match is lost, or empty."""
        assert self._pipe is not None
        answer = b""
        with contextlib.suppress(OSError):
            answer = os.read(self._pipe.fileno(), 4 * MOST)
        if not answer:
            self._process.join(5)
        trouble = answer.decode() or f"its process has ended (exit code {self._process.exitcode})"
        self.due = 0.0
        if answer == DONE:
            return ""
        if self.late:
            trouble = f"it has not come back for {self._deadline:g} s"
        self.end()
        return trouble

    def kill(self) -> None:
        """Kills the process and its engines."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.kill()  # where it does not lead its group yet

    def end(self) -> None:
        """Ends the process, its engines, and what they have left."""
        if self._process is None:
            return
        assert self._pipe is not None
        self.kill()
        self._process.join()
        self._pipe.close()
        sweep(self._folder)
        self._process = self._pipe = None

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._folder = Path(tempfile.mkdtemp(prefix="interplay-doom-"))
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(
            target=run_match, args=(theirs, *self._given, str(self._folder)), daemon=True
        )
        self._process.start()
        theirs.close()


class Matches:
    """The matches of a batch; a loss of one leaves the others as they are."""

    def __init__(self, settings: DoomSettings, num_worlds: int, memory: Any) -> None:
        path = find_map(settings)
        self._all = [
            Match((memory, num_worlds, w, settings, path), settings.deadline) for w in range(num_worlds)
        ]
        self.close = weakref.finalize(self, _end, self._all)
        every = min(settings.deadline / _LOOKS, 1.0)
        threading.Thread(target=_watch, args=(weakref.ref(self), self._all, every), daemon=True).start()

    def __getitem__(self, w: int) -> Match:
        return self._all[w]

    def command(self, command: bytes, worlds: Iterable[int]) -> dict[int, str]:
        """Sends a command to the matches of `worlds` and waits; returns the lost ones, world -> why."""
        if not self.close.alive:
            raise RuntimeError("this world is closed; make a new one")
        sent = list(worlds)
        for w in sent:
            self._all[w].send(command)
        answers = {w: self._all[w].receive() for w in sent}
        return {w: trouble for w, trouble in answers.items() if trouble}

    def reset(self, worlds: Iterable[int]) -> dict[int, str]:
        """`command` of a new episode."""
        return self.command(RESET, worlds)


def _watch(owner: weakref.ref[Matches], matches: list[Match], every: float) -> None:
    """Kills matches whose answer is overdue."""
    while owner() is not None:
        time.sleep(every)
        now = time.monotonic()
        for match in matches:
            if match.due and now > match.due:
                match.late = True
                match.kill()


def _end(matches: list[Match]) -> None:
    for match in matches:
        match.end()
