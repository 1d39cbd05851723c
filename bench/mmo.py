"""Speed and memory of the persistent world, from 8 small worlds to one of 32,000 agents (specification 17.2).

Run from the repository root::

    .venv/bin/python -m bench.mmo                        # the whole curve
    .venv/bin/python -m bench.mmo --rows 64x128 1x8192   # some of it
    .venv/bin/python -m bench.mmo --threads 2            # two threads against one, wall time

What is timed: ``world.step`` with actions for every slot, that is the check of the actions, the tick, and observations with
occupancy, action masks and rewards of everybody; and the count of who acts. Not timed: reset, and drawing the actions (moves and
styles uniform, `POOL` different batches used in turn). Worlds are different and kept full: whoever dies is replaced in the same
tick. An agent-step is a living agent whose action was read. The rate is per second of the process' CPU time, one thread pinned to
one core, best and median of `BLOCKS` blocks after a warm-up in which the first lives end.

    visible      agents in view of an agent, itself not counted (at most its entity rows less one)
    state        bytes of one world that a snapshot holds
    seen         bytes of one world's observation fields; masks add 8 per slot
    resident     memory that a fresh process gained by the batch, its actions included, after stepping
    reset        CPU time of one world's reset: its map, its births, its views
    memory write a plain numpy fill of 256 MiB, best of 8, before and after: rates of another machine scale with it at best
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable
from multiprocessing import get_context
from typing import Any, NamedTuple

import numpy as np

from bench.mmo_soak import resident_bytes
from interplay import make_world
from interplay.cli.measure import pin
from interplay.core import seeding

BLOCKS, BLOCK_SECONDS = 8, 0.4
WARM_UP_STEPS = 40  # ticks: the first generation has starved
POOL = 16
FILL = 2**28  # bytes
THREAD_TICKS = 100  # per block of the comparison of threads


class Load(NamedTuple):
    """A row: how many worlds of which settings."""

    worlds: int
    world: str
    words: str
    options: dict[str, Any] = {}  # noqa: RUF012 - never changed


LOADS = {
    "8x128": Load(8, "mmo/combat-128", "interior 100, scattered"),
    "64x128": Load(64, "mmo/combat-128", "interior 100, scattered"),
    "512x128": Load(512, "mmo/combat-128", "interior 100, scattered"),
    "64x128-62": Load(64, "mmo/combat", "interior 62, scattered", {"spawn_where": "scatter"}),
    "64x128-int8": Load(64, "mmo/combat-128", "interior 100, scattered, int8 rows", {"compact": True}),
    "1x1024": Load(1, "mmo/combat-1024", "interior 283, scattered"),
    "1x8192": Load(1, "mmo/combat-8192", "interior 800, scattered"),
    "1x32000": Load(1, "mmo/combat-32000", "interior 1,581, scattered"),
    "1x1024-ring": Load(1, "mmo/combat-1024", "interior 283, ring", {"spawn_where": "ring"}),
}
HEAD = f"{'row':12} {'best':>10} {'median':>10}  {'visible':>7}  {'state':>10} {'seen':>10}  {'resident':>9}  {'reset':>9}"


def make(load: Load, threads: int = 1) -> Any:
    """A batch that stays full, reset, and past its first generation."""
    slots = int(load.world.rsplit("-", 1)[1]) if load.world[-1].isdigit() else 128
    full = {"slots": slots, "prefill": slots, "respawn": "immediate", "cap_draw": "fixed"}
    world = make_world(load.world, load.worlds, 1, threads, **full, **load.options)
    world.reset()
    return world


def draw_pool(world: Any) -> list[np.ndarray]:
    """Different batches of random actions."""
    shape, rng = (world.num_worlds, len(world.agents), 2), seeding.generator(2, world.num_worlds)
    return [rng.integers(0, (5, 3), shape) for _ in range(POOL)]


def run(world: Any, pool: list[np.ndarray], ticks: int) -> int:
    """Steps; agent-steps taken."""
    taken = 0
    for k in range(ticks):
        taken += np.count_nonzero(world.timestep.acting)
        world.step(pool[k % POOL])
    return taken


def rates(world: Any, pool: list[np.ndarray], clock: Callable[[], float], blocks: int) -> list[float]:
    """Agent-steps per second of each block."""
    run(world, pool, WARM_UP_STEPS)
    start = clock()
    run(world, pool, 4)
    ticks = max(2, round(4 * BLOCK_SECONDS / (clock() - start)))
    found = []
    for _ in range(blocks):
        start = clock()
        taken = run(world, pool, ticks)
        found.append(taken / (clock() - start))
    return found


def measure(name: str) -> str:
    """One row of the table; in a process of its own, so that memory is that of the row."""
    small = make_world("mmo/combat-128", 1, respawn="immediate", **LOADS[name].options)
    small.reset()
    run(small, draw_pool(small), 2)  # kernels are there
    before = resident_bytes()
    world = make(LOADS[name])
    pool = draw_pool(world)
    found = rates(world, pool, time.process_time, BLOCKS)
    held = resident_bytes()
    seen, count = world.timestep.observation, world.timestep.observation["count"]
    visible = (count[world.timestep.acting] - 1).mean()
    start = time.process_time()
    world.reset()
    reset = (time.process_time() - start) / world.num_worlds
    resident = "unknown" if held is None or before is None else f"{(held - before) / 2**20:.0f} MiB"
    snapshot = sum(array.nbytes for array in world.state) // world.num_worlds
    per_world = sum(array.nbytes for array in seen.values()) / world.num_worlds
    return (
        f"{name:12} {max(found):10,.0f} {statistics.median(found):10,.0f}  {visible:7.1f}  {size(snapshot):>10} "
        f"{size(per_world):>10}  {resident:>9}  {1e3 * reset:6.1f} ms"
    )


def size(number: float) -> str:
    """Bytes in words."""
    return f"{number / 2**10:.1f} KiB" if number < 2**20 else f"{number / 2**20:.2f} MiB"


def compare_threads(threads: int, name: str = "64x128") -> str:
    """Wall time and CPU time of several threads against one, the two in alternation.

    Where others use the cores, wall time says little; CPU time per agent-step then tells what sharing caches and memory costs.
    """
    worlds = [make(LOADS[name], t) for t in (1, threads)]
    pools = [draw_pool(world) for world in worlds]
    wall, spent = np.zeros((2, BLOCKS)), np.zeros((2, BLOCKS))
    for world, pool in zip(worlds, pools, strict=True):
        run(world, pool, WARM_UP_STEPS)
    for block in range(BLOCKS):
        for k in range(2):
            start, start_cpu = time.perf_counter(), time.process_time()
            taken = run(worlds[k], pools[k], THREAD_TICKS)
            wall[k, block] = taken / (time.perf_counter() - start)
            spent[k, block] = (time.process_time() - start_cpu) / taken
    for world in worlds:
        world.close()
    (one, many), best = np.median(wall, axis=1), wall.max(axis=1)
    cost = np.median(spent, axis=1)
    return (
        f"{name}, {threads} threads over 1, {os.cpu_count()} cores, load average {os.getloadavg()[0]:.1f}:\n"
        f"    wall time, median {many / one:.2f} times ({many:,.0f} over {one:,.0f}), best {best[1] / best[0]:.2f} times\n"
        f"    CPU time per agent-step {cost[1] / cost[0]:.2f} times, so at most {threads * cost[0] / cost[1]:.2f} times on free cores"
    )


def fill_rate() -> float:
    """Bytes per second of CPU time that a plain fill writes."""
    memory, found = np.zeros(FILL, np.uint8), []
    for k in range(BLOCKS):
        start = time.process_time()
        memory.fill(k)
        found.append(FILL / (time.process_time() - start))
    return max(found)


def main() -> int:
    parser = argparse.ArgumentParser(description="Speed and memory of the persistent world.")
    parser.add_argument("--rows", nargs="+", choices=LOADS, help="which loads; all without")
    parser.add_argument(
        "--threads", type=int, help="compare so many threads with one; alone unless rows are named"
    )
    args = parser.parse_args()
    rows = args.rows or ([] if args.threads else list(LOADS))
    threads = args.threads or (0 if args.rows else 2)
    cores = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()
    if rows:
        pin(1)
        print(
            "agent-steps per second of CPU time, one thread; see python -m bench.mmo --help and the module's first lines"
        )
        print(f"memory write {fill_rate() / 1e9:.1f} GB/s\n{HEAD}", flush=True)
        for name in rows:
            with get_context("spawn").Pool(1) as fresh:
                print(f"{fresh.apply(measure, (name,))}  {LOADS[name].words}", flush=True)
        print(f"memory write {fill_rate() / 1e9:.1f} GB/s")
    if threads > 1:
        if cores:
            os.sched_setaffinity(0, sorted(cores)[:threads])
        print(compare_threads(threads))
    return 0


if __name__ == "__main__":
    sys.exit(main())
