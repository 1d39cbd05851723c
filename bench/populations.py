"""Speed of training with populations: what `bench/learner.py` prints for a world of populations.

    .venv/bin/python -m bench.learner --world mmo/combat --num-worlds 64          # parts and the whole, on one core
    .venv/bin/python -m bench.learner --world mmo/combat --num-worlds 64 --workers 2 --seconds 120    # a run, on two

Microseconds per agent-step of one shard after `WARM` updates of the paper's training, CPU time, the least of several rounds:

- ``act``: sorting, copying observations, networks, draws; ``act: copy`` and ``act: network`` are parts of it, ``act: one product`` is
  the network alone, without draws, as one batched product over populations padded to the largest;
- ``step``: the world;
- ``returns``: advantages, ready rows, normalising;
- ``gradient``: forward and backward, with ``gradient: copy``, which packs the rows and cuts the blocks;
- ``finish``: moving the rows that wait;
- ``agent-steps/s and core``: whole updates, by CPU time.

With ``--workers`` a whole run is made and its last half is timed by the wall clock, as a user sees it; other processes on the
machine slow it down.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from interplay.core.policy import RandomPolicy
from interplay.registry import make_world
from interplay.train.collector import StepRows
from interplay.train.learner import Epoch, Learner
from interplay.train.minibatches import join_batches, make_epoch
from interplay.train.observations import Rows
from interplay.train.parallel.exchange import SingleProcess
from interplay.train.policy_network import PolicyNetwork
from interplay.train.populations import Blocks, find_populations
from interplay.train.rollout import allocate_inputs, call_networks, read_outputs
from interplay.train.settings import (
    NetworkGroup,
    PolicyGradientGroup,
    PopulationGroup,
    TrainGroup,
    TrainSettings,
    WorldChoice,
)
from interplay.train.trainer import train
from interplay.train.update import Worker

WARM = 25  # updates, so that newcomers have filled the worlds as far as they live


def settings_of(world: str, num_worlds: int, block: int, shards: int, workers: int = 1) -> TrainSettings:
    """The paper's training."""
    return TrainSettings(
        world=WorldChoice(id=world),
        num_worlds=num_worlds,
        steps=10**12,
        algorithm="policy_gradient",
        train=TrainGroup(shards=shards, workers=workers, checkpoint_seconds=1e9, checkpoint_at_end=False),
        policy_gradient=PolicyGradientGroup(),
        population=PopulationGroup(block=block),
        network=NetworkGroup(kind="tiles", activation="none", probability_floor=0.001),
    )


def measure(world: str, num_worlds: int, block: int) -> dict[str, Any]:
    """The parts and the whole, on one core."""
    settings = settings_of(world, num_worlds, block, 1)

    def make(**where: int) -> Any:
        return make_world(world, **where)

    probe = make(num_worlds=1)
    learner = Learner(probe.kinds, settings, find_populations(settings.population, probe))
    worker = Worker(settings, make, learner, SingleProcess())
    for _ in range(WARM):
        numbers = worker.update()
    figures: dict[str, Any] = {"world": world, "worlds": num_worlds, "block": block, "life": numbers["life"]}
    rates = []
    for _ in range(6):
        steps, began = worker.agent_steps, time.process_time()
        worker.update()
        rates.append((worker.agent_steps - steps) / (time.process_time() - began))
    figures |= parts(worker)
    figures["agent-steps/s and core"] = max(rates)
    worker.close()
    return figures


def parts(worker: Worker) -> dict[str, float]:
    """Microseconds per agent-step."""
    (shard,), learner = worker.shards, worker.learner
    (name,) = learner.networks
    own, collector, inference = learner.networks[name], shard.collector, learner.inference_parameters()
    timestep = shard.world.timestep
    living = int(timestep.acting.sum())
    collector._seat()
    collector.present |= timestep.acting
    inputs = allocate_inputs([collector])
    seen = inputs[name].seen
    step_rows = collector.write_inputs(name, timestep.acting, seen.part(0))
    blocks = None if step_rows.blocks is None else Blocks(*(part[None] for part in step_rows.blocks))
    arguments = (inference[name], seen.rows, seen.mask, blocks, inputs[name].keys[0])

    def copy() -> None:
        collector.write_inputs(name, timestep.acting, seen.part(0))

    def call() -> None:
        read_outputs([collector], call_networks([collector], inference, [timestep.acting], 0, inputs))

    def network() -> None:
        jax.block_until_ready(own.act(*arguments, block=collector.block[name]))

    found = {"living per world": living / shard.world.num_worlds}
    found["act: copy"] = least(copy, 20) / living * 1e6
    found["act: network"] = least(network, 20) / living * 1e6
    found["act: one product"] = (
        least(padded_product(own, inference[name], seen.rows, step_rows), 20) / living * 1e6
    )
    found["act"] = least(call, 20) / living * 1e6
    actions = RandomPolicy()
    actions.start(shard.world)
    choice = actions.act(timestep)
    found["step"] = least(lambda: shard.world.step(choice), 20) / living * 1e6
    shard.play(inference, 1_000)
    shard.normalise(shard.estimate())
    ready, steps = len(shard.ready[name].picked), collector.acted
    found["returns"] = least(lambda: shard.normalise(shard.estimate()), 2) / steps * 1e6

    def pack() -> dict[str, Epoch]:
        return {name: make_epoch([shard], name, join_batches([shard], name), [np.arange(ready)], 1)}

    found["gradient: copy"] = least(lambda: jax.block_until_ready(pack()), 3) / ready * 1e6
    found["gradient"] = least(lambda: learner.gradient(pack(), 0), 4) / ready * 1e6
    began = time.process_time()
    shard.finish()
    found["finish"] = (time.process_time() - began) / steps * 1e6
    return found


def padded_product(own: PolicyNetwork, inference: Any, rows: Rows, step_rows: StepRows) -> Callable[[], Any]:
    """The other way to compute a step, without draws: populations padded to the largest, one batched product for all."""
    counts = np.bincount(step_rows.network, minlength=len(own.first))
    index = np.minimum(np.arange(counts.max()), np.maximum(counts, 1)[:, None] - 1)
    index += (np.cumsum(counts) - counts)[:, None]
    picked = {dtype: jnp.asarray(array[0, index]) for dtype, array in rows.items()}
    product = jax.jit(jax.vmap(lambda arrays, seen: own._call(arrays, own._read(seen))))
    return lambda: jax.block_until_ready(product(inference, picked))


def run(world: str, num_worlds: int, block: int, workers: int, seconds: float) -> dict[str, Any]:
    """Agent-steps per second of a run, wall clock, over the last half of its time."""
    settings = settings_of(world, num_worlds, block, max(workers, 2), workers)
    group = settings.train.model_copy(update={"max_seconds": seconds})
    with tempfile.TemporaryDirectory() as folder:
        out = train(settings.model_copy(update={"train": group}), Path(folder) / "run")
        log = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    late = [line for line in log if line["time"] >= log[-1]["time"] / 2]
    steps, span = late[-1]["agent_steps"] - late[0]["agent_steps"], late[-1]["time"] - late[0]["time"]
    return {"world": world, "worlds": num_worlds, "workers": workers, "life": late[-1]["life"]} | {
        "agent-steps/s of the run": steps / span
    }


def least(work: Callable[[], Any], rounds: int) -> float:
    """Least CPU seconds of one call; the first call compiles and does not count."""
    work()
    taken = []
    for _ in range(rounds):
        began = time.process_time()
        work()
        taken.append(time.process_time() - began)
    return min(taken)
