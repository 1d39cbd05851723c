"""Actors: rollouts of older policies are corrected, counted once, and too old ones dropped."""

from __future__ import annotations

import json
import threading
import time
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

from interplay.core.errors import UserError
from interplay.sim.managers import AllStepManager
from interplay.train.actors import ActorWorker, make_worker
from interplay.train.making import make_learner
from interplay.train.parallel.exchange import SingleProcess
from interplay.train.run.episodes import Windows
from interplay.train.settings import TrainSettings
from interplay.train.trainer import train
from interplay.verbs.settings import build_settings
from tests.connect.toy_simulations import Strict
from tests.train.runs import go_on, log_of, short_run, worker_of
from tests.train.toy_worlds import Corridor, make_corridor


class Late(Corridor):
    """The run's first worlds take 5 ms a step."""

    def _step(self, action: np.ndarray) -> Any:
        if self.first_world == 0:
            time.sleep(0.005)
        return super()._step(action)


class Broken(Corridor):
    """The run's first worlds fail in their 40th step."""

    played = 0

    def _step(self, action: np.ndarray) -> Any:
        self.played += 1
        if self.first_world == 0 and self.played == 40:
            raise LookupError("no such wall")
        return super()._step(action)


HANG = threading.Event()


class Hanging(Strict):
    """Every copy hangs in its third step."""

    taken = 0

    def step(self, action: Any, **kwargs: Any) -> None:
        self.taken += 1
        if self.taken == 3:
            HANG.wait(100)
        super().step(action, **kwargs)


def make_hanging(num_worlds: int, seed: int, first_world: int) -> Any:
    return AllStepManager(Hanging({"a": 100})).vectorize(num_worlds, seed, first_world)


def make_late(num_worlds: int, seed: int, first_world: int) -> Late:
    return Late(num_worlds, seed, first_world)


def make_broken(num_worlds: int, seed: int, first_world: int) -> Broken:
    return Broken(num_worlds, seed, first_world)


def settings_of(actors: int, algorithm: str = "ppo", /, **own: Any) -> TrainSettings:
    values = {
        "algorithm": algorithm,
        algorithm: {"rollout": 16, "learning_rate": 1e-3},
        "train": {"shards": 1, "actors": actors, "max_updates": 6},
    }
    return short_run("corridor", values, **own)


def actors_of(settings: TrainSettings, make: Any) -> ActorWorker:
    worker = make_worker(settings, make, make_learner(settings, make, begins=True, say=str), SingleProcess())
    assert isinstance(worker, ActorWorker)
    return worker


@pytest.mark.parametrize(
    ("algorithm", "device"), [("ppo", "cpu"), ("vtrace", "cpu"), ("ppo", "host:0"), ("vtrace", "host:0")]
)
def test_one_actor_that_waits_for_every_update_learns_as_a_run_without_actors(
    algorithm: str, device: str
) -> None:
    """Nothing is stale, so all corrections are by 1; the log-probs come from two programs and may differ by rounding."""
    plain = worker_of(settings_of(0, algorithm, train={"device": device}), make_corridor)
    ahead = actors_of(settings_of(1, algorithm, train={"device": device}), make_corridor)
    for _ in range(4):
        wanted, got = plain.update(), ahead.update()
        assert got["age"] == got["oldest"] == 0
        assert (got["rows"], ahead.agent_steps) == (wanted["rows"], plain.agent_steps)
    for name in ("policy_loss", "value_loss", "entropy"):
        assert got[name] == pytest.approx(wanted[name], abs=1e-4)
    np.testing.assert_allclose(ahead.learner.vectors["agent"], plain.learner.vectors["agent"], atol=1e-4)
    ahead.close()


