"""Settings as users write them, TOML files and ``a.b=3`` pairs, read into nested mappings that a model checks afterwards.

Reading any file ends in values that later code can handle, or in one line.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from interplay.core import reading
from interplay.core.errors import UserError
from interplay.core.files import os_errors_as_user_errors

MOST_DEPTH = 32  # groups of an override; a real one has three
MOST_NUMBER = 1 << 64  # whole numbers are smaller, and larger than its negative


def parse_overrides(pairs: Sequence[str]) -> dict[str, Any]:
    """Reads ``a.b=3`` pairs into a nested mapping; later pairs win.

    Values are TOML scalars, arrays or inline tables; a bare word is a string.

    Example:
        >>> parse_overrides(["ppo.clip=0.1", "world.id=survival/1v1-heals-low", "network.hidden=[64, 64]"])
        {'ppo': {'clip': 0.1}, 'world': {'id': 'survival/1v1-heals-low'}, 'network': {'hidden': [64, 64]}}
    """
    nested: dict[str, Any] = {}
    for pair in pairs:
        path, equals, text = pair.partition("=")
        parts = path.strip().split(".")
        if not equals or not text.strip() or not all(parts):
            raise UserError(f"override {_cut(pair)!r} is not KEY=VALUE; write for example ppo.clip=0.1")
        if len(parts) > MOST_DEPTH:
            raise UserError(
                f"override {_cut(pair)!r} goes {len(parts)} groups deep; give a key of the settings"
            )
        group = nested
        for part in parts[:-1]:
            group = group.setdefault(part, {})
            if not isinstance(group, dict):
                raise UserError(
                    f"override {_cut(pair)!r}: {part} was given a value before; give one of the two"
                )
        if isinstance(group.get(parts[-1]), dict):
            raise UserError(
                f"override {_cut(pair)!r}: keys below {parts[-1]} were given before; give one of the two"
            )
        group[parts[-1]] = _parse_value(text.strip(), f"override {_cut(pair)!r}")
    return nested


def read_toml(path: Path | str) -> dict[str, Any]:
    """Reads a settings file that a user named, as a nested mapping, unchecked."""
    return parse_toml(read_bytes(path), str(path))


def read_bytes(path: Path | str) -> bytes:
    """Reads a small file."""
    with os_errors_as_user_errors("reading", Path(path)):
        return reading.read_bytes(path, reading.SMALL)


def parse_toml(data: bytes, owner: str) -> dict[str, Any]:
    """Reads TOML as a nested mapping, unchecked but for depth and size of its values.

    Args:
        data: the text, UTF-8.
        owner: where it comes from, named first in an error.
    """
    try:
        values = reading.parse_toml(data)
    except ValueError as error:
        raise UserError(f"{owner} is not TOML: {error}; fix that line") from None
    _check_size(values, owner)
    return values


def _parse_value(text: str, owner: str) -> Any:
    try:
        document = reading.parse_toml(f"value = {text}")
    except tomllib.TOMLDecodeError:
        return text
    except ValueError as error:
        raise UserError(f"{owner}: {error}; give a value that a setting can have") from None
    value = document["value"]
    # A newline could smuggle in further keys, and dates are no settings: both are taken as the words they are.
    if len(document) > 1 or not isinstance(value, bool | int | float | str | list | dict):
        return text
    _check_size(value, owner)
    return value


def _check_size(value: Any, owner: str) -> None:
    """Refuses whole numbers beyond 64 bits, and texts with a NUL, which ends file names."""
    if isinstance(value, str) and "\0" in value:
        raise UserError(f"{owner}: the text {_cut(value)!r} holds a NUL; leave it out")
    if isinstance(value, int) and not -MOST_NUMBER < value < MOST_NUMBER:
        raise UserError(f"{owner}: a whole number has {value.bit_length()} bits; give one of at most 64")
    if isinstance(value, Mapping | list):
        for item in value.values() if isinstance(value, Mapping) else value:
            _check_size(item, owner)


def _cut(text: str) -> str:
    return text if len(text) <= 80 else text[:77] + "..."
