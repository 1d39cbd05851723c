"""Stacked populations learn as separate learners would, and one without rows stays as it is, bit for bit."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from interplay.core.errors import UserError
from interplay.train import losses
from interplay.train.brain import NUM_TERMS, Batch, Brain
from interplay.train.populations import Populations, cut_blocks, find_populations
from interplay.train.settings import (
    NetworkGroup,
    PolicyGradientGroup,
    PopulationGroup,
    TrainGroup,
    TrainSettings,
    WorldChoice,
)
from interplay.train.sorted_shard import SortedShard
from interplay.train.stacked import Rows, StackedBrain
from interplay.train.stacked_learner import StackedLearner
from tests.train.meadow import Meadow

NAMES = ("pop0", "pop1", "pop2")
COUNTS = (37, 0, 21)  # rows of each population: several blocks, none, a block that is not full


def settings_of(algorithm: str = "policy_gradient", kind: str = "tiles", **group: Any) -> TrainSettings:
    return TrainSettings(
        world=WorldChoice(id="meadow"),
        num_worlds=2,
        algorithm=algorithm,  # type: ignore[arg-type]
        train=TrainGroup(shards=1),
        policy_gradient=PolicyGradientGroup(rollout=16),
        population=PopulationGroup(block=8, **group),
        network=NetworkGroup(kind=kind, width=8, hidden=(8,), activation="none", probability_floor=0.001),
    )


def brain_of(settings: TrainSettings) -> StackedBrain:
    return StackedBrain(Meadow().kinds[0], settings, jax.random.key(1), Populations(NAMES, None))


def rows_of(brain: StackedBrain) -> tuple[Rows, Any]:
    """Sorted rows with everything drawn at random."""
    rng, total = np.random.default_rng(4), sum(COUNTS)
    rows = brain.allocate(total, masked=True)
    rows.leaves["tiles"][:] = rng.integers(0, 5, rows.leaves["tiles"].shape)
    rows.leaves["entities"][:] = rng.normal(size=rows.leaves["entities"].shape)
    rows.leaves["count"][:] = rng.integers(1, 4, len(rows.leaves["count"]))
    rows.action[:, 0], rows.action[:, 1] = rng.integers(0, 5, len(rows.action)), 1
    rows.log_prob[:] = rng.normal(-2, 0.1, len(rows.log_prob))
    rows.advantage[:], rows.target[:] = (rng.normal(size=len(rows.target)) for _ in range(2))
    rows.acts[:] = rng.random(len(rows.acts)) < 0.9
    rows.mask[:, 4] = rows.action[:, 0] == 4
    return rows, cut_blocks(COUNTS, brain.block, brain.most_blocks(total))


def alone(brain: StackedBrain, settings: TrainSettings, rows: Rows, population: int) -> np.ndarray:
    """Gradient and terms of one population's rows by a learner of its own, without blocks, stacks or tables kept."""
    start, count = sum(COUNTS[:population]), COUNTS[population]
    own = slice(start, start + count)
    cut = jax.tree.map(lambda leaf: jnp.asarray(leaf[own]), rows)
    single = Brain(brain.kind, settings, jax.random.key(0))
    vector = jnp.asarray(brain.stack[population])
    flat = {key: leaf.astype(jnp.float32) for key, leaf in cut.leaves.items()}
    if settings.algorithm == "ppo":
        batch = Batch(
            single._static.prepare(flat),
            cut.action,
            cut.log_prob,
            cut.advantage,
            cut.target,
            cut.acts,
            cut.mask,
        )
        own_gradient = jax.jit(lambda vector: single._shard_gradient(vector, batch, jnp.arange(count), None))
        return np.asarray(own_gradient(vector))

    def loss(vector: jax.Array) -> tuple[jax.Array, Any]:
        network = single._network(vector)
        parameters, value = network(network.prepare(flat))
        log_prob = single.distribution.log_prob(parameters, cut.action, cut.mask)
        entropy = single.distribution.entropy(parameters, cut.mask)
        by_hand = (
            -(log_prob * cut.advantage * cut.acts).sum() + 0.25 * 0.5 * ((value - cut.target) ** 2).sum()
        )
        known = (cut.log_prob, cut.advantage, cut.target, cut.acts, jnp.ones_like(value))
        terms = losses.policy_gradient_terms(log_prob, entropy, value, *known)
        return by_hand - 0.01 * (entropy * cut.acts).sum(), terms

    gradient, terms = jax.jit(jax.grad(loss, has_aux=True))(vector)
    return np.concatenate([gradient, np.array(terms)])


