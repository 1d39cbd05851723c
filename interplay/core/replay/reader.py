"""Reads recordings: complete, cut or growing ones. Nothing in them is used before it is checked."""

from __future__ import annotations

import io
import math
import time
import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from interplay.core.errors import UserError
from interplay.core.files import os_errors_as_user_errors
from interplay.core.frames import Decoder, Frame, split_frames
from interplay.core.reading import opened
from interplay.core.replay.layout import (
    CHUNK_HEAD,
    INDEX_ENTRY,
    MAGIC,
    MARKS,
    MAX_CHUNKS,
    MAX_INDEX,
    MAX_MARKS,
    MAX_STORED,
    PRELUDE,
    SCENES,
    TRAILER,
    Chunk,
    check_chunk,
    header_length,
    read_chunk,
    read_header,
)
from interplay.core.replay.marks import Mark, read_marks
from interplay.core.replay.resuming import play_on, world_at
from interplay.core.world import World

_ANY_SIZE = 2**63
_DAMAGED = MAX_MARKS // 16  # that marks which cannot be read count: they may have been inflated for nothing
NOT_CLOSED = "it was not closed"
_LEFT_OFF = "it takes long to look through"


class ReplayReader:
    """Opens a recording; a context manager.

    Args:
        patience: seconds that one search for chunks may take without an index, at least one chunk long. A search reads all contents,
            and a file with holes can claim terabytes. `refresh` continues the search.

    Attributes:
        header: the description.
        chunks: those found so far, in the file's order.
        closed: whether it was closed and is whole; a growing or cut file ends after its last whole chunk.
        left_off: whether the last search ended after `patience`.
        troubles: a line for each part that could not be read so far; all others are as they were written.
    """

    def __init__(self, path: Path | str, links: bool = True, patience: float = math.inf) -> None:
        self.path, self._patience = Path(path), patience
        self.troubles: list[str] = []
        self.left_off = False
        with ExitStack() as opening:
            opening.enter_context(os_errors_as_user_errors("reading", self.path))
            self._file: io.BufferedReader = opening.enter_context(opened(self.path, _ANY_SIZE, links))
            prelude = self._read(0, PRELUDE.size)
            length = header_length(prelude, str(self.path))
            self.header = read_header(prelude, self._read(PRELUDE.size, length), str(self.path))
            self._start = self._at = PRELUDE.size + length
            self.closed, self.chunks = False, list[Chunk]()
            self.refresh()
            if not self.closed:
                self._add_trouble(f"{NOT_CLOSED}; it is read up to byte {self._at:,} of {self._size():,}")
            self._open = opening.pop_all()

    def refresh(self) -> int:
        """Looks for chunks that were appended since; how many."""
        self.left_off = False
        self.troubles = [line for line in self.troubles if _LEFT_OFF not in line]
        before, found = len(self.chunks), None if self.closed else self._read_index()
        if found is not None:
            self.closed, self.chunks = True, found
        elif not self.closed:
            self._walk()
        return len(self.chunks) - before

    def _walk(self) -> None:
        """From chunk to chunk, as far as they are whole and there is time."""
        until = time.monotonic() + self._patience
        ends = {chunk.tag: chunk.first + chunk.ticks for chunk in self.chunks}
        while (chunk := self._chunk_at(self._at)) is not None:
            if self.left_off:
                self._add_trouble(
                    f"{_LEFT_OFF}: {self._at:,} of {self._size():,} bytes so far; look again for more"
                )
                break
            if len(self.chunks) >= MAX_CHUNKS:
                self._add_trouble(f"it has more than {MAX_CHUNKS:,} chunks, the others are left out")
                break
            if not self._sound(chunk):
                following = self._chunk_at(chunk.end)
                if following is None or not self._sound(following):
                    break  # it may still be written
                self._add_trouble(f"{_ticks(chunk)} are damaged (its checksum does not fit)")
            elif chunk.first < ends.get(chunk.tag, 0):
                self._add_trouble(f"{_ticks(chunk)} are there twice, or out of order")
            else:
                self.chunks.append(chunk)
                ends[chunk.tag] = chunk.first + chunk.ticks
            self._at = chunk.end
            self.left_off = time.monotonic() >= until
        else:
            self.left_off = False  # that was the last one

    @property
    def ticks(self) -> int:
        """How many ticks the time line has, damaged ones included."""
        return max((chunk.first + chunk.ticks for chunk in self.of(SCENES)), default=0)

    def frames(self, start: int = 0, stop: int | None = None) -> Iterator[Frame]:
        """The frames of ticks start .. stop - 1 (None: the last); damaged chunks are skipped and listed in `troubles`."""
        end = self.ticks if stop is None else stop
        for chunk in self.of(SCENES):
            if chunk.first < end and start < chunk.first + chunk.ticks:
                data = self.inflated(chunk)
                yield from () if data is None else self._frames_of(chunk, data, start, end)

    def _frames_of(self, chunk: Chunk, data: bytes, start: int, stop: int) -> Iterator[Frame]:
        decoder, tick = Decoder(self.header.scene), chunk.first
        try:
            for frame in split_frames(data):
                head = decoder.decode(frame)
                if head.tick != tick or tick >= chunk.first + chunk.ticks:
                    raise UserError(f"tick {head.tick} stands in the place of {tick}")
                if start <= tick < stop:
                    yield Frame(head.tick, head.first, head.last, decoder.scene())
                tick += 1
            if tick != chunk.first + chunk.ticks:
                raise UserError(f"tick {tick} is missing")
        except UserError as error:
            self._add_trouble(f"ticks {tick}..{chunk.first + chunk.ticks - 1} are damaged ({error})")

    def frame(self, tick: int) -> Frame:
        """The frame of a tick."""
        found = next(self.frames(tick, tick + 1), None)
        if found is None:
            raise UserError(f"{self.path}: tick {tick} is missing or damaged; choose 0..{self.ticks - 1}")
        return found

    def marks(self) -> list[Mark]:
        """What happened, in the order of the ticks."""
        found: list[Mark] = []
        size = 0
        for chunk in self.of(MARKS):
            # Counted before it is read, and damaged ones as something: a file with holes may claim thousands at no cost.
            data = self.inflated(chunk) if size + chunk.stored <= MAX_MARKS else None
            size += max(chunk.stored, _DAMAGED if data is None else len(data))
            if size > MAX_MARKS:
                self._add_trouble(
                    f"marks of {_ticks(chunk)} and later are left out: over {MAX_MARKS:,} bytes"
                )
                break
            if data is not None:
                try:
                    found += read_marks(data, len(self.header.agents))
                except UserError as error:
                    self._add_trouble(f"marks of {_ticks(chunk)}: {error}")
        return found

    def world_at(
        self, tick: int, world: World | None = None, start: int | None = None, most: int | None = None
    ) -> World:
        """The world at a tick, ready to play on: the nearest recorded state, and the actions from there.

        Args:
            world: a batch of one, made as the recorded one was; None: the registry makes it. Worlds that are programs,
                ``module:name``, have to be made by the caller: a file does not start programs.
            start: begin at the last state before this tick instead, and check the world against every state passed.
            most: the maximum of ticks to play from there; None: no maximum.

        Returns:
            The world. The memories of policies are not restored.

        Raises:
            UserError: if the recording holds no states, the world or its version is another, it comes to another state, or it is
                more than `most` ticks from one.
        """
        return world_at(self, tick, world, start, most)

    def play_on(self, world: World, tick: int, most: int) -> Iterator[tuple[int, bool]]:
        """Plays a world on as it was recorded, tick by tick, to the last one.

        Args:
            world: from `world_at`.
            tick: its present tick.
            most: the maximum of ticks in a chunk of actions.

        Yields:
            Each tick reached, and whether it is a reset.
        """
        return play_on(self, world, tick, most)

    def inflated(self, chunk: Chunk) -> bytes | None:
        """What a chunk holds; None, and a line in `troubles`, if it is damaged."""
        try:
            data = self._bytes(chunk)
            head = CHUNK_HEAD.unpack_from(data)
            if (head[0], head[1], head[2], head[4]) != (chunk.tag, chunk.first, chunk.ticks, chunk.stored):
                raise ValueError("another chunk is there")
            return read_chunk(data)
        except ValueError as error:
            self._add_trouble(f"{_ticks(chunk)} are damaged ({error})")
            return None

    def _read_index(self) -> list[Chunk] | None:
        """The chunks that the index names; None where there is no sound one."""
        at = self._size() - TRAILER.size
        if at < self._start:
            return None
        offset, entries, check, magic = TRAILER.unpack(self._read(at, TRAILER.size))
        if magic != MAGIC or offset < self._start or offset + entries * INDEX_ENTRY.size != at:
            return None
        if at - offset > MAX_INDEX:
            return None
        data = self._read(offset, at - offset)
        if zlib.crc32(data) != check:
            return None
        chunks = [Chunk(*entry) for entry in INDEX_ENTRY.iter_unpack(data)]
        ends = [self._start, *(chunk.end for chunk in chunks)]
        if ends != [*(chunk.offset for chunk in chunks), offset]:
            return None
        after: dict[bytes, int] = {}
        for chunk in chunks:  # in the order of the ticks, as they are found without it
            if chunk.first < after.get(chunk.tag, 0):
                return None
            after[chunk.tag] = chunk.first + chunk.ticks
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
        """Head and stored data.

        Raises:
            ValueError: for more than a chunk may have: a file with holes may claim anything at no cost.
        """
        if chunk.stored > MAX_STORED:
            raise ValueError(f"it claims {chunk.stored:,} bytes, {MAX_STORED:,} are read at most")
        return self._read(chunk.offset, CHUNK_HEAD.size + chunk.stored)

    def of(self, tag: bytes) -> list[Chunk]:
        """The chunks with a tag."""
        return [chunk for chunk in self.chunks if chunk.tag == tag]

    def _size(self) -> int:
        return self._file.seek(0, io.SEEK_END)

    def _read(self, at: int, size: int) -> bytes:
        self._file.seek(at)
        return self._file.read(size)

    def _add_trouble(self, what: str) -> None:
        line = f"{self.path}: {what}"
        if line not in self.troubles:
            self.troubles.append(line)

    def __enter__(self) -> ReplayReader:
        return self

    def __exit__(self, *error: Any) -> None:
        self._open.close()


def _ticks(chunk: Chunk) -> str:
    return f"{chunk.tag.decode(errors='replace')} of ticks {chunk.first}..{chunk.first + chunk.ticks - 1}"
