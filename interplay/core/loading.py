"""Things by name: ``load("module:attribute")``."""

from __future__ import annotations

import difflib
import importlib
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from interplay.core.errors import UserError


def load(path: str, users: bool = False) -> Any:
    """Imports ``"module:attribute"``.

    Args:
        path: what to import.
        users: True for a path that a user typed: modules of the working folder are found too, and what goes
            wrong is one line.

    Raises:
        UserError: if the module or the attribute does not exist.
    """
    module_name, _, attribute = path.partition(":")
    if users and os.getcwd() not in sys.path:
        sys.path.append(os.getcwd())  # last, so that nothing of the working folder hides an installed package
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name and not f"{module_name}.".startswith(f"{error.name}."):
            raise  # the module is there, something that it imports is not
        raise UserError(
            f"{path!r}: no module named {error.name!r}; run from its folder or install it"
        ) from error
    except ValueError as error:  # an empty module name
        raise UserError(
            f"{path!r}: not of the form module:name; write for example my_package.tag:Tag"
        ) from error
    except Exception as error:
        if not users or isinstance(error, UserError | ImportError):
            raise
        raise UserError(
            f"{path!r}: {type(error).__name__} while {module_name} was imported: {error}; mend the module"
        ) from error
    if not hasattr(module, attribute):
        near = did_you_mean(attribute, vars(module), "check the spelling")
        raise UserError(f"{path!r}: module {module_name} has no {attribute!r}; {near}")
    return getattr(module, attribute)


def is_code(name: str) -> bool:
    """Whether a player's name is that of a program, ``module:attribute``, and not that of a folder."""
    return ":" in name and not Path(name).is_dir()


def did_you_mean(word: str, known: Iterable[str], otherwise: str) -> str:
    """A question about the near miss, or `otherwise` if nothing is near."""
    near = difflib.get_close_matches(word, list(known), n=1, cutoff=0.5)
    return f"did you mean {near[0]!r}?" if near else otherwise
