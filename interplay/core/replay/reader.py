"""Reads recordings: whole ones, cut ones and those that still grow. Nothing in them is believed before it was looked at."""

from __future__ import annotations

import io
import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from interplay.core.errors import UserError
from interplay.core.files import told_plainly
from interplay.core.frames import Decoder, Frame, Head, split_frames
from interplay.core.loading import load
from interplay.core.reading import opened
from interplay.core.replay.exact import check_hash, load_snapshot, read_actions
from interplay.core.replay.layout import (
    ACTIONS,
    CHUNK_HEAD,
    INDEX_ENTRY,
    MAGIC,
    MARKS,
    PRELUDE,
    SCENES,
    SNAPSHOT,
    TRAILER,
    Chunk,
    check_chunk,
    header_length,
    read_chunk,
    read_header,
)
from interplay.core.replay.marks import Mark, read_marks
from interplay.core.world import World

_ANY_SIZE = 2**63


class ReplayReader:
    """Opens a recording; a context manager.

    Args:
        path: of the file, from anybody.
        links: whether `path` may be a symbolic link.

    Attributes:
        header: what it says of itself.
        chunks: those that were found, in the file's order.
        closed: whether it was closed and is whole; what still grows or was cut ends after its last whole chunk.
        troubles: a line for each part that could not be read so far; what is not told here is as it was written.

    Raises:
        UserError: if it is no recording, of a format of the future, or its header is damaged.
    """

    def __init__(self, path: Path | str, links: bool = True) -> None:
        self.path = Path(path)
        self.troubles: list[str] = []
        with ExitStack() as opening:
            opening.enter_context(told_plainly("reading", self.path))
            self._file: io.BufferedReader = opening.enter_context(opened(self.path, _ANY_SIZE, links))
            prelude = self._read(0, PRELUDE.size)
            length = header_length(prelude, str(self.path))
            self.header = read_header(prelude, self._read(PRELUDE.size, length), str(self.path))
            self._start = PRELUDE.size + length
            found = self._read_index()
            self.closed = found is not None
            self.chunks: list[Chunk] = found or []
            if not self.closed:
                self.refresh()
                end = self._end()
                self._tell(f"it was not closed; it is read up to byte {end:,} of {self._size():,}")
            self._open = opening.pop_all()

    def refresh(self) -> int:
        """Looks for chunks that were appended since; how many."""
        if self.closed:
            return 0
        before, at = len(self.chunks), self._end()
        while (chunk := self._chunk_at(at)) is not None:
            try:
                check_chunk(self._bytes(chunk))
            except ValueError as error:
                following = self._chunk_at(chunk.end)
                if following is None or not self._sound(following):
                    break  # it may still be written
                self._tell(f"{_ticks(chunk)} are damaged ({error})")
            else:
                if any(old.tag == chunk.tag and chunk.first < old.first + old.ticks for old in self.chunks):
                    self._tell(f"{_ticks(chunk)} are there twice, or out of order")
                else:
                    self.chunks.append(chunk)
            at = chunk.end
        return len(self.chunks) - before

    @property
    def ticks(self) -> int:
        """How many ticks the time line has, damaged ones included."""
        return max((chunk.first + chunk.ticks for chunk in self._of(SCENES)), default=0)

    def frames(self, start: int = 0, stop: int | None = None) -> Iterator[Frame]:
        """The frames of ticks start .. stop - 1 (None: the last); damaged chunks are told in `troubles` and stepped over."""
        for head, decoder in self._heads(start, self.ticks if stop is None else stop):
            yield Frame(head.tick, head.first, head.last, decoder.scene())

    def frame(self, tick: int) -> Frame:
        """The frame of a tick.

        Raises:
            UserError: if it is not there, or damaged.
        """
        found = next(self.frames(tick, tick + 1), None)
        if found is None:
            raise UserError(
                f"{self.path}: tick {tick} is not there or damaged; choose one of 0..{self.ticks - 1}"
            )
        return found

    def marks(self) -> list[Mark]:
        """What happened, in the order of the ticks."""
        found: list[Mark] = []
        for chunk in self._of(MARKS):
            data = self._inflated(chunk)
            if data is not None:
                try:
                    found += read_marks(data, len(self.header.agents))
                except UserError as error:
                    self._tell(f"marks of {_ticks(chunk)}: {error}")
        return found

    def world_at(self, tick: int, world: World | None = None, start: int | None = None) -> World:
        """The world as it stood at a tick, ready to be played on: the nearest state, and the actions from there.

        Args:
            tick: 0..ticks - 1.
            world: a batch of one that was made as the recorded one was; None: the registry makes it. Worlds that are programs,
                ``module:name``, have to be made by the caller: a file does not say what runs.
            start: begin at the last state before this tick instead, and hold the world against every state on the way.

        Returns:
            The world. Of the policies that played nothing is restored.

        Raises:
            UserError: if the recording holds no states, the world or its version is another, or it comes to another state.
        """
        states = [chunk for chunk in self._of(SNAPSHOT) if chunk.first <= tick]
        if not self.header.exact or not states or not 0 <= tick < self.ticks:
            why = f"it has ticks 0..{self.ticks - 1}" if states else "it holds scenes alone"
            raise UserError(f"{self.path}: tick {tick} cannot be played on, {why}; watching works")
        world = world or self._make()
        self._check(world)
        limit = tick if start is None else min(start, tick)
        before = [chunk for chunk in states if chunk.first <= limit] or states[:1]
        try:
            now = self._load_last(world, before)
            self._play(world, now, tick, {chunk.first: chunk for chunk in states})
        except ValueError as error:
            raise UserError(
                f"{self.path}: it cannot be played on with this version of {world.id} ({error}); watching works"
            ) from None
        return world

    def _load_last(self, world: World, states: list[Chunk]) -> int:
        """Brings the world into the last of these states that is whole; its tick."""
        world.reset()
        for chunk in reversed(states):
            data = self._inflated(chunk)
            if data is not None:
                load_snapshot(world, data)
                return chunk.first
        raise ValueError("its states are damaged")

    def _play(self, world: World, now: int, tick: int, states: dict[int, Chunk]) -> None:
        """Plays the actions from one tick to another and holds the world against the states that it passes."""
        for chunk in self._of(ACTIONS):
            if chunk.first + chunk.ticks <= now + 1 or now == tick:
                continue
            data = self._inflated(chunk)
            actions = [] if data is None else read_actions(world, data)
            if chunk.first > now + 1 or len(actions) != chunk.ticks:
                break
            for action in actions[now + 1 - chunk.first : tick + 1 - chunk.first]:
                world.reset() if action is None else world.step(action)
                now += 1
                state = self._inflated(states[now]) if now in states else None
                if state is not None:
                    check_hash(world, state)
        if now < tick:
            raise ValueError(f"actions of tick {now + 1} are missing")

    def _make(self) -> World:
        header = self.header
        named = next((text for text in _texts([header.world, header.options]) if ":" in text), None)
        if named is not None:
            raise UserError(
                f"{self.path}: it names {named!r}, which may be a program; make the world yourself and pass it, world_at(tick, world)"
            )
        world: World = load("interplay.registry:make_world")(header.world, seed=0, **header.options)
        return world

    def _check(self, world: World) -> None:
        was, now = (
            (self.header.world, self.header.world_version, 1),
            (world.id, world.version, world.num_worlds),
        )
        if was != now:
            raise UserError(
                f"{self.path}: made with {was[0]}, version {was[1]}; this is {now[2]} of {now[0]}, version {now[1]}, "
                "which cannot play it on; watching works"
            )

    def _heads(self, start: int, stop: int) -> Iterator[tuple[Head, Decoder]]:
        """Frames, decoded but not drawn."""
        for chunk in self._of(SCENES):
            data = self._inflated(chunk) if chunk.first < stop and start < chunk.first + chunk.ticks else None
            if data is None:
                continue
            decoder, tick = Decoder(self.header.scene), chunk.first
            try:
                for frame in split_frames(data):
                    head = decoder.decode(frame)
                    if head.tick != tick or tick >= chunk.first + chunk.ticks:
                        raise UserError(f"tick {head.tick} stands in the place of {tick}")
                    if start <= tick < stop:
                        yield head, decoder
                    tick += 1
                if tick != chunk.first + chunk.ticks:
                    raise UserError(f"tick {tick} is missing")
            except UserError as error:
                self._tell(f"ticks {tick}..{chunk.first + chunk.ticks - 1} are damaged ({error})")

    def _inflated(self, chunk: Chunk) -> bytes | None:
        try:
            data = self._bytes(chunk)
            head = CHUNK_HEAD.unpack_from(data)
            if (head[0], head[1], head[2], head[4]) != (chunk.tag, chunk.first, chunk.ticks, chunk.stored):
                raise ValueError("another chunk stands there")
            return read_chunk(data)
        except ValueError as error:
            self._tell(f"{_ticks(chunk)} are damaged ({error})")
            return None

    def _read_index(self) -> list[Chunk] | None:
        """The chunks that the index names; None where there is no sound one."""
        at = self._size() - TRAILER.size
        if at < self._start:
            return None
        offset, entries, check, magic = TRAILER.unpack(self._read(at, TRAILER.size))
        if magic != MAGIC or offset < self._start or offset + entries * INDEX_ENTRY.size != at:
            return None
        data = self._read(offset, at - offset)
        if zlib.crc32(data) != check:
            return None
        chunks = [Chunk(*entry) for entry in INDEX_ENTRY.iter_unpack(data)]
        ends = [self._start, *(chunk.end for chunk in chunks)]
        if ends != [*(chunk.offset for chunk in chunks), offset]:
            return None
        return chunks

    def _chunk_at(self, at: int) -> Chunk | None:
        head = self._read(at, CHUNK_HEAD.size)
        if len(head) < CHUNK_HEAD.size:
            return None
        tag, first, ticks, _, stored, _ = CHUNK_HEAD.unpack(head)
        chunk = Chunk(tag, first, ticks, at, stored)
        return chunk if chunk.end <= self._size() else None

    def _sound(self, chunk: Chunk) -> bool:
        try:
            check_chunk(self._bytes(chunk))
        except ValueError:
            return False
        return True

    def _bytes(self, chunk: Chunk) -> bytes:
        return self._read(chunk.offset, CHUNK_HEAD.size + chunk.stored)

    def _of(self, tag: bytes) -> list[Chunk]:
        return [chunk for chunk in self.chunks if chunk.tag == tag]

    def _end(self) -> int:
        return self.chunks[-1].end if self.chunks else self._start

    def _size(self) -> int:
        return self._file.seek(0, io.SEEK_END)

    def _read(self, at: int, size: int) -> bytes:
        self._file.seek(at)
        return self._file.read(size)

    def _tell(self, what: str) -> None:
        line = f"{self.path}: {what}"
        if line not in self.troubles:
            self.troubles.append(line)

    def __enter__(self) -> ReplayReader:
        return self

    def __exit__(self, *error: Any) -> None:
        self._open.close()


def _texts(value: Any) -> Iterator[str]:
    """The texts inside a value of JSON."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list | tuple | dict):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _texts(part)


def _ticks(chunk: Chunk) -> str:
    return f"{chunk.tag.decode(errors='replace')} of ticks {chunk.first}..{chunk.first + chunk.ticks - 1}"
