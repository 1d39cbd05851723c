"""Minibatch orders: one of its own for every epoch, shard, update, kind and seed, on both roads; the same when asked again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from interplay.core.settings import build
from interplay.train.exchange import Alone
from interplay.train.line_up import with_opponents
from interplay.train.settings import TrainSettings
from interplay.train.sorted_shard import Ready
from interplay.train.sorted_training import SortedTraining
from interplay.train.stacked_learner import StackedLearner
from interplay.train.trainer import make_learner, make_training
from tests.train.toy_worlds import TwoKinds, make_two_kinds

ROWS, MINIBATCHES = 60, 3


def settings_of(**own: Any) -> TrainSettings:
    values = {
        "world": {"id": "two"},
        "num_worlds": 4,
        "train": {"shards": 2},
        "ppo": {"rollout": 8, "minibatch": 128},
        "network": {"kind": "mlp", "hidden": [4]},
    }
    return build(TrainSettings, {**values, **own}, "test")


def orders_of(road: str, seed: int = 0) -> Any:
    """A function that gives the order of (kind, shard, update, epoch): (ROWS,)."""
    settings = settings_of(seed=seed)
    if road == "plain":
        learner: Any = make_learner(settings, make_two_kinds, begins=True)
        training: Any = make_training(settings, make_two_kinds, learner, Alone())
    else:
        world = TwoKinds(1)
        learner = StackedLearner(world.kinds, settings, with_opponents(settings, world))
        training = SortedTraining(settings, make_two_kinds, learner, Alone())

    def order(kind: str, shard: int, update: int, epoch: int) -> np.ndarray:
        one = training.shards[shard]
        if road == "plain":
            one._used[kind], one._demands[kind] = np.arange(ROWS, dtype=np.int32), None
            rows, _ = one.shuffle(kind, update, epoch, MINIBATCHES)
            assert rows.shape[0] == MINIBATCHES
            return rows.T.ravel()[:ROWS]
        one.ready[kind] = Ready(np.arange(ROWS), *[np.zeros(ROWS)] * 4)
        return np.concatenate(one.shuffle(kind, update, epoch, MINIBATCHES))

    return order


@pytest.mark.parametrize("road", ["plain", "sorted"])
def test_every_order_is_its_own(road: str) -> None:
    order = orders_of(road)
    base = order("walker", 0, 0, 0)
    assert sorted(base.tolist()) == list(range(ROWS))
    assert base.tolist() != list(range(ROWS))
    assert np.array_equal(order("walker", 0, 0, 0), base)
    others = {
        "epoch": order("walker", 0, 0, 1),
        "update": order("walker", 0, 1, 0),
        "shard": order("walker", 1, 0, 0),
        "kind": order("guide", 0, 0, 0),
        "seed": orders_of(road, seed=1)("walker", 0, 0, 0),
    }
    assert [name for name, other in others.items() if np.array_equal(other, base)] == []
    assert len({tuple(each.tolist()) for each in others.values()}) == len(others)
