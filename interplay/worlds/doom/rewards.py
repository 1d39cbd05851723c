"""The vector of ten rewards from a player's variables before and after a decision (specification 7.5)."""

from __future__ import annotations

from collections.abc import Sequence
from math import hypot

from interplay.worlds.doom.config import (
    AMMO,
    COMPONENTS,
    CREEPING,
    HEAL,
    MOVED,
    MOVING,
    ROOM,
    ROOMS,
    STANDING,
    STOOD,
)
from interplay.worlds.doom.variables import COLUMN

NAVIGATION, MOVEMENT = COMPONENTS.index("navigation"), COMPONENTS.index("movement")
_READ = [
    COLUMN[name] for name in ("frags", "kills", "hits", "hits_taken", "health", "ammo", "armour", "x", "y")
]


def reward_vector(before: Sequence[float], after: Sequence[float], alive: bool) -> list[float]:
    """The ten components, in the order of `COMPONENTS`; navigation stays 0.

    Args:
        before, after: the engine's variables, in the order of `COLUMN`.
        alive: the player lived before and after; else only kills, frags and hits count.
    """
    frags, kills, hits, hurt, health, ammo, armour, x, y = [
        after[column] - before[column] for column in _READ
    ]
    kill, lost = float(frags > 0 or kills > 0), -float(frags < 0)  # of a player or a monster
    hit, hit_taken = float(hits > 0), -float(hurt > 0)
    if not alive:
        return [0.0, kill, lost, hit, hit_taken, 0.0, 0.0, 0.0, 0.0, 0.0]
    heal, more_ammo = float(HEAL[0] < health <= HEAL[1]), float(ammo in AMMO)
    wasted = -float(ammo == -1 and hits <= 0)
    moved = movement(hypot(x, y), hurt > 0)
    return [0.0, kill, lost, hit, hit_taken, heal, more_ammo, wasted, float(armour > 0), moved]


def movement(moved: float, hurt: bool) -> float:
    """The reward of having moved so far in a decision.

    Example:
        >>> movement(5.0, False), movement(5.0, True), movement(1.0, False), movement(0.5, False)
        (0.001, -0.0005, -0.0005, -0.006)
    """
    if moved > MOVED and not hurt:
        return MOVING
    return STANDING if moved < STOOD else CREEPING


def enter_room(seen: set[tuple[int, int]], x: float, y: float) -> bool:
    """Whether a place lies in a square that was not entered before; adds it, and forgets all when `ROOMS` were entered."""
    room = (int(x // ROOM), int(y // ROOM))
    if room in seen:
        return False
    seen.add(room)
    if len(seen) == ROOMS:
        seen.clear()
    return True
