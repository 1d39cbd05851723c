"""Finds misspelt keyword arguments that a builder passes to its agents and components."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Iterable

from interplay.sim.checks import require


def refuse_misspelt(owner: str, given: Iterable[str], readers: Iterable[type]) -> None:
    """Refuses keywords that closely resemble a reader's; other unknown ones may be a subclass's own.

    Args:
        owner: name in the error.
        given: the keywords.
        readers: classes whose constructors may read them.

    Example:
        >>> class Sized:
        ...     def __init__(self, size=1, **kwargs): ...
        >>> refuse_misspelt("box", ["size", "colour"], [Sized])
    """
    known = {name for reader in readers for base in reader.__mro__ for name in _parameters(base)}
    for name in given:
        near = [] if name in known else difflib.get_close_matches(name, sorted(known), n=1, cutoff=0.85)
        require(not near, f"{owner}: unknown keyword {name!r}; did you mean {(near or [''])[0]!r}?")


def _parameters(base: type) -> list[str]:
    """Names that a class's own constructor reads."""
    init = base.__dict__.get("__init__")
    if init is None or base is object:
        return []
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return [
        name for name, p in inspect.signature(init).parameters.items() if p.kind in named and name != "self"
    ]
