"""Three managers that act together instead of macro actions: production, resources and combat (specification 6.4, interfaces 10)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from interplay.worlds.sc2.commander import (
    LURKERS,
    Command,
    Commander,
    attack,
    inject,
    lurk,
    mine_when_idle,
    to_gas,
    to_minerals,
)
from interplay.worlds.sc2.macro import MAKE, Macro, combat, index_of
from interplay.worlds.sc2.regions import Ground
from interplay.worlds.sc2.things import THINGS
from interplay.worlds.sc2.view import View

PRODUCTION = tuple(Macro(MAKE, thing) for thing in THINGS)
"""One entry for each thing: 62."""
RESOURCES = ("gas first", "minerals first", "keep last")
STANCES = ("nearest enemy", "defend", "rally at home", "rally at the rival's")
GAS_FIRST, MINERALS_FIRST, KEEP_LAST = range(3)
NEAREST, DEFEND, HOME, RIVAL = range(4)  # after the areas
HOME_REACH = 25.0  # an enemy so near to the own start is defended against
ARMY = 12  # combat units with which the script attacks
_SCRIPT = ("zergling", "overlord", "spawning_pool", "drone")  # the script makes the first that is legal
_DRONES = 16


def heads(areas: int) -> dict[str, tuple[str, ...]]:
    """Manager -> names of its choices."""
    return {
        "production": tuple(macro.name for macro in PRODUCTION),
        "resource": RESOURCES,
        "combat": (*(f"attack area {number}" for number in range(areas)), *STANCES),
    }


class Managers:
    """The orders of one player's managers; those that are not chosen follow a script.

    Args:
        areas: number of areas in the combat manager's actions.
    """

    def __init__(self, commander: Commander, ground: Ground, areas: int) -> None:
        self._commander, self._ground, self._areas = commander, ground, areas
        self._resource = MINERALS_FIRST

    def orders(self, chosen: Mapping[str, int], mask: np.ndarray, view: View) -> list[Command]:
        """Commands of a decision; `mask` (62,) are the things that can be made."""
        choice = {**self.script(mask, view), **chosen}
        made = PRODUCTION[choice["production"]] if mask[choice["production"]] else None
        if choice["resource"] != KEEP_LAST:
            self._resource = choice["resource"]
        workers = to_gas(view) if self._resource == GAS_FIRST else to_minerals(view)
        return [
            *mine_when_idle(view),
            *inject(view),
            *workers,
            *self.fight(choice["combat"], view),
            *(self._commander.work(made, view) if made else []),  # last, because a unit obeys its last order
        ]

    def script(self, mask: np.ndarray, view: View) -> dict[str, int]:
        """What the scripted managers choose: Zerglings, minerals, and an attack with `ARMY` units."""
        wanted = _SCRIPT[:3] if view.player[5] >= _DRONES else _SCRIPT
        numbers = [index_of(f"make {name.replace('_', ' ')}", PRODUCTION) for name in wanted]
        army = int(combat(view).sum())
        return {
            "production": next((number for number in numbers if mask[number]), numbers[0]),
            "resource": MINERALS_FIRST,
            "combat": self._areas + (NEAREST if army >= ARMY else DEFEND),
        }

    def fight(self, choice: int, view: View) -> list[Command]:
        """All combat units attack towards one place, lurkers by `lurk`; none where it does not exist."""
        place = self._place(choice, view)
        if place is None:
            return []
        lurkers = combat(view) & np.isin(view.kinds, LURKERS)
        army = np.flatnonzero(combat(view) & ~lurkers)
        commands = [one for unit in np.flatnonzero(lurkers).tolist() for one in lurk(view, unit, place)]
        return [attack(view, army, place), *commands] if len(army) else commands

    def _place(self, choice: int, view: View) -> np.ndarray | None:
        ground, stance = self._ground, choice - self._areas
        start = np.array(ground.start)
        if stance < 0:
            return ground.areas[choice] if choice < len(ground.areas) else None
        if stance in (HOME, RIVAL):
            return start if stance == HOME else np.array([ground.width, ground.height]) - start
        enemies = view.places[view.enemy]
        away = np.hypot(*(enemies - start).T)
        if stance == DEFEND:
            near = away <= HOME_REACH
            return enemies[near][away[near].argmin()] if near.any() else start
        return enemies[away.argmin()] if len(enemies) else np.array([ground.width, ground.height]) - start
