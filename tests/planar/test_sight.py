"""Rays, the cone and vision against their slow twin, and the rules that random scenes rarely touch."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interplay.planar.sight import NOTHING, WALL, ray_box, ray_circle, ray_walls
from tests.naive import planar_sight as naive
from tests.planar.overlaps import shape_of
from tests.planar.rooms import DEPTH, HALF_VIEW, ITEM_RADIUS, Disc, Room, Slab, hit, scan, sees

pytestmark = pytest.mark.slow

unhurried = settings(deadline=None)  # the first example compiles
WALL_AT = 6.0
COSINE, SINE = np.cos(HALF_VIEW), np.sin(HALF_VIEW)
place = st.floats(-5.9, 5.9)
point = st.tuples(st.floats(-8, 8), st.floats(-8, 8))
angle = st.floats(-7, 7)
size = st.floats(0.1, 4.0)
agent = st.builds(Disc, place, place, angle=angle)
box = st.builds(Slab, place, place, size, size, angle)
item = st.builds(Disc, place, place, radius=st.just(ITEM_RADIUS), moving=st.just(False))
scenes = st.tuples(
    st.lists(agent, min_size=2, max_size=4), st.lists(box, max_size=4), st.lists(item, max_size=5)
)


def room_of(scene) -> Room:
    agents, boxes, items = scene
    return Room([agents + boxes], [items], wall=WALL_AT)


def shapes_of(room: Room, rows) -> dict[int, tuple]:
    return {row: shape_of(room, 0, row) for row in rows if room.bodies.present[0, row]}


def robust(*fractions: float) -> bool:
    """Whether no two fractions are so close that rounding could swap them."""
    finite = sorted(f for f in fractions if np.isfinite(f))
    return all(b - a > 1e-9 for a, b in pairwise(finite))


@unhurried
@given(point, point, st.floats(0.1, 4))
def test_ray_circle_meets_its_twin(p, q, radius):
    ours = ray_circle(p[0], p[1], q[0] - p[0], q[1] - p[1], radius)
    theirs = naive.ray_circle(p, q, ("circle", 0.0, 0.0, radius))
    smaller = naive.ray_circle(p, q, ("circle", 0.0, 0.0, radius * (1 - 1e-9)))
    if np.isfinite(theirs) == np.isfinite(smaller):  # not a ray that grazes
        assert ours == pytest.approx(theirs, abs=1e-7)


@unhurried
@given(point, point, size, size, angle)
def test_ray_box_meets_its_twin(p, q, width, height, turn):
    ours = ray_box(p[0], p[1], q[0] - p[0], q[1] - p[1], np.cos(turn), np.sin(turn), width / 2, height / 2)
    twins = [
        naive.ray_shape(p, q, ("box", 0.0, 0.0, turn, width / 2 * k, height / 2 * k))
        for k in (1 - 1e-9, 1.0, 1 + 1e-9)
    ]
    if len({np.isfinite(t) for t in twins}) == 1:
        assert ours == pytest.approx(twins[1], abs=1e-6)


@unhurried
@given(point, point)
def test_ray_walls_meets_its_twin(p, q):
    assert ray_walls(*p, *q, WALL_AT) == pytest.approx(naive.ray_walls(p, q, WALL_AT), abs=1e-9)


@unhurried
@given(scenes, point, point, st.data())
def test_first_hit_meets_its_twin(scene, p, q, data):
    room = room_of(scene)
    count = room.shape[1]
    last = data.draw(st.integers(0, count))
    room.bodies.present[0] = data.draw(st.lists(st.booleans(), min_size=count, max_size=count))
    ignore = data.draw(st.integers(-1, count - 1))
    shapes = shapes_of(room, (row for row in range(last) if row != ignore))
    what, fraction = hit(room.table, *p, *q, ignore, last, WALL_AT)
    for scale in (1 - 1e-9, 1 + 1e-9):  # leave out rays that graze or tie
        grown = {k: (*s[:-2], s[-2] * scale, s[-1] * scale) for k, s in shapes.items() if s[0] == "box"}
        grown |= {k: (*s[:-1], s[-1] * scale) for k, s in shapes.items() if s[0] == "circle"}
        if naive.first_hit(p, q, grown, WALL_AT)[0] != naive.first_hit(p, q, shapes, WALL_AT)[0]:
            return
    if not robust(*(naive.ray_shape(p, q, s) for s in shapes.values()), naive.ray_walls(p, q, WALL_AT)):
        return
    expected, at = naive.first_hit(p, q, shapes, WALL_AT)
    assert what == {"wall": WALL, "nobody": NOTHING}.get(expected, expected)
    assert fraction == pytest.approx(at, abs=1e-6)


def twin_vision(room: Room, observers: int, items_block: bool) -> np.ndarray:
    bodies = room.bodies
    count = room.shape[1]
    last = count if items_block else room.physics.num_solid
    seen = np.zeros((observers, count), bool)
    for i in range(observers):
        for j in range(count):
            if i == j or not bodies.present[0, i] or not bodies.present[0, j]:
                continue
            shapes = shapes_of(room, {i, j, *range(last)})
            heading = float(bodies.angle[0, i])
            seen[i, j] = naive.sees(i, j, heading, shapes, WALL_AT, DEPTH, HALF_VIEW)
    return seen


@pytest.mark.parametrize("items_block", [True, False])
def test_vision_meets_its_twin_on_random_scenes(items_block):
    rng = np.random.default_rng(1)
    seen = 0
    for _ in range(300):
        agents: list = [Disc(*rng.uniform(-5.5, 5.5, 2), angle=rng.uniform(0, 6.3)) for _ in range(4)]
        boxes = [
            Slab(*rng.uniform(-5.9, 5.9, 2), *rng.uniform(0.1, 2.5, 2), rng.uniform(0, 3)) for _ in range(4)
        ]
        items = [Disc(*rng.uniform(-5.9, 5.9, 2), radius=ITEM_RADIUS, moving=False) for _ in range(8)]
        room = room_of((agents, boxes, items))
        room.bodies.present[0] = rng.random(16) < 0.9
        ours = room.visible(4, items_block)[0]
        assert np.array_equal(ours, twin_vision(room, 4, items_block))
        seen += ours.sum()
    assert seen > 1500


@unhurried
@given(scenes)
def test_look_is_the_sight_of_each_pair(scene):
    room = room_of(scene)
    count, observers = room.shape[1], len(scene[0])
    seen = room.visible(observers)[0]
    for i in range(observers):
        for j in range(count):
            alone = i != j and sees(room.table, i, j, DEPTH, COSINE, SINE, count, WALL_AT)
            assert seen[i, j] == alone


def view(*others, items=(), angle=0.0) -> list[bool]:
    """What an agent at the origin sees of the others and the items."""
    room = Room([[Disc(0, 0, angle=angle), *others]], [list(items)], wall=WALL_AT * 2)
    return room.visible(1)[0, 0, 1:].tolist()


def small(x, y):
    return Disc(x, y, radius=ITEM_RADIUS, moving=False)


def test_the_cone_ends_where_it_should():
    corner = DEPTH * np.cos(HALF_VIEW), DEPTH * np.sin(HALF_VIEW)
    assert view(small(DEPTH, 0.0)) == [True]  # the boundary is included
    assert view(small(DEPTH + 1e-6, 0.0)) == [False]
    assert view(small(0.5 * corner[0], 0.5 * corner[1] - 1e-9)) == [True]
    assert view(small(0.5 * corner[0], 0.5 * corner[1] + 1e-6)) == [False]
    # Between the tip and a side corner the cone is a straight edge, not an arc.
    assert view(small(9.9 * np.cos(0.3), 9.9 * np.sin(0.3))) == [False]
    assert view(small(-1.0, 0.0)) == [False]


def test_bodies_and_items_hide_what_is_behind_them():
    assert view(small(2, 0), small(4, 0)) == [True, False]
    assert view(Slab(2, 0, 0.1, 1), small(4, 0.2)) == [True, False]
    assert view(Disc(4, 0), items=[small(2, 0)]) == [False, True]
    room = Room([[Disc(0, 0), Disc(4, 0)]], [[small(2, 0)]])
    assert room.visible(1, items_block=False)[0, 0].tolist() == [False, True, True]


def test_coincident_centres_are_visible_and_the_lower_row_wins_a_tie():
    assert view(small(0, 0)) == [True]
    assert view(items=[small(3, 0), small(3, 0)]) == [True, False]


def test_a_ray_ignores_what_holds_its_origin():
    # Within the item's circle but not at its centre: the ray never enters it, so nothing is hit.
    assert view(items=[small(0.1, 0.0)]) == [False]
    # A box around the observer hides nothing behind its face.
    assert view(Slab(0.2, 0, 3, 3), small(4, 0)) == [False, True]


def test_nobody_sees_himself_and_the_absent_neither_see_nor_are_seen():
    room = Room([[Disc(0, 0), Disc(3, 0, angle=np.pi), Disc(2, 2)]])
    assert room.visible(2)[0, :, :2].tolist() == [[False, True], [True, False]]
    room.bodies.present[0, 1] = False
    assert room.visible(2)[0, :, :2].tolist() == [[False, False], [False, False]]


def test_walls_hide_what_is_outside():
    room = Room([[Disc(0, 0), Disc(7, 0, moving=False)]], wall=5.0)
    assert not room.visible(1)[0, 0, 1]


def test_a_lidar_measures_distances():
    room = Room([[Disc(0, 0), Slab(3, 0, 1, 0.4), Disc(0, 3)]], wall=5.0)
    hits, distance = np.empty(5, np.int64), np.empty(5)
    scan(room.table, hits, distance, 0, np.pi, 4.0, 3, 5.0)
    assert hits.tolist() == [NOTHING, NOTHING, 1, NOTHING, 2]
    assert distance == pytest.approx([4.0, 4.0, 2.5, 4.0, 2.5])
    scan(room.table, hits, distance, 0, np.pi, 6.0, 3, 5.0)
    assert hits.tolist() == [WALL, NOTHING, 1, NOTHING, 2]
    assert distance[0] == pytest.approx(5.0)
