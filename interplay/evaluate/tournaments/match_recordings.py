"""Recordings of a tournament's matches: ``matches/0-2.match-000001.replay`` is the second match of the players 0 and 2.

Recording changes nothing of a match. Each file appears when its match is over, so one that was broken off leaves none.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

import numpy as np

from interplay import __version__
from interplay.core.errors import UserError
from interplay.core.files import os_errors_as_user_errors, refuse_links
from interplay.core.replay import WorldRecorder
from interplay.core.replay.layout import SUFFIX
from interplay.core.world import World
from interplay.evaluate.tournaments.matchups import seat

MATCHES = "matches"  # in a tournament's folder
MOST = 10_000  # recordings of a tournament: as many as the viewer lists of a folder
MOST_BYTES = 64 * 2**20  # of a recording, which ends there


def recording_name(players: Sequence[int], match: int) -> str:
    """The file of a match.

    Example:
        >>> recording_name((0, 2), 1)
        '0-2.match-000001.replay'
    """
    return f"{'-'.join(map(str, players))}.match-{match:06d}{SUFFIX}"


class RecordingPlan(NamedTuple):
    """Which matches of a tournament are recorded, and where.

    Attributes:
        folder: of the recordings.
        first: so many matches of every matchup are, beginning with the first.
        names: of all players.
        options: of the world.
    """

    folder: Path
    first: int
    names: tuple[str, ...]
    options: Mapping[str, Any]

    @classmethod
    def beneath(
        cls, out: Path, each: int, names: tuple[str, ...], options: Mapping[str, Any], per_match: int
    ) -> RecordingPlan:
        """So many recordings of every matchup and seat, in a tournament's folder; it is made if it is not there.

        Raises:
            UserError: if a link or a file stands in its place, or it cannot be made.
        """
        refuse_links(out, (), (MATCHES,))
        with os_errors_as_user_errors("making the folder of recordings", out / MATCHES):
            (out / MATCHES).mkdir(exist_ok=True)
        return cls(out / MATCHES, each * per_match, names, options)

    def lacking(self, players: Sequence[int], matches: Sequence[int]) -> list[int]:
        """Those matches of a matchup that are to be recorded and were not yet."""
        return [
            match
            for match in matches
            if match < self.first and not os.path.lexists(self.folder / recording_name(players, match))
        ]


def check_count(each: int, matchups: int, per_match: int, matches: int, kept: bool) -> None:
    """Refuses fewer than no recordings, more than a tournament may have, and those that nobody keeps.

    Args:
        each: recordings of every matchup and seat that are wished for.
        matchups: how many there are.
        per_match: players of a match, which are as many ways to sit.
        matches: of every matchup.
        kept: whether the tournament has a folder.

    Raises:
        UserError: naming the number that would do, or the folder.
    """
    if each < 0:
        raise UserError(f"record = {each}: give at least 1, or leave it out")
    if each and not kept:
        raise UserError(f"record = {each}: recordings need a folder; give out")
    count = min(each * per_match, matches) * matchups
    if count > MOST:
        fits = MOST // (matchups * per_match)
        cure = f"record {fits}" if fits else "record none, and watch pairs live"
        raise UserError(f"record = {each}: {count:,} recordings, a tournament has {MOST:,} at most; {cure}")


class BlockRecorder:
    """Records matches of a block while they are played; a context manager.

    Args:
        plan: which and where.
        world: the batch.
        players: numbers of the K players.
        matches: (W,) numbers of the matches that the worlds play.
        seeds: (W,) of the worlds.
        seating: (W, A) which of the K players has each slot.
    """

    def __init__(
        self,
        plan: RecordingPlan,
        world: World,
        players: Sequence[int],
        matches: Sequence[int],
        seeds: np.ndarray,
        seating: np.ndarray,
    ) -> None:
        self._recorders: dict[int, WorldRecorder] = {}  # of matches that are not over
        names = [plan.names[player] for player in players]
        wanted = set(plan.lacking(players, matches))
        for w, match in enumerate(matches):
            if match not in wanted:
                continue
            header = {
                "seed": int(seeds[w]),
                "policy": " against ".join(names[one] for one in seat(len(names), len(names), match)),
                "players": tuple(names[one] for one in seating[w]),
                "options": dict(plan.options),
                "started": datetime.now(UTC).isoformat(timespec="seconds"),
                "interplay": __version__,
            }
            path = plan.folder / recording_name(players, match)
            self._recorders[w] = WorldRecorder(path, world, w, header=header)

    def begin(self) -> None:
        """The worlds were just reset."""
        for recorder in self._recorders.values():
            recorder.begin()

    def step(self, action: Any, going: np.ndarray, last: np.ndarray) -> None:
        """The worlds were just stepped.

        Args:
            action: of the whole batch.
            going: (W,) bool, whose match was not over before.
            last: (W,) bool, whose match is over now, or left.
        """
        for w in [w for w in self._recorders if going[w]]:
            recorder = self._recorders[w]
            ends = bool(last[w]) or recorder.size > MOST_BYTES
            recorder.step(action, ends)
            if ends:
                del self._recorders[w]
                with recorder:
                    pass

    def __enter__(self) -> BlockRecorder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Completes what is left; after an error none of it stays."""
        left = ExitStack()
        for recorder in self._recorders.values():
            left.push(recorder)
        left.__exit__(kind, error, trace)


def tell_recorded(
    out: Path | None, matches: Sequence[tuple[Sequence[int], int, Sequence[float]]]
) -> list[dict[str, Any]]:
    """Of which matches a folder has recordings, for its ``ratings.json``.

    Args:
        out: the tournament's folder; None: nothing is kept.
        matches: numbers of the players, number of the match, and scores.
    """
    there: set[str] = set()
    if out is not None:
        with suppress(FileNotFoundError):
            there = set(os.listdir(out / MATCHES))
    return [
        {"players": list(players), "match": match, "scores": list(scores)}
        for players, match, scores in matches
        if recording_name(players, match) in there
    ]
