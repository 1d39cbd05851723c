"""Short names of players."""

from __future__ import annotations

LONGEST = 28  # characters


def short(name: str) -> str:
    """The end of a long name, where runs differ.

    Example:
        >>> short("hunter"), short("/scratch/experiments/2026/runs/forage-128-seed-3")
        ('hunter', '…2026/runs/forage-128-seed-3')
    """
    return name if len(name) <= LONGEST else "…" + name[1 - LONGEST :]
