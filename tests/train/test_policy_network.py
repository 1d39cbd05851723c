"""Networks of several populations learn as separate ones would, and one without rows stays as it is, bit for bit."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from interplay.core.errors import UserError
from interplay.train import networks
from interplay.train.algorithms.policy_gradient import policy_gradient_terms
from interplay.train.algorithms.ppo import ppo_terms
from interplay.train.batches import Batch, Minibatch
from interplay.train.learner import Learner
from interplay.train.losses import NUM_TERMS, Prediction
from interplay.train.minibatches import join_batches, make_epoch
from interplay.train.observations import Rows
from interplay.train.play.trained_policy import draw_keys
from interplay.train.policy_network import PolicyNetwork, step_keys
from interplay.train.populations import Populations
from interplay.train.settings import (
    NetworkGroup,
    PolicyGradientGroup,
    PopulationGroup,
    PpoGroup,
    TrainGroup,
    TrainSettings,
    WorldChoice,
)
from interplay.train.shard import Shard
from tests.train.blocks import act_greedily, cut_minibatch, gradient_of
from tests.train.meadow import Meadow

NAMES = ("pop0", "pop1", "pop2")
COUNTS = (37, 0, 21)  # rows of each population: several blocks, none, a block that is not full
TOTAL = sum(COUNTS)


def settings_of(algorithm: str = "policy_gradient", kind: str = "tiles", **group: Any) -> TrainSettings:
    return TrainSettings(
        world=WorldChoice(id="meadow"),
        num_worlds=2,
        algorithm=algorithm,
        train=TrainGroup(shards=1),
        ppo=PpoGroup(rollout=16, minibatch=64, entropy_coefficient=0.01),
        policy_gradient=PolicyGradientGroup(rollout=16),
        population=PopulationGroup(block=8, **group),
        network=NetworkGroup(kind=kind, width=8, hidden=(8,), activation="none", probability_floor=0.001),
    )


def learner_of(settings: TrainSettings, names: tuple[str, ...] = NAMES) -> Learner:
    return Learner(Meadow().kinds, settings, Populations(names, None))


def observations() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(4)
    return {
        "tiles": rng.integers(0, 5, (TOTAL, 3, 3)).astype(np.uint8),
        "entities": rng.normal(size=(TOTAL, 3, 11)).astype(np.float32),
        "count": rng.integers(1, 4, TOTAL).astype(np.int16),
    }


def rows_of(network: PolicyNetwork) -> Rows:
    """Rows of observations, and a block more that means nothing."""
    rows = network.layout.allocate(TOTAL + network.block)
    network.layout.write(observations(), None, {dtype: array[:TOTAL] for dtype, array in rows.items()})
    return rows


def batch_of(network: PolicyNetwork) -> Batch:
    """Samples sorted by population, with everything drawn at random; those after the last are not to count."""
    rng, rows = np.random.default_rng(5), rows_of(network)
    number = TOTAL + network.block
    action = np.stack([rng.integers(0, 5, number), np.ones(number)], axis=1).astype(np.float32)
    mask = np.ones((number, network.distribution.choices), bool)
    mask[:, 4] = action[:, 0] == 4
    drawn = [rng.normal(mean, spread, number) for mean, spread in ((-2, 0.1), (0, 1), (0, 1))]
    for array in drawn:
        array[TOTAL:] = 1e3
    acts = (rng.random(number) < 0.9).astype(np.float32)
    return Batch(network.prepare(rows), action, *(a.astype(np.float32) for a in drawn), acts, mask)


def alone(network: PolicyNetwork, settings: TrainSettings, batch: Batch, population: int) -> np.ndarray:
    """Gradient and terms of one population's rows by hand, without blocks, stacks or tables kept."""
    start = sum(COUNTS[:population])
    own = slice(start, start + COUNTS[population])
    seen = {key: jnp.asarray(leaf[own], jnp.float32) for key, leaf in observations().items()}
    samples = Batch(None, *(jnp.asarray(part[own]) for part in batch[1:7]))
    action, old, advantage, target, acts, mask = samples[1:7]

    def loss(vector: jax.Array) -> tuple[jax.Array, Any]:
        plain = network._network(vector)
        parameters, value = plain(networks.prepare(plain, seen))
        log_prob = network.distribution.log_prob(parameters, action, mask)
        entropy = network.distribution.entropy(parameters, mask)
        known = Prediction(parameters, log_prob, entropy, value), samples, jnp.ones_like(value)
        bonus, errors = 0.01 * (entropy * acts).sum(), ((value - target) ** 2).sum()
        if settings.algorithm == "ppo":
            ratio = jnp.exp(log_prob - old)
            surrogate = jnp.minimum(ratio * advantage, jnp.clip(ratio, 0.8, 1.2) * advantage)
            return -(surrogate * acts).sum() + 0.5 * errors - bonus, ppo_terms(*known, 0.2)
        policy = -(log_prob * advantage * acts).sum()
        return policy + 0.25 * 0.5 * errors - bonus, policy_gradient_terms(*known)

    gradient, terms = jax.jit(jax.grad(loss, has_aux=True))(jnp.asarray(network.first[population]))
    return np.concatenate([gradient, np.array(terms)])


