"""Reads a tick from the state of the persistent world; recorders do not read that state themselves."""

from __future__ import annotations

from typing import Any

import numpy as np

from interplay.evaluate.lifetimes.tick import Tick
from interplay.worlds.mmo.tiles import LAVA, PASSABLE

LIVABLE = np.array([passable and tile != LAVA for tile, passable in enumerate(PASSABLE)])


def read_tick(world: Any) -> Tick:
    """The current tick of a batch of `MmoWorld`s."""
    agent, step, blows = world.state.agent, world.timestep, world.blows
    return Tick(
        alive=step.acting | step.truncated,  # lives that the end of the world cuts stand in its last tick
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
