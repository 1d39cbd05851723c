"""Box2D 2.3.10 as an oracle: the same scenes in the engine that the paper's author used (extra `oracle`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.planar.rooms import DEPTH, HALF_VIEW, ITEM_RADIUS, Disc, Room, Slab

SIDE = 25.0  # m, the room
WALL = SIDE / 2 - SIDE / 200  # m, inner faces of its walls
THICK = SIDE / 100
MELEE = 2.0  # m
VELOCITY_ITERATIONS = 10
POSITION_ITERATIONS = 10


def spawn_scene(
    rng: np.random.Generator, agents: int, boxes: int, items: int, turned: bool, jitter: float
) -> tuple[list[Any], list[Disc]]:
    """Bodies on random cells of the 8 x 8 grid, moved by up to `jitter` cells: (solid shapes, items)."""
    cells = rng.permutation(64)[: agents + boxes + items]
    cell = SIDE / 8
    at = np.stack([cells % 8, cells // 8], -1) * cell + cell / 2 - SIDE / 2
    at = at + rng.uniform(-jitter, jitter, at.shape) * cell
    solid: list[Any] = [Disc(*xy, angle=rng.uniform(0, 2 * np.pi)) for xy in at[:agents]]
    for x, y in at[agents : agents + boxes]:
        width, height = np.maximum(rng.normal([1.0, 1.5], [1.0, 1.5]), 0.1)
        solid.append(Slab(x, y, width, height, rng.uniform(0, np.pi) if turned else 0.0))
    return solid, [Disc(*xy, radius=ITEM_RADIUS, moving=False) for xy in at[agents + boxes :]]


def build_box2d(solid: list[Any], items: list[Disc]) -> tuple[Any, list[Any]]:
    """(world, bodies): walls as the author's four rectangles, items as sensors."""
    import Box2D as b2

    world = b2.b2World(gravity=(0, 0), doSleep=False)
    bodies = []
    for shape in [*solid, *items]:
        moving = isinstance(shape, Disc) and shape.moving
        make = world.CreateDynamicBody if moving else world.CreateStaticBody
        body = make(position=(shape.x, shape.y), angle=shape.angle, linearDamping=0.8, angularDamping=0.8)
        if isinstance(shape, Disc):
            form = b2.b2CircleShape(radius=shape.radius)
        else:
            form = b2.b2PolygonShape(box=(shape.width / 2, shape.height / 2))
        sensor = len(bodies) >= len(solid)
        body.CreateFixture(shape=form, density=1.0, friction=0.2, restitution=0.0, isSensor=sensor)
        bodies.append(body)
    for x, y in ((1, 0), (-1, 0), (0, 1), (0, -1)):
        half = (THICK / 2, SIDE / 2 + THICK) if x else (SIDE / 2 + THICK, THICK / 2)
        wall = world.CreateStaticBody(position=(x * SIDE / 2, y * SIDE / 2))
        wall.CreateFixture(shape=b2.b2PolygonShape(box=half), friction=0.2, restitution=0.0)
        bodies.append(wall)
    return world, bodies


def first_hit_box2d(world: Any, bodies: list[Any], start: tuple, end: tuple, solid_only: int = 0) -> int:
    """Index of the first body that a ray meets, -1 for none; walls are the last four."""
    import Box2D as b2

    class Nearest(b2.b2RayCastCallback):
        def __init__(self) -> None:
            super().__init__()
            self.body = None

        def ReportFixture(self, fixture: Any, point: Any, normal: Any, fraction: float) -> float:
            if solid_only and fixture.sensor:
                return -1.0
            self.body = fixture.body
            return fraction

    found = Nearest()
    world.RayCast(found, start, end)
    return -1 if found.body is None else bodies.index(found.body)


