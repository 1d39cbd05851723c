"""The vector of ten rewards from a player's variables before and after a decision (specification 7.5)."""

from __future__ import annotations

import numpy as np

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

NAVIGATION = COMPONENTS.index("navigation")


def reward_vector(before: np.ndarray, after: np.ndarray, alive: np.ndarray) -> np.ndarray:
    """All components but navigation, which stays 0.

    Args:
        before, after: (..., V) the engine's variables.
        alive: (...) bool, the player lived before and after; else only frags and hits count.

    Returns:
        (..., 10) float64, in the order of `COMPONENTS`.
    """
    change = after - before
    frags, hits, hurt = (change[..., COLUMN[name]] for name in ("frags", "hits", "hits_taken"))
    health, ammo, armour = (change[..., COLUMN[name]] for name in ("health", "ammo", "armour"))
    moved = np.hypot(change[..., COLUMN["x"]], change[..., COLUMN["y"]])
    parts = {
        "kill": frags > 0,
        "lost_frag": -(frags < 0).astype(float),
        "hit": hits > 0,
        "hit_taken": -(hurt > 0).astype(float),
        "heal": alive & (health > HEAL[0]) & (health <= HEAL[1]),
        "ammo": alive & np.isin(ammo, AMMO),
        "wasted_shot": -(alive & (ammo == -1) & (hits <= 0)).astype(float),
        "armour": alive & (armour > 0),
        "movement": np.where(alive, movement(moved, hurt > 0), 0.0),
    }
    return np.stack(
        [parts.get(name, np.zeros(moved.shape)) for name in COMPONENTS], axis=-1, dtype=np.float64
    )


def movement(moved: np.ndarray, hurt: np.ndarray) -> np.ndarray:
    """The reward of having moved so far in a decision.

    Example:
        >>> movement(np.array([5.0, 5.0, 1.0, 0.5]), np.array([False, True, False, False])).tolist()
        [0.001, -0.0005, -0.0005, -0.006]
    """
    return np.where((moved > MOVED) & ~hurt, MOVING, np.where(moved < STOOD, STANDING, CREEPING))


def enter_room(seen: set[tuple[int, int]], x: float, y: float) -> bool:
    """Whether a place lies in a square that was not entered before; adds it, and forgets all when `ROOMS` were entered."""
    room = (int(x // ROOM), int(y // ROOM))
    if room in seen:
        return False
    seen.add(room)
    if len(seen) == ROOMS:
        seen.clear()
    return True
