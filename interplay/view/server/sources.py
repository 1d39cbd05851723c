"""What there is to see, by number: the only names that a page can say (docs/specs/viewer.md 6 and 11).

A number is a place in a list that was made when the folder was looked through. Lists grow and keep their numbers.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from interplay.core.errors import UserError
from interplay.core.reading import read_toml
from interplay.view.run_log import one_line
from interplay.view.server.config import LISTED, LISTING_SECONDS
from interplay.view.server.folder import Place, search
from interplay.view.server.ratings import has_ratings
from interplay.view.server.refusals import NotThere

T = TypeVar("T")


class Opened(NamedTuple):
    """What the user named.

    Attributes:
        name: as it was typed; empty where nothing was.
        root: folder that is searched; None: none is.
        file: the one recording that is shown instead.
        worlds: ids of the worlds that can be watched without a run.
        player: of the run's league, who plays its world; empty: its first learner.
    """

    name: str
    root: Path | None
    file: Path | None = None
    worlds: tuple[str, ...] = ()
    player: str = ""


class Sources:
    """Runs, recordings and worlds by number.

    Args:
        opened: what the user named.
        clock: seconds.

    Attributes:
        worlds: their ids.
    """

    def __init__(self, opened: Opened, clock: Callable[[], float] = time.monotonic) -> None:
        self.opened, self.worlds, self._clock = opened, opened.worlds, clock
        self._root = None if opened.root is None else opened.root.resolve()
        self._lock = threading.Lock()
        self._runs: list[Path] = []
        self._recordings: list[Place] = []
        self._looked = -LISTING_SECONDS
        if opened.file is not None:
            file = opened.file.resolve()  # the user's own word may be a link
            self._root, self._recordings = file.parent, [Place(file, None)]
        self.refresh()

    def refresh(self) -> None:
        """Adds what has come into the folder since, once a second at most."""
        with self._lock:
            if self._root is None or self.opened.file is not None:
                return
            if self._clock() - self._looked < LISTING_SECONDS:
                return
            runs, recordings = search(self._root)
            _add(self._runs, runs)
            _add(self._recordings, recordings)
            self._looked = self._clock()

    def run(self, number: int) -> Path:
        """The folder of a run.

        Raises:
            NotThere: if no run has that number, or a link stands in its place now.
        """
        return self._own(_at(self._runs, number, "run"))

    def runs(self) -> list[Path]:
        """The folders of all runs; those where a link stands now are left out."""
        with self._lock:
            every = list(self._runs)
        return [path for path in every if Path(os.path.realpath(path)) == path]

    def recording(self, number: int) -> Path:
        """The file of a recording; errors as of `run`."""
        return self._own(_at(self._recordings, number, "recording").path)

    def world(self, number: int) -> str:
        """The id of a world.

        Raises:
            NotThere: if none has that number.
        """
        return _at(self.worlds, number, "world")

    def name_of(self, path: Path) -> str:
        """What a path is called on the page: from the folder that was opened on."""
        inside = "." if self._root is None else os.path.relpath(path, self._root)
        return one_line(path.name if inside == "." else inside)

    def plain(self, text: str) -> str:
        """A line for the page with files as they are called there, not where they lie on this machine."""
        root = "" if self._root is None else str(self._root)
        if len(root) < 2:
            return text
        return text.replace(root + os.sep, "").replace(root, Path(root).name)

    def matches(self, number: int) -> list[tuple[int, Path]]:
        """Numbers and files of a run's recordings, in the order of their names, looked for now.

        Raises:
            NotThere: as `run`.
        """
        run = self.run(number)
        found = search(run)[1]
        with self._lock:
            if self.opened.file is None:
                _add(self._recordings, [place._replace(run=run) for place in found])
            numbers = {place.path: n for n, place in enumerate(self._recordings)}
        return [(numbers[place.path], place.path) for place in found if place.path in numbers]

    def page(self, page: int, describe: Callable[[int, Path], dict[str, Any]]) -> dict[str, Any]:
        """A page of everything, 200 of each.

        Args:
            page: its number.
            describe: what a recording says of itself, given its number and path.
        """
        self.refresh()
        part = slice(page * LISTED, (page + 1) * LISTED)
        with self._lock:
            runs, every = list(enumerate(self._runs)), list(enumerate(self._recordings))
        # Trainers remove old windows; numbers stay.
        recordings = [(number, place) for number, place in every if os.path.lexists(place.path)]
        numbers = {path: number for number, path in runs}
        worlds = [{"id": number, "name": name} for number, name in enumerate(self.worlds)]
        return {
            "runs": [self._tell_run(number, path) for number, path in runs[part]],
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

    def _tell_run(self, number: int, path: Path) -> dict[str, Any]:
        from interplay.train.run.checkpoint import list_checkpoints

        world, checkpoints, rated = "", [], False
        try:
            checkpoints = list_checkpoints(path)
            world = _world_of(path)
            rated = has_ratings(path)
        except UserError:
            pass  # who opens it is told
        return {
            "id": number,
            "name": self.name_of(path),
            "world": one_line(world),
            "agent_steps": int(checkpoints[-1].name) if checkpoints else 0,
            "checkpoint": bool(checkpoints),
            "ratings": rated,
        }

    def _own(self, path: Path) -> Path:
        """The path, if no link leads there: neither now nor when the folder was looked through."""
        if Path(os.path.realpath(path)) != path:
            raise NotThere(f"{self.name_of(path)}: a link leads there now; put the file itself there")
        if not os.path.lexists(path):
            raise NotThere(f"{self.name_of(path)}: it was removed; choose another one")
        return path


def _world_of(path: Path) -> str:
    """The id of a run's, or tournament's, world."""
    name = "settings.toml" if os.path.lexists(path / "settings.toml") else "tournament.toml"
    world = read_toml(path / name, links=False).get("world", "")
    return str(world.get("id", "") if isinstance(world, dict) else world)


def _add(known: list[T], found: Sequence[T]) -> None:
    there = set(known)
    known += [one for one in found if one not in there]


def _at(every: Sequence[T], number: int, what: str) -> T:
    if not 0 <= number < len(every):
        raise NotThere(f"{what} {str(number)[:20]}: there is none; /api/sources lists all")
    return every[number]
