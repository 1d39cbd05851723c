"""How arguments are refused in `sim` and `gridworld`: `AssertionError` for a wrong value, `TypeError` for a wrong container.

The specification (C1) names these classes, because simulations of the manual's readers catch them. They are raised
explicitly, so ``python -O`` removes no check.
"""

from __future__ import annotations

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
