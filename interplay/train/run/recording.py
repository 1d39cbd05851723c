"""Records windows of a run's first world during training (docs/specs/viewer.md 2).

Recording draws no random numbers and changes no world, so it does not affect the run. An error ends recording with one warning.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from interplay import __version__
from interplay.core.errors import UserError, one_line
from interplay.core.files import os_errors_as_user_errors
from interplay.core.replay import WorldRecorder
from interplay.core.replay.layout import RECORDINGS, SUFFIX, WATCHING
from interplay.core.world import World
from interplay.registry import lay_options
from interplay.train.selfplay.lineups import opponents_in_words
from interplay.train.settings import TrainSettings

SHARE = 0.03  # most of the training time
WATCHED = 15.0  # seconds that a viewer's heartbeat counts
FIRST_SECONDS = 0.5  # estimated cost of the first window; later ones are measured
MOST_BYTES = 32 * 2**20  # of a window; a larger one is cut short
NEWEST = 3  # windows that `thin` never removes: a viewer may show them
_NAME = re.compile(rf"([0-9]{{6,}})-([0-9]{{1,}}){re.escape(SUFFIX)}")


class Window(NamedTuple):
    """A recorded window.

    Attributes:
        number: counted over the whole run.
        agent_steps: of the run when it began.
        path: of the file.
    """

    number: int
    agent_steps: int
    path: Path


class WindowRecorder:
    """Records windows of the first world of a batch while a trainer steps it.

    Its cost is wall-clock time, so waiting for the disk counts too.

    Args:
        world: the batch, whose first world is recorded.
        say: called with one line if recording fails.
    """

    def __init__(
        self,
        run: Path,
        world: World,
        settings: TrainSettings,
        say: Callable[[str], object],
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._run, self._world, self._settings, self._say, self._clock = run, world, settings, say, clock
        self._folder = run / RECORDINGS
        self._options: dict[str, Any] = {}  # of the stage
        self._window: WorldRecorder | None = None
        self._open = ExitStack()
        self._fresh = False  # the world was reset since its last step
        self._ticks = self._due = self._number = 0
        self._recorded = 0  # ticks of all windows
        self._spent = self._starting = 0.0  # seconds in all, and of the windows' first ticks
        self._watched: float | None = None  # time of a viewer's last heartbeat
        self._heartbeat: int | None = None
        self._began = clock()
        self._on = settings.record.every > 0
        if self._on:
            with self._aside():
                self._folder.mkdir(exist_ok=True)
                self._number = max((one.number for one in windows(self._folder)), default=0)
                self._heartbeat = self._read_heartbeat()  # an earlier one does not count

    def move(self, world: World, options: Mapping[str, Any]) -> None:
        """Records another batch from now on, made with these options."""
        self.close()
        self._world, self._options = world, dict(options)

    @property
    def share(self) -> float:
        """Share of the time so far that recording took."""
        return self._spent / max(self._clock() - self._began, 1e-9)

    def open(self, updates: int, agent_steps: int) -> None:
        """Begins a window, if one is due, at the beginning of an update."""
        if not self._on or self._window is not None:
            return
        before = self._spent
        with self._aside():
            if (updates >= self._due or self._is_watched()) and self._is_cheap():
                self._due = updates + self._settings.record.every
                self._begin(agent_steps)
        self._starting += self._spent - before

    def begin(self) -> None:
        """To be called after each reset of the world."""
        self._fresh = True
        if self._window is not None:
            with self._aside():
                self._window.begin()
                self._count()

    def step(self, action: Any) -> None:
        """To be called after each step.

        Args:
            action: of the whole batch, as given to `World.step`.
        """
        self._fresh = False
        if self._window is not None:
            with self._aside():
                self._window.step(action, last=bool(self._world.timestep.over[0]))
                self._count()

    def close(self) -> None:
        """Ends the current window early."""
        if self._window is not None:
            with self._aside():
                self._end()

    def _begin(self, agent_steps: int) -> None:
        thin(self._folder, self._settings.record.keep, agent_steps)
        self._number, self._ticks = self._number + 1, 0
        others = opponents_in_words(self._settings)
        header = {
            "seed": self._settings.seed,
            "options": lay_options(self._settings.world.id, self._settings.world.options, self._options),
            "policy": f"{self._run.resolve().name} at {agent_steps:,}, in training{f' ({others})' if others else ''}",
            "started": datetime.now(UTC).isoformat(timespec="seconds"),
            "interplay": __version__,
        }
        # Actions through interfaces cannot be replayed in a world without them.
        exact = not self._settings.interfaces
        path = self._folder / f"{self._number:06d}-{agent_steps}{SUFFIX}"
        recorder = WorldRecorder(path, self._world, header=header, exact=exact, growing=True, level=1)
        self._window = self._open.enter_context(recorder)
        recorder.begin(under_way=not self._fresh)
        self._count()

    def _count(self) -> None:
        """Counts a tick, and ends the window at its full length."""
        assert self._window is not None
        self._ticks, self._recorded = self._ticks + 1, self._recorded + 1
        full = self._ticks >= self._settings.record.ticks or self._window.size > MOST_BYTES
        if full or not self._affords(0.0):
            self._end()

    def _end(self) -> None:
        self._window = None
        self._open.close()

    def _is_cheap(self) -> bool:
        """Whether a whole window fits the time share, by the earlier ones without their first ticks, which may compile."""
        seconds = FIRST_SECONDS
        if self._recorded:
            seconds = (self._spent - self._starting) / self._recorded * self._settings.record.ticks
        return self._affords(seconds)

    def _affords(self, seconds: float) -> bool:
        return self._spent + seconds <= SHARE * (self._clock() - self._began)

    def _is_watched(self) -> bool:
        """Whether a viewer's heartbeat file changed lately; its own clock does not matter."""
        heartbeat, now = self._read_heartbeat(), self._clock()
        if heartbeat != self._heartbeat:
            self._heartbeat, self._watched = heartbeat, now if heartbeat is not None else None
        return self._watched is not None and now - self._watched <= WATCHED

    def _read_heartbeat(self) -> int | None:
        try:
            return os.lstat(self._folder / WATCHING).st_mtime_ns
        except OSError:
            return None

    @contextmanager
    def _aside(self) -> Iterator[None]:
        """Measures the time, and turns an error into the end of recording."""
        began = self._clock()
        try:
            with os_errors_as_user_errors("recording into", self._folder):
                yield
        except Exception as error:  # of the disk, or of a world's `draw`
            self._give_up(error)
        finally:
            self._spent += self._clock() - began

    def _give_up(self, error: Exception) -> None:
        self._on, self._window = False, None
        with suppress(Exception):
            self._open.__exit__(type(error), error, None)
        words = one_line(error)[:300]
        if not isinstance(error, UserError):
            words = f"recording {self._world.id}: {type(error).__name__}: {words}"
        self._say(f"{words}; the run goes on without recordings")