def test_samples_of_an_older_policy_are_weighted_and_clipped_around_the_present_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Log-probs are the present network's, advantages times min(1, pi / pi_old), by the network called directly."""
    worker = worker_of(settings_of(0, ppo={"epochs": 2, "normalise_advantage": True}), make_corridor)
    worker.stale = True
    worker.learner.set_rates(0.0)
    worker.play()
    old = worker.shards[0].collector.pending["agent"].log_prob.copy()
    vectors = worker.learner.vectors["agent"]
    noise = np.random.default_rng(1).normal(size=vectors.shape).astype(np.float32)
    worker.learner.vectors["agent"] = present = vectors + 0.3 * noise
    present = np.array(present)
    worker.estimate()
    shard, network = worker.shards[0], worker.learner.networks["agent"]
    pending, before = shard.collector.pending["agent"], shard.ready["agent"]
    rows = {dtype: array[before.picked] for dtype, array in pending.seen.rows.items()}
    parameters, _ = network._network(jnp.asarray(present[0]))(network._read(rows))
    action = jnp.asarray(pending.action[before.picked])
    log_prob = np.asarray(network.distribution.log_prob(parameters, action, None))
    weight = np.minimum(np.exp(log_prob - old[before.picked]), 1.0)
    assert weight.min() < 0.8
    seen: list[Any] = []
    run_epoch = worker.learner.run_epoch

    def spy(epochs: Any, *rest: Any) -> Any:
        seen.append(
            [np.array(part) for part in (epochs["agent"].batch.log_prob, epochs["agent"].batch.advantage)]
        )
        return run_epoch(epochs, *rest)

    monkeypatch.setattr(worker.learner, "run_epoch", spy)
    worker.learn()
    count = len(before.picked)
    for got_log_prob, advantage in seen:  # in both epochs
        np.testing.assert_allclose(got_log_prob[:count], log_prob, atol=1e-5)
        np.testing.assert_allclose(advantage[:count], before.advantage * weight, atol=1e-4)
    assert len(seen) == 2


def test_a_slow_world_holds_up_no_update_and_its_old_rollouts_are_dropped() -> None:
    worker = actors_of(settings_of(3, train={"most_age": 2}), make_late)
    dropped, ages, began = 0, [], time.monotonic()
    while not dropped and time.monotonic() - began < 60:
        numbers = worker.update()
        ages.append(numbers["oldest"])
        dropped += numbers.get("dropped_steps", 0)
    assert 16 * 8 < dropped <= 16 * 8 * 2  # one rollout of 8 worlds with 2 agents, of which one may wait
    assert worker.updates > 4
    assert max(ages) <= 2
    worker.close()


def test_all_rollouts_that_an_update_drops_are_counted() -> None:
    worker = actors_of(settings_of(3, train={"most_age": 2}), make_corridor)
    worker.update()
    busy = [actor for actor in worker._actors if actor not in worker._idle]
    while worker._finished.qsize() < len(busy):
        time.sleep(0.01)
    steps = [actor.shard.collector.acted for actor in busy]
    worker.updates += 2  # as if they had played for two updates more
    assert worker.update()["dropped_steps"] == sum(steps)
    assert len(steps) == 2
    assert min(steps) > 0
    worker.close()


def test_the_age_of_an_update_is_the_mean_over_its_rollouts() -> None:
    """The third of three actors finishes after the first update, and the second one takes its rollout and a new one."""
    worker = actors_of(settings_of(3, train={"shards": 2}), make_corridor)
    worker.update()
    while worker._finished.empty():
        time.sleep(0.01)
    numbers = worker.update()
    assert (numbers["age"], numbers["oldest"]) == (0.5, 1)
    worker.close()


