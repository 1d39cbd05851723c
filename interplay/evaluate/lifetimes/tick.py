"""One tick of a world of many lives, the input of recorders.

Recorders depend on these arrays only. The reader named in `World.instruments` maps a world's state to them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

from interplay.core.errors import UserError
from interplay.core.loading import load
from interplay.core.world import Array, World

STYLES = ("melee", "range", "mage")
NO_SLOT = -1  # of `Tick.struck`


class Tick(NamedTuple):
    """State after a tick; views of the world's arrays, valid until its next step.

    Attributes:
        alive: (W, A) bool, the slot has a living occupant.
        life: (W, A) int64, id of the occupant's life, unique in its world.
        population: (W, A) uint8, of the occupant.
        age: (W, A) int, of the occupant in ticks.
        row, col: (W, A) int, position.
        tiles: (W, T, T) uint8, tile ids.
        livable: (number of ids,) bool, tiles on which an agent can stand and survive.
        struck: (W, A) int, the slot hit by this slot's agent in this tick, or `NO_SLOT`. The attacker is the agent of that tick, not a
            newcomer in the slot.
        style: (W, A) int, of that attack: index into `STYLES`.
        from_row, from_col: (W, A) int, position of the attacker.
        struck_row, struck_col: (W, A) int, position of the target relative to the attacker.
        died: (W, A) bool, a life of this slot ended in this tick; its occupant may already be a newcomer.
        ended: name -> (W, A), metrics of ended lives: ``life`` (ticks), ``cause``, ``population``, ...
    """

    alive: Array
    life: Array
    population: Array
    age: Array
    row: Array
    col: Array
    tiles: Array
    livable: Array
    struck: Array
    style: Array
    from_row: Array
    from_col: Array
    struck_row: Array
    struck_col: Array
    died: Array
    ended: Mapping[str, Array]


class Recorder(Protocol):
    """Consumer of a reader's ticks, fed by `watch`."""

    def add(self, tick: Any, /) -> None:
        """Adds one tick; called after the reset, then after every step."""


def tick_reader(world: World) -> Callable[[World], Tick]:
    """The function that reads a world's current tick, named in `World.instruments`."""
    if "ticks" not in world.instruments:
        raise UserError(
            f"{world.id}: its agents live on no map of tiles; analyse a world such as mmo/combat, "
            "or name what reads yours in World.instruments"
        )
    return load(world.instruments["ticks"])
