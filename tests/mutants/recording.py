"""Pytest plugin: names the running test to coverage.py, and writes which kernels each test calls and its seconds.

Coverage.py sees the lines of Python but none of compiled code.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from coverage import Coverage

from interplay.core import jit, kernel_key

_calls: dict[Any, set[str]] = defaultdict(set)  # Python function of a kernel -> tests and their phase
_seconds: dict[str, float] = defaultdict(float)  # test -> seconds
_failed: set[str] = set()
_current = ""


class _RecordingDispatcher(jit.FixedDispatcher):
    def __call__(self, *args: Any, **keywords: Any) -> Any:
        if _current:
            _calls[self.py_func].add(_current)
        return super().__call__(*args, **keywords)


jit.FixedDispatcher = _RecordingDispatcher  # type: ignore[misc]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[Any]:
    """Attributes what runs to the setup of a test."""
    return (yield from _named(item, "setup"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[Any]:
    """Attributes what runs to a test."""
    return (yield from _named(item, "call"))


def _named(item: pytest.Item, phase: str) -> Iterator[Any]:
    global _current
    _current = f"{item.nodeid} ({phase})"
    coverage = Coverage.current()
    if coverage is not None:
        coverage.switch_context(_current)
    try:
        return (yield)
    finally:
        _current = ""
        if coverage is not None:
            coverage.switch_context("")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Adds up a test's seconds."""
    _seconds[report.nodeid] += report.duration
    if report.failed:
        _failed.add(report.nodeid)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Writes this process's part."""
    if os.environ.get("PYTEST_XDIST_WORKER") is None and session.config.getoption("numprocesses", None):
        return  # the controller, to which the workers' reports go too
    root = Path.cwd()
    kernels = [
        {"uses": [place(function, root) for function in used_by(entry)], "contexts": sorted(tests)}
        for entry, tests in _calls.items()
    ]
    part = Path(os.environ["INTERPLAY_RECORDED"]) / f"{os.getpid()}.json"
    part.write_text(json.dumps({"seconds": _seconds, "failed": sorted(_failed), "kernels": kernels}))


def used_by(entry: Any) -> list[Any]:
    """A kernel's function and all that are compiled into it."""
    found: dict[int, Any] = {}
    pending = [entry]
    while pending:
        function = kernel_key._plain(pending.pop())
        if id(function) not in found:
            found[id(function)] = function
            for name, value in kernel_key._used(function):
                kernel_key._bytes(value, name, pending)
    return list(found.values())


def place(function: Any, root: Path) -> tuple[str, int]:
    """File from the root, and first line."""
    code = function.__code__
    return os.path.relpath(code.co_filename, root), code.co_firstlineno
