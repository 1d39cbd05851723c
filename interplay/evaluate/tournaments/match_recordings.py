"""Recordings of matches: ``matches/0-2.match-000001.replay`` is the second match of players 0 and 2.

Recording does not change a match. Each file appears when its match is over, so an interrupted one leaves none.
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
MOST = 10_000  # recordings of a tournament, as many as the viewer lists
MOST_BYTES = 64 * 2**20  # limit of a recording


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
        first: number of matches recorded of every matchup, from its first.
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
        """Plans `each` recordings per matchup and seat, in a subfolder of `out` that is created if missing."""
        refuse_links(out, (), (MATCHES,))
        with os_errors_as_user_errors("making the folder of recordings", out / MATCHES):
            (out / MATCHES).mkdir(exist_ok=True)
        return cls(out / MATCHES, each * per_match, names, options)

    def lacking(self, players: Sequence[int], matches: Sequence[int]) -> list[int]:
        """Planned matches of a matchup without a recording."""
        return [
            match
            for match in matches
            if match < self.first and not os.path.lexists(self.folder / recording_name(players, match))
        ]


def check_count(each: int, matchups: int, per_match: int, matches: int, kept: bool) -> None:
    """Refuses a negative number of recordings, more than `MOST`, or any without a folder."""
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
        plan: None records nothing.
        players: indices of the K players.
        matches: (W,) numbers of the matches in the worlds.
        seating: (W, A) index of each slot's player among the K.
    """

    def __init__(
        self,
        plan: RecordingPlan | None,
        world: World,
        players: Sequence[int],
        matches: Sequence[int],
        seeds: np.ndarray,
        seating: np.ndarray,
    ) -> None:
        self._recorders: dict[int, WorldRecorder] = {}  # of unfinished matches
        if plan is None:
            return
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
        """Records the reset worlds."""
        for recorder in self._recorders.values():
            recorder.begin()

    def step(self, action: Any, going: np.ndarray, last: np.ndarray) -> None:
        """Records a step.

        Args:
            going: (W,) bool, matches that were not over before.
            last: (W,) bool, matches that are over now, or were cut.
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
        """Completes unfinished recordings; after an error, discards them."""
        left = ExitStack()
        for recorder in self._recorders.values():
            left.push(recorder)
        left.__exit__(kind, error, trace)


def list_recorded(
    out: Path | None, matches: Sequence[tuple[Sequence[int], int, Sequence[float]]]
) -> list[dict[str, Any]]:
    """Lists the recorded matches of a folder, for its ``ratings.json``.

    Args:
        matches: indices of the players, number of the match, and scores.
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
