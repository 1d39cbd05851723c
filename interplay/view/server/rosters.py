"""The players of tournaments and leagues, by number: the only names for them that a page can say."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

from interplay.view.run_log import one_line
from interplay.view.server.ratings import RATINGS, has_league, read_ratings, reading_league
from interplay.view.server.refusals import NotThere, Unreadable
from interplay.view.server.sources import Sources

MOST = 10_000  # players of a folder


class Rosters:
    """Numbers players as they are met; lists grow and keep their numbers.

    Args:
        sources: that number the folders.
    """

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._lock = threading.Lock()
        self._names: dict[Path, list[str]] = {}

    def number(self, folder: Path, name: str) -> int:
        """The number of a player.

        Raises:
            Unreadable: if the folder has named too many.
        """
        with self._lock:
            names = self._names.setdefault(folder, [])
            if name not in names:
                if len(names) >= MOST:
                    raise Unreadable(f"{folder.name}: more than {MOST:,} players; start the viewer again")
                names.append(name)
            return names.index(name)

    def name(self, run: int, number: int) -> str:
        """The name of a player of a run, which is looked for there if its number is new.

        Raises:
            NotThere: if there is none.
        """
        folder = self._sources.run(run)
        if number >= len(self._names.get(folder, ())):
            self.players(run)
        names = self._names.get(folder, [])
        if number >= len(names):
            raise NotThere(f"player {number}: {folder.name} has {len(names)}; choose one of those")
        return names[number]

    def players(self, run: int) -> list[dict[str, Any]]:
        """Number and name of every player that a folder has now, in the order of their names.

        Raises:
            NotThere: if it is of nobody in particular.
            Unreadable: if they cannot be read.
        """
        folder = self._sources.run(run)
        found = _tournament(folder) if os.path.lexists(folder / RATINGS) else _league(folder)
        told = [{"id": self.number(folder, name), "name": one_line(name)} for name in found]
        return sorted(told, key=lambda one: str(one["name"]))


def _tournament(folder: Path) -> list[str]:
    told = read_ratings(folder)
    names = told.get("names") if isinstance(told, dict) else None
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise Unreadable(
            f"{folder.name}/{RATINGS}: no names of players; rate again with `interplay tournament --resume`"
        )
    return names


def _league(run: Path) -> list[str]:
    if not has_league(run):
        raise NotThere(f"{run.name}: nobody plays there by a name; open a tournament or a league")
    with reading_league(run):
        from interplay.train.play.policy import population_names
        from interplay.train.run.checkpoint import find_checkpoint

        return population_names(find_checkpoint(run))  # fixed players play no world of the run by themselves
