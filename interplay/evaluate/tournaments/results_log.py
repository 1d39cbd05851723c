"""An append-only file of results, one JSON object a line, safe against a kill at any moment.

Every append is one write, followed by an fsync. A kill in the middle leaves an incomplete last line, which is cut off when the file is
opened again, so a result is complete or absent.

Every line ends with a checksum of the rest, so a number that changed on the disk is noticed. Lines rather than SQLite: its write-ahead
log fails on network file systems, and it does not notice a changed number either.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from interplay.core.errors import UserError
from interplay.core.files import open_log, os_errors_as_user_errors, reached, replace_file, sync_folder
from interplay.core.reading import LINE, opened, parse_json

CHECK = "check"  # key of a line's checksum


class ResultsLog:
    """Results by key, in memory and on disk.

    Args:
        path: created if missing. None keeps the results in memory.

    Attributes:
        results: key -> result, in the file's order.

    Raises:
        UserError: if the file cannot be read or written, is not a regular file, or a line other than the last is damaged.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "results.jsonl"
        >>> with ResultsLog(path) as log:
        ...     log.append({"0-1/0": {"scores": [1.0, 0.0]}})
        >>> with open(path, "a") as file:
        ...     _ = file.write('{"key": "0-1/1", "sco')
        >>> with ResultsLog(path) as log:
        ...     log.results
        {'0-1/0': {'scores': [1.0, 0.0]}}
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.results: dict[str, dict[str, Any]] = {}
        self._handle: int | None = None
        if path is None:
            return
        with os_errors_as_user_errors("opening the results", path):
            fresh = not os.path.lexists(path)
            self._handle = open_log(path)
            try:
                if fresh:
                    sync_folder(path.parent)
                self._read(path)
            except BaseException:
                self.close()
                raise

    def append(self, results: Mapping[str, Mapping[str, Any]]) -> None:
        """Adds new results durably; keys that exist are skipped.

        Raises:
            UserError: if the file cannot be written (a full disk), or a number is not finite; earlier results are intact.
        """
        new = {key: dict(result) for key, result in results.items() if key not in self.results}
        if self._handle is not None and self.path is not None:
            text = "".join(_line({"key": key, **result}) for key, result in new.items())
            with os_errors_as_user_errors("writing the results", self.path, "earlier results are intact"):
                self._write(text.encode())
        self.results.update(new)

    def drop(self, keys: Iterable[str]) -> None:
        """Deletes results, so that they can be added again."""
        gone = set(keys)
        self.results = {key: result for key, result in self.results.items() if key not in gone}
        if self._handle is not None and self.path is not None:
            text = "".join(_line({"key": key, **result}) for key, result in self.results.items())
            with os_errors_as_user_errors("writing the results", self.path, "earlier results are intact"):
                replace_file(self.path, text, "results")
                old, self._handle = self._handle, open_log(self.path)
                os.close(old)

    def missing(self, keys: Iterable[str]) -> list[str]:
        """The keys without a result."""
        return [key for key in keys if key not in self.results]

    def close(self) -> None:
        """Closes the file; idempotent."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def __enter__(self) -> ResultsLog:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _read(self, path: Path) -> None:
        """Reads the complete lines and cuts off an incomplete last one."""
        assert self._handle is not None
        whole = 0
        with opened(path, 2**63, links=False) as file:
            for number, line in enumerate(iter(lambda: file.readline(LINE + 1), b""), 1):
                if line.endswith(b"\n"):
                    self._take(line, number)
                    whole += len(line)
                elif len(line) > LINE:
                    raise self._damaged(number, f"it is longer than {LINE:,} bytes")
        if whole < os.fstat(self._handle).st_size:
            os.ftruncate(self._handle, whole)
            os.fsync(self._handle)

    def _take(self, line: bytes, number: int) -> None:
        try:
            entry = parse_json(line)
        except ValueError as error:
            raise self._damaged(number, str(error)) from None
        if not isinstance(entry, dict) or not isinstance(entry.get("key"), str):
            raise self._damaged(number, "it is no result")
        if entry.pop(CHECK, None) != _check(entry):
            raise self._damaged(number, "its checksum is missing or wrong")
        key = entry.pop("key")
        if self.results.setdefault(key, entry) != entry:
            raise UserError(
                f"{self.path}: line {number} contradicts an earlier result of {key}; delete one of the two lines"
            )

    def _damaged(self, number: int, reason: str) -> UserError:
        return UserError(
            f"{self.path}: line {number} is damaged ({reason}); restore the file, or delete that line to play its matches again"
        )

    def _write(self, data: bytes) -> None:
        assert self._handle is not None
        half = 5 * len(data) // 9  # usually within a line
        start = os.fstat(self._handle).st_size
        try:
            for part in (data[:half], data[half:]):
                view = memoryview(part)
                while view:
                    view = view[os.write(self._handle, view) :]
                reached("results: part written")
            os.fsync(self._handle)
        except OSError:
            os.ftruncate(self._handle, start)  # a full disk leaves no torn line behind
            raise
        reached("results: written")


def _line(entry: Mapping[str, Any]) -> str:
    """A result as one line with its checksum."""
    try:
        plain = json.loads(json.dumps(entry, allow_nan=False))
    except ValueError as error:
        raise UserError(
            f"the result of {entry['key']} cannot be kept as JSON ({error}); choose a score that is always finite"
        ) from None
    return json.dumps({**plain, CHECK: _check(plain)}) + "\n"


def _check(entry: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(entry, sort_keys=True).encode()).hexdigest()[:16]
