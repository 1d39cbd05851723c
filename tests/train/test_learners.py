"""Who learns: populations that are named, and those whose turn it is; the others act and stay as they are."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest

from interplay.core.settings import build
from interplay.train.making import make_learner
from interplay.train.parallel.exchange import SingleProcess
from interplay.train.settings import TrainSettings
from interplay.train.update import Worker
from tests.train.meadow import make_meadow
from tests.train.runs import worker_of
from tests.train.test_opponents import settings_of
from tests.train.toy_worlds import make_two_kinds

pytestmark = pytest.mark.slow

TRAIN = {"shards": 2, "max_updates": 2}


def meadow(**own: Any) -> Worker:
    return worker_of(settings_of(2, **{"opponents": {}, **own}), make_meadow)


def moved(worker: Worker, updates: int) -> list[bool]:
    """Which populations' weights these updates change."""
    before = np.array(worker.learner.vectors["agent"])
    for _ in range(updates):
        worker.update()
    after = np.array(worker.learner.vectors["agent"])
    return [not np.array_equal(b, a) for b, a in zip(before, after, strict=True)]


@pytest.mark.parametrize("algorithm", ["ppo", "policy_gradient"])
def test_only_the_populations_that_are_named_learn(algorithm: str) -> None:
    gradient = {"rollout": 16, "horizon": 24}
    worker = meadow(train=TRAIN | {"learners": ["pop2"]}, algorithm=algorithm, policy_gradient=gradient)
    assert moved(worker, 2) == [False, False, True]
    shard = worker.shards[0]
    numbers = worker.update()
    assert {name for name in numbers if name.startswith("rows[")} == {"rows[pop2]"}
    assert {"lives[pop0]", "lives[pop2]"} <= set(numbers)
    pending = shard.collector.pending["agent"]
    assert set(pending.population[: pending.count].tolist()) <= {2}
    assert shard.collector.acted > 3 * numbers["rows[pop2]"] / 2 / 4  # the others act all the same


def test_samples_of_a_population_that_stops_learning_are_forgotten() -> None:
    gradient = {"rollout": 8, "horizon": 64}
    worker = meadow(algorithm="policy_gradient", policy_gradient=gradient)
    worker.update()
    pending = worker.shards[0].collector.pending["agent"]
    there = pending.population[: pending.count]
    assert set(there.tolist()) == {0, 1, 2}
    kept = pending.action[: pending.count][there == 1].copy()
    worker.shards[0].collector.set_learning(np.array([False, True, False]))
    assert set(pending.population[: pending.count].tolist()) == {1}
    assert np.array_equal(pending.action[: pending.count], kept)


def test_kinds_that_do_not_learn_keep_their_weights_over_minibatches_and_epochs() -> None:
    group = {"rollout": 16, "minibatch": 16, "epochs": 3, "target_kl": "off", "learning_rate": 1e-2}
    values = {
        "world": {"id": "two"},
        "num_worlds": 4,
        "ppo": group,
        "train": TRAIN | {"learners": ["walker"]},
        "network": {"kind": "mlp", "hidden": [4], "normalise": True},
    }
    settings = build(TrainSettings, values, "test")
    worker = Worker(
        settings, make_two_kinds, make_learner(settings, make_two_kinds, begins=True), SingleProcess()
    )
    before = {name: np.array(vector) for name, vector in worker.learner.vectors.items()}
    for _ in range(2):
        assert worker.update()["gradient_steps"] > 6  # several of each of the three epochs
    after = worker.learner.vectors
    assert [name for name in after if not np.array_equal(after[name], before[name])] == ["walker"]


def test_gradient_steps_are_those_that_adam_counts() -> None:
    """A minibatch at which the policy has moved too far takes no step."""
    group = {"rollout": 16, "minibatch": 16, "epochs": 3, "target_kl": 1e-3, "learning_rate": 1e-2}
    values = {"world": {"id": "two"}, "num_worlds": 4, "ppo": group, "train": TRAIN}
    settings = build(TrainSettings, {**values, "network": {"kind": "mlp", "hidden": [4]}}, "test")
    worker = Worker(
        settings, make_two_kinds, make_learner(settings, make_two_kinds, begins=True), SingleProcess()
    )
    numbers = [worker.update() for _ in range(3)]
    assert min(each["epochs"] for each in numbers) < 3
    counted = [
        int(leaf.max())
        for leaf in jax.tree.leaves(worker.learner._moments)
        if np.issubdtype(leaf.dtype, np.integer)
    ]
    assert set(counted) == {sum(each["gradient_steps"] for each in numbers)}
