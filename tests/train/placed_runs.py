"""Short runs on the processor, and on a second device that XLA makes of it: how far the weights are apart after two updates.

Orders of rows are drawn elsewhere on a device, so every epoch is one minibatch here. A second run on the device stops and is resumed.

XLA_FLAGS=--xla_force_host_platform_device_count=2 python -m tests.train.placed_runs FOLDER [CASE ...]
"""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import interplay
from interplay.train import trainer
from interplay.train.learner import Learner
from interplay.train.making import make_learner, registry_factory
from interplay.train.parallel.exchange import SingleProcess
from interplay.train.run.checkpoint import latest_checkpoint, list_checkpoints, read_checkpoint
from interplay.train.update import Worker
from interplay.verbs.settings import build_settings
from interplay.verbs.training import nested

SMALL = {
    "num_worlds": 4,
    "steps": 10**6,
    "train.max_updates": 2,
    "train.keep_at": [0],
    "train.quiet": True,
    "train.shards": 2,
}
PPO = {"ppo.rollout": 16, "ppo.minibatch": 1024, "ppo.epochs": 2}
MLP = {"network.kind": "mlp", "network.hidden": [16]}
CRITIC = {"network.memory": "gru", "network.memory_size": 8, "ppo.sequence": 8, "network.critic": "team"}
PAST = {"opponents.right": "past", "pool.every": 1, "sides.by": "seat"}
REPLAY = {"rollout": 32, "minibatch": 32, "replay": 256}
SEATS = {"network.kind": "seats", "network.width": 8, "network.tail": 8, "network.layers": 1}
SIGNALS = {"world.options.signal_length": 1, "world.options.signal_range": 2}
LEAGUE = {
    "learners": {
        "main": {"meets": [{"by": "self"}]},
        "exploiter": {"meets": [{"by": "current", "among": ["main"]}]},
    },
    "period": 10**6,  # no copies, which are weights too
    "keep": 2,
}
CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "mlp": ("survival/1v1-heals-low", PPO | MLP),
    "attention": ("survival/1v1-heals-low", PPO),
    "gru and critic": ("battle/3m", PPO | MLP | CRITIC),
    "normalised": ("simulation/multi-corridor", PPO | MLP | {"network.normalise": True}),
    "past selves": ("pong/2p", PPO | MLP | PAST),
    "vtrace": (
        "simulation/multi-corridor",
        MLP | {"algorithm": "vtrace", "vtrace.rollout": 16, "vtrace.minibatch": 1024},
    ),
    "populations": ("mmo/combat", {"policy_gradient.rollout": 8}),
    "vdn": ("battle/3m", MLP | {"algorithm": "vdn", "vdn": REPLAY}),
    "qmix": ("battle/3m", MLP | {"algorithm": "qmix", "qmix": REPLAY}),
    "a2c": ("pong/2p", MLP | {"algorithm": "a2c", "a2c.rollout": 16}),
    "guesses": ("werewolf/6", PPO | SEATS | SIGNALS | {"belief.about": "werewolf", "belief.speaking": 1.0}),
    "league": ("matrix/rock-paper-scissors", PPO | MLP | {"league": LEAGUE}),
}


def learn(
    case: str, device: str, folder: Path, more: Mapping[str, Any] | None = None
) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Trains, with `more` settings; gives where weights and moments lay afterwards, the weights before, and what was added to them."""
    learners: list[Learner] = []
    make = trainer.make_learner

    def noted(*given: Any, **named: Any) -> Learner:
        learners.append(make(*given, **named))
        return learners[-1]

    trainer.make_learner = noted
    world, values = CASES[case]
    out = run_of(case, device, folder)
    try:
        interplay.train(world, out, workers=1, **(SMALL | values | {"train.device": device} | (more or {})))
    finally:
        trainer.make_learner = make
    held = jax.tree.leaves((learners[0].vectors, learners[0]._moments))
    kept = sorted(list_checkpoints(out), key=lambda path: int(path.name))
    first, last = weights(kept[0]), weights(kept[-1])
    return sorted({str(one) for leaf in held for one in leaf.devices()}), first, last - first


def run_of(case: str, device: str, folder: Path) -> Path:
    """Where `learn` keeps its run."""
    return folder / f"{case}-{device}".replace(" ", "-")


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


def stop_and_resume(case: str, device: str, folder: Path, more: Mapping[str, Any] | None = None) -> bool:
    """Whether a run of two updates that stops after the first ends with the weights of one that does not; with several minibatches."""
    world, values = CASES[case]
    values = SMALL | values | {"train.device": device}
    values |= {key: 32 for key in values if key.endswith(".minibatch")} | (more or {})
    ends = []
    for name, updates in (("whole", 2), ("stopped", 1)):
        out = folder / f"{case}-{name}".replace(" ", "-")
        interplay.train(world, out, workers=1, **(values | {"train.max_updates": updates}))
        if updates == 1:
            file = out / "settings.toml"
            file.write_text(file.read_text().replace("max_updates = 1", "max_updates = 2"))
            interplay.Run(out).resume()
        newest = latest_checkpoint(out)
        assert newest is not None
        ends.append(weights(newest))
    return bool(np.array_equal(*ends))


def guarded(case: str, planted: bool = False) -> str:
    """What jax says of a transfer that was not asked for in the second update, "" without one."""
    world, values = CASES[case]
    settings = build_settings(world, nested(SMALL | values | {"train.device": "host:1"}), {})
    make = registry_factory(settings)
    learner = make_learner(settings, make, begins=True, say=str)
    with contextlib.closing(Worker(settings, make, learner, SingleProcess())) as worker:
        worker.update()
        if planted:
            worker.estimate = lambda: jnp.asarray(np.zeros(1))  # type: ignore[method-assign]
        try:
            with jax.transfer_guard("disallow"):
                worker.update()
        except Exception as error:
            return str(error).partition("\n")[0]
    return ""


def main(folder: str, *cases: str) -> None:
    """A JSON line for each case."""
    for case in cases or CASES:
        on_cpu, first, other = (learn(case, device, Path(folder)) for device in ("cpu", "host:0", "host:1"))
        moved = float(np.linalg.norm(on_cpu[2]))
        line = {
            "case": case,
            "places": other[0],
            "same_bits": bool(np.array_equal(first[2], other[2])),
            "same_start": bool(np.array_equal(on_cpu[1], other[1])),
            "moved": moved,
            "apart": float(np.linalg.norm(on_cpu[2] - other[2])) / moved,
            "resumed": stop_and_resume(case, "host:1", Path(folder)),
            "unasked": guarded(case),
            "planted": guarded(case, planted=True),
        }
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
