"""Every registered world: what it draws goes through frames and comes back; what is recorded is played on."""

from __future__ import annotations

import numpy as np
import pytest

import interplay
from interplay.core.frames import Decoder, Encoder
from interplay.core.policy import RandomPolicy
from interplay.core.replay import ReplayReader, WorldRecorder
from interplay.core.scene import scene_of
from interplay.core.scene_text import scene_lines
from interplay.view.picture import render
from tests.core.drawings import check_alike
from tests.test_every_world import MAKERS, SMALLER, one_of_every_maker

pytest.importorskip("pygame")
pytestmark = pytest.mark.slow


@one_of_every_maker(50, 200)
def test_what_a_world_draws_comes_back(world_id, steps):
    world = interplay.make_world(world_id, seed=5, **SMALLER.get(world_id, {}))
    policy = RandomPolicy()
    world.reset()
    policy.start(world, 5)
    scene = scene_of(world)
    streams = [(encoder, Decoder(encoder.schema)) for encoder in (Encoder(scene), Encoder(scene, False))]
    for tick in range(steps + 1):
        scene = scene_of(world)
        for encoder, decoder in streams:
            decoder.decode(encoder.encode(scene, tick, key=tick % 20 == 19))
            check_alike(decoder.scene(), scene, encoder.schema)
        if tick % (steps // 2) == 0:
            found = streams[0][1].scene()
            apart = render(found, 256, 2).astype(int) - render(scene, 256, 2)
            assert np.abs(apart).mean() < 0.5  # of 255: an edge here and there falls into the next half pixel
            lines = zip("".join(scene_lines(found)), "".join(scene_lines(scene)), strict=True)
            assert sum(there != here for there, here in lines) <= 4
        if world.timestep.over[0]:
            world.reset()
        else:
            world.step(policy.act(world.timestep))
    world.close()


@pytest.mark.parametrize("world_id", MAKERS)
def test_every_world_is_played_on_from_its_recording(world_id, tmp_path):
    options = SMALLER.get(world_id, {})
    world = interplay.make_world(world_id, num_worlds=2, seed=5, **options)
    policy, hashes = RandomPolicy(), []
    path = tmp_path / "a.replay"
    with WorldRecorder(path, world, 1, header={"options": options}, snapshot_every=15) as recorder:
        world.reset()
        policy.start(world, 5)
        recorder.begin()
        for _ in range(40):
            hashes.append(int(world.hash()[1]))
            if world.timestep.over[1]:
                world.reset()
                recorder.begin()
            else:
                action = policy.act(world.timestep)
                world.step(action)
                recorder.step(action, bool(world.timestep.over[1]))
        hashes.append(int(world.hash()[1]))
    with ReplayReader(path) as reader:
        again = reader.world_at(40, start=0)
        assert again.hash().tolist() == hashes[40:]
        again.close()
        again = reader.world_at(29)
        assert again.hash().tolist() == hashes[29:30]
        again.close()
        assert {mark.kind for mark in reader.marks()} <= {"birth", "death", "cut", "phase", "end"}
        assert not reader.troubles
    world.close()
