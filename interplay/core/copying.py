"""Copies of worlds: constructed as the original was, then loaded with its snapshot.

Arrays of a world are views of each other. A copy attribute by attribute (`copy.deepcopy`, `pickle`) would cut these links, and
its rewards and observations would never change. So a world keeps the arguments of its constructor.
"""

from __future__ import annotations

import copy
import copyreg
import sys
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from interplay.core.errors import UserError

_PLAIN = (type(None), bool, int, float, complex, str, bytes, np.generic, np.random.Generator)
_CODE = (type, type(copy.copy), type(len))  # classes and functions
_NEVER = ("_recipe", "_last")


class AsMade:
    """Marks values that a copy takes from its own constructor: objects, and read-only views of other arrays."""


class Recipe(NamedTuple):
    """How an object was made.

    Attributes:
        args, kwargs: of the constructor, copied before it could change them; worlds among them are the originals.
        trouble: why they could not be copied; empty if they were.
    """

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    trouble: str


class CopiedWhole:
    """`copy.copy` of it is `copy.deepcopy`: two that shared their worlds would step each other."""

    def __copy__(self) -> Any:
        return copy.deepcopy(self)


class Remakable(CopiedWhole):
    """A class with ``save`` and ``load`` that is copied and pickled by constructing it anew.

    A copy is constructed by the same class with the same arguments. It takes the original's attributes that are numbers, texts,
    arrays, functions or containers of those, and loads the original's snapshot. It shares nothing with the original and continues
    bit for bit as the original would. Objects (pools, processes, windows) are those of the copy's own constructor.

    Attributes:
        made_anew: names of attributes that constructor and ``load`` fill in a copy: scratch, observations, caches.
    """

    id: str
    made_anew: tuple[str, ...] = ()
    _recipe: Recipe | None = None

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        made = super().__new__(cls)
        made._recipe = _written(args, kwargs)
        return made

    def __reduce__(self) -> Any:
        kind = type(self)
        if kind.__getstate__ is not object.__getstate__ or kind.__setstate__ is not Remakable.__setstate__:
            return copyreg.__newobj__, (kind,), self.__getstate__()  # type: ignore[attr-defined]
        recipe = self._recipe
        if recipe is None or recipe.trouble:
            why = recipe.trouble if recipe else "its class was never called"
            raise UserError(f"{self._called()}: no copy can be made of it, {why}; make another one")
        return remake, (kind, recipe.args, recipe.kwargs), (self._rest(), self._whole())

    def __setstate__(self, state: Any) -> None:
        mine = vars(self)
        if isinstance(state, dict):  # from a `__getstate__` of the author's own
            mine.update(state)
            return
        rest, saved = state
        for name, value in rest.items():
            try:
                mine[name] = _put(mine.get(name, AsMade), value)
            except _Unlike:
                raise UserError(
                    f"{self._called()}: no copy can be made of it, its {name} has changed since it was made and holds objects; "
                    f'write what it is made of into `save`, or made_anew = ("{name}",) into the class'
                ) from None
            if mine[name] is AsMade:
                del mine[name]
        if saved is not None:
            self.load(saved)  # type: ignore[attr-defined]

    def _rest(self) -> dict[str, Any]:
        """What a copy takes over besides what is saved."""
        left_out = {
            *_NEVER,
            *(name for kind in type(self).__mro__ for name in vars(kind).get("made_anew", ())),
        }
        return {name: _held(value) for name, value in vars(self).items() if name not in left_out}

    def _whole(self) -> Any:
        """What is saved; None before the first reset."""
        if getattr(self, "_last", None) is None:
            return None
        try:
            return self.save()  # type: ignore[attr-defined]
        except UserError as error:
            raise UserError(
                f"{self._called()}: no copy can be made of it, as it cannot be saved ({error}); copy it before its first reset"
            ) from error

    def _called(self) -> str:
        return self.id or type(self).__name__


def remake(kind: type, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    """What pickles of worlds name: the class called again."""
    return kind(*args, **kwargs)


class _Unlike(Exception):
    """A container with objects in it is not as the constructor left it."""


def _written(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Recipe:
    # A world inside a world is copied when its owner is, with the state that it has then.
    memo: dict[int, Any] = {id(arg): arg for arg in (*args, *kwargs.values()) if isinstance(arg, Remakable)}
    try:
        return Recipe(*copy.deepcopy((args, kwargs), memo), "")
    except Exception as error:  # from a constructor's argument: the copy fails, not the world
        line = str(error).partition("\n")[0]
        return Recipe((), {}, f"an argument of its class cannot be copied ({type(error).__name__}: {line})")


def _held(value: Any) -> Any:
    """A value with `AsMade` in place of what only a constructor can make."""
    if isinstance(value, np.ndarray):
        return value if value.dtype.kind != "O" and value.flags.writeable else AsMade
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, _CODE):
        return value if _is_importable(value) else AsMade
    if isinstance(value, dict) and type(value) is dict:
        return {key: _held(part) for key, part in value.items()}
    if type(value) in (list, set, frozenset):
        return type(value)(_held(part) for part in value)
    if isinstance(value, tuple):
        return _like(value, [_held(part) for part in value])
    return AsMade


def _put(made: Any, held: Any) -> Any:
    """`held`, with the constructor's objects in the places of `AsMade`; arrays are filled in place."""
    if held is AsMade:
        return made
    if isinstance(held, np.ndarray):
        if not _takes(made, held):
            return held.copy()
        np.copyto(made, held)
        return made
    if isinstance(held, dict):
        return _put_dict(made, held)
    if isinstance(held, list | tuple):
        if type(made) is not type(held) or len(made) != len(held):
            return _plain(held)
        parts = [_put(one, other) for one, other in zip(made, held, strict=True)]
        if isinstance(made, list):
            made[:] = parts
            return made
        same = all(one is other for one, other in zip(parts, made, strict=True))
        return made if same else _like(made, parts)
    if isinstance(held, set | frozenset) and AsMade in held:
        return made
    return held


def _put_dict(made: Any, held: dict[Any, Any]) -> Any:
    if not isinstance(made, dict) or made.keys() != held.keys():
        return _plain(held)
    for key, value in held.items():
        made[key] = _put(made[key], value)
    return made


def _takes(made: Any, held: np.ndarray) -> bool:
    return (
        isinstance(made, np.ndarray)
        and made.flags.writeable
        and (made.shape, made.dtype) == (held.shape, held.dtype)
    )


def _plain(held: Any) -> Any:
    """A container as it is held, its arrays copied; it may hold no objects."""
    if held is AsMade:
        raise _Unlike
    if isinstance(held, np.ndarray):
        return held.copy()
    if isinstance(held, dict):
        return {key: _plain(value) for key, value in held.items()}
    if isinstance(held, list | tuple):
        return _like(held, [_plain(value) for value in held])
    if isinstance(held, set | frozenset) and AsMade in held:
        raise _Unlike
    return held


def _like(value: Any, parts: list[Any]) -> Any:
    """The parts in a container such as `value`, a NamedTuple too."""
    return value._make(parts) if hasattr(value, "_make") else type(value)(parts)


def _is_importable(value: Any) -> bool:
    found: Any = sys.modules.get(getattr(value, "__module__", None) or "")
    for name in getattr(value, "__qualname__", "").split("."):
        found = getattr(found, name, None)
    return found is value
