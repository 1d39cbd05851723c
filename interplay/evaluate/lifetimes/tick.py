"""One tick of a world of many lives, as the recorders of this package read it.

Recorders know arrays, not worlds: `read_tick` is the one place that knows where a world keeps them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np

from interplay.core.errors import UserError
from interplay.core.world import World

Array = np.ndarray
STYLES = ("melee", "range", "mage")
NOBODY = -1  # of `Tick.struck`


class Tick(NamedTuple):
    """What recorders read after each tick; views of the world's arrays, valid until its next step.

    Attributes:
        alive: (W, A) bool, the slot has a living occupant.
        life: (W, A) int64, the occupant's life, a number that never comes back in its world.
        population: (W, A) uint8, of the occupant.
        age: (W, A) int, ticks that the occupant has lived.
        row, col: (W, A) int, where it stands.
        tiles: (W, T, T) uint8, ids as in `worlds.mmo.tiles`.
        struck: (W, A) int, the slot that this slot's agent hit in this tick, or `NOBODY`.
        style: (W, A) int, of that blow: index into `STYLES`.
        struck_row, struck_col: (W, A) int, where the target stood, seen from the attacker.
        died: (W, A) bool, a life of this slot ended in this tick; its occupant may be a newcomer already.
        ended: name -> (W, A), what is known of the lives that ended: ``life`` (ticks), ``cause``, ``population``, ...
    """

    alive: Array
    life: Array
    population: Array
    age: Array
    row: Array
    col: Array
    tiles: Array
    struck: Array
    style: Array
    struck_row: Array
    struck_col: Array
    died: Array
    ended: Mapping[str, Array]


class Recorder(Protocol):
    """What `watch` feeds."""

    def note(self, tick: Tick) -> None:
        """Takes in one tick; called once with the world as it was reset, then after every step."""


def read_tick(world: World) -> Tick:
    """The tick that a world has just made.

    Raises:
        UserError: for a world without lives on tiles.
    """
    state = state_of(world)
    agent, step = state.agent, world.timestep
    return Tick(
        alive=step.acting,
        life=agent["life_id"],
        population=world.population,
        age=agent["life"],
        row=agent["row"],
        col=agent["col"],
        tiles=state.tiles,
        struck=agent["struck"],
        style=agent["style"],
        struck_row=agent["struck_row"],
        struck_col=agent["struck_col"],
        died=step.terminated,
        ended=getattr(world, "ended", {}),
    )


def state_of(world: World) -> Any:
    """The arrays of a world of many lives.

    Raises:
        UserError: for a world without lives on tiles.
    """
    state: Any = getattr(world, "state", None)
    if not hasattr(state, "agent") or not hasattr(state, "tiles"):
        raise UserError(f"{world.id}: its agents live on no map of tiles; analyse a world such as mmo/combat")
    return state
