"""Things by name: installed ones and those that this process adds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Generic, TypeVar

from interplay.core.errors import UserError
from interplay.core.loading import did_you_mean

T = TypeVar("T")


class Registry(Generic[T]):
    """Named things of one kind.

    Args:
        kind: of the things, for errors.
        load: gives the installed ones, name -> thing, when they are first needed.
        cure: of an unknown name without a near miss; empty: the error lists all names.

    Attributes:
        added: those of this process.

    Example:
        >>> words = Registry("word", lambda: {"yes": 1, "no": 0})
        >>> words.add("maybe", 2)
        >>> words.find("maybe"), list(words.all())
        (2, ['yes', 'no', 'maybe'])
        >>> words.find("mabe")
        Traceback (most recent call last):
        interplay.core.errors.UserError: unknown word 'mabe'; did you mean 'maybe'?
    """

    def __init__(self, kind: str, load: Callable[[], Mapping[str, T]], cure: str = "") -> None:
        self._kind, self._load, self._cure = kind, load, cure
        self.added: dict[str, T] = {}

    @cached_property
    def installed(self) -> Mapping[str, T]:
        """Those of this package and of entry points."""
        return self._load()

    def all(self) -> dict[str, T]:
        """Name -> thing, the installed ones first."""
        return {**self.installed, **self.added}

    def add(self, name: str, thing: T) -> None:
        """Adds a thing in this process; a name of another thing is refused."""
        known = self.all().get(name, thing)
        if type(known) is not type(thing) or known != thing:  # an EntryPoint is comparable to its like alone
            raise UserError(f"{self._kind} {name!r} is taken; choose another name")
        self.added[name] = thing

    def find(self, name: str) -> T:
        """The thing of a name; an unknown name is refused with the near miss."""
        known = self.all()
        if name not in known:
            raise UserError(unknown(self._kind, name, known, self._cure))
        return known[name]


def unknown(what: str, name: str, known: Iterable[str], cure: str = "") -> str:
    """The error of an unknown name: the near miss, else the cure, else all names.

    Example:
        >>> unknown("argument", "x", ["size", "speed"])
        "unknown argument 'x'; there are size, speed"
    """
    names = list(known)
    near = did_you_mean(name, names, cure or f"there are {', '.join(names) or 'none'}")
    return f"unknown {what} {name!r}; {near}"
