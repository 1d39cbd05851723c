"""Actions as buttons, bound by name (specification 7.2)."""

from __future__ import annotations

from collections.abc import Sequence

from gymnasium import spaces

from interplay.worlds.doom.config import DoomSettings

TURN_180, TURN_DELTA = "turn180", "turn_left_right_delta"
SIDE = "move_right"  # instead of attack, where rules forbid it
FIRE = ("attack", "altattack")
RELEASED, HELD = "released", "held"
_WITH = " with "

ACTION_SETS: dict[str, tuple[tuple[str, ...], ...]] = {
    "discrete7": (
        *(("attack",), ("turn_left",), ("turn_right",), ("move_right",), ("move_left",)),
        *(("move_forward",), ("move_backward",)),
    ),
    "trained6": (
        *(("move_forward", "speed"), ("attack",), ("move_right", "speed"), ("move_left", "speed")),
        *(("turn_left", "speed"), ("turn_right", "speed")),
    ),
    "basic3": (("move_left",), ("move_right",), ("attack",)),
}
"""Name -> the buttons that each choice holds."""


def buttons_of(settings: DoomSettings) -> tuple[str, ...]:
    """The engine's buttons in the order in which they are sent."""
    if settings.actions == "buttons":
        return settings.buttons
    held = dict.fromkeys(button for choice in ACTION_SETS[settings.actions] for button in choice)
    if settings.post_rules:
        held |= dict.fromkeys((TURN_180, TURN_DELTA, SIDE))
    return tuple(held)


def action_space(settings: DoomSettings) -> spaces.Space:
    """Of one player."""
    if settings.actions == "buttons":
        return spaces.MultiBinary(len(settings.buttons))
    return spaces.Discrete(len(ACTION_SETS[settings.actions]))


def names_of(settings: DoomSettings) -> dict[str, tuple[str, ...]]:
    """Names of the choices: head -> names."""
    if settings.actions == "buttons":
        return {name.replace("_", " "): (RELEASED, HELD) for name in settings.buttons}
    choices = ACTION_SETS[settings.actions]
    return {"action": tuple(_WITH.join(b.replace("_", " ") for b in choice) for choice in choices)}


def first_button(choice: str) -> str:
    """The first button of a choice by its name in `names_of`."""
    return choice.partition(_WITH)[0]


def press_table(choices: Sequence[Sequence[str]], buttons: Sequence[str]) -> list[list[float]]:
    """For each choice the value of each button: 1 where the choice holds it.

    Example:
        >>> press_table([("attack",), ("turn_left", "speed")], ("speed", "turn_left", "attack"))
        [[0.0, 0.0, 1.0], [1.0, 1.0, 0.0]]
    """
    return [[float(button in held) for button in buttons] for held in choices]
