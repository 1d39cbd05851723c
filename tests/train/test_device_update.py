"""The update as one program for a device: the same gradients as on the processor, every row once an epoch, steps that are not taken."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from interplay.core.errors import UserError
from interplay.core.settings import build, merge
from interplay.registry import make_world
from interplay.train.batches import Minibatch
from interplay.train.device_learner import DeviceLearner, Loops, Samples, find_loops, join_units
from interplay.train.devices import PRODUCTS
from interplay.train.learning_network import LearningNetwork
from interplay.train.losses import NUM_TERMS, Terms
from interplay.train.making import make_learner
from interplay.train.minibatches import join_batches
from interplay.train.parallel.exchange import SingleProcess
from interplay.train.settings import TrainSettings
from interplay.train.update import Worker
from tests.train.meadow import make_meadow
from tests.train.test_minibatches import Crowded
from tests.train.toy_worlds import make_corridor, make_two_kinds

pytestmark = pytest.mark.filterwarnings("ignore:train.learners")

ROWS = Terms._fields.index("rows")
TILES = {"network": {"kind": "tiles", "width": 8}}
ATTENTION = {"network": {"kind": "attention", "width": 4, "heads": 1, "tail": 4}}
MEMORY = {"network": {"memory": "gru", "memory_size": 6}, "ppo": {"sequence": 8}}
SIDES = {"population": {"by": "name", "groups": {"a": ["*_0"], "b": ["*_1"]}, "block": 24}}
CASES: dict[str, tuple[Any, dict[str, Any]]] = {
    "one shard": (make_corridor, {"train": {"shards": 1}}),
    "four shards": (make_corridor, {"train": {"shards": 4}}),
    "memory": (make_corridor, MEMORY),
    "two kinds": (make_two_kinds, {}),
    "one kind of two learns": (make_two_kinds, {"train": {"learners": ["guide"]}}),
    "attention": (Crowded, ATTENTION),
    "deaths in populations": (make_meadow, TILES | {"population": {"block": 24}}),
    "memory in populations": (make_corridor, merge(MEMORY, SIDES)),
}


class Played:
    """A worker on a device that has played, and what its learner gets of it."""

    def __init__(self, make: Any, own: Mapping[str, Any]) -> None:
        values = {
            "world": {"id": "toy"},
            "num_worlds": 8,
            "train": {"shards": 2, "device": "host:0"},
            "ppo": {
                "rollout": 32,
                "minibatch": 64,
                "epochs": 3,
                "target_kl": "off",
                "entropy_coefficient": 0.05,
            },
            "network": {"kind": "mlp", "hidden": [8]},
        }
        self.settings = build(TrainSettings, merge(values, own), "test")
        learner = make_learner(self.settings, make, begins=True)
        assert isinstance(learner, DeviceLearner)
        for name, rates in learner._rates.items():  # others for each population
            learner._rates[name] = rates * np.linspace(1.0, 0.5, len(rates), dtype=np.float32)
        self.learner = learner
        self.worker = Worker(self.settings, make, learner, SingleProcess())
        self.worker.play()
        self.worker.estimate()
        self.minibatches, most = self.worker._agree_sizes()
        shards = self.worker.shards
        self.samples: dict[str, Samples] = {
            name: join_units(
                shards, name, join_batches(shards, name, most[name], learner.device), learner.device
            )
            for name in learner.networks
        }
        self.loops: Loops = find_loops(shards, self.samples, self.minibatches)

    def orders(self, epoch: int) -> dict[str, np.ndarray]:
        """The units of an epoch in the order that the program draws, those that are there."""
        key = jax.random.fold_in(jax.random.wrap_key_data(self.learner._key), self.worker.updates)
        own = jax.random.fold_in(key, epoch)
        return {
            name: np.asarray(self.learner._order(jax.random.fold_in(own, kind), samples))[
                : int(samples.count)
            ]
            for kind, (name, samples) in enumerate(self.samples.items())
        }

    def slow_sum(self, orders: Mapping[str, np.ndarray], minibatch: int) -> np.ndarray:
        """The sum over a minibatch as the processor finds it: a block of every population's rows."""
        parts = []
        for name in self.learner.kinds_that_learn:
            samples = self.samples[name]
            network, chosen = self.learner.networks[name], orders[name][minibatch :: self.minibatches]
            rows, population = np.asarray(samples.rows)[chosen], np.asarray(samples.population)[chosen]
            parts.append(slow_gradient(self.learner, network, samples, rows, population))
        return np.concatenate(parts)

    def run(self, epochs: int = 3) -> tuple[np.ndarray, bool]:
        return self.learner.run_epochs(self.samples, self.loops, self.minibatches, 0, range(epochs))


