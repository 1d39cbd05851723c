"""Windows: stretches of a run's first world, recorded while it is trained on (docs/specs/viewer.md 2).

Recording only looks: no random stream is drawn from and nothing of the world is written to, so a run comes out the same with it and
without. What goes wrong with it is told once and ends it, never the run.
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
from interplay.core.errors import UserError
from interplay.core.files import os_errors_as_user_errors
from interplay.core.replay import WorldRecorder
from interplay.core.replay.layout import RECORDINGS, SUFFIX, WATCHING
from interplay.core.world import World
from interplay.train.selfplay.lineups import opponents_in_words
from interplay.train.settings import TrainSettings

SHARE = 0.03  # of the time of training, at most
WATCHED = 15.0  # seconds for which a viewer's word counts
FIRST_SECONDS = 0.5  # that the first window is taken to cost; of later ones it is known
MOST_BYTES = 32 * 2**20  # of a window; one that takes more is cut short
NEWEST = 3  # windows that are never thinned out: somebody may be watching them
_NAME = re.compile(rf"([0-9]{{6,}})-([0-9]{{1,}}){re.escape(SUFFIX)}")


class Window(NamedTuple):
    """A window that was recorded.

    Attributes:
        number: counts on over the whole run.
        agent_steps: of the run when it began.
        path: of the file.
    """

    number: int
    agent_steps: int
    path: Path


class Tap:
    """Records windows of the first world of a batch while a trainer steps it.

    Its time is counted by the clock on the wall, so that waiting for the disk counts too.

    Args:
        run: the run's folder.
        world: the batch, whose first world is recorded.
        settings: of the run.
        say: told in one line why recording has ended before its run, if it has.
        clock: seconds.
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
        self._recorded, self._spent, self._starting = (
            0,
            0.0,
            0.0,
        )  # ticks of all windows, seconds, and those of their first ticks
        self._heard: float | None = None  # when a viewer last said that somebody watches
        self._word: int | None = None
        self._began = clock()
        self._on = settings.record.every > 0
        if self._on:
            with self._aside():
                self._folder.mkdir(exist_ok=True)
                self._number = max((one.number for one in windows(self._folder)), default=0)
                self._word = self._read_word()  # what was said before counts only if it is said again

    def move(self, world: World, options: Mapping[str, Any]) -> None:
        """Records another batch from here on, which was made with these options too."""
        self.close()
        self._world, self._options = world, dict(options)

    @property
    def share(self) -> float:
        """Of the time so far, what recording took."""
        return self._spent / max(self._clock() - self._began, 1e-9)

    def open(self, updates: int, agent_steps: int) -> None:
        """An update begins, and with it a window if it is time for one.

        Args:
            updates: done so far.
            agent_steps: of the run so far.
        """
        if not self._on or self._window is not None:
            return
        before = self._spent
        with self._aside():
            if (updates >= self._due or self._is_watched()) and self._is_cheap():
                self._due = updates + self._settings.record.every
                self._begin(agent_steps)
        self._starting += self._spent - before

    def begin(self) -> None:
        """The world was just reset."""
        self._fresh = True
        if self._window is not None:
            with self._aside():
                self._window.begin()
                self._count()

    def step(self, action: Any) -> None:
        """The world was just stepped.

        Args:
            action: of the whole batch, as `World.step` took it.
        """
        self._fresh = False
        if self._window is not None:
            with self._aside():
                self._window.step(action, last=bool(self._world.timestep.over[0]))
                self._count()

    def close(self) -> None:
        """Ends the window that is under way; it can be watched as far as it has come."""
        if self._window is not None:
            with self._aside():
                self._end()

    def _begin(self, agent_steps: int) -> None:
        thin(self._folder, self._settings.record.keep, agent_steps)
        self._number, self._ticks = self._number + 1, 0
        others = opponents_in_words(self._settings)
        header = {
            "seed": self._settings.seed,
            "options": {**self._settings.world.options, **self._options},
            "policy": f"{self._run.resolve().name} at {agent_steps:,}, in training{f' ({others})' if others else ''}",
            "started": datetime.now(UTC).isoformat(timespec="seconds"),
            "interplay": __version__,
        }
        # Who acts through interfaces acts otherwise than the world takes that a reader makes.
        exact = not self._settings.interfaces
        path = self._folder / f"{self._number:06d}-{agent_steps}{SUFFIX}"
        recorder = WorldRecorder(path, self._world, header=header, exact=exact, growing=True, level=1)
        self._window = self._open.enter_context(recorder)
        recorder.begin(under_way=not self._fresh)
        self._count()

    def _count(self) -> None:
        """Ends the window when it is long enough."""
        assert self._window is not None
        self._ticks, self._recorded = self._ticks + 1, self._recorded + 1
        full = self._ticks >= self._settings.record.ticks or self._window.size > MOST_BYTES
        if full or not self._affords(0.0):
            self._end()

    def _end(self) -> None:
        self._window = None
        self._open.close()

    def _is_cheap(self) -> bool:
        """Whether a whole window stays within the share of the time, going by those before; what is drawn first may be compiled first."""
        seconds = FIRST_SECONDS
        if self._recorded:
            seconds = (self._spent - self._starting) / self._recorded * self._settings.record.ticks
        return self._affords(seconds)

    def _affords(self, seconds: float) -> bool:
        return self._spent + seconds <= SHARE * (self._clock() - self._began)

    def _is_watched(self) -> bool:
        """Whether a viewer has renewed its word of late; only that it changes counts, whatever its clock says."""
        word, now = self._read_word(), self._clock()
        if word != self._word:
            self._word, self._heard = word, now if word is not None else None
        return self._heard is not None and now - self._heard <= WATCHED

    def _read_word(self) -> int | None:
        try:
            return os.lstat(self._folder / WATCHING).st_mtime_ns
        except OSError:
            return None

    @contextmanager
    def _aside(self) -> Iterator[None]:
        """Counts the time, and lets no failure through."""
        began = self._clock()
        try:
            with os_errors_as_user_errors("recording into", self._folder):
                yield
        except Exception as error:  # of the disk, or of a world's own `draw`
            self._give_up(error)
        finally:
            self._spent += self._clock() - began

    def _give_up(self, error: Exception) -> None:
        self._on, self._window = False, None
        with suppress(Exception):
            self._open.__exit__(type(error), error, None)
        words = " ".join(str(error).split())[:300]
        if not isinstance(error, UserError):
            words = f"recording {self._world.id}: {type(error).__name__}: {words}"
        self._say(f"{words}; the run goes on without recordings")


