"""Serves recordings: header, stored chunks, marks, and agents in a replayed world; notifies trainers that they are watched."""

from __future__ import annotations

import math
import os
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from interplay.core.errors import UserError
from interplay.core.files import os_errors_as_user_errors, replace_file
from interplay.core.reading import opened
from interplay.core.replay import ReplayReader
from interplay.core.replay.layout import (
    CHUNK_HEAD,
    HUMAN,
    MAX_RAW,
    RECORDINGS,
    SCENES,
    SNAPSHOT,
    WATCHING,
    Chunk,
    check_chunk,
)
from interplay.core.replay.reader import NOT_CLOSED
from interplay.core.world import World
from interplay.view.run_log import one_line
from interplay.view.server.agent import describe_agent
from interplay.view.server.config import (
    FOUND,
    GROWS_SECONDS,
    READING_SECONDS,
    STEPPED,
    STEPPING_SECONDS,
    WALK_SECONDS,
    WORD_SECONDS,
)
from interplay.view.server.keeping import GIVEN, TAKEN
from interplay.view.server.networks import Networks
from interplay.view.server.play import HUMAN as PERSON
from interplay.view.server.refusals import Busy, NotThere, Replaced, Unreadable
from interplay.view.server.sources import Sources
from interplay.view.server.stamps import Stamp, recording_stamp

KEPT = 8  # recordings that are open
_ANY_SIZE = 2**63
_NOT_READ = "not read yet; look again in a moment"


class Stored(NamedTuple):
    """A chunk of scenes, and its inflated size in bytes."""

    chunk: Chunk
    raw: int


class _Replayed(NamedTuple):
    """A recorded world at a tick; `made_of` is what makes the world, `key` that of its recording."""

    made_of: str
    world: World
    tick: int
    key: str


