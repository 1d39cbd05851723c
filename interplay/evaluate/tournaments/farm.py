"""Plays matches in several processes and keeps each result exactly once.

Only the coordinator writes: it sends units of work to processes and appends their results to the log, many by one fsync. A unit's
results are a pure function of `Unit.what`. So if a process is lost, its units go to others, and results that a killed coordinator had
not logged are reproduced by the next one.
"""

from __future__ import annotations

import os
import socket
import time
from collections import deque
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

from interplay.core.errors import UserError
from interplay.core.overdue import print_line
from interplay.core.processes import HERE, LOST, Place, Starts, TaskProcess, kill_all, receive
from interplay.core.versions import check_versions, versions
from interplay.evaluate.tournaments.results_log import ResultsLog

Result = Mapping[str, Mapping[str, Any]]  # key -> result
Play = Callable[[Any], Result]
# Units that a process holds: the current one and the next; more if they are short.
AHEAD, MOST_AHEAD = 2, 64
_BUSY = 0.1  # seconds of work that a process should hold, so that it does not wait while results are kept
ABORTED = "aborted"  # key of the result of a match that cost `_LOSSES` processes
_LOSSES = 3  # processes that a unit may cost
_EARLY = (
    9  # processes lost in a row before they play, after which no more are started until there is a result
)


class Unit(NamedTuple):
    """Some matches that are played together.

    Attributes:
        what: argument of `Play`, hashable and picklable.
        keys: of the results.
        replay: play even if there are results, because something else is missing (a recording).
        parts: units of single matches, which are played instead if this one costs three processes.
    """

    what: Any
    keys: tuple[str, ...]
    replay: bool = False
    parts: tuple[Unit, ...] = ()

    def is_missing(self, log: ResultsLog) -> bool:
        """Whether it must still be played."""
        return self.replay or bool(log.missing(self.keys))


def blocks_of(count: int, size: int) -> list[range]:
    """The numbers 0 .. count - 1 in blocks.

    Example:
        >>> blocks_of(5, 2)
        [range(0, 2), range(2, 4), range(4, 5)]
    """
    return [range(first, min(first + size, count)) for first in range(0, count, size)]


class _Player(TaskProcess):
    """A process of the farm.

    Attributes:
        started: whether `begin` has returned.
        seconds: duration of its last unit.
    """

    def __init__(
        self, begin: Callable[..., Play], arguments: tuple[Any, ...], wanted: Mapping[str, str], place: Place
    ) -> None:
        super().__init__(_work, begin, arguments, wanted, place=place)
        self.started, self.seconds = False, _BUSY

    @property
    def ahead(self) -> int:
        """Number of units it should hold."""
        return min(max(AHEAD, int(_BUSY / max(self.seconds, 1e-9))), MOST_AHEAD)


def play_here(
    units: Iterable[Unit], play: Play, log: ResultsLog, on_progress: Callable[[int], None] | None = None
) -> None:
    """Plays the units without results, or marked `replay`, in this process."""
    for unit in units:
        if unit.is_missing(log):
            log.append(play(unit.what))
            if on_progress is not None:
                on_progress(len(log.results))


