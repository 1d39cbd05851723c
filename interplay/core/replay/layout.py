"""The parts of a recording in bytes (docs/specs/viewer.md 5): prelude, header, chunks, index, trailer. Little-endian."""

from __future__ import annotations

import json
import struct
import zlib
from typing import Any, ClassVar, NamedTuple

import pydantic

from interplay.core.errors import UserError
from interplay.core.frames.schema import Schema
from interplay.core.reading import MIB, parse_json
from interplay.core.settings import Settings, build

SUFFIX = ".replay"
RECORDINGS, WATCHING = "recordings", "watching"  # in a run's folder, and the file there that a viewer renews
MAGIC = b"INTERPL\x1a"
MAJOR, MINOR = 1, 0
PRELUDE = struct.Struct("<8sHHI")  # magic, major, minor, bytes of the header
CHECK = struct.Struct("<I")  # CRC-32 of prelude and header
CHUNK_HEAD = struct.Struct("<4sIIIII")  # tag, first tick, ticks, raw bytes, stored bytes, CRC-32
INDEX_ENTRY = struct.Struct("<4sIIQI")  # tag, first tick, ticks, offset, stored bytes
TRAILER = struct.Struct("<QII8s")  # offset of the index, entries, CRC-32 of the index, magic

SCENES, ACTIONS, SNAPSHOT, MARKS = b"SCNE", b"ACTN", b"SNAP", b"EVNT"
MAX_HEADER = MIB
MAX_RAW = 64 * MIB  # bytes of a chunk when it is inflated
MAX_STORED = MAX_RAW + MIB  # and in the file: what does not shrink grows by less than a thousandth
MAX_CHUNKS = 2**18  # of a recording; of 100 ticks each they are 26 million
MAX_INDEX = MAX_CHUNKS * INDEX_ENTRY.size  # bytes
MAX_MARKS = 16 * MIB  # bytes of all marks when they are inflated: a few kB of a file may claim gigabytes
SCENE_TICKS, SCENE_BYTES = 100, 4 * MIB  # of a chunk of scenes: whichever comes first ends it


HUMAN = "human"  # in `Header.players`


class Header(Settings):
    """The description in a recording.

    Attributes:
        world: id of the world.
        world_version: its version.
        options: of the world.
        seed: of the first reset.
        agents: names of the slots.
        policy: the players, in words.
        players: the player of each slot at the beginning, in words, `HUMAN` for people; empty: `policy` played all.
        lineup: side -> its player in words, ``all`` -> the only one; empty: in older recordings, or if `players` is enough.
        learner: words of the player of `checkpoint`; empty: it played all slots.
        checkpoint: the checkpoint of `policy`, as the SHA-256 at the end of its manifest, with ``@`` and the player for a league; empty:
            none, or unknown.
        interplay: version of the package that wrote it.
        started: date and time, ISO 8601; may be empty.
        exact: whether there are states and actions, so that play can continue from it.
        frames_per_step: how many frames of a video show a step.
        tick_seconds: length of a tick in the world's own time; None: it has none.
        scene: the schema of the frames.
    """

    model_config = pydantic.ConfigDict(extra="ignore")  # a later minor version may have more keys
    most_integer: ClassVar[int] = 2**4096  # seeds of worlds are uint64, and the world checks its options
    world: str
    world_version: int = 1
    options: dict[str, Any] = pydantic.Field(default_factory=dict)
    seed: int = 0
    agents: tuple[str, ...] = ()
    policy: str = ""
    players: tuple[str, ...] = ()
    lineup: dict[str, str] = pydantic.Field(default_factory=dict)
    learner: str = ""
    checkpoint: str = ""
    interplay: str = ""
    started: str = ""
    exact: bool = False
    frames_per_step: int = pydantic.Field(1, ge=1, le=10_000)
    tick_seconds: float | None = pydantic.Field(None, gt=0, allow_inf_nan=False)
    scene: Schema


class Chunk(NamedTuple):
    """The position of a chunk.

    Attributes:
        tag: its kind.
        first, ticks: the ticks that it covers.
        offset: of its head in the file.
        stored: bytes behind the head.
    """

    tag: bytes
    first: int
    ticks: int
    offset: int
    stored: int

    @property
    def end(self) -> int:
        """The offset behind it."""
        return self.offset + CHUNK_HEAD.size + self.stored


