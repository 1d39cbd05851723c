"""Stamps of files: what is kept of a file is used as long as its stamp is the same."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import BinaryIO, NamedTuple

from interplay.core.files import os_errors_as_user_errors
from interplay.core.reading import opened
from interplay.core.replay.layout import CHECK, MAX_HEADER, PRELUDE

_ANY_SIZE = 2**63
_ENDS = 4_096  # bytes


class Stamp(NamedTuple):
    """Identity and state of a file.

    Attributes:
        device, inode: stay while a file grows, and may be reused after it was removed.
        header: digest of a recording's prelude and header; of other files of their first and last 4 KiB.
        size: bytes.
        written, changed: nanoseconds of the last change; `changed` cannot be set by programs.
    """

    device: int
    inode: int
    header: int
    size: int
    written: int
    changed: int

    @property
    def file(self) -> tuple[int, int, int]:
        """The parts that stay while a recording grows."""
        return self[:3]

    def continues(self, before: Stamp) -> bool:
        """Whether the file has grown since an earlier stamp."""
        return self.file == before.file and self.size > before.size

    def key(self, whole: bool) -> str:
        """Name of a recording's contents for pages.

        Args:
            whole: it is closed. The key of a growing file is the beginning of the one that it gets then.
        """
        return "-".join(f"{part:x}" for part in (self if whole else self.file)) + "-"


def stamp_of(path: Path) -> Stamp:
    """The stamp of an ordinary file."""
    with os_errors_as_user_errors("reading", path), opened(path, _ANY_SIZE, links=False) as file:
        first = file.read(_ENDS)
        file.seek(max(file.seek(0, os.SEEK_END) - _ENDS, 0))
        return _stamp(file, first + file.read(_ENDS))


def recording_stamp(path: Path) -> Stamp:
    """The stamp of a recording, which may be damaged."""
    with os_errors_as_user_errors("reading", path), opened(path, _ANY_SIZE, links=False) as file:
        prelude = file.read(PRELUDE.size)
        length = PRELUDE.unpack(prelude)[3] if len(prelude) == PRELUDE.size else 0
        return _stamp(file, prelude + file.read(min(length, MAX_HEADER) + CHECK.size))


def _stamp(file: BinaryIO, contents: bytes) -> Stamp:
    found = os.fstat(file.fileno())
    return Stamp(
        found.st_dev,
        found.st_ino,
        int.from_bytes(hashlib.blake2b(contents, digest_size=8).digest()),
        found.st_size,
        found.st_mtime_ns,
        found.st_ctime_ns,
    )
