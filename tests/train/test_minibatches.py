"""Minibatches: an epoch visits every ready row once, spread evenly, in blocks of one population each."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from interplay.core.settings import build
from interplay.train.exchange import Alone
from interplay.train.learner import Epoch
from interplay.train.minibatches import join_batches, make_epoch
from interplay.train.settings import TrainSettings
from interplay.train.trainer import make_learner
from interplay.train.update import Worker
from tests.train.meadow import make_meadow
from tests.train.toy_worlds import TwoKinds, make_corridor, make_two_kinds


def settings_of(**own: Any) -> TrainSettings:
    values = {
        "world": {"id": "toy"},
        "num_worlds": 8,
        "train": {"shards": 2},
        "ppo": {"rollout": 32, "minibatch": 64},
        "network": {"kind": "mlp", "hidden": [8]},
    }
    return build(TrainSettings, {**values, **own}, "test")


def played(settings: TrainSettings, make: Any) -> Worker:
    worker = Worker(settings, make, make_learner(settings, make, begins=True), Alone())
    worker.play()
    worker.estimate()
    return worker


def epoch_of(worker: Worker, name: str, minibatches: int) -> tuple[Epoch, int]:
    """A shuffled epoch, and the rows that each shard has in its batch."""
    joined = join_batches(worker.shards, name)
    orders = [shard.shuffle(name, 0, 3) for shard in worker.shards]
    return make_epoch(worker.shards, name, joined, orders, minibatches), joined[2]


def rows_of(epoch: Epoch, minibatch: int, shard: int) -> np.ndarray:
    """The rows of the batch in the blocks that are learnt from."""
    taken = np.asarray(epoch.minibatches.index)[minibatch, shard]
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
    worker = played(settings_of(), make_corridor)
    shard = worker.shards[0]
    minibatches = max(each.minibatches() for each in worker.shards) + more
    assert 3 < minibatches <= shard.most_minibatches == 8
    epoch = check_epoch(worker, "agent", minibatches)
    assert not np.asarray(epoch.minibatches.plan).any()
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
                index = np.asarray(epoch.minibatches.index)[minibatch, at, i]
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
