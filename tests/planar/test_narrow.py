"""The narrow phase against slow geometry, and the contacts that follow from it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from interplay.core.jit import kernel
from interplay.planar.narrow import clip_edge, find_contacts, gap_boxes, gap_circle_box, gap_circles
from tests.naive import planar_shapes as naive
from tests.planar.overlaps import shape_of
from tests.planar.rooms import Disc, Room, Slab

unhurried = settings(deadline=None)  # the first example compiles
offset = st.floats(-3, 3)
half = st.floats(0.05, 1.5)
turn = st.floats(-4, 4)


@kernel
def contacts_of(bodies, physics, scratch):
    """`find_contacts` in world 0, every solid row counted as a mover."""
    return find_contacts(bodies, physics, scratch, 0, physics.num_solid, 0)


def list_contacts(room: Room) -> list:
    count = contacts_of(room.table, room.physics, room.scratch)
    return [room.scratch.contacts.view(np.recarray)[0, k] for k in range(count)]


@unhurried
@given(offset, offset, half, half)
def test_circles(dx, dy, ra, rb):
    s, nx, ny = gap_circles(dx, dy, ra + rb)
    assert np.isclose(s, naive.gap(("circle", 0, 0, ra), ("circle", dx, dy, rb)), atol=1e-12)
    assert np.isclose(nx * nx + ny * ny, 1.0)


@unhurried
@given(offset, offset, half, half, half, turn)
def test_circle_and_box(dx, dy, radius, hx, hy, angle):
    s, nx, ny = gap_circle_box(dx, dy, radius, np.cos(angle), np.sin(angle), hx, hy)
    box = ("box", dx, dy, angle, hx, hy)
    assert np.isclose(s, naive.gap(("circle", 0.0, 0.0, radius), box), atol=1e-9)
    # Moved back along the normal by its overlap, the circle just touches.
    assume(abs(s) < 5)
    moved = ("circle", s * nx, s * ny, radius)
    assert np.isclose(naive.gap(moved, box), 0.0, atol=1e-6)


@unhurried
@given(offset, offset, half, half, turn, half, half, turn)
def test_boxes(dx, dy, hax, hay, angle_a, hbx, hby, angle_b):
    turns = np.cos(angle_a), np.sin(angle_a), np.cos(angle_b), np.sin(angle_b)
    points, nx, ny, s0, _, _, s1, _, _ = gap_boxes(
        dx, dy, turns[0], turns[1], hax, hay, turns[2], turns[3], hbx, hby, 10.0
    )
    a, b = ("box", 0.0, 0.0, angle_a, hax, hay), ("box", dx, dy, angle_b, hbx, hby)
    gap = naive.gap(a, b)
    assert 1 <= points <= 2
    # Faces within the flicker tolerance of the best one may be chosen instead.
    high_a = naive.spread(naive.corners(a), nx, ny)[1]
    low_b = naive.spread(naive.corners(b), nx, ny)[0]
    assert gap - 0.0031 <= low_b - high_a <= gap + 1e-9
    # The deepest point of the clipped edge is never deeper than the boxes overlap along the normal.
    deepest = min(s0, s1) if points == 2 else s0
    assert deepest >= low_b - high_a - 1e-9


def test_overlapping_boxes_push_each_other_apart():
    rng = np.random.default_rng(0)
    pairs = []
    while len(pairs) < 200:
        slabs = [
            Slab(*rng.uniform(-1, 1, 2), *rng.uniform(0.1, 3, 2), rng.uniform(-4, 4), moving=True)
            for _ in range(2)
        ]
        if -0.3 < room_gap(Room([slabs]), 0) < -0.01:
            pairs.append(slabs)
    room = Room(pairs)
    before = [room_gap(room, w) for w in range(200)]
    room.step(steps=5)
    assert all(room_gap(room, w) > before[w] for w in range(200))


def room_gap(room: Room, w: int) -> float:
    """Gap of the first two bodies."""
    return naive.gap(shape_of(room, w, 0), shape_of(room, w, 1))


def test_contacts_come_in_fixed_order_with_the_circle_first():
    room = Room([[Slab(0, 0, 1, 1, moving=True), Disc(1.0, 0), Disc(0, 1.0), Slab(0, -1.0, 1, 1)]], wall=1.52)
    found = [(int(c.a), int(c.b)) for c in list_contacts(room)]
    assert found == [(1, 0), (2, 0), (0, 3), (0, 3), (1, 4), (2, 4)]


@pytest.mark.parametrize(
    ("t0", "t1", "part"),
    [
        (
            -3.0,
            5.0,
            (0.25, 0.5),
        ),  # both ends outside, on either side: only what lies between the limits is left
        (5.0, -3.0, (0.5, 0.75)),
        (-3.0, 1.0, (0.5, 1.0)),  # one end outside
        (0.0, 4.0, (0.0, 0.25)),
        (-0.5, 0.5, (0.0, 1.0)),
        (0.5, 0.5, (0.0, 1.0)),  # an edge that stands upright
        (2.0, 5.0, (0.0, 0.0)),  # both outside on the same side: the end that is nearer
        (5.0, 2.0, (1.0, 1.0)),
        (-5.0, -2.0, (1.0, 1.0)),
        (-2.0, -5.0, (0.0, 0.0)),
    ],
)
def test_an_edge_is_clipped_to_the_face_that_it_meets(t0, t1, part):
    low, high = clip_edge(t0, t1, 1.0)
    assert (low, high) == part
    if max(t0, t1) >= -1.0 and min(t0, t1) <= 1.0:
        assert max(abs(t0 + low * (t1 - t0)), abs(t0 + high * (t1 - t0))) <= 1.0


@pytest.mark.parametrize("long_first", [False, True])
@pytest.mark.parametrize("turned", [0.0, np.pi])
def test_a_long_box_on_a_short_one_touches_along_the_whole_short_face(long_first, turned):
    """Both ends of the long edge lie outside the short face: two contacts, at the ends of the short one."""
    long, short = Slab(0.0, 0.5, 5.0, 1.0, turned, moving=True), Slab(0.3, -0.5, 1.0, 1.0, moving=True)
    room = Room([[long, short] if long_first else [short, long]])
    found = list_contacts(room)
    shapes = [long, short] if long_first else [short, long]
    points = sorted((round(shapes[0].x + c.ax, 9), round(shapes[0].y + c.ay, 9)) for c in found)
    assert points == [(-0.2, 0.0), (0.8, 0.0)]


@pytest.mark.parametrize("spot", [Slab(0.0, 0.0, 1.0, 1.0), Disc(0.0, 0.0, moving=False)])
@pytest.mark.parametrize("mover", [Disc(0.99, 0.0), Slab(0.99, 0.0, 1.0, 1.0, moving=True)])
def test_a_static_body_in_the_lower_row_is_met_as_in_the_higher(spot, mover):
    """Rows are met in pairs, lower one first, whichever of the two moves."""
    gaps = []
    for shapes in ([spot, mover], [mover, spot]):
        found = list_contacts(Room([shapes]))
        assert found, shapes
        gaps.append(sorted(round(c.separation, 9) for c in found))
    assert gaps[0] == gaps[1] == [-0.01] * len(gaps[0])


@pytest.mark.parametrize(
    "spot", [Slab(0.0, 0.0, 1.0, 1.0, vx=3.0, spin=2.0), Disc(0.0, 0.0, vx=3.0, spin=2.0, moving=False)]
)
@pytest.mark.parametrize("mover", [Disc(2.0, 0.0, vx=-6.0), Slab(2.0, 0.0, 1.0, 1.0, vx=-6.0, moving=True)])
def test_a_static_body_in_the_lower_row_stops_what_runs_into_it_and_stays(spot, mover):
    """Whatever velocity its own row holds."""
    for shapes, row in (([spot, mover], 1), ([mover, spot], 0)):
        room = Room([shapes], damping=0.0)
        room.step(steps=60)
        assert np.allclose(room.bodies.position[0, row], (1.0, 0.0), atol=0.02)
        assert np.allclose(room.bodies.velocity[0, row], 0.0, atol=1e-3)
        assert tuple(room.bodies.position[0, 1 - row]) == (0.0, 0.0)
        assert room.bodies.angle[0, 1 - row] == 0.0


def test_static_pairs_make_no_contacts():
    room = Room([[Slab(0, 0, 2, 2), Slab(0.5, 0, 2, 2), Disc(1, 1, moving=False)]], wall=1.2)
    assert list_contacts(room) == []


def test_contacts_are_kept_as_far_as_both_can_travel():
    near = Room([[Disc(0, 0), Disc(1.039, 0)]])
    far = Room([[Disc(0, 0), Disc(1.041, 0)]])
    fast = Room([[Disc(0, 0, vx=6.0), Disc(1.139, 0)]])
    assert [len(list_contacts(room)) for room in (near, far, fast)] == [1, 0, 1]


def test_a_box_in_a_corner_touches_with_the_vertices_that_are_near():
    room = Room([[Slab(0.5, 0.5, 1, 1, moving=True)]], wall=1.0)
    assert len(list_contacts(room)) == 4  # two at each wall
    room = Room([[Slab(0, 0.29, 1, 1, np.pi / 4, moving=True)]], wall=1.0)
    (contact,) = list_contacts(room)
    assert np.isclose(contact.separation, 1.0 - 0.29 - np.sqrt(0.5))
