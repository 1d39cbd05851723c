"""V-trace and A2C: the paper's sum as a slow twin, the on-policy case, and learning."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from interplay.train.advantage import generalised_advantage
from interplay.train.algorithms import Segments, make_algorithm
from interplay.train.minibatches import join_batches, make_epoch
from interplay.train.settings import TrainSettings
from interplay.train.trainer import train
from tests.train.meadow import make_meadow
from tests.train.runs import log_of, short_run, worker_of
from tests.train.toy_worlds import make_corridor, make_two_kinds

STEPS, SLOTS = 40, 6


def settings_of(algorithm: str = "vtrace", **own: Any) -> TrainSettings:
    values = {
        "num_worlds": 32,
        "algorithm": algorithm,
        "train": {"max_updates": 4},
        "network": {"hidden": [16]},
    }
    return short_run("corridor", values, **own)


def segments(rng: np.random.Generator, idle: float = 0.0, moved: float = 0.0) -> Segments:
    shape = (STEPS, 1, SLOTS)
    ended = rng.random(shape) < 0.1
    return Segments(
        rng.normal(size=shape).astype(np.float32),
        rng.normal(size=shape).astype(np.float32),
        rng.random(shape) >= idle,
        ended,
        np.where(ended & (rng.random(shape) < 0.5), rng.normal(size=shape), 0.0).astype(np.float32),
        rng.normal(size=shape[1:]).astype(np.float32),
        (moved * rng.normal(size=shape)).astype(np.float32),
    )


def paper(
    of: Segments, slot: int, gamma: float, lam: float, rho: float, c: float
) -> tuple[np.ndarray, np.ndarray]:
    """Equation 1 of Espeholt et al., term by term, and the weighted advantages, in float64, of a slot that always acts."""
    reward, value, _, ended, bootstrap, last, log_ratio = (
        np.asarray(part)[..., 0, slot].astype(float) for part in of
    )
    after = np.append(value[1:], last)
    after = np.where(ended > 0, bootstrap, after)  # V of what follows a step
    ratio = np.exp(log_ratio)
    delta = np.minimum(ratio, rho) * (reward + gamma * after - value)
    target = np.zeros(STEPS)
    for s in range(STEPS):
        product, t = 1.0, s
        target[s] = value[s]
        while True:
            target[s] += gamma ** (t - s) * product * delta[t]
            product *= lam * min(ratio[t], c)
            if ended[t] or t == STEPS - 1:
                break
            t += 1
    following = np.where(ended > 0, bootstrap, np.append(target[1:], last))
    return np.minimum(ratio, rho) * (reward + gamma * following - value), target


@pytest.mark.parametrize(("lam", "rho", "c"), [(1.0, 1.0, 1.0), (0.9, 1.5, 0.7), (0.0, 2.0, 1.0)])
def test_targets_are_the_papers_sum(lam: float, rho: float, c: float) -> None:
    own = {"vtrace": {"gamma": 0.95, "gae_lambda": lam, "rho": rho, "c": c}}
    algorithm, of = make_algorithm(settings_of(**own)), segments(np.random.default_rng(1), moved=0.5)
    advantage, target = algorithm.estimate(Segments(*map(jnp.asarray, of)))
    for slot in range(SLOTS):
        worth, wanted = paper(of, slot, 0.95, lam, rho, c)
        np.testing.assert_allclose(target[:, 0, slot], wanted, atol=1e-4)
        np.testing.assert_allclose(advantage[:, 0, slot], worth, atol=1e-4)


@pytest.mark.parametrize("discount", ["step", "decision"])
@pytest.mark.parametrize("lam", [1.0, 0.8])
def test_where_nothing_has_moved_targets_are_those_of_generalised_advantages(
    lam: float, discount: str
) -> None:
    """With idle steps, too; the advantages are the same for lambda 1."""
    of = segments(np.random.default_rng(2), idle=0.4)
    algorithm = make_algorithm(settings_of(vtrace={"gae_lambda": lam, "discount": discount}))
    advantage, target = algorithm.estimate(Segments(*map(jnp.asarray, of)))
    known = generalised_advantage(*map(jnp.asarray, of[:6]), 0.99, lam, discount == "decision")
    np.testing.assert_allclose(target, known.target, atol=1e-4)
    if lam == 1.0:
        np.testing.assert_allclose(advantage, known.advantage, atol=1e-4)


TEAM = {"by": "name", "groups": {"all": ["*"]}}
RUNS: dict[str, Any] = {
    "alone": (make_corridor, {}),
    "memory": (make_corridor, {"network": {"memory": "gru", "memory_size": 4}}),
    "two kinds": (make_two_kinds, {}),
    "a central critic": (make_corridor, {"network": {"critic": "team"}, "population": TEAM}),
    "populations": (make_meadow, {"network": {"hidden": [8]}, "population": {"block": 8}}),
}


@pytest.mark.parametrize(("make", "own"), RUNS.values(), ids=RUNS)
def test_predictions_before_learning_are_those_stored_in_the_rollout(make: Any, own: dict[str, Any]) -> None:
    """Before anything is learnt, of every row, whatever minibatch it is in."""
    worker = worker_of(settings_of(**own), make)
    worker.learner.set_rates(0.0)
    for _ in range(2):
        worker.play()
        worker.estimate()
        minibatches, most = worker._agree_sizes()
        names = list(worker.learner.networks)
        epochs = {
            name: make_epoch(
                worker.shards,
                name,
                join_batches(worker.shards, name, most[name]),
                [shard.shuffle(name, worker.updates, 1) for shard in worker.shards],
                minibatches,
            )
            for name in names
        }
        current = worker.learner.predict(epochs, minibatches)
        for name in names:
            for at, shard in enumerate(worker.shards):
                rows, ready = shard.rows_in(name, at, current[name].shape[1]), shard.ready[name]
                pending = shard.collector.pending[name]
                assert len(ready.picked)
                log_prob, value = current[name][:, rows]
                np.testing.assert_allclose(log_prob, pending.log_prob[ready.picked], atol=1e-5)
                np.testing.assert_allclose(value, pending.outputs[ready.picked, -1], atol=1e-5)
        for shard in worker.shards:
            shard.finish()


def test_later_epochs_do_not_change_how_well_the_values_of_play_fit() -> None:
    explained = [
        worker_of(settings_of(vtrace={"epochs": epochs, "learning_rate": 0.1}), make_corridor).update()[
            "explained_variance"
        ]
        for epochs in (1, 3)
    ]
    assert explained[0] == explained[1]


def test_a_second_epoch_learns_from_other_targets(monkeypatch: pytest.MonkeyPatch) -> None:
    """They equal `estimate` of the values and ratios that the network gives when it is called directly."""
    own = {"vtrace": {"epochs": 2, "learning_rate": 1e-2, "minibatch": 256}, "network": {"hidden": [8]}}
    worker = worker_of(settings_of(**own), make_corridor)
    seen: list[list[np.ndarray]] = []
    run_epoch = worker.learner.run_epoch

    def spy(epochs: Any, *rest: Any) -> Any:
        batch = epochs["agent"].batch
        seen.append([np.array(batch.advantage), np.array(batch.target)])
        return run_epoch(epochs, *rest)

    monkeypatch.setattr(worker.learner, "run_epoch", spy)
    after: list[Any] = []
    correct = worker._renew

    def keep(epochs: Any, minibatches: int) -> Any:
        after.append(np.array(worker.learner.vectors["agent"]))
        return correct(epochs, minibatches)

    monkeypatch.setattr(worker, "_renew", keep)
    finish = [shard.finish for shard in worker.shards]
    for shard in worker.shards:
        monkeypatch.setattr(shard, "finish", lambda: None)
    worker.update()
    (first, second), network = seen, worker.learner.networks["agent"]
    assert np.abs(first[1] - second[1]).max() > 1e-2
    for at, shard in enumerate(worker.shards):
        collector, buffer = shard.collector, shard.collector.buffer
        pending, ready = collector.pending["agent"], shard.ready["agent"]
        rows = {dtype: array[ready.picked] for dtype, array in pending.seen.rows.items()}
        parameters, value = network._network(jnp.asarray(after[0][0]))(network._read(rows))
        log_prob = network.distribution.log_prob(parameters, jnp.asarray(pending.action[ready.picked]), None)
        place = pending.step[ready.picked], pending.slot[ready.picked]
        values, ratios = buffer.value.copy(), np.zeros_like(buffer.value)
        values.reshape(len(values), -1)[place] = value
        ratios.reshape(len(values), -1)[place] = log_prob - pending.log_prob[ready.picked]
        of = Segments(
            buffer.reward, values, buffer.acting, buffer.ended, buffer.bootstrap, buffer.last_value, ratios
        )
        worth = worker.learner.algorithm.estimate(Segments(*map(jnp.asarray, of)))
        where = shard.rows_in("agent", at, len(second[0]))
        for got, wanted in zip(second, worth, strict=True):
            np.testing.assert_allclose(
                got[where], np.asarray(wanted).reshape(len(values), -1)[place], atol=1e-4
            )
    assert len(finish) == 2


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["a2c", "vtrace"])
def test_they_learn(algorithm: str, tmp_path: Path) -> None:
    own = {"train": {"max_updates": 32}, algorithm: {"learning_rate": "linear 1e-2 0"}}
    log = log_of(train(settings_of(algorithm, **own), tmp_path / "run", make_corridor))
    returns = [line["episode_return"] for line in log if "episode_return" in line]
    assert returns[-1] > 0.55  # the best is 0.6
    assert returns[0] < 0.0