def play_units(
    units: Sequence[Unit],
    begin: Callable[..., Play],
    arguments: tuple[Any, ...],
    log: ResultsLog,
    workers: int,
    on_progress: Callable[[int], None] | None = None,
    place: Place = HERE,
) -> None:
    """Plays the units without results, or marked `replay`, in several processes.

    Args:
        begin: importable; ``begin(*arguments)`` runs once in each process and returns its `Play`.
        place: starts the processes.

    Raises:
        UserError: of a process, if nine were lost before they played, or if none begins; results so far are kept.

    A match that cost three processes gets the result `ABORTED`.
    """
    waiting = deque(unit for unit in units if unit.is_missing(log))
    losses: dict[Hashable, int] = {}
    early = 0
    farm: list[_Player] = []
    starts, wanted = Starts(), {} if place is HERE else versions()
    try:
        while waiting or any(one.tasks for one in farm):
            needed = min(workers, len(waiting) + sum(bool(one.tasks) for one in farm))
            while early < _EARLY and len(farm) < needed:
                farm.append(_Player(begin, arguments, wanted, place))
            if waiting:
                starts.check(farm)
            _send(waiting, farm)
            found, lost = _receive(farm)
            log.append(found)
            early = 0 if found else early
            if on_progress is not None and found:
                on_progress(len(log.results))
            for one in lost:
                farm.remove(one)
                early = 0 if one.started else early + 1
                if not one.started:
                    _check_losses(early, farm, one.exit_code())
                elif one.tasks and _costs_too_much(one.tasks[0], losses):
                    unit = one.tasks.popleft()
                    waiting.extendleft(reversed(unit.parts))
                    if not unit.parts:
                        log.append({unit.keys[0]: {ABORTED: f"exit code {one.exit_code()}"}})
                waiting.extendleft(reversed(one.tasks))
    finally:
        kill_all(farm)


def _send(waiting: deque[Unit], farm: Sequence[_Player]) -> None:
    """Sends units to started processes; the last ones only to idle processes, since others may start soon."""
    started = [one for one in farm if one.started]
    late = len(farm) - len(started)
    while waiting:
        free = [one for one in started if len(one.tasks) < (one.ahead if len(waiting) > late else 1)]
        if not free:
            return
        unit = waiting.popleft()
        min(free, key=lambda one: len(one.tasks)).send(unit, unit.what)


def _receive(farm: Sequence[_Player]) -> tuple[dict[str, Mapping[str, Any]], list[_Player]]:
    """Waits for messages; returns all results and the lost processes. Raises UserErrors of processes."""
    found: dict[str, Mapping[str, Any]] = {}
    lost = []
    for one, message in receive(farm):
        if message is LOST:
            lost.append(one)
            continue
        results, one.seconds, trouble = message
        if trouble is not None:
            raise UserError(trouble)
        if one.started:
            found |= results
            one.tasks.popleft()
        one.started = True
    return found, lost


def _check_losses(early: int, farm: Sequence[_Player], code: int | None) -> None:
    """Refuses to go on if many processes in a row were lost before they played, and no other is left."""
    if early >= _EARLY and not farm:
        raise UserError(
            f"{early} processes were lost before they played a match, the last with exit code {code}; "
            "play with --workers 1 to see why"
        )


def _costs_too_much(unit: Unit, losses: dict[Hashable, int]) -> bool:
    """Counts a lost process of a unit; whether it has cost `_LOSSES`."""
    losses[unit.what] = losses.get(unit.what, 0) + 1
    return losses[unit.what] >= _LOSSES


def give_up(line: str) -> NoReturn:
    """Ends this process, for a call of `interplay.core.overdue` that did not come back."""
    print_line(f"{line}; this process is given up")
    os._exit(1)


def _work(
    pipe: Any, begin: Callable[..., Play], arguments: tuple[Any, ...], wanted: Mapping[str, str]
) -> None:
    """Main loop of a process: plays received units."""
    where = ""
    try:
        check_versions(wanted)
        where = f"on {socket.gethostname()}: " if wanted else ""
        play = begin(*arguments)
    except UserError as error:
        pipe.send(({}, _BUSY, f"{where}{error}"))
        return
    pipe.send(({}, _BUSY, None))  # it has begun
    while True:
        what, began = pipe.recv(), time.perf_counter()
        results, trouble = {}, None
        try:
            results = dict(play(what))
        except UserError as error:
            trouble = str(error)
        except (Exception, SystemExit) as error:
            trouble = f"{type(error).__name__}: {error}; play with --workers 1 to see where"
        pipe.send((results, time.perf_counter() - began, trouble))
