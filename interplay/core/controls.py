"""Names of a world's choices, and the keys that a person plays with.

A world declares both in `World.action_names` and `World.controls`; this module reads and checks them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from gymnasium import spaces

from interplay.core.errors import UserError
from interplay.core.spaces import action_choices

if TYPE_CHECKING:
    from interplay.core.world import World

LONGEST = 60  # letters of a name
Names = Mapping[str, Sequence[str]]  # head -> its choices; of a Box its numbers


class Controls(NamedTuple):
    """How a person plays a slot.

    Attributes:
        keys: a key, as browsers call it (``"ArrowUp"``, ``" "``, ``"a"``) -> head -> choice, both by name. Keys that are held
            together are combined; of two keys for one head the later one counts.
        idle: head -> choice without a key; heads that are not named take their first legal choice.

    Example:
        >>> Controls({"ArrowUp": {"move": "north"}}, {"move": "stay"}).idle
        {'move': 'stay'}
    """

    keys: Mapping[str, Mapping[str, str]] = {}
    idle: Mapping[str, str] = {}


def head_sizes(space: spaces.Space[Any]) -> Iterator[int]:
    """Number of choices of each head of an action space, in order; a Box is one head with as many as it has numbers.

    Example:
        >>> list(head_sizes(spaces.Dict(push=spaces.Box(-1, 1, (2,)), wait=spaces.MultiDiscrete([2, 3]))))
        [2, 2, 3]
    """
    for part in space.spaces.values() if isinstance(space, spaces.Dict) else (space,):
        yield from (int(np.prod(part.shape)),) if isinstance(part, spaces.Box) else action_choices(part)


def names_of(world: World, kind: str) -> dict[str, tuple[str, ...]] | None:
    """Names of the choices of a kind's heads, in the order of the action space; None if the world names none."""
    declared = world.action_names if len(world.kinds) == 1 else (world.action_names or {}).get(kind)
    if declared is None:
        return None
    space = next(one for one in world.kinds if one.name == kind).action_space
    owner, sizes = f"{world.id}: action_names", list(head_sizes(space))
    if len(declared) != len(sizes):
        raise UserError(f"{owner} has {len(declared)} heads, the actions of {kind} {len(sizes)}; name each")
    for (head, choices), size in zip(declared.items(), sizes, strict=True):
        if isinstance(choices, str) or len(choices) != size:
            raise UserError(f"{owner} gives {head} {len(choices)} choices, it has {size}; name each")
        for name in (head, *choices):
            if not isinstance(name, str) or not name.strip() or len(name) > LONGEST or not name.isprintable():
                raise UserError(f"{owner}: {head} has {name!r}; give a line of 1 to {LONGEST} letters")
        if len(set(choices)) < size:
            raise UserError(f"{owner}: {head} has one name twice; give each choice its own")
    return {head: tuple(choices) for head, choices in declared.items()}


def controls_of(world: World, slot: int) -> Controls | None:
    """The checked controls of a slot; None if the world has none."""
    declared = world.controls(slot)
    if declared is None:
        return None
    kind = next(kind for kind in world.kinds if slot in kind.slots)
    names = names_of(world, kind.name) or {}
    for where, picked in (*declared.keys.items(), ("idle", declared.idle)):
        for head, choice in picked.items():
            if choice not in names.get(head, ()):
                raise UserError(
                    f"{world.id}: controls: {where!r} means {choice!r} of {head!r}, action_names of {kind.name} has no such; "
                    "write both alike"
                )
    return declared


def joined(parts: Sequence[Sequence[str]], nothing: str = "") -> tuple[str, ...]:
    """Names of the points of several heads combined into one number; the last head varies fastest.

    Args:
        nothing: left out of the names, unless it is all there is.

    Example:
        >>> joined([("up", "stay", "down"), ("left", "stay", "right")], "stay")[:5]
        ('up left', 'up', 'up right', 'left', 'stay')
    """
    points = (" ".join(name for name in point if name != nothing) for point in product(*parts))
    return tuple(name or nothing for name in points)


ARROWS: Mapping[str, str] = {
    "ArrowUp": "up",
    "ArrowDown": "down",
    "ArrowLeft": "left",
    "ArrowRight": "right",
}


def arrows(head: str, names: Mapping[str, str] = ARROWS) -> dict[str, dict[str, str]]:
    """Arrow keys for a head with four directions.

    Example:
        >>> arrows("move")["ArrowUp"]
        {'move': 'up'}
    """
    return {key: {head: choice} for key, choice in names.items()}


def direction_to(dx: float, dy: float) -> str | None:
    """Direction to a neighbouring tile, y down: its name in `ARROWS`; None for all other tiles.

    Args:
        dx, dy: from the agent's tile to the other one, in tiles.

    Example:
        >>> direction_to(0, -1), direction_to(0, 0), direction_to(1, 1)
        ('up', None, None)
    """
    ways = {(0.0, -1.0): "up", (0.0, 1.0): "down", (-1.0, 0.0): "left", (1.0, 0.0): "right"}
    return ways.get((float(dx), float(dy)))