@pytest.mark.parametrize("algorithm", ["policy_gradient", "ppo"])
@pytest.mark.parametrize("kind", ["tiles", "mlp"])
def test_gradients_are_those_of_separate_learners(algorithm: str, kind: str) -> None:
    settings = settings_of(algorithm, kind)
    learner = learner_of(settings)
    network = learner.networks["agent"]
    assert not np.array_equal(network.first[0], network.first[1])
    batch = batch_of(network)
    total = gradient_of(learner, batch, cut_minibatch(COUNTS, network.block, TOTAL + network.block))
    np.testing.assert_array_equal(learner.vectors["agent"], network.first)
    for population in (0, 2):
        expected = alone(network, settings, batch, population)
        np.testing.assert_allclose(total[population], expected, rtol=2e-4, atol=2e-4)
    assert not total[1].any()


def test_a_population_by_itself_learns_what_it_learns_beside_others() -> None:
    """The gradient of a run with one population, whose minibatch is one block, is that of the blocks."""
    settings = settings_of("ppo", "mlp")
    many, one = learner_of(settings), learner_of(settings, NAMES[:1])
    network = one.networks["agent"]
    np.testing.assert_array_equal(many.networks["agent"].first[:1], network.first)
    batch, nobody = batch_of(network), TOTAL + network.block
    in_blocks = cut_minibatch((COUNTS[0], 0, 0), network.block, nobody)
    index = np.append(np.arange(COUNTS[0]), [nobody] * 3).astype(np.int32)
    whole = Minibatch(index[None, None], *np.zeros((2, 1, 1), np.int32), np.ones(1, np.int32))
    total, expected = gradient_of(one, batch, whole), gradient_of(many, batch, in_blocks)
    np.testing.assert_allclose(total, expected[:1], rtol=2e-4, atol=2e-4)
    np.testing.assert_allclose(total[0], alone(network, settings, batch, 0), rtol=2e-4, atol=2e-4)


def test_acting_in_blocks_is_acting_alone() -> None:
    network = learner_of(settings_of()).networks["agent"]
    rows, batch = rows_of(network), batch_of(network)
    (said,) = act_greedily(network, rows, batch.mask, COUNTS)
    for other in act_greedily(network, rows, batch.mask, COUNTS, shards=2):
        assert np.array_equal(other[:TOTAL], said[:TOTAL])  # bit for bit, however many shards go in step
    start = 0

    @jax.jit
    def alone(vector: jax.Array, seen: Any, action: jax.Array, mask: jax.Array) -> Any:
        plain = network._network(vector)
        parameters, value = plain(networks.prepare(plain, seen))
        likeliest = network.distribution.greedy(parameters, mask)
        return likeliest, network.distribution.log_prob(parameters, action, mask), value

    for population, count in enumerate(COUNTS):
        own = slice(start, start + count)
        start += count
        if not count:
            continue
        seen = {key: jnp.asarray(leaf[own], jnp.float32) for key, leaf in observations().items()}
        likeliest, log_prob, value = alone(network.first[population], seen, said[own, :-2], batch.mask[own])
        np.testing.assert_allclose(said[own, -1], value, atol=1e-5)
        np.testing.assert_allclose(said[own, -2], log_prob, atol=1e-5)
        assert np.array_equal(said[own, :-2], likeliest)


