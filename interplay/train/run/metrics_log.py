"""The log of a run, ``metrics.jsonl``; `interplay.train.run.writers` get the same numbers."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from interplay.core.files import open_log, os_errors_as_user_errors, reached, refuse_removed, replacing
from interplay.core.json_values import plain
from interplay.core.reading import LINE, METRICS_FILE, opened, parse_json, read_json_lines

ENDING = "ending"  # marks the lines of episodes that `play_out` finished
BLOCK = 2**16  # bytes read at a time from a log's end


class MetricsLog:
    """Appends one JSON object per line; a line torn by a crash is cut off when the run is opened again.

    Args:
        path: the file, created if missing.

    Example:
        >>> import tempfile
        >>> path = Path(tempfile.mkdtemp()) / "metrics.jsonl"
        >>> with MetricsLog(path) as log:
        ...     log.write(4096, {"return": 1.5, "kl": float("nan")})
        >>> print(path.read_text().strip())
        {"agent_steps": 4096, "return": 1.5, "kl": null}
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        with os_errors_as_user_errors("opening", self.path):
            self._file = os.fdopen(open_log(self.path), "ab", buffering=0)

    def write(self, agent_steps: int, values: Mapping[str, Any]) -> None:
        """Appends a line; NaN and infinities become null.

        Raises:
            UserError: for a system error such as a full disk; the file still ends with a whole line.
            Removed: if the file was removed or replaced.
        """
        self.write_lines(agent_steps, [values])

    def write_lines(self, agent_steps: int, lines: Sequence[Mapping[str, Any]]) -> None:
        """Appends several lines in one write."""
        text = "".join(
            json.dumps({"agent_steps": int(agent_steps), **plain(values)}, allow_nan=False) + "\n"
            for values in lines
        )
        refuse_removed(self._file.fileno(), self.path)
        length = os.fstat(self._file.fileno()).st_size
        with os_errors_as_user_errors("writing to", self.path, "earlier lines are intact"):
            try:
                reached("metrics: line")
                self._append(text.encode())
            except OSError:
                os.ftruncate(self._file.fileno(), length)
                raise

    def sync(self) -> None:
        """Makes the lines durable; called with each checkpoint."""
        with os_errors_as_user_errors("writing to", self.path):
            os.fsync(self._file.fileno())

    def close(self) -> None:
        """Closes the file."""
        self._file.close()

    def __enter__(self) -> MetricsLog:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _append(self, data: bytes) -> None:
        while data:
            data = data[self._file.write(data) :]


def flat(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested groups as one level: ``{"loss": {"value": 1}}`` becomes ``{"loss/value": 1}``."""
    flattened: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, Mapping):
            flattened |= flat(value, f"{prefix}{name}/")
        else:
            flattened[prefix + name] = value
    return flattened


def log_lines(run: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Number and values of each whole line of a run's log; none where there is no log."""
    if os.path.lexists(run / METRICS_FILE):
        yield from read_json_lines(run / METRICS_FILE, links=False)


def cut_torn_line(path: Path) -> None:
    """Cuts off an unfinished last line."""
    if not os.path.lexists(path):
        return
    handle = open_log(path)
    try:
        whole = end = os.fstat(handle).st_size
        while whole and (block := os.pread(handle, min(BLOCK, whole), max(whole - BLOCK, 0))):
            if (at := block.rfind(b"\n")) >= 0:
                whole += at + 1 - len(block)
                break
            whole -= len(block)
        if whole < end:
            os.ftruncate(handle, whole)
    finally:
        os.close(handle)


def last_step(path: Path) -> int:
    """The agent-steps of a log's last whole line; 0 if there is none."""
    return int(_steps_of(_last_line(path)))


def has_ending(path: Path) -> bool:
    """Whether the last line is marked `ENDING`."""
    return _is_ending(_last_line(path))


def _last_line(path: Path) -> bytes:
    """The last whole line; empty where there is none."""
    if not os.path.lexists(path):
        return b""
    with opened(path, 2**63, links=False) as file:
        file.seek(max(file.seek(0, os.SEEK_END) - LINE, 0))
        lines = file.read(LINE).split(b"\n")
    return lines[-2] if len(lines) > 1 else b""


def drop_lines_after(path: Path, agent_steps: int) -> None:
    """Removes lines beyond `agent_steps`; the others keep their bytes."""
    _drop_lines(path, lambda line: _steps_of(line) > agent_steps)


def drop_ending(path: Path) -> None:
    """Removes lines marked `ENDING`, before the run goes on."""
    if has_ending(path):
        _drop_lines(path, _is_ending)


def _drop_lines(path: Path, drops: Callable[[bytes], bool]) -> None:
    if not os.path.lexists(path):
        return
    with opened(path, 2**63, links=False) as file:
        if not any(drops(line) for line in iter(lambda: file.readline(LINE), b"")):
            return
        file.seek(0)
        with replacing(path, "metrics") as shorter, shorter.open("wb") as target:
            for line in iter(lambda: file.readline(LINE), b""):
                if not drops(line):
                    target.write(line)
            reached("metrics: lines written")


def _steps_of(line: bytes) -> float:
    """The agent-steps of a logged line; 0 where it has none."""
    try:
        steps = parse_json(line)["agent_steps"]
    except (ValueError, KeyError, TypeError):
        return 0
    return steps if type(steps) in (int, float) else 0


def _is_ending(line: bytes) -> bool:
    try:
        return f'"{ENDING}"'.encode() in line and parse_json(line).get(ENDING) is True
    except (ValueError, AttributeError):
        return False