def slow_gradient(
    learner: DeviceLearner,
    network: LearningNetwork,
    samples: Samples,
    rows: np.ndarray,
    population: np.ndarray,
) -> np.ndarray:
    count, whole = len(learner.learns), len(samples.batch.acts)
    index = np.full((1, count, *rows.shape), whole, np.int32)
    for number in range(count):
        own = rows[population == number]
        index[0, number, : len(own)] = own
    plan = np.full((1, count), len(getattr(network._inner, "plans", (None,))) - 1, np.int32)
    minibatch = Minibatch(
        index.reshape(1, count, -1), np.arange(count, dtype=np.int32)[None], plan, np.array([count], np.int32)
    )
    given = (learner.vectors[network.kind.name], samples.batch, minibatch, learner._rates)
    return np.asarray(jax.jit(network.gradient)(*given)).ravel()


@pytest.mark.parametrize("case", CASES)
def test_every_minibatch_has_the_gradient_of_the_processor(case: str) -> None:
    """Agents die or wait, so there are fewer rows than there is room for."""
    played = Played(*CASES[case])
    learner, orders = played.learner, played.orders(0)
    assert any((np.asarray(own.rows) == len(own.batch.acts)).any() for own in played.samples.values())
    assert 1 < played.minibatches <= played.loops.steps
    padded = [
        jnp.concatenate([order, jnp.setdiff1d(jnp.arange(len(played.samples[name].rows)), order)])
        for name, order in orders.items()
    ]
    run = jax.jit(learner._sum_minibatch, static_argnames="loops")
    for minibatch in range(played.minibatches):
        found = np.asarray(
            run(
                learner.vectors,
                learner._rates,
                played.samples,
                padded,
                played.minibatches,
                loops=played.loops,
                number=minibatch,
            )
        )
        wanted = played.slow_sum(orders, minibatch)
        assert np.array_equal(learner.terms(found)[:, ROWS], learner.terms(wanted)[:, ROWS])
        for name, part in learner._parts(found).items():
            gradient, slow = part[:, :-NUM_TERMS], learner._parts(wanted)[name][:, :-NUM_TERMS]
            assert slow.any(axis=1).all()
            assert np.linalg.norm(gradient - slow) < 1e-5 * np.linalg.norm(slow)


@pytest.mark.parametrize("case", CASES)
def test_every_row_is_taken_once_an_epoch(case: str) -> None:
    """Two roads: the units in the orders, and the rows that the program counts of each population."""
    played = Played(*CASES[case])
    drawn = [played.orders(epoch) for epoch in range(3)]
    for name in played.learner.kinds_that_learn:
        for orders in drawn:
            assert np.array_equal(np.sort(orders[name]), np.arange(int(played.samples[name].count)))
            assert not np.array_equal(orders[name], np.sort(orders[name]))
        assert not np.array_equal(drawn[0][name], drawn[1][name])
    terms, enough = played.run()
    assert not enough
    counted = terms.reshape(3, played.minibatches, -1, NUM_TERMS)[..., ROWS]
    there = np.zeros(len(played.learner.learns))
    for shard in played.worker.shards:
        for ready in shard.ready.values():
            there += np.bincount(ready.population, minlength=len(there))
    assert np.array_equal(counted.sum(axis=1), np.stack([there] * 3))
    if not played.learner.networks[next(iter(played.samples))].memory:
        sizes = counted.sum(axis=2)
        assert sizes.max() - sizes.min() <= len(played.samples)


def test_an_update_is_its_gradients_one_after_another_and_ends_before_the_step_that_is_too_much() -> None:
    """The twin takes the processor's gradients by hand; the KL passes its limit in the second epoch."""
    played = Played(make_corridor, {"ppo": {"target_kl": 0.011, "learning_rate": 0.004}})
    twin = Played(make_corridor, {"ppo": {"target_kl": 0.011, "learning_rate": 0.004}})
    terms, enough = played.run()
    assert enough
    assert played.minibatches + 1 < len(terms) < 2 * played.minibatches
    for number, looked in enumerate(terms):
        epoch, minibatch = divmod(number, played.minibatches)
        total = twin.slow_sum(twin.orders(epoch), minibatch)
        np.testing.assert_allclose(twin.learner.terms(total), looked, atol=2e-3, rtol=1e-3)
        if number < len(terms) - 1:
            twin.learner.apply(total)
    name = "agent"
    np.testing.assert_allclose(played.learner.vectors[name], twin.learner.vectors[name], atol=2e-6)
    assert len(played.learner.norms) == len(terms)


