"""Laws of drawing: every world of the batch can be drawn at any time, into the same layers, without being changed."""

from __future__ import annotations

import numpy as np

from interplay.checker.bench import Bench, Players, described
from interplay.core.scene import Canvas, Scene
from interplay.core.world import World

_DRAWN = (0, 1, 40, 90)  # steps at which every world is drawn


def check_scenes(bench: Bench) -> None:
    """Draws every world now and then."""
    world = bench.begun()
    players = Players(world, bench.seed, range(world.num_worlds))
    first: dict[int, Scene] = {}
    for t in range(min(max(_DRAWN), bench.steps) + 1):
        if t:
            action = players.act(world.timestep)
            bench.attempt(lambda action=action: world.step(action), "step", t)  # type: ignore[misc]
        if t in _DRAWN:
            for w in range(world.num_worlds):
                scene = _draw(bench, world, w, t, first.get(w))
                if scene is None:
                    return
                first.setdefault(w, scene)


def _draw(bench: Bench, world: World, w: int, t: int, first: Scene | None) -> Scene | None:
    before, canvas = world.hash() if bench.can_save else None, Canvas()
    try:
        world.draw(canvas, w)
        scene = canvas.scene()
        if first is not None:
            scene.check_follows(first)
    except Exception as error:
        seen = f"draw raised {described(error)}"
        bench.add("draw", seen, world=w, step=t, field="draw")
        return None
    if before is not None and not np.array_equal(world.hash(), before):
        bench.add("draw", "draw changed the world", world=w, step=t, field="draw")
    return scene
