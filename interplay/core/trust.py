"""Programs named in files: a name that leads to code is followed only if this user typed, made or trusted it.

Settings, checkpoints and recordings are data. A name of the form ``module:attribute`` in them is a program. Its digest has to stand in the
list of trusted programs, ``trusted`` in the user's data folder, which no file from elsewhere can write to. The digest covers the names,
where they lead and the options that they are called with; all else in a file starts nothing and may be edited.
"""

from __future__ import annotations

import hashlib
import os
import sys
from pathlib import Path
from typing import Any, TypeVar

from interplay.core.errors import UserError
from interplay.core.files import os_errors_as_user_errors, replace_file
from interplay.core.loading import origin
from interplay.core.reading import read_named, read_toml
from interplay.core.settings import Settings, build, to_toml
from interplay.core.settings_text import show, toml_value

S = TypeVar("S", bound=Settings)
_DIGITS = 64  # of SHA-256 in hexadecimal


class Untrusted(UserError):
    """A file names a program that this user neither made nor trusted."""


def data_folder() -> Path:
    """The user's data folder: ``$XDG_DATA_HOME/interplay``, else the system's place for such data."""
    chosen = os.environ.get("XDG_DATA_HOME", "")
    if os.path.isabs(chosen):  # a relative one would lie in whatever folder is the working folder
        return Path(chosen) / "interplay"
    home = Path(os.path.expanduser("~"))
    if not home.is_absolute():
        raise UserError("no home folder is known; set XDG_DATA_HOME to a folder of your own")
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / "interplay"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", home)) / "interplay"
    return home / ".local" / "share" / "interplay"


def is_trusted(data: bytes) -> bool:
    """Whether the digest of programs, as `programs` gives them, or of a program's text is in the list; False for no bytes."""
    try:
        lines = (data_folder() / "trusted").read_bytes().splitlines()
    except (OSError, UserError):
        return False
    return bool(data) and _digest(data) in (line[:_DIGITS] for line in lines)


def add_trusted(file: Path, data: bytes) -> None:
    """Adds a digest to the list; if the list cannot be written, prints one line and goes on.

    Args:
        file: noted beside the digest, for readers of the list.
        data: as for `is_trusted`; no bytes add nothing.
    """
    if not data or is_trusted(data):
        return
    try:
        trusted = data_folder() / "trusted"
        with os_errors_as_user_errors("writing", trusted):
            trusted.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            # One call, so that processes that add at once do not mix their lines.
            handle = os.open(trusted, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            try:
                os.write(handle, _digest(data) + f" {str(file.absolute())!r}\n".encode(errors="replace"))
            finally:
                os.close(handle)
    except UserError as error:
        print(f"{error}; opening {file} takes --trust each time", file=sys.stderr, flush=True)


def read_settings(file: Path | str, model: type[S], trust: bool = False) -> S:
    """Reads a settings file that will be acted upon.

    Args:
        model: of its settings; `Settings.code_names` gives the values that lead to programs.
        trust: this file may name programs; they are added to the list.

    Raises:
        Untrusted: if the file names a program that is not trusted.
        UserError: if it cannot be read, is no TOML, or holds wrong values.
    """
    file = Path(file)
    settings = build(model, read_toml(file), str(file))
    admit(settings, file, trust)
    return settings


def write_settings(file: Path, settings: Settings, text: str | None = None) -> None:
    """Writes a settings file that this process made; programs that it names are trusted from here on.

    Args:
        text: of the file; None: as `to_toml`.
    """
    add_trusted(file, programs(settings))  # first, so that a stop in between leaves no file that is refused
    replace_file(file, to_toml(settings) if text is None else text, "settings")


def admit(settings: Settings, file: Path, trust: bool = False) -> None:
    """Refuses settings from a file that name untrusted programs.

    Raises:
        Untrusted: naming file, key and value.
    """
    names = [(key, value) for key, value in settings.code_names() if isinstance(value, str)]
    if not names or is_trusted(data := programs(settings)):
        return
    for key, value in names:
        if not trust and not origin(value):
            raise Untrusted(
                f"{file}: {key} = {show(value)} names a program that is not found here; run from its folder or install it"
            )
    key, value = names[0]
    admit_bytes(f"{key} = {show(value)} names a program", file, data, trust)


def admit_bytes(what: str, file: Path, data: bytes, trust: bool) -> None:
    """Refuses bytes if their digest is not in the list; with `trust` adds it.

    Args:
        what: the complaint about the file.
    """
    if trust:
        add_trusted(file, data)
    elif not is_trusted(data):
        raise Untrusted(
            f"{file}: {what}, which was neither made nor trusted on this machine; "
            "if you wrote or trust it, open it once with --trust (trust=True in Python)"
        )


def programs(settings: Settings) -> bytes:
    """Every name of a program with where it leads and its options, one a line; empty if there is none."""
    return "".join(_line(key, value) for key, value in settings.code_names()).encode()


def read_program(file: Path, trust: bool = False) -> bytes:
    """The bytes of a program in a run folder.

    Raises:
        Untrusted: if they are not trusted.
        UserError: if it cannot be read.
    """
    data = read_named(file)
    admit_bytes("it is a program", file, data, trust)
    return data


def _line(key: str, value: Any) -> str:
    """A name with the place that it leads to, since a module of the same name elsewhere is another program."""
    place = f" at {toml_value(origin(value))}" if isinstance(value, str) else ""
    return f"{key!r} = {toml_value(value)}{place}\n"


def _digest(data: bytes) -> bytes:
    return hashlib.sha256(data).hexdigest().encode()
