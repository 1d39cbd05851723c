"""Keys for human players of grid worlds, derived from the names of choices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from interplay.core.controls import ARROWS, Controls, direction_to
from interplay.gridworld.actors.move import place_name

_MOVES = ("move", "up or down", "left or right")
_ONE_KEY = ("attack", "broadcast")


def controls_for(names: Mapping[str, Sequence[str]], idle: Mapping[str, str]) -> Controls | None:
    """Arrow keys for choices called up, down, left and right; Space for the only attack or broadcast.

    Args:
        names: head -> its choices.
        idle: head -> the choice that does nothing.

    Returns:
        None if no choice has a key.

    Example:
        >>> controls_for({"move": ("stay", "left", "down", "right", "up")}, {"move": "stay"}).keys["ArrowUp"]
        {'move': 'up'}
    """
    keys: dict[str, dict[str, str]] = {}
    for key, direction in ARROWS.items():
        heads = [head for head, choices in names.items() if direction in choices and head.startswith(_MOVES)]
        if heads:
            keys[key] = {heads[0]: direction}
    heads_of_one = [head for head, choices in names.items() if len(choices) == 2 and head in _ONE_KEY]
    if heads_of_one:
        keys[" "] = {heads_of_one[0]: names[heads_of_one[0]][1]}
    return Controls(keys, idle) if keys else None


def clicked(
    names: Mapping[str, Sequence[str]], dx: float, dy: float, occupied: bool
) -> dict[str, str] | None:
    """Meaning of a click: attack an occupied neighbouring cell, else walk there.

    Args:
        names: head -> its choices.
        dx, dy: from the agent's cell to the clicked one, in cells, y down.
        occupied: whether the clicked cell is.

    Returns:
        Head -> choice; None for a click without meaning.

    Example:
        >>> clicked({"move": ("stay", "left", "down", "right", "up")}, 1, 0, False)
        {'move': 'right'}
    """
    if occupied and "attack" in names and len(names["attack"]) == 2 and max(abs(dx), abs(dy)) <= 1:
        return {"attack": names["attack"][1]}
    if "move" in names:
        direction = direction_to(dx, dy)
        return {"move": direction} if direction is not None and direction in names["move"] else None
    both = {"up or down": (dy, "up", "down"), "left or right": (dx, "left", "right")}
    clicked_move = {head: place_name(int(step), *ways) or "stay" for head, (step, *ways) in both.items()}
    far = all(choice in names.get(head, ()) for head, choice in clicked_move.items())
    return clicked_move if far and (dx or dy) else None
