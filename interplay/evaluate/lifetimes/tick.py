"""One tick of a world of many lives, as the recorders of this package read it.

Recorders know arrays, not worlds: the reader that a world announces is the one place that knows where they are kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol

from interplay.core.errors import UserError
from interplay.core.loading import load
from interplay.core.world import Array, World

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
        tiles: (W, T, T) uint8, ids of what lies there.
        livable: (number of ids,) bool, tiles on which an agent can stand and live on.
        struck: (W, A) int, the slot that this slot's agent hit in this tick, or `NOBODY`; who died in it counts, not its newcomer.
        style: (W, A) int, of that attack: index into `STYLES`.
        from_row, from_col: (W, A) int, where the attacker stood.
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
    """What `watch` feeds with what its reader reads: ticks, or another world's own."""

    def note(self, tick: Any, /) -> None:
        """Takes in one tick; called once with the world as it was reset, then after every step."""


def tick_reader(world: World) -> Callable[[World], Tick]:
    """What reads the tick that a world has just made, as the world announces it in `World.instruments`.

    Raises:
        UserError: for a world without lives on tiles.
    """
    if "ticks" not in world.instruments:
        raise UserError(
            f"{world.id}: its agents live on no map of tiles; analyse a world such as mmo/combat, "
            "or name what reads yours in World.instruments"
        )
    reader: Callable[[World], Tick] = load(world.instruments["ticks"])
    return reader
