"""The door for what comes out of files: settings are data, and a name in them that leads to a program is not followed
unless the user wrote the file on this machine, or says that he trusts it.

What a user types or passes in Python is his own word and does not come through here.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TypeVar

from interplay.core.errors import UserError
from interplay.core.files import replace_file
from interplay.core.settings import Settings, build, to_toml
from interplay.core.settings_reading import parse_toml, read_bytes
from interplay.core.settings_text import show
from interplay.core.signatures import remove_signature, sign, why_unsigned

S = TypeVar("S", bound=Settings)


class Untrusted(UserError):
    """A file names a program, and nobody has said that it may run."""


def read_settings(file: Path | str, model: type[S], trust: bool = False) -> S:
    """Reads a settings file that will be acted upon.

    Args:
        file: the file.
        model: of its settings; `Settings.code_names` says which values lead to programs.
        trust: the user's word that this file may name programs. It is signed then, so that it is asked for once.

    Raises:
        Untrusted: if the file names a program without being signed or trusted.
        UserError: if it cannot be read, is no TOML, or holds wrong values.
    """
    file = Path(file)
    data = read_bytes(file)
    settings = build(model, parse_toml(data, str(file)), str(file))
    admit(settings.code_names(), file, data, trust)
    return settings


def write_settings(file: Path, settings: Settings, text: str | None = None) -> None:
    """Writes a settings file that this process stands for; it is signed if it names programs.

    Args:
        file: to be written.
        settings: that it holds.
        text: that says them; None: as `to_toml`.
    """
    data = (to_toml(settings) if text is None else text).encode()
    if any(True for _ in settings.code_names()):
        sign(file, data)
    else:
        remove_signature(file)
    replace_file(file, data, "settings")


def remove_settings(file: Path) -> None:
    """Removes a settings file and its signature."""
    file.unlink(missing_ok=True)
    remove_signature(file)


def admit(names: Iterable[tuple[str, str]], file: Path, data: bytes, trust: bool = False) -> None:
    """Lets names of programs out of a file pass, or refuses them.

    Args:
        names: key and value of each.
        file: where they stand.
        data: the bytes that were read.
        trust: see `read_settings`.

    Raises:
        Untrusted: for the first of them, if the file is neither signed nor trusted.
    """
    first = next(iter(names), None)
    if first is not None:
        key, value = first
        _admit(f"{key} = {show(value)} names a program", file, data, trust)


def read_program(file: Path, trust: bool = False) -> bytes:
    """The bytes of a program that lies in a run folder, if it may be run.

    Raises:
        Untrusted: if it is neither signed nor trusted.
        UserError: if it cannot be read.
    """
    data = read_bytes(file)
    _admit("is a program", file, data, trust)
    return data


def _admit(what: str, file: Path, data: bytes, trust: bool) -> None:
    reason = why_unsigned(file, data)
    if reason is None:
        return
    if not trust:
        raise Untrusted(
            f"{file}: {what}, and this file {reason}; if you trust it, open it once with --trust (trust=True in Python)"
        )
    sign(file, data)
