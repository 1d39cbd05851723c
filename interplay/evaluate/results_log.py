"""An append-only file of results, one JSON object a line, that a kill at any moment cannot spoil.

Every append is one write, fsynced before it counts. A kill in the middle of it leaves a last line without its end;
it is cut off when the file is opened again, so a result is there whole or not at all, and its work is done anew.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from interplay.core.errors import UserError
from interplay.core.files import reached, sync_folder, told_plainly


class ResultsLog:
    """Results by key, in memory and on disk.

    Args:
        path: the file; made if it is not there. None keeps the results in memory only.

    Attributes:
        results: key -> result, in the file's order.

    Raises:
        UserError: if the file cannot be read or written, or a line other than the last is damaged.

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
        with told_plainly("opening the results", path):
            fresh = not path.exists()
            self._handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
            if fresh:
                sync_folder(path.parent)
            data = path.read_bytes()
            whole = data.rfind(b"\n") + 1
            if whole < len(data):
                os.ftruncate(self._handle, whole)
                os.fsync(self._handle)
        try:
            for number, line in enumerate(data[:whole].splitlines(), 1):
                self._take(line, number)
        except BaseException:
            self.close()
            raise

    def append(self, results: Mapping[str, Mapping[str, Any]]) -> None:
        """Adds results that are not there yet; they count when this returns.

        Raises:
            UserError: if the file cannot be written (a full disk); earlier results are intact.
        """
        new = {key: dict(result) for key, result in results.items() if key not in self.results}
        if self._handle is not None and self.path is not None:
            text = "".join(
                json.dumps({"key": key, **result}, allow_nan=False) + "\n" for key, result in new.items()
            )
            with told_plainly("writing the results", self.path, "earlier results are intact"):
                self._write(text.encode())
        self.results.update(new)

    def missing(self, keys: Iterable[str]) -> list[str]:
        """Those of the keys that have no result."""
        return [key for key in keys if key not in self.results]

    def close(self) -> None:
        """Closes the file; a second call does nothing."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def __enter__(self) -> ResultsLog:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _take(self, line: bytes, number: int) -> None:
        try:
            entry = json.loads(line)
            key = entry.pop("key")
        except (ValueError, KeyError, AttributeError, TypeError):
            raise UserError(
                f"{self.path}: line {number} is damaged; restore the file, or delete that line to play its matches again"
            ) from None
        if key in self.results and self.results[key] != entry:
            raise UserError(
                f"{self.path}: line {number} says again, and otherwise, what came of {key}; delete one of the two lines"
            )
        self.results[key] = entry

    def _write(self, data: bytes) -> None:
        assert self._handle is not None
        half = 5 * len(data) // 9  # mostly inside of a line
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
