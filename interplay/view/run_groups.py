"""Groups runs that differ only in their seed, and labels the groups."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from interplay.core.errors import UserError
from interplay.view.run_table import SEED, Run, differing_keys, shared_label, short_names


class RunGroup(NamedTuple):
    """Runs that differ only in their seed.

    Attributes:
        runs: at least one.
        settings: those in which groups differ, ``learning_rate 0.001, clip 0.1``; the world's id for a single group.
        folders: common beginning of the folders' names, or these names.
    """

    runs: list[Run]
    settings: str
    folders: str

    @property
    def seeds(self) -> str:
        """`` (3 seeds)``; empty for a single run."""
        return f" ({len(self.runs)} seeds)" if len(self.runs) > 1 else ""

    @property
    def keys(self) -> set[str]:
        """Names that select the group in ``--label``."""
        paths = {
            name for run in self.runs for name in (run.path.resolve().name, run.path.name, str(run.path))
        }
        return paths | {self.settings, self.folders, self.settings + self.seeds, self.folders + self.seeds}


def group_runs(runs: Sequence[Run]) -> list[RunGroup]:
    """Groups runs, in the order of first ones; a run without settings is a group of its own."""
    members: dict[str, list[Run]] = {}
    for run in runs:
        key = json.dumps(run.asked, sort_keys=True) if run.settings else str(run.path.resolve())
        members.setdefault(key, []).append(run)
    groups = list(members.values())
    for own in groups:
        _refuse_twice(own)
    folders: list[str] = []
    for own in groups:
        folders.append(_folders(own, folders))
    labels = zip(groups, _settings([own[0] for own in groups]), folders, strict=True)
    return [RunGroup(*group) for group in labels]


def label_groups(groups: Sequence[RunGroup], labels: Sequence[str], new: Mapping[str, str]) -> list[str]:
    """Labels of groups: the user's, else the ``name`` shared by its runs, else the given ones.

    If two groups share a name, the given label is appended.

    Args:
        labels: of groups without a name.
        new: a group's label or one of its `keys` -> the user's label.
    """
    found = [shared_label(group.runs) for group in groups]
    count = Counter(found)
    found = [
        (name if count[name] == 1 else f"{name} ({label})") if name else label
        for name, label in zip(found, labels, strict=True)
    ]
    shown = list(found)
    for key, text in new.items():
        at = [i for i, label in enumerate(shown) if key in (label, label + groups[i].seeds)] or [
            i for i, group in enumerate(groups) if key in group.keys
        ]
        if len(at) != 1:
            problem = "several groups have that name" if at else "no such group or run"
            raise UserError(f"label {key}={text}: {problem}; there are {'; '.join(shown)}")
        if found[at[0]] != shown[at[0]]:
            raise UserError(f"label {key}={text}: that group has the label {found[at[0]]}; give it one")
        found[at[0]] = text
    twice = next((label for label, times in Counter(found).items() if times > 1), None)
    if twice is not None and new:
        raise UserError(f"label {twice}: two groups have it; give each its own")
    return found


def read_labels(words: Sequence[str]) -> dict[str, str]:
    """Parses ``KEY=TEXT`` words; the last ``=`` divides.

    Example:
        >>> read_labels(["runs/a=IPPO"])
        {'runs/a': 'IPPO'}
    """
    found = {}
    for word in words:
        key, equals, text = word.rpartition("=")
        if not (equals and key and text):
            raise UserError(f"--label {word}: not KEY=TEXT; write for example --label runs/a=IPPO")
        found[key] = text
    return found


def _settings(runs: Sequence[Run]) -> list[str]:
    """For each run the settings in which runs differ, else the world's id; empty without settings."""
    keys = [
        key
        for key in differing_keys([run for run in runs if run.settings])
        if any(run.defines(key) for run in runs)
    ]
    called = dict(zip(keys, short_names(keys), strict=True))
    return [
        ", ".join(
            f"{called[key]} {_shown(run.settings.get(key))}"
            for key in keys
            if run.reads(key) and run.defines(key)
        )
        if keys and run.settings
        else str(run.settings.get("world.id", ""))
        for run in runs
    ]


def _shown(value: object) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _folders(runs: Sequence[Run], others: Sequence[str]) -> str:
    """Common beginning of a group's folder names without the word seed; the names if another group has it, then the first path."""
    names = [run.path.resolve().name for run in runs]
    stem = os.path.commonprefix(names) if len(names) > 1 else ""  # noqa: RUF071 - of names, no paths
    stem = re.sub(r"[\W_]*(seed)?[\W_]*$", "", stem)
    several = ", ".join(names) if len(names) <= 3 else f"{names[0]}, ..."
    return next((text for text in (stem, several) if text and text not in others), str(runs[0].path))


def _refuse_twice(runs: Sequence[Run]) -> None:
    seen: dict[int | Path, Path] = {}
    for run in runs:
        seed = run.settings.get(SEED)
        key = run.path.resolve() if seed is None else seed
        if key in seen:
            more = "" if seed is None else f", seed {seed}"
            raise UserError(f"{run.path} and {seen[key]} are the same run{more}; leave one of them out")
        seen[key] = run.path
