"""Plays matches in several processes and keeps each result exactly once.

Only the coordinator writes: it sends units of work to processes and appends their results to the log, many by one fsync. A unit's
results are a pure function of `Unit.what`. So if a process is lost, its units go to others, and results that a killed coordinator had
not logged are reproduced by the next one.
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

Result = Mapping[str, Mapping[str, Any]]  # key -> result
Play = Callable[[Any], Result]
# Units that a process holds: the current one and the next; more if they are short.
AHEAD, MOST_AHEAD = 2, 64
_BUSY = 0.1  # seconds of work that a process should hold, so that it does not wait while results are kept
_LOSSES = 3  # processes that a unit may cost, or that may be lost one after another before they play


class Unit(NamedTuple):
    """Some matches that are played together.

    Attributes:
        what: argument of `Play`, hashable and picklable.
        keys: of the results.
        replay: play even if there are results, because something else is missing (a recording).
    """

    what: Any
    keys: tuple[str, ...]
    replay: bool = False

    def is_missing(self, log: ResultsLog) -> bool:
        """Whether it must still be played."""
        return self.replay or bool(log.missing(self.keys))


class _Process:
    """A process of the farm.

    Attributes:
        units: sent and not yet finished, the oldest first.
        started: whether `begin` has returned.
        seconds: duration of its last unit.
    """

    def __init__(self, process: Any, pipe: Any) -> None:
        self.process, self.pipe = process, pipe
        self.units: deque[Unit] = deque()
        self.started, self.seconds = False, _BUSY

    @property
    def ahead(self) -> int:
        """Number of units it should hold."""
        return min(max(AHEAD, int(_BUSY / max(self.seconds, 1e-9))), MOST_AHEAD)


def play_units(
    units: Sequence[Unit],
    begin: Callable[..., Play],
    arguments: tuple[Any, ...],
    log: ResultsLog,
    workers: int,
    on_progress: Callable[[int], None] | None = None,
) -> None:
    """Plays the units without results, or marked `replay`, in several processes.

    Args:
        begin: importable; ``begin(*arguments)`` runs once in each process and returns its `Play`.

    Raises:
        UserError: of a process, or if a unit cost three processes; results so far are kept.
    """
    waiting = deque(unit for unit in units if unit.is_missing(log))
    losses: dict[Hashable, int] = {}
    early = 0
    context = multiprocessing.get_context("spawn")
    farm: list[_Process] = []
    try:
        while waiting or any(one.units for one in farm):
            while len(farm) < min(workers, len(waiting) + sum(bool(one.units) for one in farm)):
                farm.append(_start(context, begin, arguments))
            while waiting and (free := [one for one in farm if len(one.units) < one.ahead]):
                _send(min(free, key=lambda one: len(one.units)), waiting.popleft())
            found, lost = _receive(farm)
            log.append(found)
            early = 0 if found else early
            if on_progress is not None and found:
                on_progress(len(log.results))
            for one in lost:
                farm.remove(one)
                early = _charge(one, losses, early)
                waiting.extendleft(reversed(one.units))
    finally:
        _kill(farm)


def _start(context: Any, begin: Callable[..., Play], arguments: tuple[Any, ...]) -> _Process:
    ours, theirs = context.Pipe()
    # Not a daemon, which could not start processes for its environments; `_kill` or a lost parent ends it.
    process = context.Process(target=_work, args=(theirs, begin, arguments, os.getpid()), daemon=False)
    process.start()
    theirs.close()  # so that the pipe ends when the process does
    return _Process(process, ours)


def _send(one: _Process, unit: Unit) -> None:
    one.units.append(unit)
    with contextlib.suppress(OSError):  # the process is lost; `_receive` notices
        one.pipe.send(unit.what)


def _receive(farm: Sequence[_Process]) -> tuple[dict[str, Mapping[str, Any]], list[_Process]]:
    """Waits for messages; returns all results and the lost processes. Raises UserErrors of processes."""
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
                if one.started:
                    found |= results
                    one.units.popleft()
                one.started = True
        except (EOFError, OSError):
            lost.append(one)
    return found, lost


def _charge(one: _Process, losses: dict[Hashable, int], early: int) -> int:
    """Charges a lost process to its unit; returns the number lost in a row before they played."""
    one.process.join()
    if not one.started:
        if early + 1 >= _LOSSES * 3:
            raise UserError(
                f"{early + 1} processes were lost before they played a match, the last with exit code {one.process.exitcode}; "
                "play with --workers 1 to see why"
            )
        return early + 1
    if not one.units:
        return early
    unit = one.units[0]
    losses[unit.what] = losses.get(unit.what, 0) + 1
    if losses[unit.what] >= _LOSSES:
        raise UserError(
            f"match {unit.keys[0]}: {_LOSSES} processes were lost while they played it, the last with exit code "
            f"{one.process.exitcode}; play with --workers 1 to see why, or with less memory in use"
        )
    return early


def _kill(farm: Sequence[_Process]) -> None:
    for one in farm:
        one.pipe.close()
        one.process.kill()
    for one in farm:
        one.process.join()


def _work(pipe: Any, begin: Callable[..., Play], arguments: tuple[Any, ...], parent: int) -> None:
    """Main loop of a process: plays received units until the coordinator is gone."""
    for name in ("SIGINT", "SIGHUP"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)  # the coordinator handles them
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
