"""The learner: a compiled epoch is what its parts are, workers meet in it, and a gradient that is not finite never reaches the parameters."""

from __future__ import annotations

import time
from threading import Barrier, Lock, Thread

import jax.numpy as jnp
import numpy as np
import pytest

from interplay.core.errors import UserError
from interplay.core.settings import changed
from interplay.core.world import World
from interplay.train.learner import BAD, Epoch, Learner
from interplay.train.losses import Terms
from interplay.train.minibatches import join_batches, make_epoch
from interplay.train.parallel.exchange import SharedMemory, SingleProcess, create_block
from interplay.train.populations import find_populations
from interplay.train.selfplay.matchups import with_opponents
from interplay.train.settings import NetworkGroup, PpoGroup, TrainGroup, TrainSettings, WorldChoice
from interplay.train.shard import Shard, make_shard
from interplay.train.update_loop import stopped_at_once
from tests.train.runs import short_run, worker_of
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
    shard.play(learner.inference_parameters(), 0)
    shard.estimate()
    return shard


def epoch_of(*shards: Shard, minibatches: int) -> dict[str, Epoch]:
    """The shards' rows in the order of their first epoch."""
    orders = [shard.shuffle("agent", 0, 0) for shard in shards]
    return {"agent": make_epoch(shards, "agent", join_batches(shards, "agent"), orders, minibatches)}


@pytest.fixture
def learner() -> Learner:
    return learner_of(make_corridor(1, 0, 0))


def test_an_epoch_is_gradients_and_steps_one_after_another(learner: Learner) -> None:
    twin = learner_of(make_corridor(1, 0, 0))
    shard = played(learner, 0)
    minibatches = shard.minibatches()
    epochs = epoch_of(shard, minibatches=minibatches)
    terms, enough = learner.run_epoch(epochs, minibatches, SingleProcess())
    assert terms.shape == (minibatches, 1, 8)
    assert not enough
    for minibatch in range(minibatches):
        total = twin.gradient(epochs, minibatch)
        np.testing.assert_allclose(twin.terms(total), terms[minibatch], atol=1e-3, rtol=1e-4)
        rows = terms[minibatch, 0, Terms._fields.index("rows")]
        norm = np.linalg.norm(total[: -len(Terms._fields)] / rows)
        np.testing.assert_allclose(learner.norms[minibatch], [norm], rtol=1e-3)
        twin.apply(total)
    np.testing.assert_allclose(twin.vectors["agent"], learner.vectors["agent"], atol=1e-6)
    assert not np.array_equal(twin.vectors["agent"], twin.networks["agent"].first)


def test_the_step_of_the_minibatch_that_is_enough_is_not_taken() -> None:
    """With a limit that the first minibatch keeps (nothing has moved) and the second does not."""
    settings = changed(SETTINGS, {"ppo": {"target_kl": 1e-12, "learning_rate": 0.05}}, "test")
    world = make_corridor(1, 0, 0)
    populations = find_populations(settings.population, world)
    learner, twin = (Learner(world.kinds, settings, populations) for _ in range(2))
    shard = played(learner, 0)
    epochs = epoch_of(shard, minibatches=shard.minibatches())
    twin.apply(twin.gradient(epochs, 0))
    terms, enough = learner.run_epoch(epochs, shard.minibatches(), SingleProcess())
    assert enough
    assert len(terms) == len(learner.norms) == 2
    np.testing.assert_allclose(learner.vectors["agent"], twin.vectors["agent"], atol=1e-6)


