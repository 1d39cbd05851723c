"""Keyword arguments of verbs: options that are declared in one line each, and the near miss of a misspelt name."""

from __future__ import annotations

import inspect
import re
import textwrap
import typing
from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple, TypeVar, cast

from interplay.core.errors import UserError
from interplay.core.registry import unknown

F = TypeVar("F", bound=Callable[..., Any])


class UnknownKeyword(UserError, TypeError):
    """No such keyword argument; a `TypeError` too, as Python raises it."""


class Option(NamedTuple):
    """Default and help of an option of a verb: ``seed: Annotated[int, Option(0, "of the worlds.")]`` in a `TypedDict`."""

    default: Any
    help: str


def takes(options: Any) -> Callable[[F], F]:
    """Declares the options of a `TypedDict` for a function with ``**given: Unpack[options]``.

    The function gets all of them, filled up with defaults. Signature and docstring list them, for ``help`` and the command line.

    Example:
        >>> class Waiting(typing.TypedDict, total=False):
        ...     seconds: typing.Annotated[float, Option(1.0, "how long.")]
        >>> @takes(Waiting)
        ... def wait(what: str, **given: Unpack[Waiting]):
        ...     return given
        >>> wait("all"), str(inspect.signature(wait))
        ({'seconds': 1.0}, "(what: 'str', *, seconds: 'float' = 1.0)")
    """
    hints = typing.get_type_hints(options, include_extras=True)
    found = {name: hint.__metadata__[0] for name, hint in hints.items()}
    defaults = {name: option.default for name, option in found.items()}

    def decorate(function: F) -> F:
        @wraps(function)
        def filled(*args: Any, **given: Any) -> Any:
            return function(*args, **{**defaults, **given})

        signature = inspect.signature(function)
        own = [
            one for one in signature.parameters.values() if one.annotation != f"Unpack[{options.__name__}]"
        ]
        own += [
            inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=_words(hints[name])
            )
            for name, default in defaults.items()
        ]
        own.sort(key=lambda one: (one.kind, one.name not in found))
        filled.__signature__ = signature.replace(parameters=own)  # type: ignore[attr-defined]
        helps = [f"    {name}: {option.help}" for name, option in found.items()]
        filled.__doc__ = _add_arguments(inspect.cleandoc(function.__doc__ or ""), helps)
        return cast(F, filled)

    return decorate


def _words(hint: Any) -> str:
    """The type of an annotated hint as a source has it: ``Sequence[str]``."""
    return re.sub(r"[\w.]+\.(\w)", r"\1", inspect.formatannotation(hint.__origin__))


def _add_arguments(text: str, lines: list[str]) -> str:
    """A docstring with further lines in its section ``Args:``."""
    head, title, rest = text.partition("Args:\n")
    own, blank, after = rest.partition("\n\n")
    added = "\n".join(textwrap.fill(line, 120, subsequent_indent="        ") for line in lines)
    return f"{head}{title}{own}\n{added}{blank}{after}"


def suggest_keyword(function: F) -> F:
    """Decorates a function so that an unknown keyword argument is refused with the name of a similar one.

    Example:
        >>> @suggest_keyword
        ... def wait(*, seconds=1.0): ...
        >>> wait(secnds=2.0)
        Traceback (most recent call last):
        interplay.verbs.keywords.UnknownKeyword: wait: unknown argument 'secnds'; did you mean 'seconds'?
    """
    known = keywords(function)

    @wraps(function)
    def checked(*args: Any, **given: Any) -> Any:
        for name in given:
            if name not in known:
                owner = type(args[0]).__name__ if function.__name__ == "__init__" else function.__qualname__
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
