"""Signatures: a keyed digest beside a file says that this user, on this machine, wrote or trusted just these bytes.

``settings.toml.sig`` holds HMAC-SHA256 of name and bytes of ``settings.toml``, in hexadecimal, one line each for the
contents as they are and as they were before: a kill between the writing of the two files leaves a pair that fits.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import stat
import sys
from pathlib import Path

from interplay.core.errors import UserError
from interplay.core.files import replace_file, told_plainly
from interplay.core.user_key import own_key, read_key

SUFFIX = ".sig"
_PURPOSE = b"interplay signature 1\0"
_LINE = 64  # hexadecimal digits
_MOST = 2 * (_LINE + 1)  # bytes: two lines


def signature_path(file: Path) -> Path:
    """Where the signature of a file stands."""
    return file.with_name(file.name + SUFFIX)


def sign(file: Path, data: bytes) -> None:
    """Signs what a file holds, or is about to hold; without a key says so in one line and goes on.

    Args:
        file: that is signed; its name is part of it, its folder is not, so that a folder can be moved.
        data: its bytes.
    """
    beside = signature_path(file)
    try:
        mine, before = _digest(own_key(), file.name, data), _read(beside)
        if before[:1] != [mine]:
            with told_plainly("signing", file):
                replace_file(beside, "".join(f"{line}\n" for line in [mine, *before[:1]]), "signature")
    except UserError as error:
        print(
            f"{error}; {file} stays unsigned, so opening it takes --trust each time",
            file=sys.stderr,
            flush=True,
        )


def why_unsigned(file: Path, data: bytes) -> str | None:
    """Why a file does not count as this user's own, in a few words; None if it is signed.

    Args:
        file: that was read.
        data: the bytes that it had.
    """
    try:
        key = read_key()
    except UserError as error:
        return f"cannot be checked ({error})"
    signatures = _read(signature_path(file))
    if key is None or not signatures:
        return "was not written by you on this machine"
    mine = _digest(key, file.name, data)
    if any(hmac.compare_digest(mine, line) for line in signatures):
        return None
    return "was changed since, or signed by somebody else"


def remove_signature(file: Path) -> None:
    """Removes the signature of a file that goes."""
    signature_path(file).unlink(missing_ok=True)


def _digest(key: bytes, name: str, data: bytes) -> str:
    message = _PURPOSE + os.fsencode(name) + b"\0" + data
    return hmac.new(key, message, hashlib.sha256).hexdigest()


def _read(beside: Path) -> list[str]:
    """The lines of a signature file; none if it is missing or no such file."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        handle = os.open(beside, flags | getattr(os, "O_CLOEXEC", 0))
    except OSError:
        return []
    with os.fdopen(handle, "rb") as opened:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return []
        data = opened.read(_MOST + 1)
    lines = data.decode("ascii", "replace").split() if len(data) <= _MOST else []
    return [line for line in lines if len(line) == _LINE and line.isascii()]
