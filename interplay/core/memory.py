"""An object's memory, read from its attributes as arrays: enough to continue later, bit for bit.

Memory is writable arrays, numbers and NumPy's random generators, also inside tuples, lists, mappings with text
keys and objects of the object's own. Worlds, settings, spaces, functions and all other values are assumed to be as they
were after construction.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from interplay.core.errors import UserError
from interplay.core.ranges import Arrays, Range, outside
from interplay.core.reading import parse_json
from interplay.core.settings import Settings
from interplay.core.world import World

_NUMBERS = (bool, int, float, np.generic)
_CONSTANT = (World, Settings, type)
_FOREIGN = (
    "builtins",
    "gymnasium",
    "jax",
    "jaxlib",
    "numba",
    "numpy",
    "pydantic",
    "torch",
)  # their objects are no memory

Visit = Callable[[str, Any], Any]  # path and value of a leaf -> its new value


def remember(owner: object, but: tuple[str, ...] = ()) -> dict[str, np.ndarray]:
    """Copies an object's memory: ``attribute`` or ``attribute/part`` -> array.

    Example:
        >>> class Tally:
        ...     def __init__(self):
        ...         self.count, self.seen = 3, {"red": np.array([True, False])}
        >>> remember(Tally())
        {'count': array(3), 'seen/red': array([ True, False])}
    """
    found: dict[str, np.ndarray] = {}

    def copy_leaf(path: str, value: Any) -> Any:
        found[path] = np.array(_frozen(value))
        return value

    _walk(owner, "", but, copy_leaf, set())
    return found


def recall(owner: object, arrays: Mapping[str, np.ndarray], but: tuple[str, ...] = ()) -> None:
    """Restores the result of `remember` in an object constructed alike; arrays of the same shape are filled in place."""
    odd = sorted(set(arrays) ^ set(remember(owner, but)))
    # What was None, or not there, when the object was prepared comes into being when it is first needed.
    late = [path for path in odd if path in arrays and "/" not in path and getattr(owner, path, None) is None]
    if len(late) < len(odd):
        path = next(path for path in odd if path not in late)
        raise UserError(
            f"{type(owner).__name__}: its {path} cannot be restored from its attributes; give it save and load of its own"
        )

    def thaw(path: str, value: Any) -> Any:
        try:
            return _thawed(value, arrays[path])
        except (ValueError, TypeError, LookupError, OverflowError) as error:
            raise UserError(f"{type(owner).__name__}: its {path} is not as saved ({error})") from None

    _walk(owner, "", but, thaw, set())
    for path in late:
        setattr(owner, path, arrays[path].copy())


def check_memory(owner: object, mine: Arrays, given: Arrays, ranges: Mapping[str, Range]) -> None:
    """Checks arrays that kernels read against their ranges.

    Args:
        owner: the object, for the error.
        mine: its memory now.
        given: the memory to restore.
        ranges: path -> range of the array there; shape and dtype have to match too.
    """
    for path in ranges.keys() & given.keys():
        array = np.asarray(given[path])
        known = mine[path]
        if array.shape != known.shape or array.dtype != known.dtype:
            raise UserError(
                f"{type(owner).__name__}: its {path} is {array.dtype}{array.shape} there, {known.dtype}{known.shape} here; use another"
            )
        wrong = outside(array, ranges[path])
        if wrong is not None:
            raise UserError(
                f"{type(owner).__name__}: its {path} holds {array[wrong][0]}, outside {ranges[path]}; use another memory"
            )


def _walk(owner: Any, prefix: str, but: tuple[str, ...], visit: Visit, met: set[int]) -> None:
    """Visits every leaf below an object's attributes once; one that is replaced is set."""
    met.add(id(owner))
    for name, value in list(vars(owner).items()):
        if name in but:
            continue
        new = _visited(value, f"{prefix}{name}", but, visit, met)
        if new is not value:
            setattr(owner, name, new)


def _visited(value: Any, path: str, but: tuple[str, ...], visit: Visit, met: set[int]) -> Any:
    """The value, or its replacement; a container is replaced only if one of its parts is."""
    if _is_leaf(value):
        return visit(path, value)
    if _is_own(value):
        if id(value) not in met:
            _walk(value, f"{path}/", but, visit, met)
        return value
    if isinstance(value, list | tuple):
        names = getattr(value, "_fields", range(len(value)))  # of a NamedTuple
        parts = [
            _visited(part, f"{path}/{name}", but, visit, met) for name, part in zip(names, value, strict=True)
        ]
        same = all(new is old for new, old in zip(parts, value, strict=True))
        return value if same else getattr(type(value), "_make", type(value))(parts)
    if isinstance(value, dict) and all(isinstance(key, str) for key in value):
        for key, part in list(value.items()):
            value[key] = _visited(part, f"{path}/{key}", but, visit, met)
    return value


def _is_leaf(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return value.flags.writeable and value.dtype.kind in "biuf"
    if isinstance(value, np.random.Generator):
        return True
    return isinstance(value, _NUMBERS) and np.asarray(value).dtype.kind in "biuf"


def _is_own(value: Any) -> bool:
    """Whether attributes of an object may be memory."""
    home = type(value).__module__.partition(".")[0]
    return (
        hasattr(value, "__dict__")
        and not hasattr(value, "_fields")
        and not callable(value)
        and not isinstance(value, _CONSTANT)
        and home not in _FOREIGN
    )


def _frozen(value: Any) -> Any:
    if isinstance(value, np.random.Generator):
        text = json.dumps(value.bit_generator.state, default=lambda array: array.tolist())
        return np.frombuffer(text.encode(), np.uint8)
    return value


def _thawed(value: Any, saved: np.ndarray) -> Any:
    """A leaf with what was saved of it put in; itself wherever that is possible."""
    if isinstance(value, np.ndarray):
        if value.shape != saved.shape or value.dtype != saved.dtype:
            return saved.copy()
        np.copyto(value, saved)
        return value
    if isinstance(value, np.random.Generator):
        state = value.bit_generator.state
        value.bit_generator.state = _like(parse_json(saved.tobytes()), state)
        return value
    return value if saved.item() == value else type(value)(saved.item())


def _like(read: Any, known: Any) -> Any:
    """JSON's lists as arrays where a generator's state has them."""
    if isinstance(known, dict):
        if not isinstance(read, dict):
            raise ValueError(f"{type(read).__name__} where a mapping belongs")
        return {key: _like(value, known[key]) for key, value in read.items()}
    return np.array(read, known.dtype) if isinstance(known, np.ndarray) else read
