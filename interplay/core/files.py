"""Atomic files: written to a temporary name, fsynced, renamed.

Every place where a write can be cut short calls `reached` with a name. Tests append functions to `hooks` that fail or kill the
process there.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
import socket
import stat
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from interplay.core.errors import Removed, UserError

hooks: list[Callable[[str], None]] = []

_REASONS = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "your disk quota is used up",
    errno.ELOOP: "it is a link, which is not followed",
}
_CURE = {
    errno.ENOSPC: "free some space, then go on",
    errno.EDQUOT: "free some space, then go on",
    errno.EACCES: "choose a folder that you may write to",
    errno.EPERM: "choose a folder that you may write to",
    errno.EROFS: "choose a folder on a disk that can be written to",
    errno.ELOOP: "put the file or folder itself there",
}
_STARTED: Path | None = None
with contextlib.suppress(FileNotFoundError):  # the working folder may be gone
    _STARTED = Path().absolute()
_NO_LINKS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


def short_path(path: Path | str) -> str:
    """A path as seen from the folder where the program was started; an environment may have changed the working folder."""
    path = Path(path)
    return str(path.relative_to(_STARTED) if _STARTED and path.is_relative_to(_STARTED) else path)


def reached(point: str) -> None:
    """Calls the hooks of tests with the name of a point in a write."""
    for hook in hooks:
        hook(point)


def write_file(path: Path, data: bytes, point: str = "file", fresh: bool = False) -> None:
    """Writes and fsyncs a file under its final name; for files in a folder that is renamed as a whole.

    Reaches ``<point>: opened``, ``<point>: half written`` and ``<point>: written``. A link is not followed.
    """
    flags = os.O_WRONLY | os.O_CREAT | _NO_LINKS | (os.O_EXCL if fresh else os.O_TRUNC)
    with os.fdopen(os.open(path, flags, 0o666), "wb", buffering=0) as file:
        reached(f"{point}: opened")
        half = len(data) // 2
        _write_all(file, memoryview(data)[:half])
        reached(f"{point}: half written")
        _write_all(file, memoryview(data)[half:])
        os.fsync(file.fileno())
    reached(f"{point}: written")


def replace_file(path: Path, data: bytes | str, point: str = "file") -> None:
    """Gives `path` new contents atomically: a reader finds the old file or the new one.

    Reaches the points of `write_file`, then ``<point>: renamed``. After an error the old file is unchanged and no
    temporary file is left. A link at `path` is replaced by the file; its target is not touched.
    """
    path = Path(path)
    with _renamed(path, path.with_name(f".{path.name}.{os.getpid()}.tmp"), point) as temporary:
        write_file(temporary, data.encode() if isinstance(data, str) else data, point, fresh=True)


@contextlib.contextmanager
def replacing(path: Path, point: str = "file") -> Iterator[Path]:
    """`replace_file` for writers that need a file name: yields the name of an empty file beside `path`, with its suffix.

    At the end the file is fsynced and renamed; if the block fails, the old file is unchanged.
    """
    path = Path(path)
    with _renamed(
        path, path.with_name(f".{path.stem}.{os.getpid()}{path.suffix.lower()}"), point
    ) as temporary:
        write_file(temporary, b"", point, fresh=True)
        yield temporary
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())


@contextlib.contextmanager
def _renamed(path: Path, temporary: Path, point: str) -> Iterator[Path]:
    """Yields the temporary name, then renames the file, or removes it if the block fails."""
    try:
        temporary.unlink(missing_ok=True)  # of a process that was killed, or planted
        yield temporary
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    reached(f"{point}: renamed")
    sync_folder(path.parent)


def open_log(path: Path) -> int:
    """Opens a log for reading and appending, creates it if it is missing, and returns the handle.

    Raises:
        OSError: also for a link.
    """
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | _NO_LINKS, 0o666)


def refuse_removed(handle: int, path: Path) -> None:
    """Refuses an open file that its path does not lead to any more; what is written to it would be lost.

    Raises:
        Removed: for a file that was removed, moved or replaced.
    """
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        if os.path.samestat(os.fstat(handle), os.lstat(path)):
            return
    raise Removed(f"{path} was removed or replaced while it was written to; start again")


def refuse_links(folder: Path, files: Iterable[str], folders: Iterable[str] = ()) -> None:
    """Refuses links and special files inside a folder from elsewhere, since they would lead out of it.

    Args:
        folder: may itself be a link, since the user named it.
        files: names that must be ordinary files, if they exist.
        folders: names that must be folders, if they exist.
    """
    for names, right, word in ((files, stat.S_ISREG, "file"), (folders, stat.S_ISDIR, "folder")):
        for name in names:
            with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                mode = os.lstat(folder / name).st_mode
                if stat.S_ISLNK(mode):
                    raise UserError(f"{folder / name} is a link, which is not followed; put the {word} there")
                if not right(mode):
                    raise UserError(f"{folder / name} is no ordinary {word}; move it away")


def sync_folder(folder: Path) -> None:
    """Makes the names in a folder durable; does nothing on systems that cannot open folders."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def remove_tree(folder: Path) -> None:
    """Removes a folder with its contents as far as possible; never raises. Of a link only the link is removed."""
    with contextlib.suppress(OSError):
        if os.path.islink(folder):
            os.unlink(folder)
    shutil.rmtree(folder, ignore_errors=True)


@contextlib.contextmanager
def os_errors_as_user_errors(action: str, path: Path, safe: str = "") -> Iterator[None]:
    """Turns an operating system's error into one line with action, path, reason and cure.

    Args:
        action: e.g. ``"saving the checkpoint"``.
        safe: what is still whole, e.g. ``"earlier checkpoints are intact"``; may be empty.

    Raises:
        UserError: for any `OSError` in the block.
    """
    try:
        yield
    except OSError as error:
        code = error.errno or 0
        reason = _REASONS.get(code) or (error.strerror or str(error)).lower()
        cure = _CURE.get(code, "check the path and the disk")
        parts = [f"{action} {path}: {reason}", safe, cure]
        raise UserError("; ".join(part for part in parts if part)) from error


class FileLock:
    """Keeps other processes out; the operating system frees it when the holder ends, also by ``kill -9``.

    The lock is an flock on a file with the holder's process id and host. The file remains and means
    nothing by itself. On systems without flock (Windows) there is no protection.

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

    def acquire(self) -> str | None:
        """Takes the lock without waiting.

        Returns:
            None when it was taken, else the holder, ``4242 of HOST``; "?" if it did not write this yet.
        """
        handle = os.open(self.path, os.O_RDWR | os.O_CREAT | _NO_LINKS, 0o644)
        try:
            if not _flock(handle):
                text = os.read(handle, 300).decode(errors="replace").strip()
                return text if re.fullmatch(r"\d+ of [\w.-]+", text) else "?"
            os.ftruncate(handle, 0)
            os.pwrite(handle, f"{os.getpid()} of {socket.gethostname()}\n".encode(), 0)
            self._handle, handle = handle, -1
            return None
        finally:
            if handle >= 0:
                os.close(handle)

    def refuse_removed(self) -> None:
        """See `refuse_removed`; then the folder of the lock is not this process's any more."""
        if self._handle is not None:
            refuse_removed(self._handle, self.path)

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
