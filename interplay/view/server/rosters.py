"""Numbers the players of tournaments and leagues; pages name them by number only."""

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
    """Numbers players in the order in which they are found; numbers never change."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._lock = threading.Lock()
        self._names: dict[Path, list[str]] = {}

    def number(self, folder: Path, name: str) -> int:
        """The number of a player.

        Raises:
            Unreadable: if the folder has too many.
        """
        with self._lock:
            names = self._names.setdefault(folder, [])
            if name not in names:
                if len(names) >= MOST:
                    raise Unreadable(f"{folder.name}: more than {MOST:,} players; start the viewer again")
                names.append(name)
            return names.index(name)

    def name(self, run: int, number: int) -> str:
        """The name of a player of a run; reads the run if the number is new.

        Raises:
            NotThere: for an unknown number.
        """
        folder = self._sources.run(run)
        if number >= len(self._names.get(folder, ())):
            self.players(run)
        names = self._names.get(folder, [])
        if number >= len(names):
            raise NotThere(f"player {number}: {folder.name} has {len(names)}; choose one of those")
        return names[number]

    def players(self, run: int) -> list[dict[str, Any]]:
        """Number and name of each current player of a folder, in the order of names.

        Raises:
            NotThere: if the folder has no players by name.
            Unreadable: if they cannot be read.
        """
        folder = self._sources.run(run)
        found = _tournament(folder) if os.path.lexists(folder / RATINGS) else _league(folder)
        players = [{"id": self.number(folder, name), "name": one_line(name)} for name in found]
        return sorted(players, key=lambda one: str(one["name"]))


def _tournament(folder: Path) -> list[str]:
    ratings = read_ratings(folder)
    names = ratings.get("names") if isinstance(ratings, dict) else None
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise Unreadable(
            f"{folder.name}/{RATINGS}: no names of players; rate again with `interplay tournament --resume`"
        )
    return names


def _league(run: Path) -> list[str]:
    if not has_league(run):
        raise NotThere(f"{run.name}: it has no named players; open a tournament or a league")
    with reading_league(run):
        from interplay.train.play.policy import population_names
        from interplay.train.run.checkpoint import find_checkpoint

        return population_names(find_checkpoint(run))  # without fixed players
