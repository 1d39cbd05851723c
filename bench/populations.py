"""Speed of training with populations: what `bench/learner.py` prints for a world of populations.

    .venv/bin/python bench/learner.py --world mmo/combat --num-worlds 64          # parts and the whole, on one core
    .venv/bin/python bench/learner.py --world mmo/combat --num-worlds 64 --workers 2 --seconds 120    # a run, on two

Microseconds per agent-step of one shard after `WARM` updates of the paper's training, CPU time, the least of several rounds:

- ``act``: sorting, copying observations, networks, draws; ``act: copy`` and ``act: network`` are parts of it, ``act: one product`` is
  the network alone, without draws, as one batched product over populations padded to the largest;
- ``step``: the world;
- ``returns``: time line, ready rows, normalising;
- ``gradient``: forward and backward, ``gradient: copy`` included;
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
from interplay.train.exchange import Alone
from interplay.train.populations import find_populations
from interplay.train.settings import (
    NetworkGroup,
    PolicyGradientGroup,
    PopulationGroup,
    TrainGroup,
    TrainSettings,
    WorldChoice,
)
from interplay.train.sorted_rollout import Stage
from interplay.train.sorted_training import SortedTraining
from interplay.train.stacked import Rows, StackedBrain
from interplay.train.stacked_learner import StackedLearner
from interplay.train.trainer import train

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
    learner = StackedLearner(probe.kinds, settings, find_populations(settings.population, probe))
    training = SortedTraining(settings, make, learner, Alone())
    for _ in range(WARM):
        numbers = training.update()
    figures: dict[str, Any] = {"world": world, "worlds": num_worlds, "block": block, "life": numbers["life"]}
    rates = []
    for _ in range(6):
        steps, began = training.agent_steps, time.process_time()
        training.update()
        rates.append((training.agent_steps - steps) / (time.process_time() - began))
    figures |= parts(training)
    figures["agent-steps/s and core"] = max(rates)
    training.close()
    return figures


def parts(training: SortedTraining) -> dict[str, float]:
    """Microseconds per agent-step."""
    (shard,), learner = training.shards, training.learner
    (name,) = learner.brains
    brain, collector, forms = learner.brains[name], shard.collector, learner.forms()
    timestep = shard.world.timestep
    living = int(timestep.acting.sum())
    population = collector._populations.of(shard.world).copy()
    stage, rows = collector._sort(name, timestep.acting, population), collector._stage[name]
    mask = shard.world.by_kind(timestep.action_mask)[name]

    def network() -> None:
        arguments = (forms[name], rows.leaves, rows.mask, stage.blocks, collector._keys[name], np.uint32(0))
        jax.block_until_ready(brain.act_blocks(*arguments))

    found = {"living per world": living / shard.world.num_worlds}
    copy = least(lambda: brain.leaves.take(timestep.observation, stage.picked, rows.leaves), 20)
    found["act: copy"] = copy / living * 1e6
    found["act: network"] = least(network, 20) / living * 1e6
    found["act: one product"] = least(padded_product(brain, forms[name], rows, stage), 20) / living * 1e6
    found["act"] = least(lambda: collector._ask(name, forms, timestep, mask, stage, 0), 20) / living * 1e6
    actions = RandomPolicy()
    actions.start(shard.world)
    choice = actions.act(timestep)
    found["step"] = least(lambda: shard.world.step(choice), 20) / living * 1e6
    shard.play(forms, 1_000)
    shard.normalise(shard.estimate())
    ready, steps = len(shard.ready[name].picked), collector.acted
    found["returns"] = least(lambda: shard.normalise(shard.estimate()), 2) / steps * 1e6
    found["gradient: copy"] = least(lambda: [None for _ in shard.chunks(name)], 3) / ready * 1e6
    found["gradient"] = least(lambda: training._gradient([None]), 4) / ready * 1e6
    began = time.process_time()
    shard.finish()
    found["finish"] = (time.process_time() - began) / steps * 1e6
    return found


def padded_product(brain: StackedBrain, forms: Any, rows: Rows, stage: Stage) -> Callable[[], Any]:
    """The other way to compute a step, without draws: populations padded to the largest, one batched product for all."""
    counts = np.bincount(stage.population, minlength=len(brain.stack))
    index = np.minimum(np.arange(counts.max()), np.maximum(counts, 1)[:, None] - 1)
    index += (np.cumsum(counts) - counts)[:, None]
    leaves = {key: jnp.asarray(leaf[index]) for key, leaf in rows.leaves.items()}
    product = jax.jit(jax.vmap(brain._call))
    return lambda: jax.block_until_ready(product(forms, leaves))


def run(world: str, num_worlds: int, block: int, workers: int, seconds: float) -> dict[str, Any]:
    """Agent-steps per second of a run, wall clock, over the last half of its time."""
    settings = settings_of(world, num_worlds, block, max(workers, 2), workers)
    group = settings.train.model_copy(update={"most_seconds": seconds})
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
