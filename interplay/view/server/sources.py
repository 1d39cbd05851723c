"""Finds runs, recordings and worlds, and numbers them; pages name them by number only (docs/specs/viewer.md 6 and 11).

No number is given twice. Links are not followed.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from interplay.core.errors import UserError
from interplay.core.reading import METRICS_FILE, read_toml
from interplay.core.replay.layout import SUFFIX
from interplay.view.run_log import one_line
from interplay.view.server.config import DEPTH, FOUND, LISTED, LISTING_SECONDS, WORDS
from interplay.view.server.ratings import has_ratings
from interplay.view.server.refusals import NotThere

T = TypeVar("T")

_OF_A_RUN = (METRICS_FILE, "checkpoints")
_OF_A_TOURNAMENT = ("tournament.toml", "ratings.json")
_BEGUN = ("settings.toml", "tournament.toml")
_NOT_SEARCHED = ("checkpoints",)


class Opened(NamedTuple):
    """What the user opened.

    Attributes:
        name: as typed; may be empty.
        root: folder to search, or None.
        file: a single recording instead.
        worlds: ids of worlds that can be watched without a run.
        player: of the run's league; empty: its first learner.
    """

    name: str
    root: Path | None
    file: Path | None = None
    worlds: tuple[str, ...] = ()
    player: str = ""


class Place(NamedTuple):
    """A run, tournament or recording; `run` is the folder of the run or tournament that it is or lies in, or None."""

    path: Path
    run: Path | None


class Sources:
    """Runs, recordings and worlds by number; `clock` returns seconds."""

    def __init__(self, opened: Opened, clock: Callable[[], float] = time.monotonic) -> None:
        self.opened, self.worlds, self._clock = opened, opened.worlds, clock
        self._root = None if opened.root is None else opened.root.resolve()
        self._lock = threading.Lock()
        self._runs: list[Path] = []
        self._recordings: dict[int, Place] = {}
        self._numbers = count()  # of recordings
        self._looked = -LISTING_SECONDS
        if opened.file is not None:
            file = opened.file.resolve()  # what the user typed may be a link
            self._root, self._recordings = file.parent, {0: Place(file, None)}
        self.refresh()

    def refresh(self) -> None:
        """Adds new entries of the folder, and drops removed recordings, at most once a second."""
        with self._lock:
            if self._root is None or self.opened.file is not None:
                return
            if self._clock() - self._looked < LISTING_SECONDS:
                return
            runs, recordings = search(self._root)
            known = set(self._runs)
            self._runs += [run for run in runs if run not in known]
            self._renew(recordings)
            self._looked = self._clock()

    def _renew(self, found: Sequence[Place], run: Path | None = None) -> None:
        """Numbers new recordings and drops removed ones, of a run or of the whole folder."""
        numbers = {place.path: number for number, place in self._recordings.items()}
        for place in found:
            number = numbers.pop(place.path, None)
            self._recordings[next(self._numbers) if number is None else number] = place
        for path, number in numbers.items():  # `search` may have left some out
            if run in (None, self._recordings[number].run) and not os.path.lexists(path):
                del self._recordings[number]

    def run(self, number: int) -> Path:
        """The folder of a run.

        Raises:
            NotThere: for an unknown number, or if the run was replaced by a link.
        """
        return self._own(_at(self._runs, number, "run"))

    def runs(self) -> list[Path]:
        """The folders of all runs, without those replaced by links."""
        with self._lock:
            every = list(self._runs)
        return [path for path in every if Path(os.path.realpath(path)) == path]

    def recording(self, number: int) -> Path:
        """The file of a recording; errors as of `run`."""
        return self._own(_at(self._recordings, number, "recording").path)

    def world(self, number: int) -> str:
        """The id of a world; errors as of `run`."""
        return _at(self.worlds, number, "world")

    def name_of(self, path: Path) -> str:
        """The page's name of a path: relative to the opened folder."""
        inside = "." if self._root is None else os.path.relpath(path, self._root)
        return one_line(path.name if inside == "." else inside)

    def plain(self, text: str) -> str:
        """Replaces paths in a text by the page's names."""
        root = "" if self._root is None else str(self._root)
        if len(root) < 2:
            return text
        return text.replace(root + os.sep, "").replace(root, Path(root).name)

    def words(self, error: Exception) -> str:
        """The text of an error for pages: one short line, with the page's names of files."""
        return one_line(self.plain(str(error)))[:WORDS]

    def matches(self, number: int) -> list[tuple[int, Path]]:
        """Numbers and files of a run's current recordings, in the order of names; errors as of `run`."""
        run = self.run(number)
        found = [place._replace(run=run) for place in search(run)[1]]
        with self._lock:
            self._renew(found, run)
            numbers = {place.path: number for number, place in self._recordings.items()}
        return [(numbers[place.path], place.path) for place in found]

    def page(self, page: int, describe: Callable[[int, Path], dict[str, Any]]) -> dict[str, Any]:
        """A page of the listing, `LISTED` of each kind; `describe` returns the fields of a recording."""
        self.refresh()
        part = slice(page * LISTED, (page + 1) * LISTED)
        with self._lock:
            runs, recordings = list(enumerate(self._runs)), list(self._recordings.items())
        numbers = {path: number for number, path in runs}
        worlds = [{"id": number, "name": name} for number, name in enumerate(self.worlds)]
        return {
            "runs": [self._describe_run(number, path) for number, path in runs[part]],
            "recordings": [
                {
                    "id": number,
                    "run": None if place.run is None else numbers.get(place.run),
                    "name": self.name_of(place.path),
                    **describe(number, place.path),
                }
                for number, place in recordings[part]
            ],
            "worlds": worlds[part],
            "more": any(len(those) > part.stop for those in (runs, recordings, worlds)),
        }

    def _describe_run(self, number: int, path: Path) -> dict[str, Any]:
        from interplay.train.run.checkpoint import list_checkpoints

        world, checkpoints, rated = "", [], False
        try:
            checkpoints = list_checkpoints(path)
            world = _world_of(path)
            rated = has_ratings(path)
        except UserError:
            pass  # opening the run reports it
        return {
            "id": number,
            "name": self.name_of(path),
            "world": one_line(world),
            "agent_steps": int(checkpoints[-1].name) if checkpoints else 0,
            "checkpoint": bool(checkpoints),
            "ratings": rated,
        }

    def _own(self, path: Path) -> Path:
        """The path, if it exists and is no link."""
        if Path(os.path.realpath(path)) != path:
            raise NotThere(f"{self.name_of(path)}: it is a link now; put the file itself there")
        if not os.path.lexists(path):
            raise NotThere(f"{self.name_of(path)}: it was removed; choose another one")
        return path


