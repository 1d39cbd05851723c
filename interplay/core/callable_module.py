"""A package that is a function too: ``interplay.train(...)`` trains, ``interplay.train.run`` is a room."""

from __future__ import annotations

import inspect
import sys
from types import ModuleType
from typing import Any

from interplay.core.loading import load


class CallableModule(ModuleType):
    """A module that hands calls on to a function, which is imported by the first of them."""

    _function: str

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """As the function."""
        return load(self._function)(*args, **kwargs)

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
