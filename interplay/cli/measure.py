"""How many steps per second a world takes, measured so that the figure means something.

- The worlds of the batch differ: each has its own seed, and an unmeasured second of play at the start spreads their
  episodes. 256 copies of one scene would flatter a kernel up to threefold through branch prediction.
- Observations, rewards and metrics are produced and finished worlds are restarted inside the measured time.
- Actions are random. Where every choice is legal they are drawn beforehand, `POOL` batches used in turn; where the
  world masks choices they are drawn from the legal ones inside the measured time. A world in which an illegal choice does
  nothing (`World.ignores_illegal`) gets actions drawn beforehand from all choices; it makes its masks all the same.
- The process pins itself to as many cores as threads, where the system can, before anything is compiled.
- The figure is the median of at least five windows; the spread is (largest - smallest) / median.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from interplay.core.policy import RandomPolicy
from interplay.core.spaces import sample_actions
from interplay.core.world import TimeStep, World

POOL = 64  # batches of actions drawn beforehand
WINDOWS = 5  # at least
WARM_UP_SECONDS = 1.0


class Speed(NamedTuple):
    """One row of `interplay bench`."""

    world: str
    num_worlds: int
    threads: int
    world_steps_per_s: float  # steps of single worlds, median window
    agent_steps_per_s: float  # steps of acting agents, median window
    spread: float  # (largest - smallest) / median of world_steps_per_s
    compile_s: float  # from making the batch to the end of its first step


def pin(threads: int) -> bool:
    """Keeps this process on the first `threads` of its cores; False where the system cannot."""
    if not hasattr(os, "sched_setaffinity"):
        return False
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, cores[:threads])
    return True


def measure(make: Callable[[], World], threads: int, seconds: float, name: str) -> Speed:
    """Times a world.

    Args:
        make: makes the batch; called once, inside `compile_s`.
        threads: threads of the batch, for the report.
        seconds: measured time in all, over the windows.
        name: what to call it in the report.
    """
    start = time.perf_counter()
    world = make()
    timestep = world.reset()
    player = RandomPolicy()
    player.start(world, seed=1)
    world.step(player.act(timestep))
    compile_s = time.perf_counter() - start
    try:
        draw = _drawer(world, player)
        _window(world, draw, WARM_UP_SECONDS)
        count = max(WINDOWS, round(seconds))
        windows = [_window(world, draw, seconds / count) for _ in range(count)]
    finally:
        world.close()
    world_rates = [w for w, _ in windows]
    middle = statistics.median(world_rates)
    return Speed(
        name,
        world.num_worlds,
        threads,
        middle,
        statistics.median(a for _, a in windows),
        (max(world_rates) - min(world_rates)) / middle,
        compile_s,
    )


def draws_inside(world: World) -> bool:
    """Whether actions are drawn inside the measured time: only where the world masks choices and cares for that."""
    if world.ignores_illegal:
        return False
    return any(mask is not None for mask in world.by_kind(world.timestep.action_mask).values())


def _drawer(world: World, player: RandomPolicy) -> Callable[[TimeStep], Any]:
    if draws_inside(world):
        return player.act
    rng = np.random.default_rng(1)
    pool = [_batch(world, rng) for _ in range(POOL)]
    turn = 0

    def next_of_pool(timestep: TimeStep) -> Any:
        nonlocal turn
        turn = (turn + 1) % POOL
        return pool[turn]

    return next_of_pool


def _batch(world: World, rng: np.random.Generator) -> Any:
    drawn = {
        kind.name: sample_actions(kind.action_space, rng, (world.num_worlds, len(kind.slots)))
        for kind in world.kinds
    }
    return drawn if len(world.kinds) > 1 else drawn[world.kinds[0].name]


def _window(world: World, draw: Callable[[TimeStep], Any], seconds: float) -> tuple[float, float]:
    """Plays for about `seconds`; world steps and agent steps per second."""
    timestep = world.timestep
    if timestep.over.any():
        timestep = world.reset(timestep.over)
    steps = agent_steps = 0
    start = time.perf_counter()
    end = start + seconds
    while True:
        agent_steps += int(np.count_nonzero(timestep.acting))
        timestep = world.step(draw(timestep))
        steps += 1
        _read(world.metrics)
        if timestep.over.any():
            timestep = world.reset(timestep.over)
        now = time.perf_counter()
        if now >= end:
            return steps * world.num_worlds / (now - start), agent_steps / (now - start)


def _read(metrics: Mapping[str, Any]) -> None:
    for _ in metrics.values():
        pass
