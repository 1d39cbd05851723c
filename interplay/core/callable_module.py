"""A package that is a function too: ``interplay.train(...)`` trains, ``interplay.train.run`` is a room."""

from __future__ import annotations

import inspect
import sys
import textwrap
from types import ModuleType
from typing import Any

from interplay.core.loading import load


class CallableModule(ModuleType):
    # A module that hands calls on to a function, which is imported by the first of them; `help` shows the call.

    _function: str

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls the function; ``help`` of the module has its arguments."""
        return load(self._function)(*args, **kwargs)

    def __dir__(self) -> list[str]:
        # `help` describes whatever is listed here; with the package's classes it would be 1,500 lines.
        return sorted(name for name, value in vars(self).items() if isinstance(value, ModuleType))

    @property  # lazy, as the function's module imports this one
    def __doc__(self) -> str:  # type: ignore[override]
        """The function's call and documentation, then the module's documentation."""
        function = load(self._function)
        text, _, _ = (inspect.getdoc(function) or "").partition("\n\nExample:")
        summary, _, rest = text.partition("\n")
        return "\n\n".join(
            (summary, _call(self.__name__, self.__signature__), rest.strip(), vars(self)["__doc__"])
        )

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.signature(load(self._function))


def _call(name: str, signature: inspect.Signature) -> str:
    """A call with its arguments and defaults, without types, wrapped to the width of a page."""
    plain = [one.replace(annotation=one.empty) for one in signature.parameters.values()]
    words = str(signature.replace(parameters=plain, return_annotation=signature.empty))
    return textwrap.fill(f"{name}{words}", 100, subsequent_indent="    ", break_long_words=False)


def make_callable(module: str, function: str) -> None:
    """Makes a module that is being imported callable.

    Args:
        module: its name.
        function: ``"module:name"`` of what is called.
    """
    own = sys.modules[module]
    own.__class__ = CallableModule
    own._function = function  # type: ignore[attr-defined]
