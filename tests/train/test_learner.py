"""The learner: one compiled step is what its parts are, and a gradient that is not finite never reaches the parameters."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from interplay.core.errors import UserError
from interplay.train.ppo import Epoch, Learner
from interplay.train.settings import NetworkGroup, PpoGroup, TrainGroup, TrainSettings, WorldChoice
from interplay.train.shard import make_shard
from tests.train.toy_worlds import make_corridor, make_two_kinds

SETTINGS = TrainSettings(
    world=WorldChoice(id="corridor"),
    num_worlds=16,
    train=TrainGroup(shards=2),
    ppo=PpoGroup(rollout=32, minibatch=64),
    network=NetworkGroup(kind="mlp", hidden=(8,)),
)


def epoch_of(learner: Learner, index: int) -> dict[str, Epoch]:
    """One shard's rows in the order of its first epoch."""
    shard = make_shard(index, make_corridor, learner.brains, SETTINGS)
    shard.play(learner.vectors, 0)
    shard.estimate()
    order, plan = shard.shuffle("agent", 0, 0, shard.minibatches())
    batch = shard.batches["agent"]
    rows = np.where(order < 0, batch.acts.size, order)
    return {"agent": Epoch(batch, jnp.array(rows[:, None]), jnp.array(plan[:, None]))}


@pytest.fixture
def learner() -> Learner:
    return Learner(make_corridor(1, 0, 0).kinds, SETTINGS)


def test_a_step_applies_the_sum_before_and_then_computes(learner: Learner) -> None:
    twin = Learner(make_corridor(1, 0, 0).kinds, SETTINGS)
    epochs = epoch_of(learner, 0)
    first = learner.step(None, epochs, 0).copy()
    assert np.array_equal(np.asarray(learner.vectors["agent"]), twin.brains["agent"].first)
    second = learner.step(first, epochs, 1)
    assert not np.array_equal(np.asarray(learner.vectors["agent"]), twin.brains["agent"].first)

    twin.apply(first)
    np.testing.assert_allclose(twin.vectors["agent"], learner.vectors["agent"], atol=1e-7)
    np.testing.assert_allclose(twin.step(None, epochs, 1), second, atol=1e-3, rtol=1e-4)


def test_shards_together_give_the_sum_of_shards_apart(learner: Learner) -> None:
    parts = [epoch_of(learner, index)["agent"] for index in range(2)]
    rows = parts[0].batch.acts.size
    shifted = jnp.where(parts[1].order == rows, 2 * rows, parts[1].order + rows)
    first = jnp.where(parts[0].order == rows, 2 * rows, parts[0].order)
    count = min(len(first), len(shifted))
    joined = Epoch(
        jax.tree.map(lambda *leaves: jnp.concatenate(leaves), *(part.batch for part in parts)),
        jnp.concatenate([first[:count], shifted[:count]], axis=1),
        jnp.concatenate([part.plan[:count] for part in parts], axis=1),
    )
    apart = [learner.step(None, {"agent": part}, 3) for part in parts]
    assert np.array_equal(learner.step(None, {"agent": joined}, 3), apart[0] + apart[1])


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_gradient_that_is_not_finite_is_named(learner: Learner, bad: float) -> None:
    total = np.zeros(learner.size, np.float32)
    learner.check(total, 3)
    brain = learner.brains["agent"]
    at = int(np.flatnonzero([brain.tensor_at(i) == "value/layers/0/weight" for i in range(brain.size)])[5])
    total[at] = bad
    with pytest.raises(UserError, match="update 3: gradient of value/layers/0/weight is not finite; lower"):
        learner.check(total, 3)


def test_the_kind_of_a_bad_gradient_is_named() -> None:
    learner = Learner(make_two_kinds(1, 0, 0).kinds, SETTINGS)
    total = np.zeros(learner.size, np.float32)
    total[-1] = np.nan  # the last kind's last term
    with pytest.raises(UserError, match=r"loss term rows \(guide\) is not finite"):
        learner.check(total, 1)
