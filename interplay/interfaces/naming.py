"""Nests in the form of a `World`: mappings of arrays, without tuples.

An observation that is a bare array becomes ``{"observation": array}``, and tuples get the keys ``"0"``, ``"1"``, ... A nested action becomes one
mapping of its leaves with their paths as keys (``"1.0"``), as masks have one entry for each leaf.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gymnasium import spaces

from interplay.interfaces.nests import Nest, flat, leaves, like, parts


def named_space(space: spaces.Space, bare: str | None = None) -> spaces.Space:
    """The space of the result of `as_mapping`.

    Args:
        bare: key of a bare array; None for an action: its leaves are named by their paths.
    """
    inside = parts(space)
    if inside is None:
        return space if bare is None else spaces.Dict([(bare, space)])
    if bare is None:
        return spaces.Dict([(path.replace("/", "."), leaf) for path, leaf in leaves(space)])
    return spaces.Dict(
        [(str(place), part if parts(part) is None else named_space(part, bare)) for place, part in inside]
    )


def as_mapping(space: spaces.Space, value: Nest, bare: str | None = None) -> Any:
    """A value of `space` as a value of ``named_space(space, bare)``."""
    inside = parts(space)
    if inside is None:
        return value if bare is None else {bare: value}
    if bare is None:
        return dict(zip(_paths(space), flat(space, value), strict=True))
    return {
        str(place): value[place] if parts(part) is None else as_mapping(part, value[place], bare)
        for place, part in inside
    }


def from_mapping(space: spaces.Space, named: Any) -> Nest:
    """The inverse of ``as_mapping(space, action)``."""
    if parts(space) is None:
        return named
    values = iter([named[path] for path in _paths(space)])
    return _filled(space, values)


def mask_as_mapping(space: spaces.Space, mask: Nest) -> Any:
    """A mask in the form of `TimeStep.action_mask`; None where everything is legal."""
    if parts(space) is None:
        return None if mask is None else {"action": mask}
    named = dict(zip(_paths(space), flat(space, mask), strict=True))
    return {path: rows for path, rows in named.items() if rows is not None} or None


def mask_from_mapping(space: spaces.Space, named: Any) -> Nest:
    """A kind's entry of `TimeStep.action_mask` in the places of its action space; None without masks."""
    if not named:
        return None
    return _placed(space, named, "action")


def _placed(space: spaces.Space, named: Any, key: str) -> Nest:
    if isinstance(space, spaces.Dict):
        found = {name: _placed(part, named, name) for name, part in space.spaces.items()}
        return found if any(part is not None for part in found.values()) else None
    return named.get(key)


def _paths(space: spaces.Space) -> list[str]:
    return [path.replace("/", ".") for path, _ in leaves(space)]


def _filled(space: spaces.Space, values: Iterator[Any]) -> Nest:
    inside = parts(space)
    return next(values) if inside is None else like(space, [_filled(part, values) for _, part in inside])
