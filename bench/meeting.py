"""What a meeting of workers costs the one that comes last: its own vector is written, and all seats are added up.

    taskset -c 0 python -m bench.meeting

The other workers of the block have come already. Microseconds of a meeting inside a compiled program, median and range of twenty
programs of fifty meetings.
"""

from __future__ import annotations

import multiprocessing
import time

import jax
import jax.numpy as jnp
import numpy as np

from interplay.train.parallel.exchange import SharedMemory, create_block
from interplay.train.parallel.meeting import meet

TIMES, ROUNDS = 50, 20
LENGTHS = {"MLP 2 x 64, two stacks": 18_448, "attention": 22_832, "GRU of 64": 64_016}


@jax.jit
def meetings(vector: jax.Array, place: jax.Array) -> jax.Array:
    """Meets again and again."""
    return jax.lax.fori_loop(0, TIMES, lambda _, own: meet(own * jnp.float32(1e-3), place)[0], vector)


def main() -> None:
    """Prints a line for each vector and number of workers."""
    for name, length in LENGTHS.items():
        capacity = -(-length * 4 // 64) * 64
        for size in (2, 4, 8, 16, 32, 64):
            block = create_block(size, capacity)
            own = SharedMemory(block.name, 0, size, capacity, [multiprocessing.Lock()] * size)
            own._counters[1:] = 2**40
            vector, taken = np.ones(length, np.float32), []
            for _ in range(ROUNDS + 1):
                began = time.perf_counter()
                meetings(vector, own.place).block_until_ready()
                taken.append((time.perf_counter() - began) / TIMES * 1e6)
            print(
                f"{name:24} {length:6,} numbers, {size:2} workers {np.median(taken[1:]):7.1f} us   "
                f"{min(taken[1:]):.1f} … {max(taken[1:]):.1f}"
            )
            own.close()
            block.close()
            block.unlink()


if __name__ == "__main__":
    main()
