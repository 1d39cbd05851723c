"""What a picture of a game shows."""

from __future__ import annotations

import numpy as np

import interplay
from interplay.core.scene import scene_of
from interplay.view.gliding import glide


def test_numbers_stay_on_their_bombs_when_an_older_one_is_gone():
    """Rows move up then: what is drawn in row 0 a step later is another bomb."""
    world = interplay.make_world("pommerman/ffa")
    world.reset(seeds=1)
    bomb, cells = world.state.bomb[0], (14, 40, 66)
    bomb["cell"][:3], bomb["life"][:3], bomb["blast"][:3] = cells, (1, 5, 9), 2
    world.state.room["bombs"][0] = 3
    before = scene_of(world)
    bomb["cell"][:2], bomb["life"][:2] = cells[1:], (4, 8)
    world.state.room["bombs"][0] = 2
    half = glide(before, scene_of(world), 0.5)
    for axis in ("x", "y"):
        texts, discs = (half.layer(name).columns[axis][:3] for name in ("lives", "bombs"))
        assert texts.tolist() == discs.tolist()
        assert np.array_equal(texts, before.layer("lives").columns[axis][:3])
    world.close()
