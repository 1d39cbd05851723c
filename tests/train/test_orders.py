"""Minibatch orders: one of its own for every epoch, shard, update, kind and seed; the same when asked again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from interplay.train.settings import TrainSettings
from tests.train.runs import short_run, worker_of
from tests.train.toy_worlds import make_two_kinds

ROWS = 60


def settings_of(**own: Any) -> TrainSettings:
    return short_run("two", {"num_worlds": 4, "ppo": {"rollout": 8, "minibatch": 128}} | own)


def orders_of(**own: Any) -> Callable[[str, int, int, int], np.ndarray]:
    """A function that gives the order of (kind, shard, update, epoch): (ROWS,)."""
    settings = settings_of(**own)
    worker = worker_of(settings, make_two_kinds)

    def order(kind: str, shard: int, update: int, epoch: int) -> np.ndarray:
        one = worker.shards[shard]
        one.units[kind] = np.arange(ROWS)[:, None]
        return one.shuffle(kind, update, epoch)

    return order


def test_every_order_is_its_own() -> None:
    order = orders_of()
    base = order("walker", 0, 0, 0)
    assert sorted(base.tolist()) == list(range(ROWS))
    assert base.tolist() != list(range(ROWS))
    assert np.array_equal(order("walker", 0, 0, 0), base)
    others = {
        "epoch": order("walker", 0, 0, 1),
        "update": order("walker", 0, 1, 0),
        "shard": order("walker", 1, 0, 0),
        "kind": order("guide", 0, 0, 0),
        "seed": orders_of(seed=1)("walker", 0, 0, 0),
    }
    assert [name for name, other in others.items() if np.array_equal(other, base)] == []
    assert len({tuple(each.tolist()) for each in others.values()}) == len(others)


def test_where_everything_is_learnt_from_at_once_nothing_is_shuffled() -> None:
    order = orders_of(algorithm="policy_gradient", policy_gradient={"rollout": 8, "horizon": 8})
    assert order("walker", 1, 3, 0).tolist() == list(range(ROWS))