def sums_of(learner: Learner, counts: tuple[int, ...], scale: float = 1.0) -> np.ndarray:
    """Summed gradients of populations with so many rows."""
    rng, network = np.random.default_rng(7), learner.networks["agent"]
    total = rng.normal(size=(len(counts), network.size + NUM_TERMS)).astype(np.float32) * scale
    total[:, -1] = counts
    total *= (np.array(counts) > 0)[:, None]
    return total.ravel()


def state_of(learner: Learner, population: str) -> dict[str, bytes]:
    return {
        f"{stem}/{name}": array.tobytes()
        for stem, group in learner.save().items()
        if stem.endswith(population)
        for name, array in group.items()
    }


@pytest.mark.parametrize("algorithm", ["policy_gradient", "ppo"])
def test_a_population_without_rows_stays_bit_for_bit(algorithm: str) -> None:
    learner = learner_of(settings_of(algorithm))
    learner.apply(sums_of(learner, (5, 4, 3)))  # so that there is momentum to move it
    before = [state_of(learner, name) for name in NAMES]
    learner.apply(sums_of(learner, (5, 0, 3)))
    after = [state_of(learner, name) for name in NAMES]
    assert after[1] == before[1]
    assert after[0] != before[0]
    assert after[2] != before[2]


def test_a_step_is_the_paper_s_of_every_population_by_itself() -> None:
    """Mean over own rows, every element cut at 5, weight decay into Adam; moments counted per population."""
    learner = learner_of(settings_of())
    network = learner.networks["agent"]
    first = network.first.copy()
    counts = [(5, 4, 3), (5, 0, 3), (2, 6, 3)]
    totals = [sums_of(learner, each, 40.0) for each in counts]
    for total in totals:
        learner.apply(total)
    for population in range(3):
        vector, m, v, steps = first[population].astype(np.float64), 0.0, 0.0, 0
        for each, total in zip(counts, totals, strict=True):
            if not each[population]:
                continue
            part = total.reshape(3, -1)[population, :-NUM_TERMS].astype(np.float64)
            gradient = np.clip(part / each[population], -5, 5) + 1e-5 * vector
            steps += 1
            m, v = 0.9 * m + 0.1 * gradient, 0.999 * v + 0.001 * gradient**2
            vector = vector - 1e-3 * (m / (1 - 0.9**steps)) / (np.sqrt(v / (1 - 0.999**steps)) + 1e-8)
        np.testing.assert_allclose(learner.vectors["agent"][population], vector, atol=2e-6)


def test_populations_may_begin_alike() -> None:
    first = learner_of(settings_of(share_init=True)).networks["agent"].first
    assert np.array_equal(first[0], first[2])


def test_a_bad_gradient_names_its_tensor_and_population() -> None:
    learner = learner_of(settings_of())
    total = sums_of(learner, (5, 4, 3))
    network = learner.networks["agent"]
    at = next(i for i in range(network.size) if network.tensor_at(i).startswith("value"))
    total[2 * (network.size + NUM_TERMS) + at] = np.nan
    with pytest.raises(UserError, match=r"update 3: gradient of value/weight \(pop2\) is not finite"):
        learner.refuse(total, 3)


@pytest.mark.parametrize("algorithm", ["policy_gradient", "ppo"])
def test_advantages_are_normalised_per_population_and_rows_are_used_once(algorithm: str) -> None:
    settings = settings_of(algorithm)
    learner = learner_of(settings)
    world = Meadow(2)
    world.reset()
    shard = Shard(0, world, learner, settings)
    acted, used = 0, 0
    for update in range(14):
        shard.play(learner.inference_parameters(), update)
        acted += shard.collector.acted
        shard.normalise(shard.estimate())
        ready = shard.ready["agent"]
        for population in range(3):
            own = ready.advantage[ready.population == population]
            if len(own) > 2:
                assert (abs(own.mean()), own.std()) == pytest.approx((0.0, 1.0), abs=1e-3)
        assert rows_of_epoch(shard) == list(range(len(ready.picked)))
        used += len(ready.picked)
        shard.finish()
        assert acted == used + shard.collector.pending["agent"].count
        assert shard.collector.pending["agent"].count <= 2 * 8 * settings.policy_gradient.horizon


