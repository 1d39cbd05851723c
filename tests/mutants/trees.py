"""Copies of the repository that slips are planted in; the working tree itself is never edited."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from pathlib import Path

from tests.mutants.slips import ROOT, Slip

PARTS = (
    "interplay",
    "tests",
    "bench",
    "studies",
    "docs",
    "examples",
    "pyproject.toml",
    "website",
    ".ci",
    ".github",
    "Makefile",
    "constraints.txt",
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    "CITATION.cff",
    "LICENSE",
)
_LEFT_OUT = shutil.ignore_patterns("__pycache__", "node_modules", ".*", "*.mp4")


def copy_tree(target: Path, source: Path = ROOT) -> Path:
    """Copies what tests read; times of files are kept, so that caches of compiled kernels still fit."""
    target.mkdir(parents=True)
    for name in PARTS:
        part = source / name
        if part.is_dir():
            shutil.copytree(part, target / name, ignore=_LEFT_OUT)
        elif part.exists():
            shutil.copy2(part, target / name)
    return target


@contextlib.contextmanager
def planted(slip: Slip, tree: Path) -> Iterator[Path]:
    """The tree with the slip in it, inside of the block.

    Raises:
        ValueError: if the slip does not fit its file any more.
    """
    path = tree / slip.file
    sound = path.with_name(f"{path.name}.sound")
    shutil.copy2(path, sound)
    try:
        path.write_text(slip.slipped(path.read_text()))
        yield tree
    finally:
        sound.replace(path)
        _forget_bytecode(path)


def _forget_bytecode(path: Path) -> None:
    """Python trusts a compiled module whose source has the same size and second of change."""
    for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
        compiled.unlink(missing_ok=True)
