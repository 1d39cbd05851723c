"""Matches played by several processes, each result kept exactly once.

The coordinator alone writes: it hands units of work to processes, keeps what comes back in the log, many results by one fsync, and only
then counts them. A unit is a pure function of what names it, so a process may be lost at any moment, with what it played: its units are
given to others, and what a coordinator had not kept is played again by the next one, with the same results.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import multiprocessing.connection
import os
import signal
import time
from collections import deque
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, NamedTuple

from interplay.core.errors import UserError
from interplay.evaluate.tournaments.results_log import ResultsLog

Result = Mapping[str, Mapping[str, Any]]  # key -> what came of it
Play = Callable[[Any], Result]
AHEAD, MOST_AHEAD = (
    2,
    64,
)  # units that a process holds: the one that it plays, and the next; more of short ones
_BUSY = 0.1  # seconds of work that a process should hold, so that it does not wait while results are kept
_LOSSES = 3  # processes that a unit may cost, or that may be lost one after another before they play


class Unit(NamedTuple):
    """Some matches that are played together.

    Attributes:
        what: for `Play`, hashable; it travels to a process.
        keys: of the results.
        anew: to be played although there are results, since something else of it is missing.
    """

    what: Any
    keys: tuple[str, ...]
    anew: bool = False

    def waits(self, log: ResultsLog) -> bool:
        """Whether it is still to be played."""
        return self.anew or bool(log.missing(self.keys))


class _Process:
    """A process of the farm.

    Attributes:
        process: what was started.
        pipe: to it.
        holds: units that it was handed and has not given back, the oldest first.
        plays: whether it was heard of: it has begun.
        seconds: that its last unit took.
    """

    def __init__(self, process: Any, pipe: Any) -> None:
        self.process, self.pipe = process, pipe
        self.holds: deque[Unit] = deque()
        self.plays, self.seconds = False, _BUSY

    @property
    def ahead(self) -> int:
        """How many units it should hold."""
        return min(max(AHEAD, int(_BUSY / max(self.seconds, 1e-9))), MOST_AHEAD)


def play_units(
    units: Sequence[Unit],
    begin: Callable[..., Play],
    arguments: tuple[Any, ...],
    log: ResultsLog,
    workers: int,
    on_progress: Callable[[int], None] | None = None,
) -> None:
    """Plays those units that lack a result or are to be played anew, in so many processes.

    Args:
        units: all of them.
        begin: importable; a process calls ``begin(*arguments)`` once and what it gives for each unit.
        arguments: they travel to the processes.
        log: where results are kept.
        workers: at least 1.
        on_progress: hears how many results there are.

    Raises:
        UserError: as a process tells it, or if a unit cost three processes; results so far are kept.
    """
    waiting = deque(unit for unit in units if unit.waits(log))
    losses: dict[Hashable, int] = {}
    early = 0
    context = multiprocessing.get_context("spawn")
    farm: list[_Process] = []
    try:
        while waiting or any(one.holds for one in farm):
            while len(farm) < min(workers, len(waiting) + sum(bool(one.holds) for one in farm)):
                farm.append(_start(context, begin, arguments))
            while waiting and (free := [one for one in farm if len(one.holds) < one.ahead]):
                _hand(min(free, key=lambda one: len(one.holds)), waiting.popleft())
            found, lost = _gather(farm)
            log.append(found)
            early = 0 if found else early
            if on_progress is not None and found:
                on_progress(len(log.results))
            for one in lost:
                farm.remove(one)
                early = _count(one, losses, early)
                waiting.extendleft(reversed(one.holds))
    finally:
        _end(farm)


def _start(context: Any, begin: Callable[..., Play], arguments: tuple[Any, ...]) -> _Process:
    ours, theirs = context.Pipe()
    # No daemon, which could not step environments in processes of its own; `_end` and `exit_with_parent` end it.
    process = context.Process(target=_work, args=(theirs, begin, arguments, os.getpid()), daemon=False)
    process.start()
    theirs.close()  # so that the pipe ends when the process does
    return _Process(process, ours)


def _hand(one: _Process, unit: Unit) -> None:
    one.holds.append(unit)
    with contextlib.suppress(OSError):  # it is lost, as `_gather` will see
        one.pipe.send(unit.what)


def _gather(farm: Sequence[_Process]) -> tuple[dict[str, Mapping[str, Any]], list[_Process]]:
    """Waits until something comes; gives all results that are there, and the processes that are lost.

    Raises:
        UserError: as a process tells it.
    """
    found: dict[str, Mapping[str, Any]] = {}
    lost = []
    ready = multiprocessing.connection.wait([one.pipe for one in farm])
    for one in farm:
        if one.pipe not in ready:
            continue
        try:
            while one.pipe.poll():
                results, one.seconds, trouble = one.pipe.recv()
                if trouble is not None:
                    raise UserError(trouble)
                if one.plays:
                    found |= results
                    one.holds.popleft()
                one.plays = True
        except (EOFError, OSError):
            lost.append(one)
    return found, lost


def _count(one: _Process, losses: dict[Hashable, int], early: int) -> int:
    """Counts a lost process against the unit that it played; gives how many were lost in a row before they played.

    Raises:
        UserError: if that unit, or the beginning, cost too many.
    """
    one.process.join()
    if not one.plays:
        if early + 1 >= _LOSSES * 3:
            raise UserError(
                f"{early + 1} processes were lost before they played a match, the last with exit code {one.process.exitcode}; "
                "play with --workers 1 to see why"
            )
        return early + 1
    if not one.holds:
        return early
    unit = one.holds[0]
    losses[unit.what] = losses.get(unit.what, 0) + 1
    if losses[unit.what] >= _LOSSES:
        raise UserError(
            f"match {unit.keys[0]}: {_LOSSES} processes were lost while they played it, the last with exit code "
            f"{one.process.exitcode}; play with --workers 1 to see why, or with less memory in use"
        )
    return early


def _end(farm: Sequence[_Process]) -> None:
    for one in farm:
        one.pipe.close()
        one.process.kill()
    for one in farm:
        one.process.join()


def _work(pipe: Any, begin: Callable[..., Play], arguments: tuple[Any, ...], parent: int) -> None:
    """A process of the farm: plays what it is handed until nobody is there to hand it anything."""
    for name in ("SIGINT", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(
                getattr(signal, name), signal.SIG_IGN
            )  # the coordinator hears them and ends everybody
    with contextlib.suppress(EOFError, OSError):  # the coordinator is gone
        try:
            play = begin(*arguments)
        except UserError as error:
            pipe.send(({}, _BUSY, str(error)))
            return
        pipe.send(({}, _BUSY, None))  # it has begun
        while os.getppid() == parent:
            what, began = pipe.recv(), time.perf_counter()
            try:
                answer: tuple[Any, str | None] = (dict(play(what)), None)
            except UserError as error:
                answer = ({}, str(error))
            pipe.send((answer[0], time.perf_counter() - began, answer[1]))
