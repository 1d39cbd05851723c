"""The matches of a batch, and the threads that play them."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue

import numpy as np

from interplay.core.helping import processors
from interplay.core.overdue import AFTER, print_line
from interplay.worlds.doom import guard
from interplay.worlds.doom.config import DoomSettings
from interplay.worlds.doom.engine import find_map, write_launcher
from interplay.worlds.doom.match import Match
from interplay.worlds.doom.player import Player
from interplay.worlds.doom.probe import check_map

_LOOKS = 20  # of the watch in a deadline
_PATIENCE = 10.0  # seconds in which calls come back after their engines were killed

Job = tuple[Match, int, list[float] | None]  # a match, and the arguments of its `work`


class Matches:
    """The matches of a batch; a loss of one leaves the others as they are.

    The engine's calls release the interpreter's lock, so threads make them at the same time: one for each player of matches of
    several, else one for each core. The caller is one of them.

    Args:
        arrays: field of the observation -> (W, A, ...).
    """

    def __init__(self, settings: DoomSettings, arrays: Mapping[str, np.ndarray]) -> None:
        path, (worlds, players) = find_map(settings), arrays["variables"].shape[:2]
        folder = Path(tempfile.mkdtemp(prefix="interplay-doom-"))
        self._all, launcher = [], write_launcher(folder)
        for w in range(worlds):
            rows = [{name: array[w, a] for name, array in arrays.items()} for a in range(players)]
            self._all.append(Match(settings, path, launcher, [Player(settings, row) for row in rows]))
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()
        self._done: SimpleQueue[Exception | None] = SimpleQueue()
        self._try_map: Callable[[], None] | None = partial(
            check_map, settings, path
        )  # before the first start
        self._open = 0  # jobs without an answer
        helpers = (worlds * players if players > 1 else min(worlds, processors())) - 1
        for _ in range(helpers):
            threading.Thread(target=_help, args=(self._jobs, self._done), daemon=True).start()
        keeper = subprocess.Popen(
            [sys.executable, "-I", "-S", guard.__file__, str(folder)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self.close = weakref.finalize(self, _end, self._all, keeper, self._jobs, helpers)
        every = min(settings.deadline / _LOOKS, 1.0)
        threading.Thread(target=_watch, args=(weakref.ref(self), self._all, every), daemon=True).start()

    def __getitem__(self, w: int) -> Match:
        return self._all[w]

    def __iter__(self) -> Iterator[Match]:
        return iter(self._all)

    def begin(self, worlds: Sequence[int], seeds: Sequence[int]) -> None:
        """Begins an episode of each match with its seed; a lost one has a `trouble` then."""
        self._refuse_closed()
        if self._try_map:
            self._try_map()
            self._try_map = None
        matches = [self._all[w] for w in worlds]
        for match, seed in zip(matches, seeds, strict=True):
            match.seed = seed
            match.start()
        for match in matches:
            match.launch()
        _wait_for(matches)
        started = [match for match in matches if not match.trouble]
        self.run([(match, a, None) for match in started for a in range(len(match.players))])

    def run(self, jobs: Sequence[Job]) -> None:
        """Does all jobs, those of a match at the same time; a lost match has a `trouble` then."""
        self._refuse_closed()
        if self._open:
            self._finish()  # what an interrupt has left
        if len(jobs) == 1:
            match, a, held = jobs[0]
            return match.work(a, held)
        for job in jobs:
            self._open += 1
            self._jobs.put(job)
        return self._finish()

    def _refuse_closed(self) -> None:
        if not self.close.alive:
            raise RuntimeError("this world is closed; make a new one")

    def _finish(self) -> None:
        """Takes part in the open jobs until all are done."""
        while True:
            try:
                job = self._jobs.get_nowait()
            except Empty:
                break
            if job:
                _work(job, self._done)
        error = None
        while self._open:
            error = self._done.get() or error
            self._open -= 1
        if error:
            raise error


def _wait_for(matches: Sequence[Match]) -> None:
    """Waits for engines that start, with a line every ten seconds."""
    said = time.monotonic()
    for number, match in enumerate(matches):
        while not match.wait():
            if time.monotonic() > said + AFTER:
                print_line(f"doom: {number} of {len(matches)} matches have started")
                said = time.monotonic()


def _work(job: Job, done: SimpleQueue[Exception | None]) -> None:
    match, a, held = job
    error = None
    try:
        match.work(a, held)
    except Exception as fault:
        match.lose(str(fault))
        error = fault
    finally:
        done.put(error)


def _help(jobs: SimpleQueue[Job | None], done: SimpleQueue[Exception | None]) -> None:
    while job := jobs.get():
        _work(job, done)


def _watch(owner: weakref.ref[Matches], matches: list[Match], every: float) -> None:
    while owner() is not None:
        time.sleep(every)
        for match in matches:
            match.look()


def _end(
    matches: list[Match], keeper: subprocess.Popen[bytes], jobs: SimpleQueue[Job | None], helpers: int
) -> None:
    for _ in range(helpers):
        jobs.put(None)
    patience = time.monotonic() + _PATIENCE
    while any(match.busy for match in matches) and time.monotonic() < patience:  # after an interrupt
        for match in matches:
            match.lose("the world is closed")
        time.sleep(0.02)
    for match in matches:
        match.end()
    assert keeper.stdin is not None
    if any(match.stuck for match in matches):
        # The guard must end them after this process, as their end would be its own: nothing closes this end of the pipe before.
        os.dup(keeper.stdin.fileno())
        return
    keeper.stdin.close()
    keeper.wait()
