"""The reader of files from outside: everything but a small, strict, ordinary file is refused in one line.

A run, a tournament, a recording or a map may come from anywhere and be damaged. The reader never waits for a pipe or
reads a device, and reads at most `limit` bytes. Texts are UTF-8, keys of JSON and TOML are unique, numbers are finite unless
the format has another word for them, and nesting is bounded. Reading runs nothing: there is no pickle and no eval.
"""

from __future__ import annotations

import errno
import io
import json
import os
import re
import stat
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from interplay.core.errors import UserError
from interplay.core.files import os_errors_as_user_errors

T = TypeVar("T")

MIB = 2**20
SMALL = MIB  # bytes of a text that people write: settings, maps
LINE = 8 * MIB  # bytes of a line of a log, and of a JSON document
DEPTH = 64  # lists and groups inside each other
DIGITS = 40  # of a whole number; a generator's 128 bits have 39
MOST_NUMBER = 1 << 64  # whole numbers of TOML are smaller, and larger than its negative
METRICS_FILE = "metrics.jsonl"  # the log in the folder of a run

# tomllib takes a time that grows with the square of a dotted key's length, so long ones are found before.
_DOTTED = re.compile(rf"""(?<![\w-])(?:(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*\.[ \t]*){{{DEPTH}}}""")
_LONE = re.compile(r"\\u[dD][89a-fA-F]")  # escapes of half a character; two may make a whole one


def memory_limit() -> int:
    """Default limit of a file's size in bytes: half of the machine's memory."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (AttributeError, ValueError, OSError):
        return 4 * 2**30


@contextmanager
def opened(path: Path | str, limit: int | None = None, links: bool = True) -> Iterator[io.BufferedReader]:
    """Opens an ordinary file for reading, without blocking.

    Args:
        limit: the largest size in bytes; None: half of the machine's memory.
        links: whether `path` may be a symbolic link: True for names that a user typed, False inside a folder that
            came from elsewhere.

    Raises:
        OSError: from the system.
        UserError: for a link, pipe or device, or too large a file.
    """
    most = memory_limit() if limit is None else limit
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
    try:
        # Looked at before it is opened, since opening a device may do something, and again when it is.
        _check_kind(path, os.stat(path, follow_symlinks=links), most)
        handle = os.open(path, flags | (0 if links else getattr(os, "O_NOFOLLOW", 0)))
    except ValueError as error:
        if isinstance(error, UserError):
            raise
        raise UserError(f"{str(path)!r} is no name of a file ({error}); name another one") from None
    with os.fdopen(handle, "rb") as file:
        _check_kind(path, os.fstat(handle), most)
        yield file


def read_bytes(path: Path | str, limit: int | None = None, links: bool = True) -> bytes:
    """The contents of an ordinary file; arguments and errors as for `opened`."""
    most = memory_limit() if limit is None else limit
    with opened(path, most, links) as file:
        data = file.read(most + 1)  # what has grown since is seen, too
        _check_size(path, len(data), most)
        return data


def read_named(path: Path | str, limit: int = SMALL, links: bool = True) -> bytes:
    """As `read_bytes`; the system's errors are one line, too."""
    with os_errors_as_user_errors("reading", Path(path)):
        return read_bytes(path, limit, links)


def read_text(path: Path | str, limit: int = SMALL, links: bool = True) -> str:
    """A UTF-8 text."""
    data = read_named(path, limit, links)
    return _refused(lambda: decode(data), f"{path} is no text in UTF-8")


def read_json(path: Path | str, limit: int = LINE, links: bool = True) -> Any:
    """A JSON document, see `parse_json`."""
    data = read_named(path, limit, links)
    return _refused(lambda: parse_json(data), f"{path} is not JSON")


def read_json_lines(path: Path | str, links: bool = True) -> Iterator[tuple[int, Any]]:
    """The lines of a log with their numbers from 1, without blank lines and a torn last line.

    The log may be of any size: one line is held at a time.
    """
    with os_errors_as_user_errors("reading", Path(path)), opened(path, 2**63, links) as file:
        number = 0
        while line := file.readline(LINE + 1):
            number += 1
            if not line.endswith(b"\n"):
                if len(line) > LINE:
                    raise UserError(f"{path}: line {number} is damaged (over {LINE:,} bytes); remove it")
                return
            if line.strip():
                yield number, _object(path, number, line)


def read_toml(path: Path | str, links: bool = True) -> dict[str, Any]:
    """A TOML document, see `parse_toml`."""
    return toml_of(read_named(path, SMALL, links), str(path))


def toml_of(data: bytes, owner: str) -> dict[str, Any]:
    """As `parse_toml`; an error is one line that begins with the owner."""
    try:
        return parse_toml(data)
    except ValueError as error:
        raise UserError(f"{owner} is not TOML: {error}; fix that line") from None


def decode(data: bytes) -> str:
    """Bytes as text.

    Raises:
        ValueError: if they are not UTF-8, or begin with a byte order mark.
    """
    if data.startswith(b"\xef\xbb\xbf"):
        raise ValueError("it begins with a byte order mark, save it without")
    return data.decode()