def windows(folder: Path) -> list[Window]:
    """The windows of a run in the order of their numbers; other files are nobody's business."""
    found = []
    for entry in os.scandir(folder):
        named = _NAME.fullmatch(entry.name)
        if named is not None and entry.is_file(follow_symlinks=False):
            found.append(Window(int(named[1]), int(named[2]), folder / entry.name))
    return sorted(found)


def thin(folder: Path, keep: int, agent_steps: int) -> None:
    """Removes windows so that `keep` are there with one that begins now, at `agent_steps` of the run."""
    there = windows(folder)
    left = even([*(one.agent_steps for one in there), agent_steps], keep)
    for place, one in enumerate(there):
        if place not in left:
            one.path.unlink(missing_ok=True)


def even(steps: Sequence[int], keep: int) -> list[int]:
    """Which windows stay: the first, the newest, and others as evenly over the run as there are; of one the newest.

    Args:
        steps: where they began, in the order of their numbers.
        keep: how many stay.

    Returns:
        Their places.

    Example:
        >>> even([0, 10, 20, 30, 40, 50, 60, 70, 80, 90], 6)
        [0, 2, 4, 7, 8, 9]
    """
    left = list(range(len(steps)))
    while len(left) > keep:
        between = range(1, len(left) - NEWEST)
        oldest = min(1, keep - 1)  # the first goes only where there is room for one alone
        del left[min(between, key=lambda i: steps[left[i + 1]] - steps[left[i - 1]], default=oldest)]
    return left


def remove_windows(run: Path) -> None:
    """Removes what `Tap` has put into a run's folder, and the folder of recordings if nothing else is in it."""
    with suppress(OSError):
        for one in windows(run / RECORDINGS):
            one.path.unlink(missing_ok=True)
        (run / RECORDINGS / WATCHING).unlink(missing_ok=True)
        (run / RECORDINGS).rmdir()
