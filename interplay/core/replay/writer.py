"""Writes recordings: chunks are appended as the world is played, the index when the file is closed."""

from __future__ import annotations

import os
import zlib
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any

from interplay.core.errors import CannotSave
from interplay.core.files import os_errors_as_user_errors, reached, replacing, write_file
from interplay.core.frames import Encoder
from interplay.core.replay.exact import one_of, write_actions, write_snapshot
from interplay.core.replay.layout import (
    ACTIONS,
    CHUNK_HEAD,
    INDEX_ENTRY,
    MAGIC,
    MARKS,
    SCENE_BYTES,
    SCENE_TICKS,
    SCENES,
    SNAPSHOT,
    TRAILER,
    Header,
    write_beginning,
    write_chunk,
)
from interplay.core.replay.marks import Mark, Marks, write_marks
from interplay.core.scene import Scene, scene_of
from interplay.core.settings import build
from interplay.core.world import World

SNAPSHOT_EVERY = 256  # ticks


class ReplayWriter:
    """Writes scenes and other chunks; a context manager.

    Args:
        first: the first scene; see `add_scene`.
        header: without the schema, which the first scene declares.
        growing: the file has its final name from the beginning, so that others can read it while it grows; otherwise it appears
            when it is complete, and never if the block fails.
        level: of compression, 1 (quick) to 9.
    """

    def __init__(
        self, path: Path | str, first: Scene, header: Mapping[str, Any], growing: bool = False, level: int = 6
    ) -> None:
        self.path, self._level, self._growing = Path(path), level, growing
        self._encoder = Encoder(first)
        self._frames: list[bytes] = []
        self._marks: list[Mark] = []
        self._first_tick, self._offset = 0, 0
        self._index: list[bytes] = []
        beginning = write_beginning(build(Header, {**header, "scene": self._encoder.schema}, "recording"))
        with ExitStack() as opening:
            opening.enter_context(os_errors_as_user_errors("writing", self.path))
            name = self.path
            if growing:
                write_file(name, b"", "recording", fresh=True)
            else:
                name = opening.enter_context(replacing(name, "recording"))
            self._file = opening.enter_context(name.open("ab", buffering=0))
            self._append(beginning)
            self._open = opening.pop_all()

    @property
    def size(self) -> int:
        """Bytes that were written so far."""
        return self._offset

    def add_scene(
        self,
        scene: Scene,
        tick: int,
        first: bool = False,
        last: bool = False,
        marks: list[Mark] | None = None,
    ) -> None:
        """Adds a frame; ticks follow one another."""
        size = sum(map(len, self._frames))
        if len(self._frames) == SCENE_TICKS or size >= SCENE_BYTES:
            self.flush()
        if not self._frames:
            self._first_tick = tick
        frame = self._encoder.encode(scene, tick, key=not self._frames, first=first, last=last)
        self._frames.append(frame)
        self._marks += marks or []

    def add(self, tag: bytes, first: int, ticks: int, raw: bytes) -> None:
        """Adds a chunk of four letters' tag, which no other chunk is needed to read."""
        data = write_chunk(tag, first, ticks, raw, self._level)
        stored = len(data) - CHUNK_HEAD.size
        self._index.append(INDEX_ENTRY.pack(tag, first, ticks, self._offset, stored))
        self._append(data)

    def flush(self) -> None:
        """Writes the frames that wait for their chunk to be full."""
        if self._frames:
            count, self._frames, frames = len(self._frames), [], b"".join(self._frames)
            self.add(SCENES, self._first_tick, count, frames)
            if self._marks:
                self.add(MARKS, self._first_tick, count, write_marks(self._marks))
                self._marks = []

    def _append(self, data: bytes) -> None:
        left = memoryview(data)
        while left:
            left = left[self._file.write(left) :]
        self._offset += len(data)
        reached("recording: appended")

    def __enter__(self) -> ReplayWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is not None:
            self._open.__exit__(kind, error, trace)
            return
        with self._open:
            self.flush()
            index = b"".join(self._index)
            self._append(index + TRAILER.pack(self._offset, len(self._index), zlib.crc32(index), MAGIC))
            if self._growing:
                os.fsync(self._file.fileno())


