"""Mirrored and turned starts, and determinism: specification survival 15, numbers 9 and 10."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from interplay.planar.bodies import Bodies
from interplay.planar.contacts import allocate_scratch
from tests.planar.rooms import Disc, Room, Slab, run_chunk


def pair_scene(rng: np.random.Generator) -> list:
    """Two agents that meet, a box in their way and one aside: contacts come one at a time."""
    vx, vy = rng.uniform(2, 6), rng.uniform(-0.5, 0.5)
    return [
        Disc(-2, 0.1, vx, vy, angle=rng.uniform(0, 6), spin=rng.normal()),
        Disc(1.5, rng.uniform(-0.6, 0.6), -vx, 0.0, spin=rng.normal()),
        Slab(-3.3, 1.5, *rng.uniform(0.5, 1.5, 2)),
        Slab(3.5, -1.5, *rng.uniform(0.5, 1.5, 2), angle=rng.uniform(0, 3)),
    ]


def mirrored(shape):
    """Reflected at the x axis."""
    return replace(shape, y=-shape.y, vy=-shape.vy, angle=-shape.angle, spin=-shape.spin)


def turned(shape):
    """Turned by a right angle about the origin."""
    return replace(shape, x=-shape.y, y=shape.x, vx=-shape.vy, vy=shape.vx, angle=shape.angle + np.pi / 2)


@pytest.mark.parametrize("seed", range(10))
def test_9_mirrored_and_turned_starts_give_mirrored_and_turned_trajectories(seed):
    start = pair_scene(np.random.default_rng(seed))
    room = Room([start, [mirrored(s) for s in start], [turned(s) for s in start]], wall=4.9)
    moved = 0.0
    for _ in range(60):
        room.step()
        plain, mirror, quarter = room.bodies.position
        assert mirror * [1, -1] == pytest.approx(plain, abs=1e-9)
        assert quarter @ np.array([[0, -1], [1, 0]]) == pytest.approx(plain, abs=1e-9)
        assert room.bodies.spin[1] == pytest.approx(-room.bodies.spin[0], abs=1e-9)
        moved = max(moved, abs(room.bodies.velocity[0, 0, 0] - start[0].vx))
    assert moved > 1.0  # they met


def busy_room(worlds: int, seed: int = 0) -> Room:
    """Different worlds full of contacts: agents, dynamic and static boxes in a small room."""
    scenes = []
    for w in range(worlds):
        rng = np.random.default_rng([seed, w])
        cells = rng.permutation(16)[:9]
        at = np.stack([cells % 4, cells // 4], -1) * 1.7 - 2.55
        scene: list = [Disc(*xy, angle=rng.uniform(0, 6)) for xy in at[:4]]
        scene += [Slab(*xy, *rng.uniform(0.4, 1.3, 2), moving=True) for xy in at[4:6]]
        scene += [Slab(*xy, *rng.uniform(0.4, 1.3, 2), angle=rng.uniform(0, 3)) for xy in at[6:]]
        scenes.append(scene)
    return Room(scenes, wall=3.6)


def controls(worlds: int, steps: int, first: int = 0) -> np.ndarray:
    """(steps, worlds, 4, 3) random motor impulses; a world's own do not depend on the batch."""
    out = np.empty((steps, worlds, 4, 3))
    for w in range(worlds):
        rng = np.random.default_rng([9, first + w])
        out[:, w] = rng.integers(-1, 2, (steps, 4, 3)) * np.array([0.25, 0.25, 0.0125])
    return out


def assert_same(a: Bodies, b: Bodies) -> None:
    for name, x, y in zip(Bodies._fields, a, b, strict=True):
        assert x.tobytes() == y.tobytes(), name


def test_10_same_start_same_bits_over_a_thousand_steps():
    rooms = [busy_room(2), busy_room(2)]
    for impulse in controls(2, 1000):
        for room in rooms:
            room.step(impulse)
    assert_same(rooms[0].bodies, rooms[1].bodies)
    assert rooms[0].dropped == 0


def test_10_a_batch_is_its_single_worlds():
    batch, singles = busy_room(7), busy_room(7)
    control = controls(7, 200)
    for impulse in control:
        batch.step(impulse)
    for w in reversed(range(7)):
        alone = busy_room(7)
        alone.table = singles.table[w : w + 1].copy()
        for impulse in control:
            alone.step(impulse[w : w + 1])
        assert_same(alone.bodies, Bodies(*(array[w : w + 1] for array in batch.bodies)))


@pytest.mark.parametrize("threads", [2, 3, 5])
def test_10_threads_and_chunks_do_not_matter(threads):
    one, many = busy_room(11), busy_room(11)
    kick = controls(11, 1)[0] * 20
    one.step(kick)
    many.step(kick)
    scratch = allocate_scratch(threads, many.physics.num_solid)
    cuts = np.linspace(0, 11, threads + 1).astype(int)
    with ThreadPoolExecutor(threads) as pool:
        for _ in range(60):
            run_chunk(one.table, one.physics, one.scratch, 0, 0, 11)
            jobs = [
                pool.submit(run_chunk, many.table, many.physics, scratch, t, cuts[t], cuts[t + 1])
                for t in range(threads)
            ]
            for job in jobs:
                job.result()
    assert_same(one.bodies, many.bodies)


def test_10_a_snapshot_in_mid_run_goes_on_alike():
    room = busy_room(3)
    control = controls(3, 120)
    for impulse in control[:60]:
        room.step(impulse)
    snapshot = room.table.copy()
    for impulse in control[60:]:
        room.step(impulse)
    restored = busy_room(3, seed=5)
    restored.table = snapshot
    for impulse in control[60:]:
        restored.step(impulse)
    assert_same(room.bodies, restored.bodies)
