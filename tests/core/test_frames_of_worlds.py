"""Every registered world: what it draws goes through frames and comes back, and is the same picture."""

from __future__ import annotations

import numpy as np
import pytest

import interplay
from interplay.core.frames import Decoder, Encoder
from interplay.core.policy import RandomPolicy
from interplay.core.scene import scene_of
from interplay.core.scene_text import scene_lines
from interplay.view.picture import render
from tests.core.drawings import check_alike
from tests.test_every_world import IDS, LARGE, SMALLER

pytest.importorskip("pygame")
pytestmark = pytest.mark.slow
STEPS = 50


@pytest.mark.parametrize("world_id", IDS)
def test_what_a_world_draws_comes_back(world_id):
    world = interplay.make_world(world_id, seed=5, **(SMALLER if world_id in LARGE else {}))
    policy = RandomPolicy()
    world.reset()
    policy.start(world, 5)
    scene = scene_of(world)
    streams = [(encoder, Decoder(encoder.schema)) for encoder in (Encoder(scene), Encoder(scene, False))]
    for tick in range(STEPS + 1):
        scene = scene_of(world)
        for encoder, decoder in streams:
            decoder.decode(encoder.encode(scene, tick, key=tick % 20 == 19))
            check_alike(decoder.scene(), scene, encoder.schema)
        if tick % 25 == 0:
            found = streams[0][1].scene()
            apart = render(found, 256, 2).astype(int) - render(scene, 256, 2)
            assert np.abs(apart).mean() < 0.3
            assert scene_lines(found) == scene_lines(scene)
        if world.timestep.over[0]:
            world.reset()
        else:
            world.step(policy.act(world.timestep))
    world.close()
