"""Rules between a player's choice and its buttons (specification 7.4)."""

from __future__ import annotations

from collections.abc import Sequence

from interplay.worlds.doom.buttons import SIDE, TURN_180, TURN_DELTA
from interplay.worlds.doom.config import AFTER_SHOT, SAME_MOVES, SAME_TURNS, TURN

TURNS = {"turn_left": -TURN, "turn_right": TURN}  # the engine's positive angle turns right
MOVES = ("move_forward", "move_right", "move_left")
NONE = -1  # no decision yet


def post_rule(
    choices: Sequence[Sequence[str]], history: Sequence[int], choice: int, navigate: bool = False
) -> dict[str, float]:
    """The buttons that a choice holds after the rules: name -> value.

    Args:
        choices: the buttons of each choice.
        history: earlier choices since the last death, the newest last; `NONE` where there is none.
        choice: this decision's.
        navigate: attack becomes a move to the right.

    Example:
        >>> post_rule([("attack",), ("turn_left",)], [1, 1, 1], 1)
        {'turn_left_right_delta': -20.0}
    """
    held = dict.fromkeys(choices[choice], 1.0)
    running = _running(history, choice)
    turn = next((button for button in held if button in TURNS), None)
    if turn and running > SAME_TURNS:
        del held[turn]
        held[TURN_DELTA] = TURNS[turn]
    if any(button in MOVES for button in held) and running % SAME_MOVES == 0:
        held = {TURN_180: 1.0}
    if any(past != NONE and "attack" in choices[past] for past in history[-AFTER_SHOT:]):
        held.pop("speed", None)
    if navigate and "attack" in held:
        del held["attack"]
        held[SIDE] = 1.0
    return held


def _running(history: Sequence[int], choice: int) -> int:
    """How many times in a row a choice was made, this one included."""
    count = 1
    for past in reversed(history):
        if past != choice:
            break
        count += 1
    return count
