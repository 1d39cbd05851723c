"""Kills and failing disks at the places where a write can be cut short (`interplay.core.files.reached`)."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from interplay.core import files


@contextmanager
def failing(point: str, error: BaseException | None = None) -> Iterator[None]:
    """Raises each time that a write point is reached inside of the block; a full disk, if no error is given."""

    def reached(name: str) -> None:
        if name == point:
            raise error or OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    files.hooks.append(reached)
    try:
        yield
    finally:
        files.hooks.remove(reached)


class Killed(BaseException):
    """As kill -9: nobody's business to tidy up."""


class AtPoint:
    """Raises at the n-th time that a write point is reached, inside of the block.

    Attributes:
        met: whether it was reached.
    """

    def __init__(self, point: str, times: int, error: BaseException) -> None:
        self.point, self.left, self.error = point, times, error
        self.met = False

    def reached(self, name: str) -> None:
        self.left -= name == self.point
        if self.left == 0:
            self.left, self.met = -1, True
            self.before_raising()
            raise self.error

    def before_raising(self) -> None:
        """What the disk looks like now is seen here."""

    def __enter__(self) -> AtPoint:
        self.hook = self.reached
        files.hooks.append(self.hook)
        return self

    def __exit__(self, *_: object) -> None:
        files.hooks.remove(self.hook)


class KillAt(AtPoint):
    """Raises `Killed`; afterwards the folder is what it was at the point, whatever was tidied up on the way out."""

    def __init__(self, point: str, folder: Path, times: int = 1) -> None:
        super().__init__(point, times, Killed())
        self.folder = folder
        self.frozen = folder.with_name(f"{folder.name}.frozen")

    def before_raising(self) -> None:
        shutil.copytree(self.folder, self.frozen)

    def restore(self) -> None:
        """Puts the folder back as it was; call it when nobody holds files in it any more."""
        if self.met:
            shutil.rmtree(self.folder)
            self.frozen.rename(self.folder)


def quick_disk() -> str | None:
    """A folder in memory where there is one: laws of files do not depend on how long fsync takes."""
    memory = "/dev/shm"
    return memory if os.access(memory, os.W_OK | os.X_OK) else None
