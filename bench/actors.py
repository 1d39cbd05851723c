"""Actors against workers in step, for an environment in plain Python of 5 ms a step, alone on two cores.

    python -m bench.actors [--seconds 20] [--times 3]

Eight copies in all. ``waits`` sleeps, as an engine or simulator elsewhere does; ``computes`` keeps a core busy. Every way plays its
environments in processes of their own; agent-steps per second after the first update, compilation not included. Workers in step play, then
learn; with actors the copies are shared out, and some play while the learner learns.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from gymnasium import spaces
from pettingzoo import ParallelEnv

import interplay

COPIES = 8
STEP = 0.005  # seconds
HALF, QUARTER = COPIES // 2, COPIES // 4
WAYS: dict[str, dict[str, Any]] = {
    "workers=1, in step": {"workers": 1, "train.shards": 1, "num_worlds": COPIES, "world.options.processes": COPIES},
    "workers=2, in step": {"workers": 2, "train.shards": 2, "num_worlds": COPIES, "world.options.processes": HALF},
    "actors=2, shards=1": {"train.actors": 2, "train.shards": 1, "num_worlds": HALF, "world.options.processes": HALF},
    "actors=4, shards=1": {"train.actors": 4, "train.shards": 1, "num_worlds": QUARTER, "world.options.processes": QUARTER},
    "actors=4, shards=2": {"train.actors": 4, "train.shards": 2, "num_worlds": HALF, "world.options.processes": QUARTER},
}  # fmt: skip


class Slow(ParallelEnv):  # type: ignore[type-arg]
    """Two agents see 16 random numbers and earn for naming the largest of the first four; 100 steps."""

    metadata = {"name": "slow"}  # noqa: RUF012
    possible_agents = ["a", "b"]  # noqa: RUF012

    def __init__(self, computes: bool) -> None:
        self._computes, self._rng = computes, np.random.default_rng(0)

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        return spaces.Box(0, 1, (16,), np.float32)

    def action_space(self, agent: str) -> spaces.Space[Any]:
        return spaces.Discrete(4)

    def reset(self, seed: int | None = None, options: Any = None) -> Any:
        self._rng, self._step = np.random.default_rng(seed), 0
        self.agents = list(self.possible_agents)
        return self._look(), {agent: {} for agent in self.agents}

    def _look(self) -> dict[str, np.ndarray]:
        self._seen = {agent: self._rng.random(16, np.float32) for agent in self.agents}
        return self._seen

    def step(self, actions: Any) -> Any:
        if self._computes:
            until = time.perf_counter() + STEP
            while time.perf_counter() < until:
                pass
        else:
            time.sleep(STEP)
        earned = {agent: float(actions[agent] == self._seen[agent][:4].argmax()) for agent in self.agents}
        self._step += 1
        flags, cut = (dict.fromkeys(self.agents, value) for value in (False, self._step == 100))
        result = (self._look(), earned, flags, cut, {agent: {} for agent in self.agents})
        if self._step == 100:
            self.agents = []
        return result


def waits() -> ParallelEnv:  # type: ignore[type-arg]
    return Slow(False)


def computes() -> ParallelEnv:  # type: ignore[type-arg]
    return Slow(True)


def rate(env: str, options: dict[str, Any], seconds: float) -> tuple[float, float]:
    """Agent-steps per second after the first update, and the mean age of rollouts."""
    fixed = {
        "ppo.rollout": 64,
        "ppo.epochs": 10,
        "ppo.minibatch": 64,
        "network.kind": "mlp",
        "network.hidden": [256, 256],
        "ppo.target_kl": None,
    }
    with tempfile.TemporaryDirectory() as folder:
        run = interplay.train(
            f"bench.actors:{env}", Path(folder) / "run", steps=10**9, **fixed, **options,
            **{"train.max_seconds": seconds, "train.quiet": True, "record.every": 0, "train.checkpoint_at_end": False},
        )  # fmt: skip
        lines = [json.loads(line) for line in (Path(run) / "metrics.jsonl").read_text().splitlines()]
    lines = [line for line in lines if "ending" not in line]
    first, last = lines[0], lines[-1]
    steps = last["agent_steps"] - first["agent_steps"]
    return steps / (last["time"] - first["time"]), statistics.mean(line.get("age", 0.0) for line in lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=20.0, help="of each run")
    parser.add_argument("--times", type=int, default=3)
    given = parser.parse_args()
    for env in ("waits", "computes"):
        base = 0.0
        found: dict[str, list[tuple[float, float]]] = {name: [] for name in WAYS}
        for _ in range(given.times):
            for name, options in WAYS.items():
                found[name].append(rate(env, options, given.seconds))
        for name, rows in found.items():
            rates = [own for own, _ in rows]
            middle = statistics.median(rates)
            base = base or middle
            age = statistics.mean(age for _, age in rows)
            print(
                f"{env:9} {name:20} {middle:7.0f} agent-steps/s ({min(rates):.0f} to {max(rates):.0f}), "
                f"{middle / base:.2f} times, age {age:.1f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