def visible_box2d(world: Any, bodies: list[Any], observers: int, count: int) -> np.ndarray:
    """(observers, count) bool: centre in the cone, and the ray to it meets that body first."""
    import Box2D as b2

    x, y = DEPTH * np.cos(HALF_VIEW), DEPTH * np.sin(HALF_VIEW)
    cone = b2.b2PolygonShape(vertices=[(0, 0), (x, -y), (DEPTH, 0), (x, y)])
    seen = np.zeros((observers, count), bool)
    for i in range(observers):
        for j in range(count):
            here, there = bodies[i].position, bodies[j].position
            if i == j or not cone.TestPoint(bodies[i].transform, there):
                continue
            end = here + (1.0 + 1e-6) * (there - here)
            seen[i, j] = first_hit_box2d(world, bodies, here, end) == j
    return seen


def melee_box2d(world: Any, bodies: list[Any], i: int) -> int:
    """What the melee ray of agent i meets first."""
    c, s = np.cos(bodies[i].angle), np.sin(bodies[i].angle)
    here = bodies[i].position
    return first_hit_box2d(world, bodies, here, (here[0] + MELEE * c, here[1] + MELEE * s))


def drift_from_box2d(seed: int, scenes: int, marks: tuple[int, ...], pade: bool = False) -> np.ndarray:
    """Distances (len(marks), scenes * 4) in m between our agents and Box2D's after `marks` steps.

    Four agents and eight static boxes, random controls held for five steps.
    """
    rng = np.random.default_rng(seed)
    worlds = [spawn_scene(rng, 4, 8, 0, turned=False, jitter=0.0)[0] for _ in range(scenes)]
    twins = [build_box2d(solid, []) for solid in worlds]
    room = Room(worlds, wall=WALL, pade=pade)
    room.bodies.angle[:, :4] = 0.0
    room.bodies.turn[:, :4] = 1.0, 0.0
    for _, bodies in twins:
        for body in bodies[:4]:
            body.angle = 0.0
    out = []
    for step in range(1, max(marks) + 1):
        if step % 5 == 1:
            control = rng.integers(-1, 2, (scenes, 4, 3)) * np.array([0.25, 0.25, 0.0125])
        room.step(control)
        for w, (world, bodies) in enumerate(twins):
            for body, (jx, jy, turn) in zip(bodies[:4], control[w].tolist(), strict=True):
                body.ApplyLinearImpulse(body.GetWorldVector((jx, jy)), body.worldCenter, True)
                body.ApplyAngularImpulse(turn, True)
            for _ in range(2):
                world.Step(1 / 60, VELOCITY_ITERATIONS, POSITION_ITERATIONS)
        if step in marks:
            theirs = np.array([[tuple(body.position) for body in bodies[:4]] for _, bodies in twins])
            out.append(np.linalg.norm(room.bodies.position[:, :4] - theirs, axis=-1).ravel())
    return np.array(out)


def compare_sight(seed: int, scenes: int) -> dict[str, int]:
    """Counts of visible pairs, melee hits and disagreements with Box2D over random scenes."""
    from tests.planar.rooms import aim_all

    rng = np.random.default_rng(seed)
    total = {
        "scenes": scenes,
        "pairs": 0,
        "visible": 0,
        "rays": 0,
        "hits": 0,
        "wrong_pairs": 0,
        "wrong_rays": 0,
    }
    for scene in range(scenes):
        # 0.45 cells keep every centre within the walls, as the rules of the game do.
        solid, items = spawn_scene(rng, 8, 8, 15, turned=scene % 2 == 1, jitter=0.45)
        world, bodies = build_box2d(solid, items)
        room = Room([solid], [items], wall=WALL)
        count = len(solid) + len(items)
        ours = room.visible(8)[0]
        theirs = visible_box2d(world, bodies, 8, count)
        hits = np.zeros((1, 8), np.int64)
        aim_all(room.table, MELEE, hits, count, WALL)
        expected = np.array([melee_box2d(world, bodies, i) for i in range(8)])
        expected[expected >= count] = -2
        total["pairs"] += ours.size
        total["visible"] += int(theirs.sum())
        total["rays"] += 8
        total["hits"] += int((expected != -1).sum())
        total["wrong_pairs"] += int((ours != theirs).sum())
        total["wrong_rays"] += int((hits[0] != expected).sum())
    return total