def _world_of(path: Path) -> str:
    """World id of a run or tournament."""
    name = "settings.toml" if os.path.lexists(path / "settings.toml") else "tournament.toml"
    world = read_toml(path / name, links=False).get("world", "")
    return str(world.get("id", "") if isinstance(world, dict) else world)


def _at(every: Sequence[T] | Mapping[int, T], number: int, what: str) -> T:
    try:
        return every[number]
    except (IndexError, KeyError):
        raise NotThere(f"{what} {str(number)[:20]}: removed or unknown; /api/sources lists all") from None


def search(root: Path) -> tuple[list[Path], list[Place]]:
    """Runs and tournaments, and recordings, of a folder, each in the order of names and at most `FOUND`.

    Args:
        root: a folder without links in its path.
    """
    runs: list[Path] = []
    recordings: list[Place] = []
    for place in _walk(root, None, DEPTH):
        if place.path == place.run:
            if len(runs) < FOUND:
                runs.append(place.path)
        elif len(recordings) < FOUND:
            recordings.append(place)
    return sorted(runs), sorted(recordings)


def is_begun(root: Path) -> bool:
    """Whether a folder is empty or holds a run or tournament that has just begun, which `search` does not find."""
    try:
        if not any(not entry.name.startswith(".") for entry in os.scandir(root)):
            return True
    except OSError:
        return False
    return any(_begun(root, DEPTH))


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    """The entries in the order of names; none of a folder that was removed or is not readable."""
    try:
        return sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return []


def _begun(folder: Path, depth: int) -> Iterator[bool]:
    entries = _entries(folder)
    if any(entry.name in _BEGUN and entry.is_file(follow_symlinks=False) for entry in entries):
        yield True
    for entry in entries:
        if depth and not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False):
            yield from _begun(folder / entry.name, depth - 1)


def _walk(folder: Path, run: Path | None, depth: int) -> Iterator[Place]:
    entries = _entries(folder)
    names = {entry.name for entry in entries if not entry.is_symlink()}
    is_run = "settings.toml" in names and any(name in names for name in _OF_A_RUN)
    if run is None and (is_run or all(name in names for name in _OF_A_TOURNAMENT)):
        run = folder
        yield Place(folder, folder)
    for entry in entries:
        if entry.is_symlink() or entry.name.startswith("."):
            continue
        if entry.name.endswith(SUFFIX) and entry.is_file(follow_symlinks=False):
            yield Place(folder / entry.name, run)
        elif depth and entry.is_dir(follow_symlinks=False) and entry.name not in _NOT_SEARCHED:
            yield from _walk(folder / entry.name, run, depth - 1)
