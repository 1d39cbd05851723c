"""The user's own key: 32 random bytes in the data folder, by which this machine knows again what its user wrote.

It stays here. Whoever copies a run folder elsewhere copies no key, so a signature made with it means nothing there.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
import sys
from pathlib import Path

from interplay.core.errors import UserError

SIZE = 32  # bytes
NAME = "key"
_PRIVATE = stat.S_IRWXG | stat.S_IRWXO
_FOREIGN_WRITE = stat.S_IWGRP | stat.S_IWOTH


def data_folder() -> Path:
    """Where this user's own data lies: ``$XDG_DATA_HOME/interplay``, else the place that the system has for such data.

    Raises:
        UserError: if the user has no home.
    """
    chosen = os.environ.get("XDG_DATA_HOME", "")
    if os.path.isabs(
        chosen
    ):  # a relative one would be another folder wherever one stands, and does not count
        return Path(chosen) / "interplay"
    try:
        home = Path.home()
    except RuntimeError:
        raise UserError("no home folder is known; set XDG_DATA_HOME to a folder of your own") from None
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / "interplay"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", home)) / "interplay"
    return home / ".local" / "share" / "interplay"


def read_key() -> bytes | None:
    """The key, or None if there is none yet.

    Raises:
        UserError: for a key that others may know or have planted, one that is cut, or one that cannot be read.
    """
    file = data_folder() / NAME
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        _refuse_foreign_folder(file.parent)
        handle = os.open(file, flags | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _refused(file, f"it cannot be read ({(error.strerror or str(error)).lower()})") from None
    with os.fdopen(handle, "rb") as opened:
        _refuse_foreign(file, os.fstat(handle))
        data = opened.read(SIZE + 1)
    if len(data) != SIZE:
        raise _refused(file, f"it has {len(data)} bytes instead of {SIZE}")
    return data


def own_key() -> bytes:
    """The key, which is made if there is none.

    Two processes that make it at the same time get the same one: the file appears whole, under its name, once.

    Raises:
        UserError: as `read_key`, and if it cannot be written.
    """
    if (known := read_key()) is not None:
        return known
    file = data_folder() / NAME
    try:
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        _appear(file, secrets.token_bytes(SIZE))
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UserError(
            f"{file}: your key cannot be written ({reason}); set XDG_DATA_HOME to a folder of your own"
        ) from None
    made = read_key()
    if made is None:
        raise _refused(file, "it has gone")
    return made


def _appear(file: Path, data: bytes) -> None:
    """Gives the file its name in one step, unless another process has done so."""
    temporary = file.with_name(f".{file.name}.{os.getpid()}.{secrets.token_hex(4)}.tmp")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    handle = os.open(temporary, flags, 0o600)
    try:
        with os.fdopen(handle, "wb") as opened:
            opened.write(data)
            opened.flush()
            os.fsync(opened.fileno())
        with contextlib.suppress(FileExistsError):
            os.link(temporary, file)
    finally:
        temporary.unlink(missing_ok=True)


def _refuse_foreign_folder(folder: Path) -> None:
    """Refuses a folder that is a link, somebody else's, or that others may write to."""
    state = os.lstat(folder)
    if not stat.S_ISDIR(state.st_mode):
        raise _refused(folder, "it is no folder")
    if os.name == "posix" and (state.st_uid != os.geteuid() or state.st_mode & _FOREIGN_WRITE):
        raise _refused(folder, "others may write to it", "chmod 700 it")


def _refuse_foreign(file: Path, state: os.stat_result) -> None:
    if not stat.S_ISREG(state.st_mode):
        raise _refused(file, "it is no plain file")
    if os.name != "posix":
        return
    if state.st_uid != os.geteuid():
        raise _refused(file, "it is somebody else's")
    if state.st_mode & _PRIVATE:
        raise _refused(file, "others may read or write it")


def _refused(path: Path, reason: str, cure: str = "remove it, a new one is made") -> UserError:
    return UserError(f"{path}: not taken as your key: {reason}; {cure}")
