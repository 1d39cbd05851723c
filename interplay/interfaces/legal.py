"""Masks of legal actions, as arrays in the places of an action space's leaves, and the handling of illegal choices."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from gymnasium import spaces

from interplay.core import masks
from interplay.core.errors import UserError
from interplay.core.spaces import action_choices
from interplay.interfaces.nests import Array, Nest, like, parts


def map_mask(function: Callable[[spaces.Space, Array], Any], space: spaces.Space, mask: Nest) -> Nest:
    """``function(leaf space, mask)`` in the places of a mask's leaves; None stays None."""
    if mask is None:
        return None
    inside = parts(space)
    if inside is None:
        return function(space, mask)
    return like(space, [map_mask(function, part, mask[place]) for place, part in inside])


def all_legal(space: spaces.Space, rows: int) -> Nest:
    """A mask that forbids nothing, (rows, choices) bool in the places of the space's leaves; None for a Box."""
    inside = parts(space)
    if inside is not None:
        return like(space, [all_legal(part, rows) for _, part in inside])
    return None if isinstance(space, spaces.Box) else np.ones((rows, masks.length(space)), bool)


def fit_mask(owner: str, space: spaces.Space, mask: Nest, rows: int | None) -> Nest:
    """A mask as bool arrays (B, choices) in the places of the space's leaves.

    Args:
        mask: with a leading axis of `rows`, or without one if that is None.
    """

    def fitted(leaf: spaces.Space, array: Any) -> Array:
        given = np.asarray(array)
        given = (given[None] if rows is None else given).astype(bool)
        shape = (len(given) if rows is None else rows, masks.length(leaf))
        if isinstance(leaf, spaces.Box) or given.shape != shape:
            raise UserError(f"{owner}: shape {given.shape} for {leaf}, expected {shape} (rows, choices)")
        return given

    try:
        return map_mask(fitted, space, mask)
    except (KeyError, IndexError, TypeError):
        raise UserError(f"{owner}: it does not nest as {space} does") from None


def settled(
    space: Any, action: Any, legal: Mapping[str, Array] | None, ignored: bool, key: str = "action"
) -> Any:
    """Actions with all illegal choices of a head replaced by one: memory would otherwise differ where the world does not.

    Args:
        action: (W, A, ...), as the space has it.
        legal: as in `TimeStep.action_mask`.
        ignored: whether an illegal choice becomes the first illegal one of its head, else the first legal one.
        key: the mask's key of this part.

    Returns:
        The same arrays, or copies of those that changed.
    """
    if not legal:
        return action
    if isinstance(space, spaces.Dict):
        return {
            name: settled(part, action[name], legal, ignored, name) for name, part in space.spaces.items()
        }
    if key not in legal:
        return action
    heads = action.reshape(*action.shape[:2], -1)
    firsts, start, found = np.broadcast_to(getattr(space, "start", 0), space.shape or ()).reshape(-1), 0, None
    for head, count in enumerate(action_choices(space)):
        rows = legal[key][..., start : start + count]
        chosen = (heads[..., head] - firsts[head]).astype(np.int64)
        wrong = ~np.take_along_axis(rows, chosen[..., None], axis=-1)[..., 0]
        if wrong.any():
            found = heads.copy() if found is None else found
            instead = (~rows if ignored else rows).argmax(axis=-1) + firsts[head]
            found[..., head] = np.where(wrong, instead, heads[..., head])
        start += count
    return action if found is None else found.reshape(action.shape)
