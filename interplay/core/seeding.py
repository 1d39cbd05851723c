"""Per-world counter-based random streams: nothing uses a global generator.

A world's stream is three uint64 numbers: its seed, the episode, and how many draws were made in it. A draw is
a pure function of the three (Philox4x32-10, Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3"),
so results depend on neither batch size, position in the batch, threads nor processes.

The state array `stream` of a batch is (W, 3) uint64; kernels draw with the functions of `interplay.kernels.philox`
and add what they used to ``stream[w, 2]``.
"""

from __future__ import annotations

import numpy as np

from interplay.core.errors import UserError
from interplay.core.hashing import mix64

SEED, EPISODE, DRAWS = 0, 1, 2  # columns of a stream array


def world_seeds(seed: int, num_worlds: int, first: int = 0) -> np.ndarray:
    """The seeds of worlds first .. first + num_worlds - 1 of a batch seeded with `seed`: (W,) uint64.

    World w's seed depends on (seed, w) alone, so a batch of 64 begins like a batch of 7.
    """
    if not isinstance(seed, int | np.integer):
        raise UserError(f"seed = {seed!r} is not allowed; pass a whole number from 0 to 2**64 - 1")
    if not 0 <= seed < 2**64:
        raise UserError(f"seed = {seed}: outside the seeds there are; pass a number from 0 to 2**64 - 1")
    if not isinstance(first, int | np.integer) or not 0 <= first <= 2**64 - num_worlds:
        raise UserError(
            f"first_world = {first!r} is not allowed with num_worlds = {num_worlds}; pass a whole number from 0 to {2**64 - num_worlds}"
        )
    with np.errstate(over="ignore"):
        base = mix64(np.array([seed], np.uint64) + np.uint64(0x9E3779B97F4A7C15))
        index = np.arange(first, first + num_worlds, dtype=np.uint64)
        return mix64(base + mix64(index * np.uint64(0xD1B54A32D192ED03) + np.uint64(0x8CB92BA72F3D8DD7)))


def new_stream(num_worlds: int) -> np.ndarray:
    """An unseeded stream array, (W, 3) uint64."""
    return np.zeros((num_worlds, 3), np.uint64)


def begin_episode(stream: np.ndarray, which: np.ndarray, seeds: np.ndarray | None) -> None:
    """Starts the next episode's stream of the worlds in `which`, or episode 0 of new seeds.

    Args:
        stream: (W, 3) uint64, changed in place.
    """
    if seeds is None:
        stream[which, EPISODE] += np.uint64(1)
    else:
        stream[which, SEED] = seeds[which]
        stream[which, EPISODE] = 0
    stream[which, DRAWS] = 0


def generator(*key: int) -> np.random.Generator:
    """A NumPy generator for host-side choices, keyed by numbers: the same key, the same draws."""
    return np.random.Generator(np.random.Philox(np.random.SeedSequence([k % 2**63 for k in key])))
