"""Speed of a network's convolutions: microseconds of CPU time per picture, forward and forward with backward, on one core.

    .venv/bin/python -m bench.convolutions                    # 84 x 84 x 4, filters 16, 32, 32; 8 and 64 pictures at once
    .venv/bin/python -m bench.convolutions --rows 64 --channels 32 64 64

`products` is ours (interplay/train/networks/pictures.py), `xla` the convolution of XLA, each called by itself and in a loop over four shards,
as the trainer calls it. The least of many calls.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from interplay.train.networks.pictures import Eye
from tests.train.convolving import convolved

SHARDS = 4


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rows", type=int, nargs="+", default=[8, 64], help="pictures at once")
    parser.add_argument("--channels", type=int, nargs=3, default=[16, 32, 32])
    parser.add_argument("--calls", type=int, default=5)
    given = parser.parse_args()
    eye = Eye(4, tuple(given.channels), jax.nn.relu, key=jax.random.key(0))
    print(f"{'rows':>4} {'way':>8} {'called':>9} {'forward':>8} {'and backward':>12}   us/row")
    for rows in given.rows:
        shape = (SHARDS, rows, 84, 84, 4)
        pictures = jnp.asarray(np.random.default_rng(0).integers(0, 256, shape), jnp.uint8)
        for way, look in (("products", Eye.__call__), ("xla", convolved)):
            for called in ("by itself", "in a loop"):
                seen = pictures if called == "in a loop" else pictures[0]
                calls = [_over(call, called) for call in (look, _gradient(look))]
                forward, both = (
                    _cost(eqx.filter_jit(call), eye, seen, given.calls) / seen[..., 0, 0, 0].size
                    for call in calls
                )
                print(f"{rows:4d} {way:>8} {called:>9} {forward:8.1f} {both:12.1f}", flush=True)


def _gradient(look: Callable[..., Any]) -> Callable[..., Any]:
    return eqx.filter_grad(lambda eye, pictures: jnp.sin(look(eye, pictures)).sum())


def _over(call: Callable[..., Any], called: str) -> Callable[..., Any]:
    """The call, or the call in a loop over shards."""
    if called == "by itself":
        return call
    return lambda eye, pictures: jax.lax.map(lambda own: eqx.filter(call(eye, own), eqx.is_array), pictures)


def _cost(call: Callable[..., Any], eye: Eye, pictures: jax.Array, calls: int) -> float:
    """Microseconds of CPU time, the least of so many calls."""
    jax.block_until_ready(call(eye, pictures))
    costs = []
    for _ in range(calls):
        start = time.process_time()
        jax.block_until_ready(call(eye, pictures))
        costs.append(time.process_time() - start)
    return 1e6 * min(costs)


if __name__ == "__main__":
    main()
