"""Where a training run's time goes: microseconds per slot and step of playing, estimating and learning, on one core.

    .venv/bin/python -m bench.learner                          # survival/1v1-heals-low, preset network
    .venv/bin/python -m bench.learner --world survival/2v2-all-low --minibatch 256
    .venv/bin/python -m bench.learner --network mlp --json
    .venv/bin/python -m bench.learner --world mmo/combat               # populations, tiles, policy gradient
    .venv/bin/python -m bench.learner --world mmo/combat --workers 2   # a run of 120 s on two cores

Prints, for one shard's worlds in the states that random play leads to:

- ``act``: the network per slot and step of a rollout, dead or alive, drawing actions included;
- ``step``: the world;
- ``estimate``: advantages, value targets, normalising and packing, once per rollout;
- ``gradient``: one sample's way through a minibatch, forward and backward, with its part of Adam's step (times epochs in a
  run);
- ``gradient, all rows``: the same with attention over every entity, hidden or not: what visible rows save.

A world of populations is trained as the paper of its seed does; `bench/populations.py` says what is printed then.

CPU time of this process, the least of several rounds, so that a busy machine matters less. A run's own shares stand in
its ``metrics.jsonl`` (``time_share``).
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from interplay.registry import make_world
from interplay.train.learner import Learner
from interplay.train.minibatches import join_batches, make_epoch
from interplay.train.networks import pooling
from interplay.train.parallel.exchange import SingleProcess
from interplay.train.populations import find_populations
from interplay.train.settings import NetworkGroup, PpoGroup, TrainGroup, TrainSettings, WorldChoice
from interplay.train.shard import Shard

ROUNDS = 15


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--world", default="survival/1v1-heals-low")
    parser.add_argument("--network", default="attention")
    parser.add_argument("--num-worlds", type=int, default=64, help="worlds of the shard")
    parser.add_argument("--minibatch", type=int, default=128, help="rows of one shard's minibatch")
    parser.add_argument("--block", type=int, default=64, help="worlds with populations: rows of a block")
    parser.add_argument(
        "--workers", type=int, help="worlds with populations: time a run of so many processes"
    )
    parser.add_argument("--seconds", type=float, default=120.0, help="how long that run takes")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    if make_world(arguments.world).num_populations > 1:
        from bench import populations

        world, count, block = arguments.world, arguments.num_worlds, arguments.block
        if arguments.workers:
            figures = populations.run(world, count, block, arguments.workers, arguments.seconds)
        else:
            figures = populations.measure(world, count, block)
    else:
        figures = measure(arguments.world, arguments.network, arguments.num_worlds, arguments.minibatch)
    if arguments.json:
        print(json.dumps(figures))
        return
    for name, value in figures.items():
        print(f"{name:24s} {value if isinstance(value, str) else f'{value:.2f}'}")


def measure(world_id: str, network: str, num_worlds: int, minibatch: int) -> dict[str, Any]:
    """Microseconds per slot and step, or per sample, of each part."""
    settings = TrainSettings(
        world=WorldChoice(id=world_id),
        num_worlds=num_worlds,
        train=TrainGroup(shards=1),
        ppo=PpoGroup(rollout=64, minibatch=minibatch, target_kl=None),  # every epoch runs to its end
        network=NetworkGroup(kind=network),
    )
    world = make_world(world_id, num_worlds=num_worlds)
    world.reset()
    populations = find_populations(settings.population, world)
    learner = Learner(world.kinds, settings, populations)
    shard = Shard(0, world, learner, settings)
    (name,) = learner.networks
    steps = settings.ppo.rollout * num_worlds * len(world.agents)

    def estimate() -> None:
        shard.normalise(shard.estimate())
        join_batches([shard], name)

    plays = []
    for update in range(9):
        if update:
            shard.finish()
        taken = shard.play(learner.inference_parameters(), update)
        shard.normalise(shard.estimate())
        if update >= 6:  # away from the first moments, in which every agent is in the same state
            plays.append({part: seconds / steps * 1e6 for part, seconds in taken.items()})
    figures: dict[str, Any] = {"world": world_id, "network": network}
    figures |= {part: min(play[part] for play in plays) for part in plays[0]}
    figures["estimate"] = least(estimate, 3) / steps * 1e6
    figures["gradient"] = gradient_time(shard, learner, minibatch)
    demand = join_batches([shard], name)[1]
    if demand is not None:
        figures["visible entities"] = float(demand[: len(shard.ready[name].picked)].mean())
        pooling.plans = lambda total: ((total, total, total),)  # type: ignore[assignment]
        # A new learner compiles anew.
        figures["gradient, all rows"] = gradient_time(
            shard, Learner(world.kinds, settings, populations), minibatch
        )
    return figures


def gradient_time(shard: Shard, learner: Learner, minibatch: int) -> float:
    """Microseconds per sample of an epoch's gradients."""
    count = shard.minibatches()
    (name,) = learner.networks
    joined, orders = join_batches([shard], name), [shard.shuffle(name, 0, 0)]
    epochs = {name: make_epoch([shard], name, joined, orders, count)}

    return (
        least(lambda: learner.run_epoch(epochs, count, SingleProcess()), ROUNDS) / (count * minibatch) * 1e6
    )


def least(work: Callable[[], Any], rounds: int) -> float:
    """Least CPU seconds of one call; the first call compiles and does not count."""
    work()
    taken = []
    for _ in range(rounds):
        began = time.process_time()
        work()
        taken.append(time.process_time() - began)
    return float(np.min(taken))


if __name__ == "__main__":
    main()
