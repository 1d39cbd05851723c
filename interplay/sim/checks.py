"""Checks of arguments in `sim` and `gridworld`: `AssertionError` for a wrong value, `TypeError` for a wrong container.

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
    """Refuses a wrong value: `require` for checks of every step, where making the message would take longer than the step.

    Args:
        message: the thing, its value and the cure, in one line.

    Raises:
        AssertionError: (`Refused`) with the message.
    """
    raise Refused(message)


def is_exactly(value: Any, kind: type) -> bool:
    """Whether a value is of a plain Python type itself: True is no int here, and a NumPy integer neither (C4)."""
    return type(value) is kind


def flag(value: Any, name: str) -> bool:
    """A bool, as it is."""
    require(is_exactly(value, bool), f"{name} {value!r} is no bool; give True or False")
    return bool(value)


class Checked:
    """An attribute that is checked whenever it is set, and kept under its name with ``_`` before it.

    Args:
        check: ``check(value, name)`` gives what is kept, or refuses it; the name says whose it is.
        doc: what the attribute is.
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
