"""The part of the scene that a unit sees, for human players: the rules of `observe.see_enemies` and `see_allies`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from interplay.core.fog import Visible
from interplay.worlds.battle.config import SIGHT_RANGE
from interplay.worlds.battle.state import RED

if TYPE_CHECKING:
    from interplay.worlds.battle.world import BattleWorld

_GROUND = ("floor", "columns", "rows", "edge")
_UNITS = ("shadows", "agents", "types", "no health", "health", "no shield", "shield")
_OWN = ("aims", "shots", "cooldown")  # not observed of other units


def visible(world: BattleWorld, w: int, slot: int) -> Visible:
    """The field, the units in sight and their observed attributes; a dead unit sees the field alone."""
    seen = np.asarray(units_in_sight(world, w, slot))
    own = np.arange(len(seen)) == slot
    visible_layers = dict.fromkeys(_GROUND, True) | dict.fromkeys(_UNITS, seen) | dict.fromkeys(_OWN, own)
    if world.settings.look_directions:
        visible_layers["agents/angle"] = own
    if world.settings.see_field:
        visible_layers["cooldown"] = seen
    return visible_layers


def units_in_sight(world: BattleWorld, w: int, slot: int) -> np.ndarray:
    """(A,) bool, the unit itself among them."""
    unit, settings = world.state.unit[w], world.settings
    alive = np.asarray(unit["alive"])
    own = np.arange(len(unit)) == slot
    if settings.see_field:
        return own | alive
    if not alive[slot]:
        return own
    dx, dy = unit["x"] - unit["x"][slot], unit["y"] - unit["y"][slot]
    gap = np.hypot(dx, dy)
    seen = gap < (world.body["sight"][slot] if settings.unit_ranges else SIGHT_RANGE)
    reds = len(settings.sides[RED])
    if settings.look_directions:
        turn = 2 * np.pi * world.state.look[w, slot] / settings.look_directions
        ahead = 1.0 if slot < reds else -1.0
        along = ahead * dx * np.cos(turn) + dy * np.sin(turn)
        seen &= along >= float(world.table[0]["look_cosine"]) * gap
    if world.table[0]["notice_chance"] < 1.0:
        enemies = slice(reds, len(unit)) if slot < reds else slice(0, reds)
        count = len(range(*enemies.indices(len(unit))))
        seen[enemies] &= world.state.known[w, slot, :count]
    return own | (alive & seen)
