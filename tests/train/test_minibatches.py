"""Minibatches: an epoch visits every ready row once, spread evenly, in blocks of one population each."""

from __future__ import annotations

from collections import Counter
from typing import Any

import jax
import numpy as np
import pytest
from gymnasium import spaces

from interplay.core.world import Kind, TimeStep
from interplay.train.learner import Epoch
from interplay.train.minibatches import join_batches, make_epoch
from interplay.train.settings import TrainSettings
from interplay.train.update import Worker
from tests.train.meadow import make_meadow
from tests.train.runs import short_run, worker_of
from tests.train.toy_worlds import Corridor, TwoKinds, make_corridor, make_two_kinds

pytestmark = pytest.mark.slow

HEALS = 5  # rows that may be seen, in the crowded corridor


def settings_of(**own: Any) -> TrainSettings:
    return short_run("toy", {"ppo": {"rollout": 32, "minibatch": 64}} | own)


def played(settings: TrainSettings, make: Any) -> Worker:
    worker = worker_of(settings, make)
    worker.play()
    worker.estimate()
    return worker


def epoch_of(worker: Worker, name: str, minibatches: int) -> tuple[Epoch, int]:
    """A shuffled epoch, and the rows that each shard has in its batch."""
    joined = join_batches(worker.shards, name)
    orders = [shard.shuffle(name, 0, 3) for shard in worker.shards]
    epoch = make_epoch(worker.shards, name, joined, orders, minibatches)
    return epoch._replace(minibatches=jax.tree.map(np.asarray, epoch.minibatches)), joined[2]


def rows_of(epoch: Epoch, minibatch: int, shard: int) -> np.ndarray:
    """The rows of the batch in the blocks that are learnt from."""
    taken = epoch.minibatches.index[minibatch, shard]
    taken = taken[: int(epoch.minibatches.number[minibatch, shard])]
    return taken[taken < len(epoch.batch.acts)]


def check_epoch(worker: Worker, name: str, minibatches: int) -> Epoch:
    epoch, capacity = epoch_of(worker, name, minibatches)
    for at, shard in enumerate(worker.shards):
        rows = [rows_of(epoch, minibatch, at) for minibatch in range(minibatches)]
        assert Counter(np.concatenate(rows).tolist()) == Counter(
            (at * capacity + np.arange(len(shard.ready[name].picked))).tolist()
        )
        sizes = [len(each) for each in rows]
        assert max(sizes) - min(sizes) <= 1
        assert max(sizes) <= shard.rows_per_step(name)
    return epoch


