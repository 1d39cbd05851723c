"""Things by name: ``load("module:attribute")``."""

from __future__ import annotations

import difflib
import importlib
import os
import sys
import sysconfig
from collections.abc import Iterable
from functools import partial
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from typing import Any, cast

from interplay.core.errors import UserError


def load(path: str, users: bool = False) -> Any:
    """Imports ``"module:attribute"``; ``"gymnasium:ID"`` gives the function that makes the environment registered under that id.

    Args:
        path: what to import.
        users: True for a path that a user typed: modules of the working folder are found too, and what goes
            wrong is one line.
    """
    module_name, _, attribute = path.partition(":")
    if module_name.endswith(".py") or "/" in module_name or not attribute or module_name[:1] in ("", "."):
        plain = module_name.removesuffix(".py").removeprefix("./").replace("/", ".") or "my_package.tag"
        raise UserError(
            f"{path!r}: not of the form module:name; write for example {plain}:{attribute or 'Tag'}"
        )
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
    except (Exception, SystemExit) as error:
        if isinstance(error, UserError | ImportError) or not (users or isinstance(error, SystemExit)):
            raise
        cure = "fix the module"
        if isinstance(error, SystemExit):  # a script, which reads the command line or ends when it is done
            cure = 'put what only a script does under if __name__ == "__main__":'
        what = f"{type(error).__name__} while {module_name} was imported: {error}"
        raise UserError(f"{path!r}: {what}; {cure}") from error
    if module_name == "gymnasium" and not hasattr(module, attribute):
        return _maker_of(path, attribute)
    if not hasattr(module, attribute):
        near = did_you_mean(attribute, vars(module), "check the spelling")
        raise UserError(f"{path!r}: module {module_name} has no {attribute!r}; {near}")
    return getattr(module, attribute)


def _maker_of(path: str, name: str) -> Any:
    """Makes a Gymnasium environment of an id."""
    import gymnasium

    if name not in gymnasium.registry:
        near = did_you_mean(name, gymnasium.registry, "gymnasium.pprint_registry() lists all")
        raise UserError(f"{path!r}: gymnasium has no environment {name!r}; {near}")
    return partial(gymnasium.make, name)


def origin(path: str) -> str:
    """Where the module of ``"module:attribute"`` lies that `load` would import; nothing is imported.

    Of packages the outermost one counts. Installed modules give ``"installed"``, as they lie elsewhere in every environment; modules that
    are not found give ``""``.

    Example:
        >>> origin("subprocess:Popen"), origin("no_such_module:Thing")
        ('installed', '')
    """
    name = path.partition(":")[0].partition(".")[0]
    spec = _find(name) if name else None
    if spec is None:
        return ""
    places = list(spec.submodule_search_locations or []) if spec.origin is None else [spec.origin]
    if name == "interplay" or all(is_installed(place) for place in places):
        return "installed"
    return os.pathsep.join(dict.fromkeys(os.path.realpath(place) for place in places))


def _find(name: str) -> ModuleSpec | None:
    """The spec of a top-level module, as an import that was not done yet would find it; the working folder comes last."""
    for finder in sys.meta_path:
        find = getattr(finder, "find_spec", None)
        if find is not None and (spec := find(name, None)) is not None:
            return cast(ModuleSpec, spec)
    return PathFinder.find_spec(name, [os.getcwd()])


def is_installed(place: str) -> bool:
    """Whether a file or a module's folder lies where packages are installed, or is built in."""
    if not os.path.isabs(place):
        return True
    real = Path(os.path.realpath(place))
    homes = (sysconfig.get_paths()[kind] for kind in ("stdlib", "platstdlib", "purelib", "platlib"))
    return any(real.is_relative_to(os.path.realpath(home)) for home in homes)


def is_code(name: str) -> bool:
    """Whether a player's name is a program, ``module:attribute``, and not a folder."""
    return ":" in name and not is_folder(name)


def is_folder(name: str) -> bool:
    """Whether a name is a folder, or a player in one (RUN@PLAYER); False for names that no file could have."""
    try:
        return Path(split_player(name)[0]).is_dir()
    except (OSError, ValueError):
        return False


def split_player(name: str) -> tuple[str, str | None]:
    """The folder and the league player of ``RUN@PLAYER``; a folder without player gives None.

    Example:
        >>> split_player("hunter@8")
        ('hunter@8', None)
    """
    run, at, player = name.rpartition("@")
    if at and run and player and not Path(name).is_dir() and Path(run).is_dir():
        return run, player
    return name, None


def did_you_mean(word: str, known: Iterable[str], otherwise: str) -> str:
    """A question about the near miss, or `otherwise` if nothing is near."""
    near = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f"did you mean {near[0]!r}?" if near else otherwise
