"""What tables and pictures call groups of runs, where the user gives names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from interplay.core.errors import UserError


def named(labels: Sequence[str], names: Sequence[Collection[str]]) -> list[str]:
    """Labels of groups, replaced by the ``name`` that all runs of a group have; where two groups have one name the label stands behind it.

    Args:
        labels: of the groups.
        names: of each group the ``name`` settings of its runs, empty where there is none.

    Example:
        >>> named(["clip 0.1", "clip 0.2", "clip 0.3"], [["A"], ["B", "B"], ["", "C"]])
        ['A', 'B', 'clip 0.3']
        >>> named(["clip 0.1", "clip 0.2"], [["A"], ["A"]])
        ['A (clip 0.1)', 'A (clip 0.2)']
    """
    found = [next(iter(set(own))) if len(set(own)) == 1 else "" for own in names]
    count = Counter(found)
    pairs = zip(labels, found, strict=True)
    return [(name if count[name] == 1 else f"{name} ({label})") if name else label for label, name in pairs]


def relabel(labels: Sequence[str], runs: Sequence[Collection[str]], new: Mapping[str, str]) -> list[str]:
    """Labels of groups with those that the user gives.

    Args:
        labels: of the groups.
        runs: of each group the names and paths of its runs.
        new: a group's label, or a name or path of one of its runs -> the new label.

    Raises:
        UserError: for a key of no group, or one label for two groups.

    Example:
        >>> relabel(["clip 0.1", "clip 0.2"], [["a-0", "a-1"], ["b-0"]], {"a-1": "narrow", "clip 0.2": "wide"})
        ['narrow', 'wide']
    """
    found = list(labels)
    for key, text in new.items():
        at = next((i for i, label in enumerate(labels) if key == label or key in runs[i]), None)
        if at is None:
            raise UserError(f"label {key}={text}: no such group or run; there are {'; '.join(labels)}")
        found[at] = text
    twice = next((label for label, count in Counter(found).items() if count > 1), None)
    if twice is not None and new:
        raise UserError(f"label {twice}: two groups have it; give each its own")
    return found


def read_labels(words: Sequence[str]) -> dict[str, str]:
    """``KEY=TEXT`` as it is typed, once or more often; the last ``=`` divides.

    Raises:
        UserError: for a word without ``=``.

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
