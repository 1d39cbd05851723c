"""Searches a folder for runs, tournaments and recordings, without following links."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from interplay.core.replay.layout import SUFFIX
from interplay.view.server.config import DEPTH, FOUND

_OF_A_RUN = ("metrics.jsonl", "checkpoints")
_OF_A_TOURNAMENT = ("tournament.toml", "ratings.json")
_BEGUN = ("settings.toml", "tournament.toml")
_NOT_SEARCHED = ("checkpoints",)


class Place(NamedTuple):
    """A run, tournament or recording; `run` is the folder of the run or tournament that it is or lies in, or None."""

    path: Path
    run: Path | None


def search(root: Path) -> tuple[list[Path], list[Place]]:
    """Runs and tournaments, and recordings, of a folder, each in the order of names and at most `FOUND`.

    Args:
        root: a folder without links in its path.
    """
    runs: list[Path] = []
    recordings: list[Place] = []
    for place in _walk(root, None, DEPTH):
        if place.path == place.run:
            if len(runs) < FOUND:
                runs.append(place.path)
        elif len(recordings) < FOUND:
            recordings.append(place)
    return sorted(runs), sorted(recordings)


def is_begun(root: Path) -> bool:
    """Whether a folder is empty or holds a run or tournament that has just begun, which `search` does not find."""
    try:
        if not any(not entry.name.startswith(".") for entry in os.scandir(root)):
            return True
    except OSError:
        return False
    return any(_begun(root, DEPTH))


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    """The entries in the order of names; none of a folder that was removed or is not readable."""
    try:
        return sorted(os.scandir(folder), key=lambda entry: entry.name)
    except OSError:
        return []


def _begun(folder: Path, depth: int) -> Iterator[bool]:
    entries = _entries(folder)
    if any(entry.name in _BEGUN and entry.is_file(follow_symlinks=False) for entry in entries):
        yield True
    for entry in entries:
        if depth and not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False):
            yield from _begun(folder / entry.name, depth - 1)


def _walk(folder: Path, run: Path | None, depth: int) -> Iterator[Place]:
    entries = _entries(folder)
    names = {entry.name for entry in entries if not entry.is_symlink()}
    is_run = "settings.toml" in names and any(name in names for name in _OF_A_RUN)
    if run is None and (is_run or all(name in names for name in _OF_A_TOURNAMENT)):
        run = folder
        yield Place(folder, folder)
    for entry in entries:
        if entry.is_symlink() or entry.name.startswith("."):
            continue
        if entry.name.endswith(SUFFIX) and entry.is_file(follow_symlinks=False):
            yield Place(folder / entry.name, run)
        elif depth and entry.is_dir(follow_symlinks=False) and entry.name not in _NOT_SEARCHED:
            yield from _walk(folder / entry.name, run, depth - 1)
