"""Short runs on the processor, and on a second device that XLA makes of it: how far the weights are apart after two updates.

XLA_FLAGS=--xla_force_host_platform_device_count=2 python -m tests.train.placed_runs FOLDER [CASE ...]
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import jax
import numpy as np

import interplay
from interplay.train import trainer
from interplay.train.learner import Learner
from interplay.train.run.checkpoint import list_checkpoints, read_checkpoint

SMALL = {
    "num_worlds": 4,
    "steps": 10**6,
    "train.max_updates": 2,
    "train.keep_at": [0],
    "train.quiet": True,
    "train.shards": 2,
}
PPO = {"ppo.rollout": 16, "ppo.minibatch": 32, "ppo.epochs": 2}
MLP = {"network.kind": "mlp", "network.hidden": [16]}
CRITIC = {"network.memory": "gru", "network.memory_size": 8, "ppo.sequence": 8, "network.critic": "team"}
PAST = {"opponents.right": "past", "pool.every": 1, "sides.by": "seat"}
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "mlp": ("survival/1v1-heals-low", PPO | MLP),
    "attention": ("survival/1v1-heals-low", PPO),
    "gru and critic": ("battle/3m", PPO | MLP | CRITIC),
    "normalised": ("simulation/multi-corridor", PPO | MLP | {"network.normalise": True}),
    "past selves": ("pong/2p", PPO | MLP | PAST),
    "vtrace": (
        "simulation/multi-corridor",
        MLP | {"algorithm": "vtrace", "vtrace.rollout": 16, "vtrace.minibatch": 32},
    ),
    "populations": ("mmo/combat", {"policy_gradient.rollout": 8}),
    "vdn": (
        "battle/3m",
        MLP | {"algorithm": "vdn", "vdn.rollout": 32, "vdn.minibatch": 32, "vdn.replay": 256},
    ),
}


def learn(case: str, device: str, folder: Path) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Trains; gives where weights and moments lay afterwards, the weights before, and what was added to them."""
    learners: list[Learner] = []
    make = trainer.make_learner

    def noted(*given: Any, **named: Any) -> Learner:
        learners.append(make(*given, **named))
        return learners[-1]

    trainer.make_learner = noted
    world, values = CASES[case]
    out = folder / f"{case}-{device}".replace(" ", "-")
    try:
        interplay.train(world, out, workers=1, **(SMALL | values | {"train.device": device}))
    finally:
        trainer.make_learner = make
    held = jax.tree.leaves((learners[0].vectors, learners[0]._moments))
    kept = sorted(list_checkpoints(out), key=lambda path: int(path.name))
    first, last = weights(kept[0]), weights(kept[-1])
    return sorted({str(one) for leaf in held for one in leaf.devices()}), first, last - first


def weights(checkpoint: Path) -> np.ndarray:
    """All weights in one vector."""
    arrays = read_checkpoint(checkpoint).arrays
    named = {
        f"{stem}/{name}": array
        for stem, own in arrays.items()
        if stem.startswith("policy-")
        for name, array in own.items()
        if "normaliser/" not in name  # moments, which no gradient moves
    }
    return np.concatenate([np.ravel(named[name]).astype(np.float64) for name in sorted(named)])


def main(folder: str, *cases: str) -> None:
    """A JSON line for each case."""
    for case in cases or CASES:
        on_cpu, other = (learn(case, device, Path(folder)) for device in ("cpu", "host:1"))
        moved = float(np.linalg.norm(on_cpu[2]))
        line = {
            "case": case,
            "places": other[0],
            "same_start": bool(np.array_equal(on_cpu[1], other[1])),
            "moved": moved,
            "apart": float(np.linalg.norm(on_cpu[2] - other[2])) / moved,
        }
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
