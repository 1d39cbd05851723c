"""Rules between a player's choice and its buttons (specification 7.4)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from interplay.worlds.doom.buttons import SIDE, TURN_180, TURN_DELTA
from interplay.worlds.doom.config import SAME_MOVES, SAME_TURNS

TURNS = {"turn_left": -1, "turn_right": 1}  # the engine's positive angle turns right
MOVES = ("move_forward", "move_right", "move_left")


def post_rule(
    choices: Sequence[Sequence[str]],
    past: Iterable[int],
    running: int,
    choice: int,
    navigate: bool,
    turn: float,
) -> dict[str, float]:
    """The buttons that a choice holds after the rules: name -> value.

    Args:
        choices: the buttons of each choice.
        past: the last `AFTER_SHOT` choices of this life, without this decision's.
        running: how many times in a row `choice` was made, this one included.
        choice: this decision's.
        navigate: attack becomes a move to the right.
        turn: value of the button that turns by degrees.

    Example:
        >>> post_rule([("attack",), ("turn_left",)], [1, 1, 1], 4, 1, False, 20.0)
        {'turn_left_right_delta': -20.0}
    """
    held = dict.fromkeys(choices[choice], 1.0)
    turned = next((button for button in held if button in TURNS), None)
    if turned and running > SAME_TURNS:
        del held[turned]
        held[TURN_DELTA] = TURNS[turned] * turn
    if any(button in MOVES for button in held) and running % SAME_MOVES == 0:
        held = {TURN_180: 1.0}
    if any("attack" in choices[one] for one in past):
        held.pop("speed", None)
    if navigate and "attack" in held:
        del held["attack"]
        held[SIDE] = 1.0
    return held
