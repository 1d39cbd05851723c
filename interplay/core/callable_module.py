"""A package that is a function too: ``interplay.train(...)`` trains, ``interplay.train.run`` is a room."""

from __future__ import annotations

import inspect
import sys
from types import ModuleType
from typing import Any

from interplay.core.loading import load


class CallableModule(ModuleType):
    # A module that hands calls on to a function, which is imported by the first of them; `help` tells of both.

    _function: str

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the function; ``help`` of the module has its arguments."""
        return load(self._function)(*args, **kwargs)

    @property  # made when it is asked for, as the function's module imports this one
    def __doc__(self) -> str:  # type: ignore[override]
        """What the module says of itself, then the function's arguments; its example runs as a test where it stands."""
        function = load(self._function)
        arguments, _, _ = (inspect.getdoc(function) or "").partition("\n\nExample:")
        return f"{vars(self)['__doc__']}\n{self.__name__}{inspect.signature(function)}\n\n{arguments}\n"

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.signature(load(self._function))


def make_callable(module: str, function: str) -> None:
    """Makes a module that is being imported callable.

    Args:
        module: its name.
        function: ``"module:name"`` of what is called.
    """
    own = sys.modules[module]
    own.__class__ = CallableModule
    own._function = function  # type: ignore[attr-defined]
