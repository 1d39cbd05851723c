"""CPU time of one map of the persistent world, by size: noise, cuts, tiles and flood, every time another seed.

Run from the repository root::

    .venv/bin/python -m bench.mmo_terrain
"""

from __future__ import annotations

import time

import numpy as np

from bench.mmo_maps import generate_map
from interplay.worlds.mmo.config import MmoSettings
from interplay.worlds.mmo.terrain import allocate_scratch

ROUNDS = {62: 200, 100: 200, 283: 50, 800: 15, 1581: 7}


def time_maps(interior: int, rounds: int) -> np.ndarray:
    """Milliseconds of process time of each map."""
    settings = MmoSettings(interior=interior)
    scratch = allocate_scratch(settings)
    generate_map(settings, rounds, scratch)  # compiles, warms the scratch
    taken = []
    for seed in range(rounds):
        start = time.process_time()
        generate_map(settings, seed, scratch)
        taken.append(1e3 * (time.process_time() - start))
    return np.array(taken)


def main() -> None:
    print("interior  median ms  10 %..90 % ms    ns per tile")
    for interior, rounds in ROUNDS.items():
        taken = time_maps(interior, rounds)
        low, median, high = np.percentile(taken, (10, 50, 90))
        print(
            f"{interior:8} {median:10.2f}  {low:7.2f}..{high:<7.2f} {1e6 * median / (interior - 2) ** 2:10.0f}"
        )


if __name__ == "__main__":
    main()
