"""Settings files that notice an edit: the first line is a checksum over every value below it.

The checksum is a comment, so the file remains TOML that can be edited and used for a new run. It covers values:
blanks, comments and the order of keys may change. It is no signature, since it can be made anew. It separates accidents and
forgotten edits from intended ones.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

from interplay.core.reading import parse_toml, read_named, toml_of
from interplay.core.settings import Settings, to_toml

_LINE = re.compile(rb"# seal ([0-9a-f]{64})((?: [0-9a-f]{64})*); an edit below is noticed\r?")

State = Literal["whole", "broken", "none"]


class Sealed(NamedTuple):
    """The contents of a settings file.

    Attributes:
        values: nested mapping, unchecked.
        seal: whether the values match the checksum; "none" for a file without one, e.g. of an older version.
        departs: digests of settings that these deliberately differ from.
    """

    values: dict[str, Any]
    seal: State
    departs: tuple[str, ...]


def sealed_toml(settings: Settings, departs: Sequence[str] = ()) -> str:
    """The settings as TOML behind their seal.

    Args:
        departs: digests (64 hexadecimal digits each) that are kept in the seal.
    """
    text = to_toml(settings)
    own = _seal(parse_toml(text), departs)
    return f"# seal {' '.join([own, *departs])}; an edit below is noticed\n{text}"


def read_sealed(path: Path | str) -> Sealed:
    """Reads a settings file inside a folder of ours; links are not followed."""
    data = read_named(path, links=False)
    values = toml_of(data, str(path))
    return Sealed(values, *check_seal(data, values))


def check_seal(data: bytes, values: Mapping[str, Any]) -> tuple[State, tuple[str, ...]]:
    """The state of a settings file's seal, and the digests that it keeps."""
    line = _LINE.fullmatch(data.partition(b"\n")[0])
    if line is None:
        return "none", ()
    departs = tuple(line[2].decode().split())
    return "whole" if line[1].decode() == _seal(values, departs) else "broken", departs


def canonical(settings: Settings) -> dict[str, Any]:
    """Every value of the settings by the path of its key, as JSON has it.

    Example:
        >>> class Clock(Settings):
        ...     seconds: float = 1.0
        >>> class Room(Settings):
        ...     clock: Clock = Clock()
        ...     sides: tuple[int, ...] = (2, 3)
        >>> canonical(Room())
        {'clock.seconds': 1.0, 'sides': [2, 3]}
    """
    found: dict[str, Any] = {}
    for name in type(settings).model_fields:
        value = getattr(settings, name)
        if isinstance(value, Settings):
            found |= {f"{name}.{key}": part for key, part in canonical(value).items()}
        else:
            found[name] = _plain(value)
    return found


def digest(values: Mapping[str, Any]) -> str:
    """SHA-256 of plain values, whatever the order of their keys."""
    return hashlib.sha256(_text(values).encode()).hexdigest()


def differing(was: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    """Keys of values that differ in kind or number -> old and new value; None for a missing key.

    Groups of free keys are compared one by one.

    Example:
        >>> differing({"a": 1, "b": {"x": 1, "y": 2}}, {"a": 1.0, "b": {"x": 1}})
        {'a': (1, 1.0), 'b.y': (2, None)}
    """
    found: dict[str, tuple[Any, Any]] = {}
    for key in {**now, **was}:
        mine, theirs = now.get(key), was.get(key)
        if (key in now) == (key in was) and _text(mine) == _text(theirs):
            continue
        if isinstance(mine, dict) and isinstance(theirs, dict):
            found |= {f"{key}.{part}": pair for part, pair in differing(theirs, mine).items()}
        else:
            found[key] = (theirs, mine)
    return found


def _seal(values: Mapping[str, Any], departs: Sequence[str]) -> str:
    return digest({"values": _plain(values), "departs": list(departs)})


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _plain(value: Any) -> Any:
    """A value of a setting as JSON; values that TOML lacks as settings files write them."""
    if value is None:
        return "off"
    if isinstance(value, Mapping):
        return {str(key): _plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if isinstance(value, str | bool | int):
        return value
    return value if isinstance(value, float) and math.isfinite(value) else str(value)
