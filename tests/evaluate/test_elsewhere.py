"""Values at every place of a plane, against the world itself, place by place."""

from __future__ import annotations

import numpy as np
import pytest

from interplay.core.policy import RandomPolicy
from interplay.evaluate.lifetimes.overlays import compute_overlays
from interplay.evaluate.lifetimes.places import values_elsewhere
from interplay.registry import make_world


def played(name: str, ticks: int = 20):
    world, policy = make_world(name), RandomPolicy()
    world.reset(seeds=3)
    policy.start(world, 1)
    for _ in range(ticks):
        world.step(policy.act(world.timestep))
    return world


def middles(grid):
    """x (1, L) and y (H, 1) of the cells."""
    (left, top), cell, width, height = grid
    return left + cell * (np.arange(width) + 0.5)[None], top + cell * (np.arange(height) + 0.5)[:, None]


def test_each_cell_is_asked_from_its_middle_and_the_own_one_from_the_own_place():
    world = played("survival/2v2-all-high")
    before, seen, slot = world.hash(), world.timestep.observation["agent"].copy(), 1
    body = world.state.body[0].copy()
    x_at, y_at = 3, 4  # behind id, team and health

    def expects(rows):
        own = rows["agent"]
        moved = np.flatnonzero((own != seen[0, slot]).any(axis=0)).tolist()
        assert set(moved) <= {x_at, y_at}  # all else is alike
        return own[:, x_at] + 1000.0 * own[:, y_at]

    found, grid = values_elsewhere(world, slot, expects)
    x, y = middles(grid)
    there = np.isfinite(found)
    row, col = (
        int((body[name][slot] - edge) // grid.cell) for name, edge in zip("yx", grid.origin, strict=True)
    )
    expected = (x + 1000.0 * y).astype(np.float32).astype(float)
    expected[row, col] = np.float32(body["x"][slot]) + 1000.0 * np.float32(body["y"][slot])
    np.testing.assert_allclose(found[there], expected[there], rtol=1e-5)
    assert there[row, col]
    assert world.hash() == before
    assert np.array_equal(world.timestep.observation["agent"], seen)


def test_nobody_stands_in_walls_boxes_or_others():
    world = played("survival/2v2-all-high")
    slot = 0
    found, grid = values_elsewhere(world, slot, lambda rows: np.ones(len(rows["agent"])))
    x, y = middles(grid)
    bodies, solid, wall = world.state.bodies, world.rules.physics.num_solid, world.rules.physics.wall
    radius = bodies.radius[0, slot]
    free = (np.abs(x) <= wall - radius) & (np.abs(y) <= wall - radius)
    for other in range(solid):
        if other == slot or not bodies.present[0, other]:
            continue
        # Points of the body, an inch apart, instead of its formula.
        half, turn = bodies.half[0, other], bodies.turn[0, other]
        u, v = (np.linspace(-side, side, 201) for side in half)
        if not half.any():
            free &= (
                np.hypot(*(m - p for m, p in zip((x, y), bodies.position[0, other], strict=True)))
                >= radius + bodies.radius[0, other]
            )
            continue
        edge = np.concatenate(
            [
                *(np.stack([u, np.full(201, s * half[1])], 1) for s in (-1, 1)),
                *(np.stack([np.full(201, s * half[0]), v], 1) for s in (-1, 1)),
            ]
        )
        points = edge @ np.array([[turn[0], turn[1]], [-turn[1], turn[0]]]) + bodies.position[0, other]
        far = np.hypot(x[..., None] - points[:, 0], y[..., None] - points[:, 1]).min(axis=-1)
        dx, dy = x - bodies.position[0, other, 0], y - bodies.position[0, other, 1]
        inside = (np.abs(dx * turn[0] + dy * turn[1]) <= half[0]) & (
            np.abs(dy * turn[0] - dx * turn[1]) <= half[1]
        )
        free &= (far >= radius) & ~inside
    own = tuple(int((bodies.position[0, slot, axis] - grid.origin[axis]) // grid.cell) for axis in (1, 0))
    free[own] = True
    assert np.array_equal(np.isfinite(found), free)
    assert 0.2 < free.mean() < 0.95


def test_who_stands_elsewhere_sees_what_is_there():
    world = played("survival/2v2-all-high")
    slot = 0
    heal = next(
        i
        for i in range(world.rules.first_heal, world.rules.first_box_item)
        if world.state.body[0, i]["present"]
    )
    body = world.state.body[0]
    ahead = body["x"][heal] - body["cosine"][slot], body["y"][heal] - body["sine"][slot]
    behind = body["x"][heal] + body["cosine"][slot], body["y"][heal] + body["sine"][slot]
    place = heal - world.rules.first_heal
    for (x, y), hidden in ((ahead, 0.0), (behind, 1.0)):
        assert world.stand_at(0, slot, float(x), float(y))
        assert world.timestep.observation["heals_mask"][0, slot, place] == hidden


def test_the_dead_stand_nowhere():
    world = played("battle/3m", 0)
    world.state.unit["alive"][0, 2] = world.outputs.acting[0, 2] = False
    world.state.unit["health"][0, 2] = 0.0
    world.refresh()
    found, _ = values_elsewhere(world, 2, lambda rows: 1 / 0)
    assert np.isnan(found).all()


def test_units_of_a_battle_are_set_down_on_its_field():
    world = played("battle/3m", 5)
    before = world.hash()
    found, grid = values_elsewhere(world, 0, lambda rows: rows["units"].sum(axis=1))
    x, y = middles(grid)
    half = world.settings.width / 2, world.settings.height / 2
    assert np.array_equal(np.isfinite(found), (np.abs(x) <= half[0]) & (np.abs(y) <= half[1]))
    assert len(np.unique(found[np.isfinite(found)])) > 500
    assert world.hash() == before


def test_every_agent_that_acts_has_a_map():
    world = make_world("survival/2v2-all-high")
    value = lambda rows, population: rows["agent"][:, 3] + population  # noqa: E731
    data = compute_overlays(["place_values"], world, RandomPolicy(), 3, value=value, burn_in=4)[
        "place_values"
    ]
    assert data.title.endswith(" tick 7")
    assert [layer.name for layer in data.layers] == [f"slot_{slot}" for slot in range(4)]
    for layer in data.layers:
        low, high = layer.limits
        middle = np.nanmean(layer.values)
        assert low + high == pytest.approx(2 * middle)
        assert max(np.nanmax(layer.values) - middle, middle - np.nanmin(layer.values)) == pytest.approx(
            high - middle
        )
