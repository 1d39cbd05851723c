"""Ends the engines of a folder, and removes what they leave.

The parent of an engine (`interplay.worlds.doom.engine.LAUNCH`) writes files into its match's folder: ``*.engine`` with its own process
id, the engine's, and the engine's arguments, one a line; and ``*.ended``. The world writes ``*.ready`` once the engine has started.

Run as a program, it waits until the process that started it has closed its pipe, also by being killed. It imports the standard
library alone, so that its start is short.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

MEMORY = Path("/dev/shm")
_ID = "+viz_instance_id"  # the argument that precedes the name of an engine's shared memory


def kill_engines(folder: Path, parents: bool = False) -> None:
    """Kills the engines of a match, and the parents of those that have started, or all `parents`."""
    for file, (parent, engine, *_) in _engines(folder):
        _kill(engine)
        if parents or file.with_suffix(".ready").exists():
            _kill(parent)


def has_ended(folder: Path) -> bool:
    """Whether an engine of the match has ended."""
    return any(folder.glob("*.ended"))


def sweep(folder: Path) -> None:
    """Removes a folder of ended engines, and their shared memory."""
    for _, lines in _engines(folder):
        if _ID in lines:
            for path in MEMORY.glob(f"ViZDoom*{lines[lines.index(_ID) + 1]}"):
                path.unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)


def _engines(folder: Path) -> Iterator[tuple[Path, list[str]]]:
    for file in folder.glob("*.engine"):
        lines = file.read_text().split("\n")
        if len(lines) > 2:
            yield file, lines


def _kill(pid: str) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(int(pid), signal.SIGKILL)


if __name__ == "__main__":
    sys.stdin.buffer.read()
    for match in Path(sys.argv[1]).glob("*"):
        kill_engines(match, parents=True)
        sweep(match)
    shutil.rmtree(sys.argv[1], ignore_errors=True)
