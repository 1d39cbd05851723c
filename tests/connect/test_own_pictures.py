"""Pictures of other people's environments are those that they paint of themselves."""

from __future__ import annotations

import numpy as np
import pytest

from interplay.connect.parallel_world import ParallelEnvWorld
from interplay.core.errors import UserError
from interplay.core.policy import RandomPolicy
from interplay.core.scene import Canvas, scene_of
from tests.connect.painters import Painter, make_painter

pytest.importorskip("pygame", reason="pictures need the extra render")

from interplay.view.picture import fitting_size, render, render_world
from interplay.view.video import held, play


@pytest.mark.parametrize("make", [Painter, make_painter])
def test_a_recording_shows_what_the_environment_paints_step_by_step(make):
    scenes = play(ParallelEnvWorld(make), RandomPolicy())
    frames = list(held(scenes, None))
    assert {frame.shape for frame in frames} == {(480, 720, 3)}  # 12 times 40 x 60
    reds = [int(frame[5, 5, 0]) for frame in frames]
    assert reds[:11] == [20 * t for t in range(11)]
    assert all((frame[..., 1:] == 0).all() and np.ptp(frame[..., 0]) == 0 for frame in frames)


def test_a_picture_keeps_its_proportions_in_any_size():
    world = ParallelEnvWorld(Painter, kwargs={"render_mode": "rgb_array"}, num_worlds=2)
    world.reset()
    for _ in range(5):
        world.step(np.zeros((2, 2), np.int64))
    wide = render_world(world, 1, (200, 50))
    painted = (wide == [100, 0, 0]).all(axis=2)
    assert painted.sum() == 75 * 50  # 60 x 40 in a height of 50
    assert painted[:, 63:137].all()
    small = render_world(world, 0, (30, 20))
    assert (small == [100, 0, 0]).all()


def test_a_large_picture_is_shown_pixel_by_pixel():
    canvas = Canvas()
    pixels = np.random.default_rng(0).integers(0, 255, (600, 900, 3), np.uint8)
    canvas.picture(pixels)
    scene = canvas.scene()
    assert fitting_size(scene) == (900, 600)
    np.testing.assert_array_equal(render(scene, (900, 600)), pixels)
    with pytest.raises(UserError, match=r"picture float64\(2, 2\)"):
        canvas.picture(np.zeros((2, 2)))


def test_many_are_not_made_for_pictures_and_one_only_where_nobody_said_how():
    worlds = [
        ParallelEnvWorld(Painter, num_worlds=2),
        ParallelEnvWorld(Painter, kwargs={"render_mode": None}),
    ]
    for world in worlds:
        world.reset()
        assert scene_of(world).picture is None
        assert "left" in str(world.describe(0))


def test_an_environment_made_without_a_render_mode_says_once_where_its_pictures_are():
    world = ParallelEnvWorld(lambda: Painter())
    world.reset()
    with pytest.warns(UserWarning, match="render_mode") as told:
        [scene_of(world) for _ in range(3)]
    assert len(told) == 1


def test_what_is_no_picture_is_refused():
    world = ParallelEnvWorld(Painter, kwargs={"fail": "paint"})
    world.reset()
    with pytest.raises(UserError, match=r"render\(\) of Painter gave uint8\(60, 3\)"):
        scene_of(world)
