"""Nanoseconds per world and step of the planar kernels, on one core, over different worlds.

Run from the repository root::

    .venv/bin/python -m bench.planar

Scenes: 2 agents and 15 heals (FFA 1), 4 agents, 8 boxes and 15 heals (2v2 1), on random cells of the preset's
room; random controls held for five steps keep the agents at game speed. Figures are medians of rounds, in CPU time, so that a busy machine does not matter much.
"""

from __future__ import annotations

import os
import time

import numpy as np

from interplay.core.jit import kernel
from interplay.planar.contacts import apply_impulses, step_bodies
from interplay.planar.sight import first_hit, look
from tests.planar.oracle import MELEE, WALL, spawn_scene
from tests.planar.rooms import DEPTH, HALF_VIEW, Room

WORLDS = 256
STEPS = 10
ROUNDS = 40


@kernel
def time_step(bodies, physics, scratch, impulse, steps):
    """Impulses and physics."""
    dropped = 0
    for _ in range(steps):
        for w in range(bodies.shape[0]):
            apply_impulses(bodies, impulse, 0, w)
            dropped += step_bodies(bodies, physics, scratch, 0, w)
    return dropped


@kernel
def time_look(bodies, visible, physics, depth, cosine, sine, steps):
    """Vision of all agents, items in the way."""
    for _ in range(steps):
        for w in range(visible.shape[0]):
            look(
                bodies,
                visible,
                0,
                visible.shape[1],
                depth,
                cosine,
                sine,
                True,
                physics.num_solid,
                physics.wall,
                w,
            )


@kernel
def time_melee(bodies, agents, length, wall, steps):
    """One melee ray of every agent."""
    total = 0
    for _ in range(steps):
        for w in range(bodies.shape[0]):
            for i in range(agents):
                x, y = bodies[w, i].x, bodies[w, i].y
                x1, y1 = x + length * bodies[w, i].cosine, y + length * bodies[w, i].sine
                total += first_hit(bodies, w, x, y, x1, y1, i, bodies.shape[1], wall)[0]
    return total


def make_room(agents: int, boxes: int, heals: int) -> Room:
    """Different worlds of one size."""
    rng = np.random.default_rng(0)
    scenes = [spawn_scene(rng, agents, boxes, heals, turned=False, jitter=0.0) for _ in range(WORLDS)]
    return Room([solid for solid, _ in scenes], [items for _, items in scenes], wall=WALL)


def nanoseconds(call, *args) -> float:
    """Per world and step."""
    start = time.thread_time()
    call(*args)
    return (time.thread_time() - start) / (WORLDS * STEPS) * 1e9


def measure(agents: int, boxes: int, heals: int) -> dict[str, float]:
    """Median nanoseconds per world and step of each kernel."""
    room = make_room(agents, boxes, heals)
    rng = np.random.default_rng(1)
    visible = np.zeros((WORLDS, agents, room.shape[1]), bool)
    view = (DEPTH, np.cos(HALF_VIEW), np.sin(HALF_VIEW))
    figures: dict[str, list[float]] = {"physics": [], "rest": [], "look": [], "melee": []}
    still = room.table.copy()
    for _ in range(ROUNDS):
        control = rng.integers(-1, 2, (WORLDS, agents, 3)) * np.array([0.25, 0.25, 0.0125])
        b, p, s = room.table, room.physics, room.scratch
        figures["physics"].append(nanoseconds(time_step, b, p, s, control, STEPS))
        figures["rest"].append(nanoseconds(time_step, still, p, s, control * 0, STEPS))
        figures["look"].append(nanoseconds(time_look, b, visible, p, *view, STEPS))
        figures["melee"].append(nanoseconds(time_melee, b, agents, MELEE, WALL, STEPS))
    return {name: float(np.median(values[2:])) for name, values in figures.items()}


def main() -> None:
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    print("scene            physics  physics at rest     look    melee   (ns per world and step)")
    for name, size in (("2a 0b 15h", (2, 0, 15)), ("4a 8b 15h", (4, 8, 15))):
        f = measure(*size)
        print(f"{name:14} {f['physics']:9.0f} {f['rest']:16.0f} {f['look']:8.0f} {f['melee']:8.0f}")


if __name__ == "__main__":
    main()