def test_every_episode_is_in_the_log_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ended, lock, end = [], threading.Lock(), Windows.end

    def count(self: Windows, over: np.ndarray, numbers: np.ndarray) -> None:
        with lock:
            ended.append(int((self.of[over] >= 0).sum()))
        end(self, over, numbers)

    monkeypatch.setattr(Windows, "end", count)
    path = train(settings_of(3, train={"max_updates": 12}), tmp_path / "run", make_corridor)
    lines = [json.loads(line) for line in (path / "metrics.jsonl").read_text().splitlines()]
    assert sum(line.get("episodes", 0) for line in lines) == sum(ended)
    assert sum(ended) > 3 * 8
    log = log_of(path)
    assert [line["updates"] for line in log] == list(range(1, 13))
    assert log[-1]["oldest"] >= log[-1]["age"] >= 0


def test_an_error_in_a_world_ends_the_run_and_all_threads(tmp_path: Path) -> None:
    with pytest.raises(LookupError, match="no such wall"):
        train(settings_of(2, train={"max_updates": 10**6}), tmp_path / "run", make_broken)
    assert not [thread.name for thread in threading.enumerate() if thread.name.startswith("actor-")]


def test_a_world_that_hangs_ends_the_run_after_the_limit(tmp_path: Path) -> None:
    """`train.step_limit` holds in the threads of actors."""
    began = time.monotonic()
    settings = settings_of(2, train={"max_updates": 10**6, "step_limit": 1.0})
    with pytest.raises(UserError, match="has not come back from step"):
        train(settings, tmp_path / "run", make_hanging)
    assert time.monotonic() - began < 60
    HANG.set()


def test_actors_that_hang_are_waited_for_once_and_their_worlds_are_not_closed() -> None:
    HANG.clear()
    worker = actors_of(settings_of(4), make_hanging)
    worker._start(worker._idle, worker.learner.inference_parameters())
    deadline = time.monotonic() + 60
    while not all(shard.world._pool._group.busy() for shard in worker._all):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    began = time.monotonic()
    worker.halt(1.0)
    assert 0.9 < time.monotonic() - began < 2
    worker.close()
    assert time.monotonic() - began < 3
    assert all("from step" in shard.world._pool._group.busy() for shard in worker._all)
    HANG.set()


def test_actors_that_are_not_given_shards_get_half_as_many() -> None:
    """So some play while an update learns from the others; a processor's other cores are theirs, not workers'."""
    for actors, shards in ((0, 4), (1, 1), (2, 1), (3, 1), (4, 2), (7, 2), (8, 4), (16, 4)):
        built = build_settings("survival/1v1-heals-low", [f"train.actors={actors}"], {}).train
        assert built.shards == shards
        assert built.workers == 1 or not actors


def test_a_resumed_run_goes_on_from_the_saved_weights(tmp_path: Path) -> None:
    path = train(settings_of(2), tmp_path / "run", make_corridor)
    first = log_of(path)[-1]
    log = log_of(go_on(path, 9, make=make_corridor))
    assert [line["updates"] for line in log] == list(range(1, 10))
    assert log[6]["agent_steps"] > first["agent_steps"]


def test_a_league_s_and_past_selves_weights_and_plain_a2c_are_refused(tmp_path: Path) -> None:
    """The pool changes while actors play with an older copy of it; A2C has no correction."""
    past = {"any": [{"play": "past", "share": 0.5}, {"play": "self", "share": 0.5}]}
    for settings in (
        settings_of(2, "a2c"),
        settings_of(2, sides={"by": "seat"}, opponents=past),
    ):
        with pytest.raises(UserError, match=r"train.actors = 2 does not go with"):
            train(settings, tmp_path / "run", make_corridor)


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["ppo", "vtrace"])
def test_actors_learn(algorithm: str, tmp_path: Path) -> None:
    own = {"num_worlds": 32, "train": {"max_updates": 60}, algorithm: {"learning_rate": "linear 1e-2 0"}}
    log = log_of(train(settings_of(3, algorithm, **own), tmp_path / "run", make_corridor))
    returns = [line["episode_return"] for line in log if "episode_return" in line]
    assert returns[-1] > 0.55  # the best is 0.6
    assert max(line["oldest"] for line in log) > 0
