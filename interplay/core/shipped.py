"""Compiled kernels in a wheel: entries of the kernel cache inside the package, and an index of them.

They are code of the package as its ``.py`` files are. Nothing is written
there at run time, and they are read from no other place. The name of an entry is a digest of
its sources (`interplay.core.kernel_cache`), so it fits or is ignored. The index records what the entries were made with, and lets
the build see whether the sources have changed since.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from interplay.core.errors import UserError
from interplay.core.reading import SMALL, read_json

FOLDER = Path(__file__).resolve().parents[1] / "compiled"
INDEX = "index.json"
_log = logging.getLogger("interplay")


@cache
def shipped_with() -> Mapping[str, str]:
    """What the package's kernels were made with, see `kernel_cache.made_with`; empty in a checkout.

    A damaged index gives nothing and one line; kernels are then compiled as in a checkout.
    """
    index = FOLDER / INDEX
    if not index.exists():
        return {}
    try:
        whole = read_json(index, SMALL)
        found = whole.get("made_with") if isinstance(whole, dict) else None
        if isinstance(found, dict) and all(isinstance(made, str) for made in found.values()):
            return found
        damage = "it does not say what the kernels were made with"
    except UserError as error:
        damage = str(error).partition(";")[0]
    _log.warning("%s is damaged (%s); install the package again", index, damage)
    return {}


def why_unfit(here: Mapping[str, str]) -> str | None:
    """Why the package's kernels cannot be used, in a few words; None if they can, or if there are none.

    Args:
        here: what kernels are made with on this machine.
    """
    other = {name: made for name, made in shipped_with().items() if here.get(name) != made}
    if not other:
        return None
    words = ", ".join(f"{name} {made}" for name, made in other.items())
    return f"the package's compiled kernels were made with {words}; here is " + ", ".join(
        f"{name} {here.get(name)}" for name in other
    )
