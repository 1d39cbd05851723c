"""How fast the scripted players of the persistent world decide, on one core.

Run from the repository root::

    .venv/bin/python -m bench.mmo_players

64 worlds of mmo/combat-128, from the 200th tick on, when they are as full as they get; the time of the players' own kernels,
median of 7 windows of 30 ticks, over those who act.
"""

from __future__ import annotations

import time

import numpy as np

from interplay.registry import list_policies, make_policy, make_world

WORLD, WORLDS, BEGIN, TICKS, WINDOWS = "mmo/combat-128", 64, 200, 30, 7


def main() -> None:
    for name in list_policies(WORLD):
        world, policy = (
            make_world(WORLD, num_worlds=WORLDS, seed=1, cap_draw="fixed"),
            make_policy(WORLD, name),
        )
        timestep = world.reset()
        policy.start(world)
        for _ in range(BEGIN):
            timestep = world.step(policy.act(timestep))
        speeds, seen = [], []
        for _ in range(WINDOWS):
            spent, decided = 0.0, 0
            for _ in range(TICKS):
                decided += int(timestep.acting.sum())
                seen.append(timestep.observation["count"][timestep.acting].mean())
                began = time.thread_time()
                action = policy.act(timestep)
                spent += time.thread_time() - began
                timestep = world.step(action)
            speeds.append(decided / spent)
        print(
            f"{name:8s} {np.median(speeds) / 1e6:5.2f} M decisions/s (from {min(speeds) / 1e6:.2f} to {max(speeds) / 1e6:.2f}), "
            f"{decided / TICKS / WORLDS:.0f} living per world, {np.mean(seen):.1f} rows each"
        )


if __name__ == "__main__":
    main()