@pytest.mark.parametrize("algorithm", ["policy_gradient", "ppo"])
@pytest.mark.parametrize("kind", ["tiles", "mlp"])
def test_gradients_are_those_of_separate_learners(algorithm: str, kind: str) -> None:
    settings = settings_of(algorithm, kind)
    brain = brain_of(settings)
    assert not np.array_equal(brain.stack[0], brain.stack[1])
    rows, blocks = rows_of(brain)
    nothing = jnp.zeros((len(NAMES), brain.size + NUM_TERMS), jnp.float32)
    total = np.asarray(brain.accumulate(jnp.asarray(brain.stack), nothing, rows, blocks))
    for population in (0, 2):
        expected = alone(brain, settings, rows, population)
        np.testing.assert_allclose(total[population], expected, rtol=2e-4, atol=2e-4)
    assert not total[1].any()


def test_acting_in_blocks_is_acting_alone() -> None:
    settings = settings_of()
    brain = brain_of(settings)
    rows, blocks = rows_of(brain)
    forms = brain.unfold(jnp.asarray(brain.stack))
    said = np.asarray(
        brain.act_blocks(forms, rows.leaves, rows.mask, blocks, jax.random.key(0), 0, greedy=True)
    )
    start = 0

    @jax.jit
    def alone(vector: jax.Array, flat: Any, action: jax.Array, mask: jax.Array) -> Any:
        network = brain._network(vector)
        parameters, value = network(network.prepare(flat))
        likeliest = brain.distribution.greedy(parameters, mask)
        return likeliest, brain.distribution.log_prob(parameters, action, mask), value

    for population, count in enumerate(COUNTS):
        own = slice(start, start + count)
        start += count
        if not count:
            continue
        flat = {key: jnp.asarray(leaf[own], jnp.float32) for key, leaf in rows.leaves.items()}
        vector, mask = jnp.asarray(brain.stack[population]), jnp.asarray(rows.mask[own])
        likeliest, log_prob, value = alone(vector, flat, said[own, :-2], mask)
        np.testing.assert_allclose(said[own, -1], value, atol=1e-5)
        np.testing.assert_allclose(said[own, -2], log_prob, atol=1e-5)
        assert np.array_equal(said[own, :-2], likeliest)


def learner_of(settings: TrainSettings) -> StackedLearner:
    world = Meadow()
    return StackedLearner(world.kinds, settings, find_populations(settings.population, world))


def sums_of(learner: StackedLearner, counts: tuple[int, ...], scale: float = 1.0) -> np.ndarray:
    """Summed gradients of populations with so many rows."""
    rng, brain = np.random.default_rng(7), learner.brains["agent"]
    total = rng.normal(size=(len(counts), brain.size + NUM_TERMS)).astype(np.float32) * scale
    total[:, -1] = counts
    total *= (np.array(counts) > 0)[:, None]
    return total.ravel()


def state_of(learner: StackedLearner, population: str) -> dict[str, bytes]:
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
    brain = learner.brains["agent"]
    first = brain.stack.copy()
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
    stack = brain_of(settings_of(share_init=True)).stack
    assert np.array_equal(stack[0], stack[2])


def test_a_bad_gradient_names_its_tensor_and_population() -> None:
    learner = learner_of(settings_of())
    total = sums_of(learner, (5, 4, 3))
    brain = learner.brains["agent"]
    at = next(i for i in range(brain.size) if brain.tensor_at(i).startswith("value"))
    total[2 * (brain.size + NUM_TERMS) + at] = np.nan
    with pytest.raises(UserError, match=r"update 3: gradient of value/weight \(agent, pop2\) is not finite"):
        learner.check(total, 3)


def test_advantages_are_normalised_per_population_and_rows_are_used_once() -> None:
    settings = settings_of()
    learner = learner_of(settings)
    world = Meadow(2)
    world.reset()
    shard = SortedShard(0, world, learner.brains, learner.populations, settings)
    acted, used = 0, 0
    for update in range(14):
        shard.play(learner.forms(), update)
        acted += shard.collector.acted
        shard.normalise(shard.estimate())
        ready = shard.ready["agent"]
        assert (np.diff(ready.population.astype(int)) >= 0).all()
        for population in range(3):
            own = ready.advantage[ready.population == population]
            if len(own) > 2:
                assert (abs(own.mean()), own.std()) == pytest.approx((0.0, 1.0), abs=1e-3)
        pieces = [int(blocks.rows.sum()) for _, blocks in shard.chunks("agent")]
        assert sum(pieces) == len(ready.picked)
        used += len(ready.picked)
        shard.finish()
        assert acted == used + shard.collector.pending["agent"].count
        assert shard.collector.pending["agent"].count <= 2 * 8 * settings.policy_gradient.horizon


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
