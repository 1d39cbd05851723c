"""Workers change no bit, in drawn shapes: shards, worlds, rollouts, minibatches, networks, populations, flags of XLA.

Run from the repository root (``make trust``)::

    .venv/bin/python -m bench.trust_shapes --count 500 --seed 1

Each draw plays a rollout and takes six gradient steps with one worker, with two, ... and with one for each shard, in one process
(`tests.train.apart`), and compares every sample, parameter and moment. Exit status 1 if a bit differs.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from typing import Any

os.environ.setdefault("XLA_FLAGS", "")
import interplay.train.parallel.xla  # noqa: F401 - a user's flags, before jax begins
from tests.train.apart import knows
from tests.train.meadow import make_meadow
from tests.train.test_apart import OPTIONS, SIDES, check
from tests.train.test_minibatches import Crowded
from tests.train.toy_worlds import make_corridor, make_two_kinds

FAST = "xla_cpu_enable_fast_math"
Draw = tuple[str, Any, dict[str, Any], dict[str, Any]]  # description, world, settings, options of XLA


def draw(rng: random.Random, known: list[dict[str, Any]]) -> Draw:
    """A run's shape; a quarter of the shards have exactly 32 rows a minibatch, as much as a vector holds."""
    shards, kind = rng.choice([2, 4, 8]), rng.choice(["mlp", "mlp", "two kinds", "gru", "attention", "tiles"])
    rollout = rng.randint(4, 40)
    own: dict[str, Any] = {
        "num_worlds": rng.randint(1, 5) * shards,
        "train": {"shards": shards},
        "ppo": {
            "rollout": rollout,
            "minibatch": rng.choice([32, rng.randint(2, 70), rng.randint(2, 70), 16]) * shards,
        },
    }
    own["ppo"]["target_kl"] = "off"
    make: Any = {"attention": Crowded, "tiles": make_meadow, "two kinds": make_two_kinds}.get(
        kind, make_corridor
    )
    own["network"] = {"kind": "mlp", "hidden": [rng.randint(2, 33) for _ in range(rng.randint(1, 2))]}
    if kind == "attention":
        own["network"] = {
            "kind": "attention",
            "width": rng.choice([4, 8]),
            "heads": rng.choice([1, 2]),
            "tail": 4,
        }
    if kind == "tiles":
        own["network"] = {"kind": "tiles", "width": rng.choice([4, 8])}
    if kind == "gru":
        sequence = rng.randint(2, rollout)
        own["network"] |= {"memory": "gru", "memory_size": rng.randint(2, 17)}
        own["ppo"] |= {
            "rollout": rollout // sequence * sequence,
            "sequence": sequence,
            "minibatch": sequence * rng.randint(1, 6) * shards,
        }
    if kind == "mlp" and rng.random() < 0.4:
        own["population"] = {**SIDES, "block": rng.choice([8, 16, 32])}
    options = rng.choice(known)
    return f"{kind}, {own}, {options}", make, own, options


def main() -> int:
    """Draws, compares, prints."""
    parser = argparse.ArgumentParser(
        prog="python -m bench.trust_shapes",
        description=__doc__,
        formatter_class=argparse.RawTextHelpFormatter,
    )
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    rng, began, differing = random.Random(arguments.seed), time.monotonic(), 0
    # Fast math, off unless a user's own flags ask for it, may add in any order.
    known = [options for options in OPTIONS if knows(options) and not options.get(FAST)]
    for number in range(arguments.count):
        words, make, own, options = draw(rng, known)
        try:
            check(make, own, options)
        except AssertionError:
            differing += 1
            print(f"draw {number}: {words}: workers differ", flush=True)
        if number % 20 == 19:
            left = (time.monotonic() - began) / (number + 1) * (arguments.count - number - 1)
            print(
                f"{number + 1} of {arguments.count} shapes, {differing} differ, {left:.0f} s left", flush=True
            )
    print(
        f"{arguments.count} shapes, {differing} with other bits for another number of workers, {time.monotonic() - began:.0f} s"
    )
    return differing > 0


if __name__ == "__main__":
    sys.exit(main())
