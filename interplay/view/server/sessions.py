"""All sessions of a server, by source; worlds that are played on from a recording (docs/specs/viewer.md 5)."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from interplay.core.errors import UserError
from interplay.core.files import os_errors_as_user_errors
from interplay.core.replay import ReplayReader
from interplay.core.replay.layout import Header
from interplay.core.replay.marks import Mark
from interplay.core.world import World
from interplay.view.server.config import PAGES, SESSIONS, STEPPED, WALK_SECONDS
from interplay.view.server.networks import Checkpoints, Named
from interplay.view.server.play import Cast, UnderWay
from interplay.view.server.recordings import check_key
from interplay.view.server.rosters import Rosters
from interplay.view.server.session import Session
from interplay.view.server.sources import Sources
from interplay.view.server.stamps import Stamp, recording_stamp
from interplay.view.server.visitor import Visitor

# Called in the session's thread with ("run", folder, names of one or two chosen players), ("world", id), or ("recording",
# the world's id, continued=...).
MakeCast = Callable[..., Cast]
# In one spelling: a second session of the same seed would show what fog hides.
_NUMBER = "(0|[1-9][0-9]{0,8})"
_SOURCE = re.compile(f"(run|world):{_NUMBER}(?:@{_NUMBER}(?:,{_NUMBER})?)?")
_RENEWED = re.compile(f"(run|world):{_NUMBER}(?:@{_NUMBER})?")  # follow the newest checkpoint
_RECORDED = re.compile(f"recording:{_NUMBER}@{_NUMBER}")


class Sessions:
    """Opens a session for a source with its first page; time stands still while no page watches.

    A session that continues a recording ends with its last page, so that the next one begins at the recorded tick. So does a
    match of two, whose players stay as they were loaded.

    Args:
        make: makes the world of a source with its players; None: no sessions (``--read-only``).
    """

    def __init__(self, sources: Sources, make: MakeCast | None, seed: int = 0) -> None:
        self._sources, self._make, self._seed = sources, make, seed
        self.rosters, self._checkpoints = Rosters(sources), Checkpoints(sources)
        self._lock = threading.Lock()
        self._sessions: dict[tuple[str, Stamp | None], Session] = {}  # by source and the file beneath it
        self._watched: dict[Visitor, Session] = {}
        self._ending: list[Session] = []  # their threads may still be in a step

    def join(self, source: str, visitor: Visitor, key: str = "") -> Session:
        """Adds a page to the session of a source.

        Args:
            source: ``run:0`` or ``world:0``; ``run:0@3`` for a player of a tournament or league, ``run:0@3,1`` for a match of
                two; ``recording:0@120`` to continue from that tick.
            key: of a recording, see `Recordings`.
        """
        if self._make is None:
            raise UserError(
                "this viewer was opened with --read-only: nothing is played; open it without, or choose a recording"
            )
        beneath, begin = self._find(source, self._make, key)
        with self._lock:
            if len(self._watched) >= PAGES:
                raise UserError(f"{PAGES} pages watch already; close one of them")
            self._sessions = {key: one for key, one in self._sessions.items() if not one.ended}
            session = self._sessions.get((source, beneath)) or self._open(source, beneath, begin)
            self._watched[visitor] = session
            session.join(visitor)
        return session

    def leave(self, visitor: Visitor) -> None:
        """Removes a page."""
        with self._lock:
            session = self._watched.pop(visitor, None)
            if session is not None and not _RENEWED.fullmatch(session.source):
                self._forget(session)
        if session is not None:
            session.leave(visitor)

    def stop(self) -> None:
        """Ends all sessions."""
        with self._lock:
            sessions, self._sessions = list(self._sessions.values()), {}
        for session in sessions:
            session.stop()

    def _find(self, source: str, make: MakeCast, key: str) -> tuple[Stamp | None, Callable[[], Cast]]:
        """The stamp of a source's recording, and the function that makes its world with its players."""
        if (recorded := _RECORDED.fullmatch(source)) is not None:
            path = self._sources.recording(int(recorded[1]))
            return recording_stamp(path), partial(self._go_on, make, path, int(recorded[2]), key)
        found = _SOURCE.fullmatch(source)
        if found is None or (found[1] == "world" and found[3]):
            raise UserError(
                f"source {source[:60]!r}: write run:0, world:0 or recording:0@120; /api/sources lists all"
            )
        if found[1] == "world":
            return None, partial(make, "world", self._sources.world(int(found[2])))
        run = int(found[2])
        players = [self.rosters.name(run, int(one)) for one in found.groups()[2:] if one]
        return None, partial(make, "run", str(self._sources.run(run)), *players)

    def _go_on(self, make: MakeCast, path: Path, tick: int, key: str) -> Cast:
        continued = continue_at(path, tick, self._checkpoints, key)
        try:
            return make("recording", continued.world.id, continued=continued)
        except BaseException:
            continued.world.close()
            raise

    def _forget(self, session: Session) -> None:
        """Ends a session without pages."""
        if session not in self._watched.values():
            for key in [key for key, one in self._sessions.items() if one is session]:
                self._end(key)

    def _end(self, key: tuple[str, Stamp | None]) -> None:
        self._ending.append(self._sessions.pop(key))
        self._ending[-1].stop(0)

    def _open(self, source: str, beneath: Stamp | None, begin: Callable[[], Cast]) -> Session:
        self._ending = [one for one in self._ending if one.alive]
        if len(self._ending) >= SESSIONS:
            raise UserError(f"{SESSIONS} worlds are still being left; come back in a moment")
        if len(self._sessions) >= SESSIONS:
            idle = [key for key, one in self._sessions.items() if one not in self._watched.values()]
            if not idle:
                raise UserError(f"{SESSIONS} worlds are played already; close a page of one of them")
            self._end(idle[0])
        session = Session(source, begin, self._seed, words=self._sources.words)
        session.start()
        self._sessions[source, beneath] = session
        return session


class Continued(NamedTuple):
    """A world restored from a recording; the state of its policies is not restored.

    Attributes:
        under_way: the restored place in the recording.
        header: of the recording, untrusted.
        checkpoint: named by the header; None if it is in no run of the opened folder.
    """

    world: World
    under_way: UnderWay
    header: Header
    checkpoint: Named | None = None


def continue_at(path: Path, tick: int, checkpoints: Checkpoints, key: str = "") -> Continued:
    """Restores the world of a recording (an untrusted file) at a tick; for `key` see `Recordings`."""
    stamp = recording_stamp(path)
    with (
        os_errors_as_user_errors("reading", path),
        ReplayReader(path, links=False, patience=WALK_SECONDS) as reader,
    ):
        check_key(path, stamp.key(reader.closed), key)
        world = reader.world_at(tick, most=STEPPED)
        try:
            frame = next(reader.frames(tick, tick + 1), None)
            first = frame is not None and frame.first
            found = checkpoints.find(reader.header.checkpoint)
            return Continued(world, UnderWay(tick, first, _gone(reader.marks(), tick)), reader.header, found)
        except BaseException:
            world.close()
            raise


def _gone(marks: Iterable[Mark], tick: int) -> tuple[int, ...]:
    """Slots with a life that ended in the episode of a tick, by the recording's marks."""
    gone: set[int] = set()
    for mark in sorted((one for one in marks if one.tick <= tick), key=lambda one: one.tick):
        if mark.kind == "end" and mark.tick < tick:
            gone.clear()
        elif mark.kind in ("death", "cut"):
            gone.update(mark.rows)
        elif mark.kind == "birth":
            gone.difference_update(mark.rows)
    return tuple(sorted(gone))
