"""Labels of a unit's observation (specification 5.2): its vector in the parts that `observe.look_around` writes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from interplay.core.guides import Guide
from interplay.worlds.battle.state import BLUE, HEIGHTS, MOVES, POINTS, RED

DIRECTIONS = ("north", "south", "ahead", "back")
FIELD_NAMES = ("alive", "x", "y", "health", "shield", "cooldown", "type")


def guides_of(rules: Any, actions: Sequence[Any], slot: int) -> dict[str, tuple[Guide, ...]]:
    """The parts of a unit's vector, and the rows of the field where observed."""
    reds, units = int(rules["reds"]), int(rules["slots"])
    side = RED if slot < reds else BLUE
    own, enemies = list(range(reds)), list(range(reds, units))
    if side == BLUE:
        own, enemies = enemies, own
    allies = [other for other in own if other != slot]
    actions_seen = tuple(actions) if rules["see_last_action"] else ()
    parts = [
        Guide(title="ground", names=_ground(rules)),
        Guide("rows", "enemies", ("reached", *_other(rules, 1 - side)), len(enemies), slots=enemies),
        Guide(
            "rows",
            "allies",
            ("seen", *_other(rules, side), *(f"last: {name}" for name in actions_seen)),
            len(allies),
            slots=allies,
        ),
        Guide(title="itself", names=("health", *_kind(rules, side), *_place(rules))),
    ]
    return {
        "units": tuple(part for part in parts if part.kind == "numbers" or part.rows),
        "field": (Guide("rows", names=FIELD_NAMES, slots=[*own, *enemies]),),
        "legal": (Guide(names=actions),),
    }


def _ground(rules: Any) -> tuple[str, ...]:
    names = tuple(f"may go {direction}" for direction in DIRECTIONS[:MOVES])
    names += tuple(f"open at point {point + 1}" for point in range(POINTS * int(rules["see_pathing"])))
    return names + tuple(f"height {point + 1}" for point in range(HEIGHTS * int(rules["see_heights"])))


def _other(rules: Any, side: int) -> tuple[str, ...]:
    return ("distance", "x", "y", "health", *_kind(rules, side))


def _kind(rules: Any, side: int) -> tuple[str, ...]:
    shield = ("shield",) if rules["red_shields" if side == RED else "blue_shields"] else ()
    return shield + tuple(f"type {number + 1}" for number in range(int(rules["kinds"])))


def _place(rules: Any) -> tuple[str, ...]:
    names = ("x", "y") * int(rules["see_position"]) + ("looks x", "looks y") * int(
        rules["look_directions"] > 0
    )
    return names + ("time",) * int(rules["see_time"])
