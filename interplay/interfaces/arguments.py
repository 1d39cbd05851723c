"""The arguments of an interface's constructor, by name, so that it can be cloned and described."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Mapping
from typing import Any


def parameters(cls: type) -> list[inspect.Parameter]:
    """The parameters of an interface's constructor, the stack below first; for ``*args`` those of its base."""
    for kind in cls.__mro__:
        if "__init__" in vars(kind):
            _, *known = inspect.signature(vars(kind)["__init__"]).parameters.values()
            if not any(one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD) for one in known):
                return known
    raise AssertionError  # Interface has a constructor


def named(cls: type, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any] | None:
    """A constructor's arguments by name; None if they do not fit `parameters`."""
    try:
        given = inspect.Signature(parameters(cls)).bind(*args, **kwargs).arguments
    except TypeError:
        return None
    return {name: frozen(value) for name, value in given.items()}


def frozen(value: Any) -> Any:
    """A copy that later changes of the argument do not reach; interfaces are not copied."""
    if hasattr(value, "clone"):
        return value
    return type(value)(map(frozen, value)) if type(value) in (list, tuple) else copy.deepcopy(value)


def cloned(value: Any) -> Any:
    if hasattr(value, "clone"):
        return value.clone()
    return type(value)(map(cloned, value)) if type(value) in (list, tuple) else copy.deepcopy(value)


def brief(value: Any) -> str:
    return f"[{' | '.join(map(str, value))}]" if isinstance(value, list | tuple) else repr(value)
