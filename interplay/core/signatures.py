"""Signatures: a keyed digest beside a file says that this user, on this machine, wrote or trusted what it leads to.

``settings.toml.sig`` is HMAC-SHA256, in hexadecimal, of the name ``settings.toml`` and of what `interplay.core.trust` signs of it.
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
_DIGITS = 64  # hexadecimal


def signature_path(file: Path) -> Path:
    """Where the signature of a file stands."""
    return file.with_name(file.name + SUFFIX)


def sign(file: Path, data: bytes) -> None:
    """Signs a file, or one that is about to be written; without a key says so in one line and goes on.

    Args:
        file: that is signed; its name is part of it, its folder is not, so that a folder can be moved.
        data: what is signed of it; nothing is not signed.
    """
    if not data:
        return
    try:
        line = _digest(own_key(), file.name, data)
        if _read(signature_path(file)) != line:
            with told_plainly("signing", file):
                replace_file(signature_path(file), f"{line}\n", "signature")
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
        data: what is signed of it.
    """
    try:
        key = read_key()
    except UserError as error:
        return f"its signature cannot be checked ({error})"
    there = _read(signature_path(file))
    if key is None or not there or not data:
        return "nothing shows that the file is yours (interplay signs only what it writes itself)"
    if hmac.compare_digest(_digest(key, file.name, data), there):
        return None
    return "it was changed or moved since it was signed, or signed by somebody else"


def remove_signature(file: Path) -> None:
    """Removes the signature of a file that goes."""
    signature_path(file).unlink(missing_ok=True)


def _digest(key: bytes, name: str, data: bytes) -> str:
    message = _PURPOSE + os.fsencode(name) + b"\0" + data
    return hmac.new(key, message, hashlib.sha256).hexdigest()


def _read(beside: Path) -> str:
    """What a signature file says; empty if it is missing or no such file."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        handle = os.open(beside, flags | getattr(os, "O_CLOEXEC", 0))
    except OSError:
        return ""
    with os.fdopen(handle, "rb") as opened:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            return ""
        line = opened.read(_DIGITS + 2).strip()
    return line.decode() if len(line) == _DIGITS and line.isalnum() and line.isascii() else ""
