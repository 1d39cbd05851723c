"""The check of what comes out of files: settings are data, and a name in them that leads to a program is not followed
unless the user wrote it on this machine, or says that the file is trusted.

What a user types or passes in Python is the user's own word and is not checked here. What is signed is the names of programs,
where they lead and what they are called with; all else in a settings file can start none, and may be edited.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeVar

from interplay.core.errors import UserError
from interplay.core.files import replace_file
from interplay.core.loading import origin
from interplay.core.settings import Settings, build, to_toml
from interplay.core.settings_reading import parse_toml, read_bytes
from interplay.core.settings_text import show, toml_value
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
    settings = build(model, parse_toml(read_bytes(file), str(file)), str(file))
    admit(settings, file, trust)
    return settings


def write_settings(file: Path, settings: Settings, text: str | None = None) -> None:
    """Writes a settings file that this process stands for; it is signed if it names programs.

    Args:
        file: to be written.
        settings: that it holds.
        text: that says them; None: as `to_toml`.
    """
    named = programs(settings)
    if named:
        sign(file, named)  # before the file, so that a stop in between leaves none that is unsigned
    else:
        remove_signature(file)
    replace_file(file, to_toml(settings) if text is None else text, "settings")


def remove_settings(file: Path) -> None:
    """Removes a settings file and its signature."""
    file.unlink(missing_ok=True)
    remove_signature(file)


def admit(settings: Settings, file: Path, trust: bool = False) -> None:
    """Lets settings pass that came out of a file, or refuses them.

    Args:
        settings: that the file holds.
        file: where they stand.
        trust: see `read_settings`.

    Raises:
        Untrusted: if they name programs, and are neither signed nor trusted.
    """
    names = [(key, value) for key, value in settings.code_names() if isinstance(value, str)]
    if not names or why_unsigned(file, programs(settings)) is None:
        return
    for key, value in names:
        if not origin(
            value
        ):  # not signed anew even if it is trusted: from its own folder it is signed already
            if trust:
                return
            raise Untrusted(
                f"{file}: {key} = {show(value)} names a program that is not found here; run from its folder or install it"
            )
    key, value = names[0]
    admit_bytes(f"{key} = {show(value)} names a program", file, programs(settings), trust)


def admit_bytes(what: str, file: Path, signed: bytes, trust: bool) -> None:
    """Lets something pass that is signed or trusted.

    Args:
        what: is told of the file, if it is refused.
        file: where it stands.
        signed: what its signature covers.
        trust: see `read_settings`.

    Raises:
        Untrusted: if it is neither.
    """
    reason = why_unsigned(file, signed)
    if reason is None:
        return
    if not trust:
        raise Untrusted(
            f"{file}: {what}, and {reason}; if you wrote or trust it, open it once with --trust (trust=True in Python)"
        )
    sign(file, signed)


def programs(settings: Settings) -> bytes:
    """What is signed: every name of a program, where it leads and what it is called with; empty if there is none."""
    return "".join(_line(key, value) for key, value in settings.code_names()).encode()


def _line(key: str, value: Any) -> str:
    """A name with the place that it leads to: a signature that somebody has copied is worth nothing beside another module."""
    place = f" at {toml_value(origin(value))}" if isinstance(value, str) else ""
    return f"{key!r} = {toml_value(value)}{place}\n"


def read_program(file: Path, trust: bool = False) -> bytes:
    """The bytes of a program that lies in a run folder, if it may be run.

    Raises:
        Untrusted: if it is neither signed nor trusted.
        UserError: if it cannot be read.
    """
    data = read_bytes(file)
    admit_bytes("it is a program", file, data, trust)
    return data
