"""Argument checks of `sim` and `gridworld`: `AssertionError` for values, `TypeError` for containers.

The specification (C1) names these classes, because simulations of the manual's readers catch them. They are raised
explicitly, so ``python -O`` removes no check.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from interplay.core.errors import Refused


def require(condition: bool, message: str) -> None:
    """Refuses a wrong value.

    Args:
        condition: what must hold.
        message: the thing, its value and the cure, in one line.

    Raises:
        AssertionError: (`Refused`) with the message, unless the condition holds.
    """
    if not condition:
        raise Refused(message)


def refuse(message: str) -> NoReturn:
    """Raises `Refused`, an `AssertionError`; in hot paths it saves formatting `require`'s message."""
    raise Refused(message)


def is_exactly(value: Any, kind: type) -> bool:
    """Whether a value's type is `kind` itself: True and NumPy integers are no int (C4)."""
    return type(value) is kind


def flag(value: Any, name: str) -> bool:
    """Checks that a value is a bool."""
    require(is_exactly(value, bool), f"{name} {value!r} is no bool; give True or False")
    return bool(value)


class Checked:
    """An attribute that is checked whenever it is set, stored as ``_name``.

    Args:
        check: ``check(value, name)`` returns the stored value, or refuses; the name includes the owner's.
        doc: of the attribute.
        then: ``then(owner, kept)``, called afterwards.
    """

    def __init__(
        self, check: Callable[[Any, str], Any], doc: str, then: Callable[[Any, Any], None] | None = None
    ) -> None:
        self._check, self.__doc__, self._then = check, doc, then

    def __set_name__(self, owner: type, name: str) -> None:
        self.name, self._kept = name, f"_{name}"

    def __get__(self, owner: Any, kind: type | None = None) -> Any:
        return self if owner is None else getattr(owner, self._kept)

    def __set__(self, owner: Any, value: Any) -> None:
        whose = getattr(owner, "_name", "")  # agents have one
        kept = self._check(value, f"{whose}: {self.name}" if whose else self.name)
        self._keep(owner, kept)
        if self._then is not None:
            self._then(owner, kept)

    def _keep(self, owner: Any, kept: Any) -> None:
        setattr(owner, self._kept, kept)
