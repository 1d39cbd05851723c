"""Files that are either wholly there or not there: written to a temporary name, fsynced, renamed.

Every place where a write can be cut short calls `reached` with a name. Tests append to `hooks` a function that
fails or kills the process at the name they choose, so each of these places is a place that a test can stop at.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from interplay.core.errors import UserError

hooks: list[Callable[[str], None]] = []

_FULL = {errno.ENOSPC: "the disk is full", errno.EDQUOT: "your disk quota is used up"}
_CURE = {
    errno.ENOSPC: "free some space, then go on",
    errno.EDQUOT: "free some space, then go on",
    errno.EACCES: "choose a folder that you may write to",
    errno.EPERM: "choose a folder that you may write to",
    errno.EROFS: "choose a folder on a disk that can be written to",
}


def reached(point: str) -> None:
    """Says that a write got to `point`; does nothing unless a test put a function into `hooks`."""
    for hook in hooks:
        hook(point)


def write_file(path: Path, data: bytes, point: str = "file") -> None:
    """Writes and fsyncs a new file under its final name; for files in a folder that is renamed as a whole.

    Reaches ``<point>: opened``, ``<point>: half written`` and ``<point>: written``.
    """
    with open(path, "wb", buffering=0) as file:
        reached(f"{point}: opened")
        half = len(data) // 2
        _write_all(file, memoryview(data)[:half])
        reached(f"{point}: half written")
        _write_all(file, memoryview(data)[half:])
        os.fsync(file.fileno())
    reached(f"{point}: written")


def replace_file(path: Path, data: bytes | str, point: str = "file") -> None:
    """Gives `path` new contents at once: a reader finds the old file or the new one, never a part.

    Reaches the points of `write_file`, then ``<point>: renamed``. After an error the old file stands and no
    temporary file is left.
    """
    path = Path(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        write_file(temporary, data.encode() if isinstance(data, str) else data, point)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    reached(f"{point}: renamed")
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Makes the names in a folder durable; on systems that cannot open folders this does nothing."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def remove_tree(folder: Path) -> None:
    """Removes a folder and what is in it, as far as it can; never raises."""
    shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def told_plainly(deed: str, path: Path, safe: str = "") -> Iterator[None]:
    """Turns an operating system's error inside the block into one line that names deed, path, reason and cure.

    Args:
        deed: what was being done, e.g. ``"saving the checkpoint"``.
        path: of the file or folder it was done to.
        safe: what is still whole, e.g. ``"earlier checkpoints are intact"``; may be empty.

    Raises:
        UserError: for any `OSError` in the block.
    """
    try:
        yield
    except OSError as error:
        code = error.errno or 0
        reason = _FULL.get(code) or (error.strerror or str(error)).lower()
        cure = _CURE.get(code, "check the path and the disk")
        parts = [f"{deed} {path}: {reason}", safe, cure]
        raise UserError("; ".join(part for part in parts if part)) from error


class FileLock:
    """Keeps a second process out; the operating system frees it when the holder ends, also by ``kill -9``.

    The lock is an flock on a file that also holds the holder's process id. The file stays behind and means
    nothing by itself. Systems without flock (Windows) get no protection.

    Example:
        >>> import tempfile
        >>> with FileLock(Path(tempfile.mkdtemp()) / "lock") as lock:
        ...     lock.held
        True
    """

    def __init__(self, path: Path) -> None:
        self.path = Path(path)
        self._handle: int | None = None

    @property
    def held(self) -> bool:
        """Whether this object holds the lock."""
        return self._handle is not None

    def acquire(self) -> int | None:
        """Takes the lock without waiting.

        Returns:
            None when it was taken, else the process id of the holder (0 if it did not write one yet).
        """
        handle = os.open(self.path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o644)
        try:
            if not _flock(handle):
                text = os.read(handle, 32).decode(errors="replace").strip()
                return int(text) if text.isdigit() else 0
            os.ftruncate(handle, 0)
            os.pwrite(handle, f"{os.getpid()}\n".encode(), 0)
            self._handle, handle = handle, -1
            return None
        finally:
            if handle >= 0:
                os.close(handle)

    def release(self) -> None:
        """Frees the lock; a second call does nothing."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def __enter__(self) -> FileLock:
        holder = self.acquire()
        if holder is not None:
            raise UserError(f"{self.path} is held by process {holder}; wait until it ends or stop it")
        return self

    def __exit__(self, *_: object) -> None:
        self.release()


def _flock(handle: int) -> bool:
    """Locks an open file; False if another process holds it."""
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _write_all(file: Any, data: memoryview) -> None:
    """Writes every byte; a raw file may take fewer than it is given."""
    while data:
        data = data[file.write(data) :]
