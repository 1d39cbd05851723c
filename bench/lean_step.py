"""The cost of a rollout step beside its network and its world: with the compiled kernels, and with NumPy (`tests/train/plain_rollout.py`).

    taskset -c 1 python -m bench.lean_step                      # survival/1v1-heals-low, 32 worlds
    taskset -c 1 python -m bench.lean_step --world battle/3m --num-worlds 64

Both play the same worlds with an MLP of 2 x 64 by turns; agents do not die in survival. For the second pair of rows the network returns a stored
answer and the world its last time step. CPU microseconds a step: median and range of the rounds.
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
from interplay.train.rollout import collect
from interplay.train.settings import TrainSettings
from interplay.train.shard import Shard
from tests.train.plain_rollout import PlainCollector

ROUNDS, STEPS = 12, 256


class PlainShard(Shard):
    """A shard that plays without kernels."""

    collector_class = PlainCollector


class Road:
    """One way of playing.

    Args:
        kind: of the shard.
        world: id.
        count: worlds.
    """

    def __init__(self, kind: type[Shard], world: str, count: int) -> None:
        options = {"health": 1_000_000} if world.startswith("survival/") else {}
        own = {
            "world": {"id": world, "options": options},
            "num_worlds": count,
            "train": {"shards": 1},
            "network": {"kind": "mlp", "hidden": [64, 64]},
            "ppo": {"rollout": STEPS},
        }
        settings = build(TrainSettings, merge(training_settings(world), own), "bench")
        make = functools.partial(make_world, world, **options)
        self.learner = make_learner(settings, make, begins=True, say=str)
        made = make(num_worlds=count, seed=0, first_world=0)
        made.reset()
        self.shard, self._update = kind(0, made, self.learner, settings), 0

    def rollout(self) -> float:
        """CPU microseconds of a step."""
        self.shard.collector.set_learning(self.learner.learns)
        parameters = self.learner.inference_parameters()
        began = time.process_time()
        collect([self.shard.collector], parameters, self._update)
        taken = time.process_time() - began
        self.shard.estimate()
        self.shard.finish()
        self._update += 1
        return taken / STEPS * 1e6

    def alone(self) -> None:
        """From here on network and world cost nothing."""
        world: Any = self.shard.world
        for network in self.learner.networks.values():
            act, answers = network.act, []

            def keep(*given: Any, act: Any = act, answers: list[Any] = answers, **named: Any) -> Any:
                answers[:] = [np.asarray(act(*given, **named))]
                return answers[0]

            network.act = keep
            self.rollout()
            network.act = lambda *_, answers=answers, **__: answers[0]
        now = world.timestep
        world._step = lambda _: now


def main() -> None:
    """Prints a line for each road, whole steps first."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--world", default="survival/1v1-heals-low")
    parser.add_argument("--num-worlds", type=int, default=32)
    asked = parser.parse_args()
    roads = {
        name: Road(kind, asked.world, asked.num_worlds)
        for name, kind in (("in NumPy", PlainShard), ("compiled", Shard))
    }
    for what in ("a step", "beside network and world"):
        for road in roads.values():
            road.rollout()
        taken: dict[str, list[float]] = {name: [] for name in roads}
        for _ in range(ROUNDS):
            for name, road in roads.items():
                taken[name].append(road.rollout())
        for name, found in taken.items():
            print(f"{what:26} {name:10} {np.median(found):7.1f} us   {min(found):.1f} … {max(found):.1f}")
        for road in roads.values():
            road.alone()


if __name__ == "__main__":
    main()