def test_no_step_is_taken_from_a_gradient_that_is_not_finite() -> None:
    """One row of the first minibatch has no number, all later ones are sound."""
    played = Played(make_corridor, {})
    before = np.asarray(played.learner.vectors["agent"])
    own = played.samples["agent"]
    bad = int(own.rows[played.orders(0)["agent"][0], 0])
    target = own.batch.target.at[bad].set(np.nan)
    played.samples["agent"] = own._replace(batch=own.batch._replace(target=target))
    with pytest.raises(UserError, match=r"update 0: gradient of .* is not finite"):
        played.run()
    assert np.array_equal(np.asarray(played.learner.vectors["agent"]), before)


def test_predictions_are_those_of_the_samples_before_anything_moved() -> None:
    for case in ("two kinds", "memory in populations", "deaths in populations"):
        played = Played(*CASES[case])
        for name, (log_prob, value) in played.learner.predict_units(played.samples, played.loops).items():
            batch = played.samples[name].batch
            for at, shard in enumerate(played.worker.shards):
                rows = shard.rows_in(name, at, len(batch.acts))
                np.testing.assert_allclose(log_prob[rows], np.asarray(batch.log_prob)[rows], atol=2e-5)
                np.testing.assert_allclose(value[rows], shard.ready[name].value, atol=2e-5)


def test_all_that_is_ready_is_one_step_where_the_algorithm_says_so() -> None:
    played = Played(make_corridor, {"algorithm": "a2c", "a2c": {"rollout": 32}})
    assert played.minibatches == played.loops.steps == 1
    order = played.orders(0)["agent"]
    assert np.array_equal(order, np.arange(len(order)))
    terms, _ = played.run(1)
    assert terms[0, 0, ROWS] == len(order)


# -- the program that a card gets --------------------------------------------------------------------------------------


def lowered(played: Played) -> str:
    """Of an update, for a card, which takes no card."""
    learner = played.learner
    run = jax.jit(partial(learner._run_epochs, loops=played.loops, epochs=3))
    given = (learner.vectors, learner._moments, learner._rates, played.samples, learner._key)
    numbers = (np.int32(0), np.int32(0), np.int32(played.minibatches))
    text: str = run.trace(*given, *numbers).lower(lowering_platforms=("cuda",)).as_text()
    return text


GAME = partial(make_world, "werewolf/6")
SEATS = {"network": {"kind": "seats", "width": 8, "tail": 8, "layers": 1}, "ppo": {"rollout": 8}}
LOWERED = CASES | {
    "seats": (GAME, SEATS),
    "seats that guess": (GAME, SEATS | {"belief": {"about": "werewolf"}}),
    "pictures": (
        partial(make_world, "pong/2p-pictures"),
        {"network": {"kind": "pictures"}, "ppo": {"rollout": 8}},
    ),
    "attention with memory": (Crowded, merge(ATTENTION, MEMORY)),
    "tiles attention": (make_meadow, {"network": {"kind": "tiles_attention", "width": 8}}),
}


@pytest.mark.parametrize("case", LOWERED)
def test_a_cards_program_has_no_branch_and_no_loop_but_scans(case: str) -> None:
    """Over epochs and minibatches; over blocks where there are several populations; with memory forwards and backwards."""
    played = Played(*LOWERED[case])
    text = lowered(played)
    assert "custom_call" not in text
    assert not re.search(r"stablehlo\.(case|if)\b", text)
    several = len(played.learner.learns) > 1
    remembers = any(network.memory for network in played.learner.networks.values())
    assert text.count("stablehlo.while") == 2 + several + 2 * remembers


@pytest.mark.parametrize(
    ("precision", "product"),
    [
        ("float32", "precision = [HIGHEST, HIGHEST]"),
        ("bfloat16", "lhs_precision_type = bf16"),
    ],
)
def test_all_products_of_a_cards_program_have_the_precision_of_the_run(precision: str, product: str) -> None:
    played = Played(*CASES["memory"])
    played.learner.networks["agent"].products = PRODUCTS[precision]
    products = [line for line in lowered(played).splitlines() if "stablehlo.dot_general" in line]
    assert len(products) > 4
    assert all(product in line for line in products)
