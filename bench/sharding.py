"""What shards cost a run of one process: CPU time of an update with one, two and four, by turns in one process.

    taskset -c 0 python -m bench.sharding                                  # survival/1v1-heals-low, its own settings
    taskset -c 0 python -m bench.sharding --world gridworld/foragers
    taskset -c 0 python -m bench.sharding --mlp                            # MLP 2 x 64, rollout 256, minibatch 512, four epochs

64 worlds; playing, estimating, learning and statistics, in all epochs (no `ppo.target_kl`). Milliseconds: median and range of the updates after
the first.
"""

from __future__ import annotations

import argparse
import functools
import time
from typing import Any

import numpy as np

from interplay.core.settings import build, merge
from interplay.registry import make_world, training_settings
from interplay.train.making import make_learner
from interplay.train.parallel.exchange import SingleProcess
from interplay.train.settings import TrainSettings
from interplay.train.update import Worker

WHOLE = {"target_kl": None}
PLAIN = {
    "network": {"kind": "mlp", "hidden": [64, 64]},
    "ppo": WHOLE | {"rollout": 256, "minibatch": 512, "epochs": 4},
}


def make_worker(world: str, shards: int, values: dict[str, Any]) -> Worker:
    options = (
        {"health": 1_000_000} if world.startswith("survival/") else {}
    )  # while all live, all runs learn from as many rows
    own = {"world": {"id": world, "options": options}, "num_worlds": 64, "train": {"shards": shards}} | values
    settings = build(TrainSettings, merge(training_settings(world), own), "bench")
    make = functools.partial(make_world, world, **options)
    return Worker(settings, make, make_learner(settings, make, begins=True, say=str), SingleProcess())


def main() -> None:
    """Prints a line for each number of shards."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--world", default="survival/1v1-heals-low")
    parser.add_argument("--mlp", action="store_true")
    parser.add_argument("--updates", type=int, default=10)
    asked = parser.parse_args()
    values = PLAIN if asked.mlp else {"ppo": WHOLE}
    workers = {shards: make_worker(asked.world, shards, values) for shards in (1, 2, 4)}
    taken: dict[int, list[float]] = {shards: [] for shards in workers}
    playing: dict[int, list[float]] = {shards: [] for shards in workers}
    for _ in range(asked.updates + 1):
        for shards, worker in workers.items():
            began = time.process_time()
            numbers = worker.update()
            taken[shards].append((time.process_time() - began) * 1e3)
            share = numbers["time_share"]
            playing[shards].append((share["act"] + share["step"]) * taken[shards][-1])
    alone = np.median(taken[1][1:])
    for shards, found in taken.items():
        some = found[1:]
        print(
            f"{shards} shards {np.median(some):8.1f} ms ({min(some):.1f} … {max(some):.1f}), of it playing "
            f"{np.median(playing[shards][1:]):.1f}; speed of one shard's run {alone / np.median(some):.2f}"
        )


if __name__ == "__main__":
    main()