@pytest.mark.filterwarnings("ignore:train.learners")
@pytest.mark.parametrize("device", ["cpu", "host:0"])
def test_losses_and_the_kl_stop_are_of_the_kinds_that_learn(device: str) -> None:
    """A frozen kind, whose KL is 0, neither dilutes the KL nor counts in the rows."""
    group = {"rollout": 32, "minibatch": 1024, "epochs": 3, "learning_rate": 0.05, "target_kl": 1e-6}
    train = {"shards": 1, "learners": ["walker"], "device": device}
    worker = worker_of(short_run("two", ppo=group, train=train), make_two_kinds)
    worker.play()
    worker.estimate()
    network, pending = worker.learner.networks["walker"], worker.shards[0].collector.pending["walker"]
    assert worker.shards[0].collector.pending["guide"].count == 0
    own = slice(0, pending.count)
    numbers = worker.learn()
    assert numbers["gradient_steps"] == 1  # the second epoch's first minibatch, which is all rows, is enough
    assert numbers["rows"] == 2 * pending.count
    rows = {dtype: array[own] for dtype, array in pending.seen.rows.items()}
    parameters, _ = network._network(worker.learner.vectors["walker"][0])(network._read(rows))
    log_ratio = network.distribution.log_prob(parameters, pending.action[own], None) - pending.log_prob[own]
    kl = float(np.mean((np.exp(log_ratio) - 1.0 - log_ratio)[pending.acts[own]]))
    assert kl > 1e-6
    assert numbers["kl"] == pytest.approx(kl / 2, rel=1e-3)  # mean of two minibatches, the first with 0
    once = worker_of(short_run("two", ppo=group | {"epochs": 1}, train=train), make_two_kinds).update()
    assert numbers["gradient_norm"] == pytest.approx(once["gradient_norm"])  # of the step that was taken


def test_a_logged_norm_is_of_the_minibatches_with_rows() -> None:
    groups = {"left": ["walker_0"], "right": ["walker_1"]}
    worker = worker_of(short_run("two", population={"by": "name", "groups": groups}), make_corridor)
    norms, rows = np.zeros((8, 2), np.float32), np.zeros((8, 2))
    norms[:3, 0], rows[:3, 0] = 2.0, 5.0
    norms[:, 1], rows[:, 1] = 1.0, 7.0
    expected = {"gradient_norm[left]": 2.0, "gradient_norm[right]": 1.0}
    assert worker._gradient_norms(norms, rows) == expected | {"gradient_norm": 1.5}
    none = worker._gradient_norms(norms[3:], rows[3:])
    assert np.isnan(none["gradient_norm[left]"])
    assert none["gradient_norm"] == 1.0


@pytest.mark.parametrize("device", ["cpu", "host:0"])
def test_an_update_without_ready_samples_takes_no_step(device: str) -> None:
    """No life of the corridor ends in 2 steps; with a horizon of 4 the first rollout is ready in the third update."""
    own = {"algorithm": "policy_gradient", "policy_gradient": {"rollout": 2, "horizon": 4}}
    settings = short_run("corridor", own, train={"device": device})
    worker = worker_of(settings, make_corridor)
    for _ in range(2):
        before = np.array(worker.learner.vectors["agent"])
        numbers = worker.update()
        assert (numbers["gradient_steps"], numbers["rows"]) == (0, 0)
        names = ("epochs", "policy_loss", "value_loss", "entropy", "kl", "clip_fraction", "gradient_norm")
        assert np.isnan([numbers[name] for name in names]).all()
        assert stopped_at_once(settings, numbers) == ""
        assert np.array_equal(worker.learner.vectors["agent"], before)
    numbers = worker.update()
    assert (numbers["gradient_steps"], numbers["epochs"], numbers["rows"]) == (1, 1, 32)
    assert numbers["entropy"] > 0.1
    assert numbers["gradient_norm"] > 0


