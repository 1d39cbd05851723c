"""Conversion of action masks between our form and gymnasium's.

Ours: one row of bools per agent, the choices of all heads concatenated; for a Dict those of its parts, in order.
Gymnasium's ``sample(mask)`` takes int8: Discrete an (n,) array, MultiDiscrete a tuple with one array per head, MultiBinary an
array in which 0 and 1 are forced and 2 is free, Dict a dictionary with None for parts without a mask.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import spaces

from interplay.core.spaces import action_choices

if TYPE_CHECKING:
    from interplay.core.world import TimeStep, World


def length(space: spaces.Space[Any]) -> int:
    """Number of choices of all heads of an action space, the length of a mask's row. A Box has none.

    Example:
        >>> length(spaces.Dict(move=spaces.MultiDiscrete([3, 3]), push=spaces.Box(-1, 1), wait=spaces.Discrete(2)))
        8
    """
    if isinstance(space, spaces.Dict):
        return sum(map(length, space.spaces.values()))
    return 0 if isinstance(space, spaces.Box) else sum(action_choices(space))


def masked_heads(world: World, timestep: TimeStep) -> str:
    """Which parts of the action have masks, kind by kind, in one line.

    Args:
        world: its kinds are named.
        timestep: one of its time steps, as all have the same masks.
    """
    legal = world.by_kind(timestep.action_mask)
    found = {kind.name: list(legal[kind.name] or ()) for kind in world.kinds}
    if not any(found.values()):
        return "action masks: none, every choice is legal"
    return "action masks: " + "; ".join(
        f"{name}: {', '.join(heads) or 'none'}" for name, heads in found.items()
    )


def rows_of(space: spaces.Space[Any], mask: Mapping[str, Any], agents: int) -> np.ndarray:
    """The masks of world 0, (A, choices) bool: a copy. Parts without a mask are all legal."""
    if not isinstance(space, spaces.Dict):
        return np.array(mask["action"][0]) if "action" in mask else np.ones((agents, length(space)), bool)
    parts = [
        mask[key][0] if key in mask else np.ones((agents, length(part)), bool)
        for key, part in space.spaces.items()
    ]
    return np.concatenate(parts, axis=1)


def as_gymnasium(space: spaces.Space[Any], row: np.ndarray) -> Any:
    """One agent's row, of a Dict too, as gymnasium's ``sample(mask)`` takes it.

    Example:
        >>> as_gymnasium(spaces.Dict(push=spaces.Box(-1, 1), wait=spaces.Discrete(2)), np.array([True, False]))
        {'push': None, 'wait': array([1, 0], dtype=int8)}
    """
    if isinstance(space, spaces.Box):
        return None
    if not isinstance(space, spaces.Dict):
        return to_gymnasium(space, row)
    found, at = {}, 0
    for key, part in space.spaces.items():
        found[key] = as_gymnasium(part, row[at : at + length(part)])
        at += length(part)
    return found


def to_gymnasium(space: spaces.Space[Any], row: np.ndarray) -> Any:
    """One agent's row of bools as gymnasium's mask.

    Example:
        >>> to_gymnasium(spaces.MultiDiscrete([2, 3]), np.array([True, False, True, True, False]))
        (array([1, 0], dtype=int8), array([1, 1, 0], dtype=int8))
    """
    row = row.astype(np.int8)
    if isinstance(space, spaces.Discrete):
        return row
    if isinstance(space, spaces.MultiBinary):
        off, on = row.reshape(-1, 2).T
        return np.where(off & on, 2, on).astype(np.int8).reshape(space.shape)
    return tuple(np.split(row, np.cumsum(action_choices(space))[:-1]))


def from_gymnasium(space: spaces.Space[Any], mask: Any) -> np.ndarray:
    """Gymnasium's mask as one agent's row of bools: the inverse of `to_gymnasium`."""
    counts = action_choices(space)
    if isinstance(space, spaces.MultiBinary) and np.size(mask) != sum(counts):
        flat = np.asarray(mask).reshape(-1)
        if flat.size != len(counts) or flat.dtype == bool:
            raise ValueError(
                f"an action mask of {space} has {len(counts)} entries 0 (off), 1 (on) or 2 (free), this one {flat.size} of {flat.dtype}"
            )
        _check_flags(flat, 2)
        return np.stack([flat != 1, flat != 0], axis=-1).reshape(-1)
    parts = heads(mask)
    sizes = tuple(part.size for part in parts)
    if sizes not in ((sum(counts),), counts):
        raise ValueError(
            f"an action mask of {space} has {sum(counts)} entries, this one has {' + '.join(map(str, sizes))}"
        )
    flags = np.concatenate(parts)
    _check_flags(flags, 1)
    return flags.astype(bool)


def heads(mask: Any) -> list[np.ndarray]:
    """The flat arrays of a mask: one for numbers or an array, one for each head of (nested) tuples and lists of these.

    Example:
        >>> [head.tolist() for head in heads((np.array([1, 0]), [1, 1, 0]))]
        [[1, 0], [1, 1, 0]]
    """
    if isinstance(mask, tuple | list) and mask and np.iterable(mask[0]):
        return [head for part in mask for head in heads(part)]
    return [np.asarray(mask).reshape(-1)]


def _check_flags(flags: np.ndarray, most: int) -> None:
    """Refuses masks of logits, 0 and -inf, of which the opposite would be read."""
    if flags.dtype.kind in "biu":
        return
    if flags.dtype.kind != "f" or not all(flag in range(most + 1) for flag in flags.tolist()):
        raise ValueError(
            f"an action mask holds {flags.tolist()[:8]}; give 1 for what is legal and 0 for what is not"
        )


def drawable(space: spaces.Space[Any], mask: Any) -> Any:
    """A mask for ``space.sample(mask)``: without Boxes, which gymnasium refuses; None if nothing is left.

    Example:
        >>> space = spaces.Dict(move=spaces.Box(-1, 1, (2,), int), attack=spaces.Discrete(2))
        >>> drawable(space, {"move": np.eye(3), "attack": np.array([1, 0], np.int8)})
        {'move': None, 'attack': array([1, 0], dtype=int8)}
    """
    if mask is None or isinstance(space, spaces.Box):
        return None
    if isinstance(space, spaces.Dict):
        named = {key: drawable(part, mask.get(key)) for key, part in space.spaces.items()}
        return named if any(part is not None for part in named.values()) else None
    if isinstance(space, spaces.Tuple):
        parts = tuple(drawable(part, own) for part, own in zip(space.spaces, mask, strict=True))
        return parts if any(part is not None for part in parts) else None
    return mask


def is_legal(space: spaces.Space[Any], mask: Any, action: Any) -> bool:
    """Whether gymnasium's mask allows an action; range and parts without a mask are not checked.

    Example:
        >>> is_legal(spaces.Discrete(3), np.array([1, 0, 1], np.int8), 1)
        False
    """
    if mask is None or isinstance(space, spaces.Box):
        return True
    if isinstance(space, spaces.Dict):
        return all(is_legal(part, mask.get(key), action[key]) for key, part in space.spaces.items())
    if isinstance(space, spaces.Discrete):
        choice = int(action) - int(space.start)
        return not 0 <= choice < len(mask) or bool(mask[choice])
    if isinstance(space, spaces.MultiDiscrete):
        picked = zip(mask, np.ravel(action) - np.ravel(space.start), strict=True)
        return all(bool(part[choice]) for part, choice in picked if 0 <= choice < len(part))
    return True
