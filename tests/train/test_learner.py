"""The learner: one compiled step is what its parts are, and a gradient that is not finite never reaches the parameters."""

from __future__ import annotations

import numpy as np
import pytest

from interplay.core.errors import UserError
from interplay.core.world import World
from interplay.train.learner import Epoch, Learner
from interplay.train.line_up import with_opponents
from interplay.train.minibatches import join_batches, make_epoch
from interplay.train.settings import NetworkGroup, PpoGroup, TrainGroup, TrainSettings, WorldChoice
from interplay.train.shard import Shard, make_shard
from tests.train.toy_worlds import make_corridor, make_two_kinds

SETTINGS = TrainSettings(
    world=WorldChoice(id="corridor"),
    num_worlds=16,
    train=TrainGroup(shards=2),
    ppo=PpoGroup(rollout=32, minibatch=64),
    network=NetworkGroup(kind="mlp", hidden=(8,)),
)


def learner_of(world: World) -> Learner:
    return Learner(world.kinds, SETTINGS, with_opponents(SETTINGS, world))


def played(learner: Learner, index: int) -> Shard:
    shard = make_shard(index, make_corridor, learner, SETTINGS)
    shard.play(learner.forms(), 0)
    shard.estimate()
    return shard


def epoch_of(*shards: Shard, minibatches: int) -> dict[str, Epoch]:
    """The shards' rows in the order of their first epoch."""
    orders = [shard.shuffle("agent", 0, 0) for shard in shards]
    return {"agent": make_epoch(shards, "agent", join_batches(shards, "agent"), orders, minibatches)}


@pytest.fixture
def learner() -> Learner:
    return learner_of(make_corridor(1, 0, 0))


def test_a_step_applies_the_sum_before_and_then_computes(learner: Learner) -> None:
    twin = learner_of(make_corridor(1, 0, 0))
    shard = played(learner, 0)
    epochs = epoch_of(shard, minibatches=shard.minibatches())
    first = learner.step(None, epochs, 0).copy()
    assert np.array_equal(np.asarray(learner.vectors["agent"]), twin.networks["agent"].first)
    second = learner.step(first, epochs, 1)
    assert not np.array_equal(np.asarray(learner.vectors["agent"]), twin.networks["agent"].first)

    twin.apply(first)
    np.testing.assert_allclose(twin.vectors["agent"], learner.vectors["agent"], atol=1e-7)
    np.testing.assert_allclose(twin.step(None, epochs, 1), second, atol=1e-3, rtol=1e-4)


def test_shards_together_give_the_sum_of_shards_apart(learner: Learner) -> None:
    shards = [played(learner, index) for index in range(2)]
    minibatches = max(shard.minibatches() for shard in shards) + 1
    assert minibatches <= shards[0].most_minibatches
    joined = epoch_of(*shards, minibatches=minibatches)
    for minibatch in (0, 3, minibatches - 1):
        apart = [learner.step(None, epoch_of(s, minibatches=minibatches), minibatch) for s in shards]
        assert apart[0].any()
        assert apart[1].any()
        assert np.array_equal(learner.step(None, joined, minibatch), apart[0] + apart[1])


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_gradient_that_is_not_finite_is_named(learner: Learner, bad: float) -> None:
    total = np.zeros(learner.size, np.float32)
    learner.check(total, 3)
    network = learner.networks["agent"]
    named = [network.tensor_at(i) == "value/layers/0/weight" for i in range(network.size)]
    total[int(np.flatnonzero(named)[5])] = bad
    with pytest.raises(UserError, match="update 3: gradient of value/layers/0/weight is not finite; lower"):
        learner.check(total, 3)


def test_the_kind_of_a_bad_gradient_is_named() -> None:
    learner = learner_of(make_two_kinds(1, 0, 0))
    total = np.zeros(learner.size, np.float32)
    total[-1] = np.nan  # the last kind's last term
    with pytest.raises(UserError, match=r"loss term rows \(guide\) is not finite"):
        learner.check(total, 1)
