"""The interface that reads a world's boards while it is played."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from interplay.core.world import World
from interplay.evaluate.communication.table import About, Array, Games


class Shown(NamedTuple):
    """The boards of a batch's last step: the columns of `Boards` without game and step."""

    day: Array  # (W,)
    phase: Array  # (W,)
    round: Array  # (W,)
    public: Array  # (W,) bool
    counted: Array  # (W,)
    chosen: Array  # (W,)
    tied: Array  # (W,)
    alive: Array  # (W, n) bool, after the step
    spoke: Array  # (W, n) bool, as far as visible on the board
    names: Array  # (W, n, b)
    words: Array  # (W, n, L)
    reward: Array  # (W, n, T)


class Reader(Protocol):
    """Reads the boards of one kind of world from its arrays."""

    def about(self, world: World) -> About:
        """Meaning of the numbers."""

    def shown(self, world: World) -> Shown:
        """Boards of the last step."""

    def acting(self, world: World) -> Array:
        """(W, n) bool, speakers of the next step."""

    def games(self, world: World) -> Games:
        """Roles and result of every world's game; the column `number` is ignored."""