class Recordings:
    """The recordings of a folder; for `trust` see `Networks`.

    `key` of the methods is the one in `table`: another file under the name raises `Replaced`. Empty: any file.
    """

    def __init__(self, sources: Sources, trust: bool = False) -> None:
        self._sources, self._networks = sources, Networks(sources, trust)
        # Of `_described` and `_open`: a reader is for one thread at a time.
        self._lock = threading.Lock()
        self._open: OrderedDict[Path, _Open] = OrderedDict()
        self._stepping = threading.Lock()  # of `_world`, in which agents are looked at
        self._world: _Replayed | None = None
        self._described: dict[Path, tuple[Stamp, dict[str, Any]]] = {}

    def page(self, page: int) -> dict[str, Any]:
        """A page of all sources."""
        until = time.monotonic() + READING_SECONDS
        return self._sources.page(page, lambda number, path: self._describe(number, path, until))

    def matches(self, run: int) -> dict[str, Any]:
        """The recordings of a run, the oldest first."""
        found, until = self._sources.matches(run), time.monotonic() + READING_SECONDS
        return {
            "matches": [
                {
                    "id": number,
                    "run": run,
                    "name": self._sources.name_of(path),
                    **self._describe(number, path, until),
                }
                for number, path in found
            ]
        }

    def table(self, number: int) -> dict[str, Any]:
        """Header and chunks."""
        with self._reader(number) as file:
            chunks = [
                {
                    "first": one.chunk.first,
                    "ticks": one.chunk.ticks,
                    "raw": one.raw,
                    "stored": one.chunk.stored,
                }
                for one in file.scenes()
            ]
            reader = file.reader
            return {
                "header": reader.header.model_dump(mode="json"),
                "ticks": reader.ticks,
                "chunks": chunks,
                "complete": reader.closed,
                "key": file.key,
                "problems": self._problems(file),
            }

    def chunk(self, number: int, chunk: int, key: str = "") -> bytes:
        """The stored bytes of a chunk of scenes, which the page inflates.

        Raises:
            NotThere: for another number.
            Unreadable: for a damaged chunk.
        """
        with self._reader(number, key) as file:
            scenes = file.scenes()
            if not 0 <= chunk < len(scenes):
                raise NotThere(
                    f"chunk {str(chunk)[:20]}: the recording has {len(scenes):,}; ask for one of those"
                )
            return file.stored(scenes[chunk])

    def events(self, number: int, key: str = "", start: int = 0) -> list[dict[str, Any]]:
        """The marks of the time line from a tick on."""
        with self._reader(number, key) as file:
            return [
                {"tick": mark.tick, "kind": mark.kind, "slots": list(mark.rows)}
                for mark in file.reader.marks()
                if mark.tick >= start
            ]

    def agent(self, number: int, slot: int, tick: int, key: str = "") -> dict[str, Any]:
        """Describes an agent at a tick of the replayed world.

        Raises:
            NotThere: for a recording without states near, or an unknown agent.
            Busy: see `replayed`.
        """
        with replayed(self._sources, number, self._stepping, "agents", key) as (reader, stamp):
            held, self._world = self._world, None
            try:
                header, agents = reader.header, reader.header.agents
                if not 0 <= slot < len(agents):
                    raise UserError(f"slot {slot}: the world has {len(agents)}; ask for one of those")
                made_of = repr((reader.path, header.world, header.options))
                known = held if held is not None and held.made_of == made_of else None
                now = stamp.key(reader.closed)
                world = _world_at(reader, tick, known, now)
                self._world = _Replayed(made_of, world, tick, now)
                player = _player(reader, slot, tick)
                look, note = (None, None) if player == PERSON else self._networks.look(header, world, slot)
                return describe_agent(world, slot, tick, player, look=look, note=note)
            finally:
                if held is not None and (self._world is None or self._world.world is not held.world):
                    held.world.close()

    def _describe(self, number: int, path: Path, until: float) -> dict[str, Any]:
        """Describes a recording for a list, or the reason why it was not read by the time `until`."""
        found: dict[str, Any] = {"world": "", "ticks": 0, "policy": "", "date": None, "problem": None}
        try:
            stamp = recording_stamp(self._sources.recording(number))
            known = self._described.get(path)
            if known is not None and known[0] == stamp:
                return known[1]
            if time.monotonic() > until:  # large files take long
                return {**found, "problem": _NOT_READ}
            with self._reader(number) as file:
                header = file.reader.header
                found |= {"world": one_line(header.world), "ticks": file.reader.ticks}
                found |= {"policy": one_line(header.policy), "date": one_line(header.started) or None}
            with self._lock:
                self._described[path] = (stamp, found)
                if len(self._described) > FOUND:
                    del self._described[next(iter(self._described))]
        except UserError as error:
            found["problem"] = self._sources.words(error)
        return found

    @contextmanager
    def _reader(self, number: int, key: str = "") -> Iterator[_Open]:
        path = self._sources.recording(number)
        with self._lock:
            file = self._opened(path)
            check_key(path, file.key, key)
            yield file

    def _opened(self, path: Path) -> _Open:
        stamp = recording_stamp(path)
        held = self._open.pop(path, None)
        if held is not None and not held.follows(stamp):
            held.close()
            held = None
        if held is None:
            try:
                held = _Open(path, stamp)
            except UserError as error:
                raise Unreadable(str(error)) from None
        self._open[path] = held
        while len(self._open) > KEPT:
            self._open.popitem(last=False)[1].close()
        return held

    def _problems(self, file: _Open) -> list[str]:
        troubles = [line for line in file.reader.troubles if not (file.grows and NOT_CLOSED in line)]
        return [self._sources.plain(line) for line in troubles]


def check_key(path: Path, found: str, key: str) -> None:
    """Refuses requests for another file than the present one; see `Stamp.key`."""
    if not found.startswith(key):
        raise Replaced(f"{path}: another file has its name since it was opened; open it again")


@contextmanager
def replayed(
    sources: Sources, number: int, lock: threading.Lock, what: str, key: str = ""
) -> Iterator[tuple[ReplayReader, Stamp]]:
    """A recording with a world to be stepped, for one request at a time.

    Args:
        key: see `Recordings`.

    Raises:
        Busy: while another request takes long, since waiting would occupy a thread of the server.
        NotThere: if the recording does not answer the request.
    """
    path = sources.recording(number)
    if not lock.acquire(timeout=STEPPING_SECONDS):
        raise Busy(f"{what}: another request is running; try again in a moment")
    try:
        stamp = recording_stamp(path)
        with (
            os_errors_as_user_errors("reading", path),
            ReplayReader(path, links=False, patience=WALK_SECONDS) as reader,
        ):
            check_key(path, stamp.key(reader.closed), key)
            yield reader, stamp
    except Replaced:
        raise
    except UserError as error:
        raise NotThere(str(error)) from None
    except Exception as error:  # of a world whose states and actions come out of a file
        words = " ".join(str(error).split())[:200]
        raise NotThere(
            f"{path}: {what}: its world raised {type(error).__name__} ({words}); watching works"
        ) from error
    finally:
        lock.release()


