"""What the choices of a world are called, and which keys mean which: for people who play, and wherever choices are told.

A world declares both in two attributes, `World.action_names` and `World.controls`; here they are read and checked once.
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
            together count together; of two for one head the later one counts.
        idle: head -> what is done without a word; the first legal choice for heads that are not named.

    Example:
        >>> Controls({"ArrowUp": {"move": "north"}}, {"move": "stay"}).idle
        {'move': 'stay'}
    """

    keys: Mapping[str, Mapping[str, str]] = {}
    idle: Mapping[str, str] = {}


def head_sizes(space: spaces.Space[Any]) -> Iterator[int]:
    """How many choices each head of an action space has, in order; a Box is one head, and counts its numbers.

    Example:
        >>> list(head_sizes(spaces.Dict(push=spaces.Box(-1, 1, (2,)), wait=spaces.MultiDiscrete([2, 3]))))
        [2, 2, 3]
    """
    for part in space.spaces.values() if isinstance(space, spaces.Dict) else (space,):
        yield from (int(np.prod(part.shape)),) if isinstance(part, spaces.Box) else action_choices(part)


def names_of(world: World, kind: str) -> dict[str, tuple[str, ...]] | None:
    """What the choices of a kind's heads are called, heads in the order of the action space; None where the world does not say.

    Raises:
        UserError: if heads or choices are more or fewer than the action space has, or a name is no line of text or there twice.
    """
    told = world.action_names if len(world.kinds) == 1 else (world.action_names or {}).get(kind)
    if told is None:
        return None
    space = next(one for one in world.kinds if one.name == kind).action_space
    owner, sizes = f"{world.id}: action_names", list(head_sizes(space))
    if len(told) != len(sizes):
        raise UserError(f"{owner} has {len(told)} heads, the action space of {kind} {len(sizes)}; name each")
    for (head, choices), size in zip(told.items(), sizes, strict=True):
        if isinstance(choices, str) or len(choices) != size:
            raise UserError(f"{owner} gives {head} {len(choices)} choices, it has {size}; name each")
        for name in (head, *choices):
            if not isinstance(name, str) or not name.strip() or len(name) > LONGEST or not name.isprintable():
                raise UserError(f"{owner}: {head} has {name!r}; give a line of 1 to {LONGEST} letters")
        if len(set(choices)) < size:
            raise UserError(f"{owner}: {head} has one name twice; give each choice its own")
    return {head: tuple(choices) for head, choices in told.items()}


def controls_of(world: World, slot: int) -> Controls | None:
    """How a person plays a slot, heads and choices known to be there; None where the world does not say.

    Raises:
        UserError: if a key or `idle` names a head or a choice that there is not.
    """
    told = world.controls(slot)
    if told is None:
        return None
    kind = next(kind for kind in world.kinds if slot in kind.slots)
    names = names_of(world, kind.name) or {}
    for where, deed in (*told.keys.items(), ("idle", told.idle)):
        for head, choice in deed.items():
            if choice not in names.get(head, ()):
                raise UserError(
                    f"{world.id}: controls: {where!r} means {choice!r} of {head!r}, action_names of {kind.name} has no such; "
                    "write both alike"
                )
    return told


def joined(parts: Sequence[Sequence[str]], nothing: str = "") -> tuple[str, ...]:
    """Names of the points of heads that were made one number, the last head running fastest.

    Args:
        parts: names of each head's choices.
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
    """Arrow keys for a head whose choices are the four ways.

    Args:
        head: its name.
        names: arrow key -> choice.

    Example:
        >>> arrows("move")["ArrowUp"]
        {'move': 'up'}
    """
    return {key: {head: choice} for key, choice in names.items()}


def way_to(dx: float, dy: float) -> str | None:
    """The way to a neighbouring tile, y down: its name in `ARROWS`; None for the tile itself and for those that are no neighbours.

    Args:
        dx, dy: from the agent's tile to the other one, in tiles.

    Example:
        >>> way_to(0, -1), way_to(0, 0), way_to(1, 1)
        ('up', None, None)
    """
    ways = {(0.0, -1.0): "up", (0.0, 1.0): "down", (-1.0, 0.0): "left", (1.0, 0.0): "right"}
    return ways.get((float(dx), float(dy)))