class WorldRecorder:
    """Records one world of a batch while it is played elsewhere; a context manager.

    After every reset of the world `begin` is called, after every step `step`.

    Args:
        header: fields of `Header` that are not read from the world: options, seed, policy, started.
        exact: keep states and actions too, if the world can be saved, so that play can continue from the recording.
        growing, level: see `ReplayWriter`.

    Example:
        >>> import tempfile
        >>> from interplay import make_world
        >>> world = make_world("dilemma/fixed", seed=3)
        >>> path = Path(tempfile.mkdtemp()) / "match.replay"
        >>> with WorldRecorder(path, world, header={"seed": 3}) as recorder:
        ...     _ = world.reset(seeds=3)
        ...     recorder.begin()
        ...     _ = world.step([[0, 1]])
        ...     recorder.step([[0, 1]], last=True)
        >>> from interplay.core.replay import ReplayReader
        >>> with ReplayReader(path) as reader:
        ...     reader.ticks
        2
    """

    def __init__(
        self,
        path: Path | str,
        world: World,
        index: int = 0,
        *,
        header: Mapping[str, Any] | None = None,
        exact: bool = True,
        snapshot_every: int = SNAPSHOT_EVERY,
        growing: bool = False,
        level: int = 6,
    ) -> None:
        self._path, self._world, self._index = path, world, index
        self._header, self._exact, self._every = dict(header or {}), exact, snapshot_every
        self._growing, self._level = growing, level
        self._marks = Marks(world, index)
        self._writer: ReplayWriter | None = None
        self._tick, self._snapshot_tick = -1, 0
        self._actions: list[Any] = []
        self._notes: list[tuple[str, int]] = []

    @property
    def size(self) -> int:
        """Bytes that were written so far."""
        return 0 if self._writer is None else self._writer.size

    def begin(self, under_way: bool = False) -> None:
        """The world was just reset: a frame, the first of an episode.

        Args:
            under_way: it was not; the recording begins in the middle of an episode.
        """
        self._marks.begin(under_way)
        self._add(None, first=not under_way)

    def step(self, action: Any, last: bool = False) -> None:
        """The world was just stepped."""
        self._add(one_of(action, self._index), last=last)

    def add_mark(self, kind: str, slot: int) -> None:
        """Marks the next frame with an event from outside the world."""
        self._notes.append((kind, slot))

    def _add(self, action: Any, first: bool = False, last: bool = False) -> None:
        scene = scene_of(self._world, self._index)
        self._tick += 1
        if self._writer is None:
            self._writer = self._begin(scene)
        elif self._exact:
            self._actions.append(action)
            if self._tick - self._snapshot_tick == self._every:
                self._keep(write_snapshot(self._world, self._index))
        marks = [] if action is None else self._marks.step(self._tick)
        marks += [Mark(self._tick, kind, (slot,)) for kind, slot in self._notes]
        self._notes = []
        self._writer.add_scene(scene, self._tick, first, last, marks)

    def _begin(self, scene: Scene) -> ReplayWriter:
        world = self._world
        state = b""
        if self._exact:
            try:
                state = write_snapshot(world, self._index)
            except CannotSave:
                self._exact = False
        header = {
            "world": world.id,
            "world_version": world.version,
            "agents": tuple(world.agents),
            "frames_per_step": world.frames_per_step,
            "tick_seconds": world.tick_seconds,
            **self._header,
            "exact": self._exact,
        }
        writer = ReplayWriter(self._path, scene, header, self._growing, self._level)
        if self._exact:
            writer.add(SNAPSHOT, 0, 1, state)
        return writer

    def _keep(self, state: bytes) -> None:
        """Writes the actions so far, and the state that they led to."""
        assert self._writer is not None
        if self._actions:
            first = self._tick - len(self._actions) + 1
            self._writer.add(ACTIONS, first, len(self._actions), write_actions(self._actions))
            self._actions = []
        if state:
            self._writer.add(SNAPSHOT, self._tick, 1, state)
            self._snapshot_tick = self._tick

    def __enter__(self) -> WorldRecorder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._writer is None:
            return
        if error is not None:
            self._writer.__exit__(kind, error, trace)
            return
        with self._writer:
            self._keep(b"")
