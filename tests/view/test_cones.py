"""Cones of sight end where the world's own rays end."""

from __future__ import annotations

import numpy as np
import pytest

from interplay.core.scene import Canvas, scene_of
from interplay.registry import make_world
from interplay.view import cones, palette
from interplay.view.picture import render
from tests.planar.rooms import hit
from tests.view.test_picture import PAGE, at, square

DEPTH, FIELD = 10.0, 0.4 * np.pi


def reach(seen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Ways and distances of a cone's corners, seen from its eye."""
    away = seen[1:] - seen[0]
    return np.arctan2(away[:, 1], away[:, 0]), np.hypot(*away.T)


@pytest.mark.parametrize("items_block", [False, True])
def test_a_cone_ends_where_the_worlds_rays_do(items_block):
    world = make_world("survival/2v2-all-low", 1, items_block_rays=items_block)
    rules, cut = world.rules, 0
    last = rules.num_bodies if items_block else rules.physics.num_solid
    for seed in range(3):
        world.reset(seeds=seed)
        scene, body = scene_of(world), world.state.body
        agents = scene.layer("agents")
        blocked = cones.blockers(agents, scene.layers)
        for row in range(rules.agents):
            x, y, angle = (float(agents.columns[key][row]) for key in ("x", "y", "angle"))
            way, far = reach(cones.cone(cones.Eye(x, y, angle, DEPTH, FIELD), 2, blocked))
            turn = np.abs((way - angle + np.pi) % (2 * np.pi) - np.pi)
            rim = (
                DEPTH * np.cos(FIELD / 4) / np.cos(turn - FIELD / 4)
            )  # of the quadrilateral, specification 5
            assert (far <= rim + 1e-4).all()
            wanted = []
            # A ray to a corner may pass it on either side: single precision.
            for past in (-2e-5, 0.0, 2e-5):
                ends = x + DEPTH * np.cos(way + past), y + DEPTH * np.sin(way + past)
                shares = [
                    hit(body, x, y, *end, row, last, rules.physics.wall)[1] for end in zip(*ends, strict=True)
                ]
                wanted.append(np.minimum(rim, DEPTH * np.array(shares)))
            assert (far >= np.min(wanted, axis=0) - 2e-3).all()
            assert (far <= np.max(wanted, axis=0) + 2e-3).all()
            cut += (far < rim - 0.01).any()
            for other in np.flatnonzero(world.state.visible[0, row]):
                dx, dy = body["x"][0, other] - x, body["y"][0, other] - y
                towards = np.interp(np.arctan2(dy, dx), *reach_sorted(way, far, np.arctan2(dy, dx)))
                size = np.hypot(body["half_x"][0, other], body["half_y"][0, other]) + body["radius"][0, other]
                assert towards >= np.hypot(dx, dy) - size - 0.05
    assert cut > 6


def reach_sorted(way: np.ndarray, far: np.ndarray, middle: float) -> tuple[np.ndarray, np.ndarray]:
    """Ways around `middle` in rising order, for `np.interp`."""
    way = middle + (way - middle + np.pi) % (2 * np.pi) - np.pi
    order = np.argsort(way)
    return way[order], far[order]


def looking(**boxes) -> Canvas:
    """An agent at (2, 5) that looks along x, and boxes."""
    c = square()
    if boxes:
        c.boxes("boxes", **boxes)
    c.circles("agents", [2.0], [5.0], radius=0.5, angle=0.0, sight=(7.0, 1.0, 4, ("boxes", "not there")))
    return c


def shaded(c: Canvas, x: float, y: float) -> bool:
    return at(render(c.scene(), 256), x, y) != PAGE


def test_behind_a_box_nothing_is_seen_and_beside_it_all():
    wall = {"x": [5.0], "y": [5.0], "half_x": 0.3, "half_y": 0.6, "colour": palette.PAGE}
    assert shaded(looking(), 7, 5)
    assert not shaded(looking(**wall), 7, 5)
    assert shaded(looking(**wall), 4.5, 5)
    assert shaded(looking(**wall), 7, 7)
    assert shaded(looking(**wall, absent=[True]), 7, 5)
    assert shaded(looking(**wall, dimmed=[True]), 7, 5)


def test_a_room_is_left_by_no_cone_and_a_box_around_the_eye_hides_nothing():
    around = {"x": [2.0], "y": [5.0], "half_x": 3.0, "half_y": 3.0, "colour": palette.PAGE}
    assert not shaded(looking(**around, fill=False), 5.5, 5)
    assert shaded(looking(**around, fill=False), 4.5, 5)
    assert shaded(looking(**around), 5.5, 5)
    outside = around | {"x": [8.0], "half_x": 2.0}
    assert shaded(looking(**outside, fill=False), 7.5, 5)


def test_crowds_are_drawn_with_whole_cones():
    c = Canvas((0, 0, 10, 10))
    many = np.linspace(0, 10, 142)
    c.circles("agents", many, many, radius=0.01, angle=0.0, sight=(1.0, 1.0, 2, ("agents",)))
    scene = c.scene()
    assert cones.blockers(scene.layers[0], scene.layers) is None
    assert cones.cone(cones.Eye(0, 0, 0, 1.0, 1.0), 2, None).shape == (4, 2)


@pytest.mark.parametrize(("middle", "seen"), [(7.2, 6.7), (7.4, 6.9), (7.6, 7.0)])
def test_a_disc_cuts_a_cone_as_soon_as_its_rim_reaches_in(middle, seen):
    disc = cones.Blockers(np.array([[middle, 0.0, 0.5]]), np.zeros((0, 5)), np.zeros(0, bool))
    way, far = reach(cones.cone(cones.Eye(0.0, 0.0, 0.0, 7.0, 0.2), 1, disc))
    straight = np.interp(0.0, *reach_sorted(way, far, 0.0))
    assert straight == pytest.approx(min(seen, 7.0 * np.cos(0.1)), abs=1e-3)
