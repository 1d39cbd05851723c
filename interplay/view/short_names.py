"""Short names of players for tables and plots."""

from __future__ import annotations

import os
from collections.abc import Sequence

LONGEST = 28  # characters


def shorten(names: Sequence[str]) -> list[str]:
    """Names without their common folders, long ones cut in the middle; whole if two would become equal.

    Example:
        >>> shorten(["hunter", "sweeps/rates/clip-0.1--seed-0", "sweeps/rates/clip-0.2--seed-0"])
        ['hunter', 'clip-0.1--seed-0', 'clip-0.2--seed-0']
        >>> shorten(["learning_rate-0.0003--clip-0.1--seed-0"])
        ['learning_rate…-clip-0.1--seed-0']
    """
    folders = [os.path.dirname(name) for name in names if "/" in name]
    shared = os.path.commonpath(folders) if len({name[0] == "/" for name in folders if name}) == 1 else ""
    bare = [name.removeprefix(shared + "/") if shared and "/" in name else name for name in names]
    cut = [name if len(name) <= LONGEST else f"{name[:13]}…{name[-17:]}" for name in bare]
    return next((found for found in (cut, bare) if len(set(found)) == len(set(names))), list(names))