class _Open:
    """An open recording."""

    def __init__(self, path: Path, stamp: Stamp) -> None:
        self._stamp = stamp
        self.reader = ReplayReader(path, links=False, patience=WALK_SECONDS)
        self._scenes: list[Stored] = []

    @property
    def key(self) -> str:
        """See `Stamp.key`."""
        return self._stamp.key(self.reader.closed)

    def follows(self, stamp: Stamp) -> bool:
        """Whether the file is the same, or has grown."""
        if stamp == self._stamp and not self.reader.left_off:
            return True
        if self.reader.closed or not (stamp == self._stamp or stamp.continues(self._stamp)):
            return False
        self.reader.refresh()
        self._stamp = stamp
        return not self.reader.closed  # a file that was closed meanwhile is read anew

    @property
    def grows(self) -> bool:
        """Whether it is probably still being written."""
        return not self.reader.closed and time.time() - self._stamp.written / 1e9 < GROWS_SECONDS

    @contextmanager
    def _file(self) -> Iterator[BinaryIO]:
        path = self.reader.path
        with os_errors_as_user_errors("reading", path), opened(path, _ANY_SIZE, links=False) as file:
            yield file

    def scenes(self) -> list[Stored]:
        """The chunks of scenes."""
        chunks = self.reader.of(SCENES)
        with self._file() as file:
            for chunk in chunks[len(self._scenes) :]:
                file.seek(chunk.offset)
                head = file.read(CHUNK_HEAD.size)
                whole = len(head) == CHUNK_HEAD.size
                self._scenes.append(Stored(chunk, CHUNK_HEAD.unpack(head)[3] if whole else 0))
        return self._scenes

    def stored(self, one: Stored) -> bytes:
        """The bytes after a chunk's head, with a valid checksum."""
        chunk = one.chunk
        ticks = f"ticks {chunk.first}..{chunk.first + chunk.ticks - 1}"
        if one.raw > MAX_RAW or chunk.stored > MAX_RAW:
            raise Unreadable(
                f"{ticks}: {one.raw:,} bytes in a chunk, {MAX_RAW:,} are read at most; skip them"
            )
        with self._file() as file:
            file.seek(chunk.offset)
            data = file.read(CHUNK_HEAD.size + chunk.stored)
        try:
            check_chunk(data)
        except ValueError as error:
            raise Unreadable(f"{ticks} are damaged ({error}); skip them") from None
        return data[CHUNK_HEAD.size :]

    def close(self) -> None:
        self.reader.__exit__()


class Watching:
    """Renews the file ``watching`` of runs that are open in pages, by which their trainers record (docs/specs/viewer.md 11.6).

    The viewer writes no other file. `clock` returns seconds.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._said: dict[Path, float] = {}

    def renew(self, run: Path) -> None:
        """Renews the file of a run; does nothing without a folder of recordings, or if it cannot be written.

        Args:
            run: its folder, without links in its path.
        """
        now, folder = self._clock(), run / RECORDINGS
        if now - self._said.get(run, -math.inf) < WORD_SECONDS:
            return
        self._said[run] = now
        with suppress(OSError):
            if os.path.realpath(folder) == str(folder) and folder.is_dir():
                replace_file(folder / WATCHING, f"{time.time():.0f}\n", "watching")


def _world_at(reader: ReplayReader, tick: int, known: _Replayed | None, key: str) -> World:
    """The world at a tick, played on from a known one if no recorded state is nearer."""
    if known is None:
        return reader.world_at(tick, most=STEPPED)
    near = known.tick <= tick < min(reader.ticks, known.tick + STEPPED) and key.startswith(known.key)
    if not near or any(known.tick < chunk.first <= tick for chunk in reader.of(SNAPSHOT)):
        return reader.world_at(tick, known.world, most=STEPPED)
    deque(islice(reader.play_on(known.world, known.tick, STEPPED), tick - known.tick), maxlen=0)
    return known.world


def _player(reader: ReplayReader, slot: int, tick: int) -> str:
    """Name of the player of a slot at a tick: a person while the slot is taken, else the policy."""
    players = reader.header.players
    if HUMAN not in players:
        return players[slot] if slot < len(players) else reader.header.policy
    kinds = [
        one.kind
        for one in reader.marks()
        if one.kind in (TAKEN, GIVEN) and one.tick <= tick and slot in one.rows
    ]
    if kinds and kinds[-1] == TAKEN:
        return PERSON
    if slot < len(players) and players[slot] != HUMAN:
        return players[slot]
    return next((one for one in players if one != HUMAN), reader.header.policy)
