"""The survival world's scene tells the truth about its state."""

from __future__ import annotations

import numpy as np
import pytest

from interplay.core.policy import RandomPolicy
from interplay.core.scene import Scene, scene_of
from interplay.registry import make_world
from interplay.view.picture import render
from interplay.view.video import play
from interplay.worlds.survival.config import VARIANTS
from interplay.worlds.survival.rules.fight import ATTACK


@pytest.fixture
def world():
    made = make_world("survival/2v2-all-low", 2, 3)
    made.reset()
    return made


def layer(world, name: str, w: int = 1):
    return scene_of(world, w).layer(name)


def caption(scene: Scene) -> dict[str, object]:
    status = scene.layer("status")
    return dict(zip(status.options["titles"], status.text[0], strict=True))


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_frame_is_valid_and_follows_the_first(variant):
    world = make_world(f"survival/{variant}", 1)
    first, *others = [scene for scene, _, _ in play(world, RandomPolicy(), max_steps=200, every=4)]
    for scene in others:
        scene.check_follows(first)
    assert render(others[-1], 128).shape == (128, 128, 3)


def test_agents_are_drawn_where_they_stand_in_their_teams_colours(world):
    agents = layer(world, "agents")
    np.testing.assert_array_equal(agents.columns["x"], np.float32(world.state.bodies.position[1, :4, 0]))
    assert agents.columns["colour"].tolist() == [0, 0, 1, 1]
    assert agents.text == ("0", "1", "2", "3")
    assert agents.columns["bar.health"].tolist() == [100.0] * 4
    assert agents.columns["bar.health.full"].tolist() == [100.0] * 4
    assert agents.columns["jump"].all()


def test_the_cone_is_the_quadrilateral_that_sight_uses(world):
    agents = layer(world, "agents")
    assert agents.options["sight.depth"] == 10.0
    assert agents.options["sight.angle"] == pytest.approx(0.4 * np.pi)
    assert agents.options["sight.chords"] == 2


def test_the_dead_are_dimmed_and_neither_strike_nor_carry(world):
    heal = world.rules.first_heal
    world.state.action[1, :, ATTACK] = [1, 1, 0, 0]
    world.state.inventory[1, :2, 0] = heal, heal + 1
    world.state.agent["held"][1, :2] = 1
    world.state.bodies.present[1, [1, 3]] = False
    assert layer(world, "agents").columns["dimmed"].tolist() == [False, True, False, True]
    assert layer(world, "attacks").columns["absent"].tolist() == [False, True, True, True]
    assert layer(world, "melee").columns["absent"].tolist() == [True, True, False, True]
    carried = ~layer(world, "carried").columns["absent"].reshape(4, -1)
    assert carried.sum(axis=1).tolist() == [1, 0, 0, 0]
    assert caption(scene_of(world, 1))["alive"] == 2


def test_the_melee_reaches_two_metres_ahead(world):
    world.state.bodies.turn[1, 0] = 0.0, 1.0
    x, y = world.state.bodies.position[1, 0]
    columns = layer(world, "melee").columns
    assert (columns["x1"][0], columns["y1"][0]) == pytest.approx((x, y + 2.0))


def test_items_that_were_taken_are_gone(world):
    first = world.rules.first_heal
    world.state.bodies.present[1, first + 4] = False
    assert np.flatnonzero(layer(world, "heals").columns["absent"]).tolist() == [4]
    assert layer(world, "box items").columns["absent"].all()
    assert caption(scene_of(world, 1))["heals"] == 14


def test_owned_boxes_carry_their_owners_colour(world):
    box = world.rules.first_box
    world.state.body["owner"][1, box + 2] = 1
    world.state.body["owner"][1, box + 3] = 0
    world.state.bodies.present[1, box + 3] = False
    owners = layer(world, "owners")
    assert np.flatnonzero(~owners.columns["absent"]).tolist() == [2]
    assert owners.columns["colour"][2] == 1


@pytest.mark.parametrize(
    ("steps", "zone", "next_radius"),
    [
        (0, "1 of 8, standing", 10.0),
        (100, "1 of 8, standing", 10.0),
        (101, "1 of 8, closing", 10.0),
        (200, "2 of 8, standing", 7.5),
        (1399, "7 of 8, closing", 0.1),
        (1400, "8 of 8, endgame", None),
        (9999, "8 of 8, endgame", None),
    ],
)
def test_the_zones_phase_follows_the_clock(world, steps, zone, next_radius):
    world.state.room["steps"][1] = steps
    scene = scene_of(world, 1)
    assert caption(scene)["zone"] == zone
    ring = scene.layer("next zone")
    assert ring.columns["absent"].tolist() == [next_radius is None]
    assert ring.columns["jump"].tolist() == [steps % 200 == 0]  # it is another zone then
    if next_radius is not None:
        assert ring.columns["radius"][0] == pytest.approx(next_radius)


def test_the_zone_is_the_states_and_vanishes_with_radius_zero(world):
    room = world.state.room
    room["zone_x"][1], room["zone_y"][1], room["zone_r"][1] = 1.0, -2.0, 4.0
    zone = layer(world, "zone").columns
    assert (zone["x"][0], zone["y"][0], zone["radius"][0]) == (1.0, -2.0, 4.0)
    room["zone_r"][1] = 0.0
    assert layer(world, "zone").columns["absent"].all()
    assert layer(world, "zone rim").columns["absent"].all()