def parse_json(data: bytes | str) -> Any:
    """One JSON document, strictly.

    Raises:
        ValueError: in one line: for other text, a repeated key, a number that is not finite or has too many digits, half
            a character, or too deep nesting.

    Example:
        >>> parse_json('{"scores": [1, 2.5]}')
        {'scores': [1, 2.5]}
        >>> parse_json('{"scores": [1, -1e999]}')
        Traceback (most recent call last):
        ValueError: -1e999 is not finite
    """
    text = decode(data) if isinstance(data, bytes) else data
    try:
        value = _DECODER.decode(text)
        if text.count("[") + text.count("{") > DEPTH:
            check_depth(value)
    except RecursionError:
        raise ValueError(f"it is nested deeper than {DEPTH} levels") from None
    if _LONE.search(text):
        _refuse_half_characters(value)
    return value


def parse_toml(data: bytes | str) -> dict[str, Any]:
    """A TOML document, strictly.

    Raises:
        ValueError: in one line: for other text, a whole number beyond 64 bits, a text with a NUL, or too deep nesting.
    """
    text = decode(data) if isinstance(data, bytes) else data
    if _DOTTED.search(text):
        raise ValueError(f"it is nested deeper than {DEPTH} levels")
    try:
        values = tomllib.loads(text)
    except RecursionError:
        raise ValueError(f"it is nested deeper than {DEPTH} levels") from None
    except tomllib.TOMLDecodeError as error:
        raise tomllib.TOMLDecodeError(cut(str(error))) from None
    except ValueError:  # Python reads no whole number of more than 4,300 digits
        raise ValueError(f"a whole number has more than {DIGITS} digits") from None
    check_depth(values)
    _check_sizes(values)
    return values


def check_depth(value: Any) -> None:
    """Refuses lists and groups nested deeper than `DEPTH`, and whole numbers of more than `DIGITS` digits."""
    level = [value]
    for _ in range(DEPTH + 1):
        if any(type(one) is int and abs(one) >= 10**DIGITS for one in level):
            raise ValueError(f"a whole number has more than {DIGITS} digits")
        parts = [
            one.values() if isinstance(one, dict) else one for one in level if isinstance(one, dict | list)
        ]
        if not parts:
            return
        level = [one for part in parts for one in part]
    raise ValueError(f"it is nested deeper than {DEPTH} levels")


def _check_sizes(value: Any) -> None:
    """Refuses whole numbers beyond 64 bits, and texts with a NUL, which ends file names."""
    if isinstance(value, str) and "\0" in value:
        raise ValueError(f"the text {cut(value)!r} holds a NUL")
    if isinstance(value, int) and not -MOST_NUMBER < value < MOST_NUMBER:
        raise ValueError(f"a whole number has {value.bit_length()} bits, settings have at most 64")
    if isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            _check_sizes(part)


def cut(text: str, most: int = 120) -> str:
    """A text for an error, shortened to so many characters."""
    return text if len(text) <= most else text[: most - 3] + "..."


def _object(path: Path | str, number: int, line: bytes) -> dict[str, Any]:
    try:
        value = parse_json(line)
    except ValueError as error:
        raise UserError(f"{path}: line {number} is damaged ({error}); remove it") from None
    if not isinstance(value, dict):
        raise UserError(f"{path}: line {number} is no JSON object; remove it")
    return value


def _refused(parse: Callable[[], T], what: str) -> T:
    try:
        return parse()
    except ValueError as error:
        raise UserError(f"{what}: {error}; restore the file, or name another one") from None


def _check_kind(path: Path | str, found: os.stat_result, limit: int) -> None:
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(found.st_mode):
        raise UserError(f"{path} is a link, pipe or device, not a file; put the file itself there")
    _check_size(path, found.st_size, limit)


def _check_size(path: Path | str, size: int, limit: int) -> None:
    if size > limit:
        raise UserError(f"{path} has {size:,} bytes, {limit:,} are read at most; name another file")


def _finite(text: str) -> float:
    value = float(text)
    if value in (float("inf"), -float("inf")):
        raise ValueError(f"{text[:DIGITS]} is not finite")
    return value


def _whole(text: str) -> int:
    if len(text.lstrip("-")) > DIGITS:
        raise ValueError(f"a whole number has more than {DIGITS} digits")
    return int(text)


def _no_number(text: str) -> Any:
    raise ValueError(f"{text} is not finite")


def _each_key_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        counts = Counter(key for key, _ in pairs)
        twice = next(key for key, count in counts.items() if count > 1)
        raise ValueError(f"the key {twice!r} stands twice")
    return found


def _refuse_half_characters(value: Any) -> None:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        raise ValueError("a text holds half a character") from None


# Made once: to make one for each message of a simulator takes longer than to use it.
_DECODER = json.JSONDecoder(
    parse_float=_finite, parse_int=_whole, parse_constant=_no_number, object_pairs_hook=_each_key_once
)
