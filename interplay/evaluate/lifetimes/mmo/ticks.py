"""The record of one tick of the persistent world, read from its state; no other recorder reads that state."""

from __future__ import annotations

from typing import Any

import numpy as np

from interplay.evaluate.lifetimes.tick import Tick
from interplay.worlds.mmo.tiles import LAVA, PASSABLE

LIVABLE = np.array([passable and tile != LAVA for tile, passable in enumerate(PASSABLE)])


def read_tick(world: Any) -> Tick:
    """The tick that a batch of `MmoWorld`s has just made."""
    agent, step, blows = world.state.agent, world.timestep, world.blows
    return Tick(
        alive=step.acting,
        life=agent["life_id"],
        population=world.population,
        age=agent["life"],
        row=agent["row"],
        col=agent["col"],
        tiles=world.state.tiles,
        livable=LIVABLE,
        struck=blows["struck"],
        style=blows["style"],
        from_row=blows["row"],
        from_col=blows["col"],
        struck_row=blows["struck_row"],
        struck_col=blows["struck_col"],
        died=step.terminated,
        ended=world.ended,
    )