def rows_of_epoch(shard: Shard) -> list[int]:
    """The rows of an epoch, each block's of its own population; sorted."""
    joined, count = join_batches([shard], "agent"), shard.minibatches()
    minibatches = make_epoch([shard], "agent", joined, [shard.shuffle("agent", 0, 0)], count).minibatches
    index, population = np.asarray(minibatches.index), np.asarray(minibatches.population)
    rows: list[int] = []
    for step, number in enumerate(np.asarray(minibatches.number)[:, 0]):
        for block in range(number):
            there = index[step, 0, block][index[step, 0, block] < joined[2]]
            assert set(shard.ready["agent"].population[there].tolist()) == {int(population[step, 0, block])}
            rows += there.tolist()
    return sorted(rows)


def test_the_floor_keeps_every_legal_choice_possible() -> None:
    from gymnasium import spaces

    from interplay.train.distributions import Distribution

    floor, logits = 0.001, jnp.array([[9.0, -9.0, -20.0, 1.0, 0.0]])
    plain = np.asarray(jax.nn.softmax(logits[:, :3]))
    distribution = Distribution(spaces.MultiDiscrete([3, 2]), floor)
    mask = jnp.array([[True, True, True, True, False]])
    action = jnp.array([[2.0, 0.0]])
    expected = np.log((plain[0, 2] + floor) / (1 + 3 * floor))
    told, entropy = jax.jit(
        lambda x: (distribution.log_prob(x, action, mask)[0], distribution.entropy(x, mask)[0])
    )(logits)
    assert float(told) == pytest.approx(expected, abs=1e-4)
    p = (plain[0] + floor) / (1 + 3 * floor)
    assert float(entropy) == pytest.approx(-(p * np.log(p)).sum(), abs=1e-4)


def test_keys_of_many_steps_are_those_folded_in_one_by_one() -> None:
    shards, last = [jax.random.key(3), jax.random.key(4)], 2**32 - 1
    data = np.stack([np.asarray(jax.random.key_data(key)) for key in shards])
    found = np.asarray(step_keys(data, np.array([7, last], np.uint32), 3))
    for t, counter in enumerate((7, last)):
        for s, key in enumerate(shards):
            for block in range(3):
                drawn = jax.random.fold_in(jax.random.fold_in(key, np.uint32(counter)), block)
                assert np.array_equal(found[t, s, block], np.asarray(jax.random.key_data(drawn)))
    assert len(np.unique(found.reshape(-1, 2), axis=0)) == 2 * 2 * 3


@pytest.mark.parametrize("seed", [0, 2**31, 2**32 - 1])
def test_keys_of_one_call_are_those_folded_in_one_by_one(seed: int) -> None:
    own = jax.random.fold_in(jax.random.fold_in(jax.random.key(seed), 1), 5)
    for block, found in enumerate(draw_keys(np.uint32(seed), np.uint32(1), np.uint32(5), 3)[0]):
        assert np.array_equal(found, jax.random.key_data(jax.random.fold_in(own, block)))


@pytest.mark.parametrize("kind", ["mlp", "tiles"])
def test_tensors_act_as_the_vector_that_they_are_of(kind: str) -> None:
    """`precompute` gives tensors; a network takes its flat vector as well."""
    network = learner_of(settings_of(kind=kind), ("pop0",)).networks["agent"]
    rows = network.layout.allocate(1, 8)
    rng = np.random.default_rng(2)
    for array in rows.values():
        array[...] = rng.integers(0, 2, array.shape)
    keys = np.asarray(step_keys(np.ones((1, 2), np.uint32), np.zeros(1, np.uint32), 1))[0]
    by_tensors = network.act(network.precompute(network.first), rows, None, None, keys, block=8)
    by_vector = network.act(network._precompute(network.first), rows, None, None, keys, block=8)
    assert np.array_equal(by_tensors, by_vector)
    assert len(np.unique(np.asarray(by_tensors)[0, :, -1])) > 1