def write_beginning(header: Header) -> bytes:
    """Prelude, header and their checksum."""
    try:
        text = json.dumps(header.model_dump(), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        data = text.encode()
    except (TypeError, ValueError) as error:
        raise UserError(
            f"recording of {header.world}: its header cannot be kept ({error}); options are numbers, texts and lists of those"
        ) from None
    if len(data) > MAX_HEADER:
        raise UserError(
            f"recording of {header.world}: a header of {len(data):,} bytes, {MAX_HEADER:,} are kept at most; use shorter names"
        )
    beginning = PRELUDE.pack(MAGIC, MAJOR, MINOR, len(data)) + data
    return beginning + CHECK.pack(zlib.crc32(beginning))


def header_length(prelude: bytes, name: str) -> int:
    """Length of the header and checksum that follow a prelude."""
    if len(prelude) < PRELUDE.size or not prelude.startswith(MAGIC):
        raise UserError(f"{name} is no recording of interplay; name a {SUFFIX} file")
    _, major, minor, length = PRELUDE.unpack(prelude)
    if major != MAJOR:
        raise UserError(
            f"{name}: a recording of format {major}.{minor}, this version reads format {MAJOR}; open it with the interplay that wrote it"
        )
    if length > MAX_HEADER:
        raise UserError(f"{name}: a header of {length:,} bytes, {MAX_HEADER:,} are read at most")
    return int(length) + CHECK.size


def read_header(prelude: bytes, rest: bytes, name: str) -> Header:
    """Reads the header between prelude and checksum."""
    text, check = rest[: -CHECK.size], rest[-CHECK.size :]
    if len(rest) < header_length(prelude, name) or CHECK.unpack(check)[0] != zlib.crc32(prelude + text):
        raise UserError(f"{name}: its header is cut or damaged; record it again")
    try:
        values = parse_json(text)
        if not isinstance(values, dict):
            raise ValueError("it is no mapping")
    except ValueError as error:
        raise UserError(f"{name}: its header is damaged ({error}); record it again") from None
    return build(Header, values, name)


def write_chunk(tag: bytes, first: int, ticks: int, raw: bytes, level: int = 6) -> bytes:
    """Head and deflated data of a chunk."""
    if len(raw) > MAX_RAW:
        raise UserError(
            f"recording, tick {first}: {len(raw):,} bytes in a chunk, {MAX_RAW:,} are kept at most; draw less in a frame"
        )
    deflate = zlib.compressobj(level, wbits=-15)
    stored = deflate.compress(raw) + deflate.flush()
    head = CHUNK_HEAD.pack(tag, first, ticks, len(raw), len(stored), 0)[: -CHECK.size]
    return head + CHECK.pack(zlib.crc32(stored, zlib.crc32(head))) + stored


def read_chunk(data: bytes) -> bytes:
    """What a chunk holds, given its head and its stored bytes.

    Raises:
        ValueError: if it is damaged, or claims more than 64 MiB, which is looked at before anything is inflated.
    """
    check_chunk(data)
    raw = CHUNK_HEAD.unpack_from(data)[3]
    if raw > MAX_RAW:
        raise ValueError(f"it claims {raw:,} bytes, {MAX_RAW:,} are read at most")
    inflate = zlib.decompressobj(-15)
    try:
        found = inflate.decompress(data[CHUNK_HEAD.size :], raw + 1)
    except zlib.error as error:
        raise ValueError(str(error)) from None
    if len(found) != raw or not inflate.eof or inflate.unused_data:
        raise ValueError("it is not as long as it says")
    return found


def check_chunk(data: bytes) -> None:
    """Holds a chunk against its checksum.

    Raises:
        ValueError: if it is not whole.
    """
    if len(data) < CHUNK_HEAD.size:
        raise ValueError("it was cut")
    *_, stored, check = CHUNK_HEAD.unpack_from(data)
    if len(data) != CHUNK_HEAD.size + stored:
        raise ValueError("it was cut")
    head = data[: CHUNK_HEAD.size - CHECK.size]
    if zlib.crc32(data[CHUNK_HEAD.size :], zlib.crc32(head)) != check:
        raise ValueError("its checksum does not fit")
