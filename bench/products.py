"""How fast XLA's matrix products are here, beside NumPy's: the bulk of what training a small MLP costs.

Run from the repository root::

    .venv/bin/python -m bench.products

One thread each, float32, the shapes of one shard's minibatch of 256 rows through 70 inputs and two layers of 64; GFlop/s, the
lower quartile of the times.
"""

from __future__ import annotations

import os

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # before NumPy is imported

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from interplay.train.parallel import xla

SHAPES = (
    (256, 70, 64),
    (256, 64, 64),
    (64, 256, 64),
    (70, 256, 64),
)  # two of them forward, two of them backward


def seconds(work: Callable[[], Any], rounds: int = 500) -> float:
    """Lower quartile of one call's wall time."""
    taken = []
    for _ in range(rounds):
        began = time.perf_counter()
        work()
        taken.append(time.perf_counter() - began)
    return float(np.percentile(taken[20:], 25))


def main() -> None:
    assert xla  # imported for its effect: XLA computes as in training
    import jax

    product = jax.jit(lambda a, b: a @ b)
    empty = jax.jit(lambda a: a)
    rng = np.random.default_rng(0)
    one = jax.numpy.ones(1)
    call = seconds(lambda: jax.block_until_ready(empty(one)))
    print(f"an empty call of XLA: {call * 1e6:.0f} µs, taken off below")
    for rows, inner, columns in SHAPES:
        a, b = (rng.normal(size=shape).astype(np.float32) for shape in ((rows, inner), (inner, columns)))
        x, y = jax.numpy.asarray(a), jax.numpy.asarray(b)
        flops = 2 * rows * inner * columns
        theirs = flops / seconds(lambda a=a, b=b: a @ b) / 1e9
        ours = flops / (seconds(lambda x=x, y=y: jax.block_until_ready(product(x, y))) - call) / 1e9
        print(f"{rows} x {inner} x {columns}: XLA {ours:.0f} GFlop/s, NumPy {theirs:.0f} GFlop/s")


if __name__ == "__main__":
    main()