@pytest.mark.parametrize("more", [0, 1])
def test_an_epoch_visits_every_ready_row_once(more: int) -> None:
    worker = played(settings_of(seed=1), make_corridor)
    shard = worker.shards[0]
    minibatches = max(each.minibatches() for each in worker.shards) + more
    assert 3 < minibatches <= shard.most_minibatches == 8
    epoch = check_epoch(worker, "agent", minibatches)
    assert not epoch.minibatches.plan.any()
    batch = epoch.batch
    for at, own in enumerate(worker.shards):
        ready, first = own.ready["agent"], at * (len(batch.acts) // 2)
        part = slice(first, first + len(ready.picked))
        assert np.array_equal(np.asarray(batch.target)[part], ready.target)
        assert np.array_equal(np.asarray(batch.advantage)[part], ready.advantage)
        assert np.array_equal(
            np.asarray(batch.action)[part], own.collector.pending["agent"].action[ready.picked]
        )


def test_kinds_share_a_minibatch_in_proportion_to_their_slots() -> None:
    worker = played(settings_of(), make_two_kinds)
    shard = worker.shards[0]
    assert [shard.rows_per_step(name) for name in ("walker", "guide")] == [32, 16]
    minibatches = max(each.minibatches() for each in worker.shards)
    for name in ("walker", "guide"):
        check_epoch(worker, name, minibatches)
    assert len(TwoKinds(1).kinds) == len(shard.ready) == 2


def test_a_frozen_kind_takes_no_share_of_a_minibatch() -> None:
    """The walkers have twice the slots; frozen they would halve the minibatches of the guides."""
    shard = played(settings_of(train={"learners": ["guide"]}), make_two_kinds).shards[0]
    assert shard.rows_per_step("guide") == 32
    assert shard.minibatches() == -(-len(shard.units["guide"]) // 32)


@pytest.mark.parametrize("block", [8, 512])
def test_blocks_are_of_one_population_each(block: int) -> None:
    settings = settings_of(network={"kind": "tiles", "width": 8}, population={"block": block})
    worker = played(settings, make_meadow)
    minibatches = max(each.minibatches() for each in worker.shards)
    epoch, capacity = (
        check_epoch(worker, "agent", minibatches),
        worker.shards[0].collector.pending["agent"].capacity,
    )
    assert len(epoch.batch.acts) == 2 * capacity
    found = set()
    for minibatch in range(minibatches):
        for at, shard in enumerate(worker.shards):
            for i in range(int(epoch.minibatches.number[minibatch, at])):
                index = epoch.minibatches.index[minibatch, at, i]
                own = index[index < 2 * capacity] - at * capacity
                population = int(epoch.minibatches.population[minibatch, at, i])
                assert len(own) <= min(block, 32)
                assert set(shard.ready["agent"].population[own].tolist()) == {population}
                found.add(population)
    assert found == {0, 1, 2}


def test_all_that_is_ready_is_one_minibatch_where_the_algorithm_says_so() -> None:
    own = {"rollout": 16, "horizon": 24}
    settings = settings_of(
        algorithm="policy_gradient", policy_gradient=own, network={"kind": "tiles", "width": 8}
    )
    worker = played(settings, make_meadow)
    assert [shard.minibatches() for shard in worker.shards] == [1, 1]
    assert worker.shards[0].most_minibatches == 1
    shard = worker.shards[0]
    picked, pending = shard.ready["agent"].picked, shard.collector.pending["agent"]
    assert 0 < len(picked) < pending.count  # some lives go on
    epoch = check_epoch(worker, "agent", 1)
    chosen = np.asarray(epoch.batch.log_prob)[: len(picked)]
    assert np.array_equal(chosen, pending.log_prob[picked])


class Crowded(Corridor):
    """A corridor in which walkers see between none and all of `HEALS` other things, mostly few."""

    def __init__(self, num_worlds: int, seed: int, first_world: int) -> None:
        super().__init__(num_worlds, seed, first_world)
        walker = self.kinds[0]
        box = spaces.Box(0, HEALS, (HEALS, 2), np.float32)
        leaves = {"heals": box, "heals_mask": spaces.Box(0, 1, (HEALS,), np.float32)}
        space = spaces.Dict({**walker.observation_space.spaces, **leaves})
        self.kinds = (Kind("agent", walker.slots, space, walker.action_space),)

    def _read(self) -> TimeStep:
        step, noise = super()._read(), self.state.noise
        number = np.arange(HEALS)
        heals = np.stack([number + noise, number * noise], axis=-1).astype(np.float32)
        # The mask is 1 where a thing is hidden.
        mask = (number >= np.floor(noise**6 * (HEALS + 1))).astype(np.float32)
        return step._replace(observation={**step.observation, "heals": heals, "heals_mask": mask})


@pytest.mark.parametrize(
    "population", [{}, {"by": "name", "groups": {"a": ["*_0"], "b": ["*_1"]}, "block": 16}]
)
def test_rows_stand_in_ascending_order_of_their_cost_and_no_plan_is_too_small(
    population: dict[str, Any],
) -> None:
    """With the plans that were chosen the gradient is that of the plan for all rows."""
    small = {"kind": "attention", "width": 4, "heads": 1, "tail": 4}
    worker = played(settings_of(network=small, population=population), Crowded)
    minibatches = max(each.minibatches() for each in worker.shards)
    epoch = check_epoch(worker, "agent", minibatches)
    network, batch, index = worker.learner.networks["agent"], epoch.batch, epoch.minibatches.index
    demand = network.demand(batch.seen)
    assert demand is not None
    assert demand.max() == HEALS
    for minibatch in range(minibatches):
        for at in range(len(worker.shards)):
            for i in range(int(epoch.minibatches.number[minibatch, at])):
                rows = index[minibatch, at, i]
                cost = np.where(rows < len(demand), demand[np.minimum(rows, len(demand) - 1)], 0)
                assert (np.diff(cost) >= 0).all()
    plans = epoch.minibatches.plan
    assert len(set(plans[:minibatches].ravel().tolist())) > 1
    thrifty = int(np.argmin(plans[:minibatches].sum(axis=(1, 2))))
    widest = np.full_like(plans, len(network._static.plans) - 1)
    assert not np.array_equal(plans[thrifty], widest[thrifty])
    whole = epoch._replace(minibatches=epoch.minibatches._replace(plan=widest))
    sums = [worker.learner.gradient({"agent": each}, thrifty) for each in (epoch, whole)]
    assert sums[0].any()
    np.testing.assert_allclose(*sums, atol=2e-4, rtol=1e-4)