def test_meetings_that_python_ends_give_the_same_bits() -> None:
    """Two learners in two threads of one process; the first waits for the second, so that its program gives up."""
    learners = [learner_of(make_corridor(1, 0, 0)) for _ in range(3)]
    shards = [played(learners[2], index) for index in range(2)]
    minibatches = max(shard.minibatches() for shard in shards)
    joined = epoch_of(*shards, minibatches=minibatches)
    learners[2].run_epoch(joined, minibatches, SingleProcess())
    block = create_block(2, max(learners[0].size * 4, 1 << 12))
    exchanges = [
        SharedMemory(block.name, rank, 2, max(learners[0].size * 4, 1 << 12), [Lock(), Lock()])
        for rank in range(2)
    ]
    finished: list[int] = []
    for exchange in exchanges:
        finish = exchange.finish
        exchange.finish = lambda v, finish=finish, rank=exchange.rank: (finished.append(rank), finish(v))[1]  # type: ignore[method-assign]

    def work(rank: int) -> None:
        epochs = epoch_of(shards[rank], minibatches=minibatches)
        learners[rank].gradient(epochs, 0)  # compiled before anybody waits
        learners[rank].run_epoch(epochs, 0, exchanges[rank])
        barrier.wait()
        time.sleep(0.5 * rank)
        learners[rank].run_epoch(epochs, minibatches, exchanges[rank])

    barrier = Barrier(2)
    threads = [Thread(target=work, args=(rank,)) for rank in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    try:
        assert not any(thread.is_alive() for thread in threads)
        assert finished
        for learner in learners[:2]:
            assert np.array_equal(learner.vectors["agent"], learners[2].vectors["agent"])
            np.testing.assert_allclose(learner.norms, learners[2].norms, rtol=1e-5)
    finally:
        for exchange in exchanges:
            exchange.close()
        block.close()
        block.unlink()


def test_shards_together_give_the_sum_of_shards_apart(learner: Learner) -> None:
    shards = [played(learner, index) for index in range(2)]
    minibatches = max(shard.minibatches() for shard in shards) + 1
    assert minibatches <= shards[0].most_minibatches
    joined = epoch_of(*shards, minibatches=minibatches)
    for minibatch in (0, 3, minibatches - 1):
        apart = [learner.gradient(epoch_of(s, minibatches=minibatches), minibatch) for s in shards]
        assert apart[0].any()
        assert apart[1].any()
        assert np.array_equal(learner.gradient(joined, minibatch), apart[0] + apart[1])


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_gradient_that_is_not_finite_is_named(learner: Learner, bad: float) -> None:
    total = np.zeros(learner.size, np.float32)
    network = learner.networks["agent"]
    named = [network.tensor_at(i) == "value/layers/0/weight" for i in range(network.size)]
    total[int(np.flatnonzero(named)[5])] = bad
    with pytest.raises(UserError, match="update 3: gradient of value/layers/0/weight is not finite; lower"):
        learner.refuse(total, 3)


def test_a_sum_that_overflows_is_refused_with_its_largest_number(learner: Learner) -> None:
    """Each number is finite, their sum is not: the verdict is `BAD`, so `refuse` raises."""
    total = np.full(learner.size, 1e38, np.float32)
    total[-2] = 2e38  # guess
    assert learner._verdict(jnp.asarray(total)) == BAD
    with pytest.raises(UserError, match="update 3: loss term guess"):
        learner.refuse(total, 3)


def test_a_gradient_with_an_infinite_norm_is_refused(learner: Learner) -> None:
    """1e20 is finite, its square is not; clipping to a norm would divide every gradient to 0."""
    total = np.zeros(learner.size, np.float32)
    total[0] = 1e18
    assert learner._verdict(jnp.asarray(total)) != BAD
    total[0] = 1e20
    assert learner._verdict(jnp.asarray(total)) == BAD
    with pytest.raises(UserError, match=r"update 3: gradient of .* is too large for a float32 sum"):
        learner.refuse(total, 3)


def test_the_kind_of_a_bad_gradient_is_named() -> None:
    learner = learner_of(make_two_kinds(1, 0, 0))
    total = np.zeros(learner.size, np.float32)
    total[-1] = np.nan  # the last kind's last term
    with pytest.raises(UserError, match=r"loss term rows \(guide\) is not finite"):
        learner.refuse(total, 1)