def windows(folder: Path) -> list[Window]:
    """The windows of a run by number; other files are ignored."""
    found = []
    for entry in os.scandir(folder):
        named = _NAME.fullmatch(entry.name)
        if named is not None and entry.is_file(follow_symlinks=False):
            found.append(Window(int(named[1]), int(named[2]), folder / entry.name))
    return sorted(found)


def thin(folder: Path, keep: int, agent_steps: int) -> None:
    """Removes windows so that `keep` remain, including one that begins now, at `agent_steps` of the run."""
    present = windows(folder)
    left = even([*(one.agent_steps for one in present), agent_steps], keep)
    for place, one in enumerate(present):
        if place not in left:
            one.path.unlink(missing_ok=True)


def even(steps: Sequence[int], keep: int) -> list[int]:
    """Indices of the windows to keep: the first, the newest, and others evenly spread; of one the newest.

    Args:
        steps: agent-steps at their beginnings, in order.
        keep: number of windows.

    Example:
        >>> even([0, 10, 20, 30, 40, 50, 60, 70, 80, 90], 6)
        [0, 2, 4, 7, 8, 9]
    """
    left = list(range(len(steps)))
    while len(left) > keep:
        between = range(1, len(left) - NEWEST)
        oldest = min(1, keep - 1)  # the first is removed only if keep is 1
        del left[min(between, key=lambda i: steps[left[i + 1]] - steps[left[i - 1]], default=oldest)]
    return left


def remove_windows(run: Path) -> None:
    """Removes the files of `WindowRecorder`, and the folder if it is empty then."""
    with suppress(OSError):
        for one in windows(run / RECORDINGS):
            one.path.unlink(missing_ok=True)
        (run / RECORDINGS / WATCHING).unlink(missing_ok=True)
        (run / RECORDINGS).rmdir()
