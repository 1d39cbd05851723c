"""Which tests execute a line: measured by one run of the suite, kept beside the cache of kernels."""

from __future__ import annotations

import functools
import hashlib
import json
import os
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from coverage import Coverage, CoverageData

from interplay.core.kernel_cache import cache_root
from tests.mutants.sites import Site
from tests.mutants.slips import ROOT
from tests.mutants.trees import copy_tree

# Processes that a test starts find the test's name in pytest's variable.
_CONFIG = """\
[run]
source = {tree}/interplay
data_file = {folder}/lines
parallel = true
concurrency = thread,multiprocessing
sigterm = true
context = ${{PYTEST_CURRENT_TEST-}}
disable_warnings = no-data-collected,module-not-imported,trace-changed
"""
_CONTEXT = re.compile(r"(.+?) ?\((setup|call|teardown)\)$")


class Executed:
    """Tests by the lines that they execute.

    Args:
        folder: written by `measure`.
    """

    def __init__(self, folder: Path) -> None:
        self._data = CoverageData(str(folder / "lines"))
        self._data.read()
        self.tree = folder / "tree"
        record = json.loads((folder / "tests.json").read_text())
        self.seconds: dict[str, float] = record["seconds"]  # of the tests that passed
        self._of_file: dict[str, list[str]] = defaultdict(list)
        for test in self.seconds:
            self._of_file[test.partition("::")[0]].append(test)
        self._of_kernel: dict[tuple[str, int], set[str]] = defaultdict(set)
        for kernel in record["kernels"]:
            for file, line in kernel["uses"]:
                for context in kernel["contexts"]:
                    self._of_kernel[file, line] |= self._tests(context)

    @functools.cache  # noqa: B019
    def lines(self, file: str) -> frozenset[int]:
        """Lines of a file that a test executes, or that define a kernel which a test calls."""
        return frozenset(self._data.lines(str(self.tree / file)) or ())

    @functools.lru_cache(8)  # noqa: B019
    def _contexts(self, file: str) -> dict[int, list[str]]:
        return self._data.contexts_by_lineno(str(self.tree / file))

    def executed(self, file: str, site: Site) -> bool:
        """Whether a test executes a site."""
        if site.function is not None and (file, site.function) in self._of_kernel:
            return True
        if site.first is None:
            return bool(self.lines(file))
        return not self.lines(file).isdisjoint(range(site.first, site.last + 1))

    def executing(self, file: str, site: Site) -> list[str]:
        """Tests that execute a site; those of the module for one that runs when it is imported, or in processes that were killed."""
        found = set(self._of_kernel.get((file, site.function or 0), ()))
        lines = self._contexts(file)
        wanted = lines if site.first is None else range(site.first, site.last + 1)
        for line in wanted:
            for context in lines.get(line, ()):
                found |= self._tests(context)
        found &= self.seconds.keys()
        return (
            sorted(found) if found or site.first is None else self.executing(file, replace(site, first=None))
        )

    def _tests(self, context: str) -> set[str]:
        """Tests of a context: what runs in a fixture may serve every test of its file."""
        found = _CONTEXT.match(context)
        if found is None:
            return set()
        test, phase = found.groups()
        return {test} if phase == "call" else set(self._of_file[test.partition("::")[0]])


def measured(root: Path = ROOT) -> Executed:
    """The measurement of the tree as it is; runs the suite (half an hour) if there is none."""
    folder = cache_root() / "executed" / _digest(root)
    if not (folder / "tests.json").exists():
        measure(folder, root)
    return Executed(folder)


def measure(folder: Path, root: Path = ROOT, tests: Sequence[str] = ("tests",)) -> None:
    """Runs tests in a copy of the tree, and writes which lines and kernels each executes."""
    parts = folder / "parts"
    parts.mkdir(parents=True)
    tree = copy_tree(folder / "tree", root)
    config = folder / "config.ini"
    config.write_text(_CONFIG.format(folder=folder, tree=tree))
    env = {"PYTHONPATH": str(tree), "COVERAGE_PROCESS_START": str(config), "INTERPLAY_RECORDED": str(parts)}
    command = [
        *(
            sys.executable,
            "-m",
            "pytest",
            "-p",
            "tests.mutants.recording",
            "-p",
            "no:cacheprovider",
            "--continue-on-collection-errors",
        ),
        *("-n", "auto", "--dist", "loadfile", "-m", "not long", *tests),
    ]
    subprocess.run(command, cwd=tree, env={**os.environ, **env}, check=False)
    combined = Coverage(config_file=str(config))
    combined.combine([str(folder)])
    combined.save()
    records = [json.loads(part.read_text()) for part in parts.glob("*.json")]
    failed = {test for record in records for test in record["failed"]}
    whole = {
        "seconds": {
            test: spent
            for record in records
            for test, spent in record["seconds"].items()
            if test not in failed
        },
        "kernels": [kernel for record in records for kernel in record["kernels"]],
    }
    (folder / "tests.json").write_text(json.dumps(whole))


def _digest(root: Path) -> str:
    digest = hashlib.sha256()
    for path in _sources(root):
        digest.update(path.relative_to(root).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def _sources(root: Path) -> Iterable[Path]:
    for part in ("interplay", "tests"):
        yield from sorted(p for p in (root / part).rglob("*.py") if "node_modules" not in p.parts)
