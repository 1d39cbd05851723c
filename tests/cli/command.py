"""Runs the command line: in a process of its own as a user does, or quicker in this one."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from interplay.cli.main import run

ROOT = Path(__file__).resolve().parents[2]
MARSH = "tests.cli.marsh:Marsh"


def interplay(
    *arguments: str | Path, cwd: Path = ROOT, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Output and exit code of one `interplay` command; it finds the tests' worlds."""
    return subprocess.run(
        [sys.executable, "-m", "interplay.cli", *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT), **(env or {})},
        capture_output=True,
        text=True,
        timeout=300,
        stdin=subprocess.DEVNULL,
        check=False,
    )


def typed(capsys, *arguments: str | Path) -> tuple[int, str, str]:
    """Exit code, output and errors of a command that runs in this process."""
    capsys.readouterr()
    code = run([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def refusal(capsys, *arguments: str | Path) -> str:
    """The one line with which a command is refused; asserts that it is one line with exit code 2."""
    code, out, errors = typed(capsys, *arguments)
    assert code == 2, out + errors
    # A run that begins says how long an update is, a short one that it takes fewer worlds.
    notices = ("one update is ", " agent-steps are few for ", "action masks: ")
    (line,) = (line for line in errors.splitlines() if not any(notice in line for notice in notices))
    assert line.startswith("interplay: ")
    return line
