"""Reads one world's boards while it is played."""

from __future__ import annotations

from typing import NamedTuple, Protocol

from interplay.core.world import World
from interplay.evaluate.communication.table import About, Array, Games


class Shown(NamedTuple):
    """What every world of a batch has shown in its last step; the columns of `Boards` without game and step."""

    day: Array  # (W,)
    phase: Array  # (W,)
    round: Array  # (W,)
    public: Array  # (W,) bool
    counted: Array  # (W,)
    chosen: Array  # (W,)
    tied: Array  # (W,)
    alive: Array  # (W, n) bool, after the step
    spoke: Array  # (W, n) bool, as far as the board tells
    names: Array  # (W, n, b)
    words: Array  # (W, n, L)
    reward: Array  # (W, n, T)


class Reader(Protocol):
    """How one world's boards are read; the one place that knows its arrays."""

    def about(self, world: World) -> About:
        """What the numbers mean."""

    def shown(self, world: World) -> Shown:
        """What the last step showed."""

    def acting(self, world: World) -> Array:
        """(W, n) bool, who speaks in the coming step."""

    def games(self, world: World) -> Games:
        """Roles and result of every world's game; its numbers are not read."""
