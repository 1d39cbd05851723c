"""Keyword arguments that a function does not take: refused with the near miss."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from interplay.core.errors import UserError
from interplay.core.registry import unknown

F = TypeVar("F", bound=Callable[..., Any])


class UnknownKeyword(UserError, TypeError):
    """No such keyword argument; a `TypeError` too, as Python raises it."""


def suggest_keyword(function: F) -> F:
    """Decorates a function so that an unknown keyword argument is refused with the name of a similar one.

    Example:
        >>> @suggest_keyword
        ... def wait(*, seconds=1.0): ...
        >>> wait(secnds=2.0)
        Traceback (most recent call last):
        interplay.core.keywords.UnknownKeyword: wait: unknown argument 'secnds'; did you mean 'seconds'?
    """
    known = keywords(function)

    @wraps(function)
    def checked(*args: Any, **given: Any) -> Any:
        for name in given:
            if name not in known:
                owner = function.__qualname__.removesuffix(".__init__")
                raise UnknownKeyword(f"{owner}: {unknown('argument', name, known)}")
        return function(*args, **given)

    return cast(F, checked)


def keywords(function: Callable[..., Any]) -> list[str]:
    """Names of the arguments that can be given by keyword."""
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return [
        name
        for name, one in inspect.signature(function).parameters.items()
        if one.kind in named and name != "self"
    ]
