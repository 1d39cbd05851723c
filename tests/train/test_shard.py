"""Shards: their part of a run's worlds, what discounting does to their targets, how their advantages are normalised."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from interplay.core.settings import changed
from interplay.core.world import World
from interplay.train.learner import Learner
from interplay.train.minibatches import join_batches
from interplay.train.parallel.exchange import SingleProcess
from interplay.train.selfplay.matchups import with_opponents
from interplay.train.settings import TrainSettings
from interplay.train.shard import Shard, make_shard
from interplay.train.update import Worker
from tests.train.meadow import Meadow, make_meadow
from tests.train.runs import short_run
from tests.train.toy_worlds import Corridor, TwoKinds, make_corridor, make_two_kinds


def settings_of(**own: Any) -> TrainSettings:
    return short_run("corridor", {"ppo": {"rollout": 32, "minibatch": 64}} | own)


SETTINGS = settings_of()


def learner_of(settings: TrainSettings, world: World) -> Learner:
    return Learner(world.kinds, settings, with_opponents(settings, world))


@pytest.fixture(scope="module")
def learner() -> Learner:
    return learner_of(SETTINGS, Corridor())


def test_a_shards_worlds_are_its_part_of_the_runs_worlds(learner: Learner) -> None:
    whole = Corridor(8, seed=SETTINGS.seed)
    whole.reset()
    second = make_shard(1, make_corridor, learner, SETTINGS).world
    assert np.array_equal(second.hash(), whole.hash()[4:])


def test_a_shard_whose_worlds_were_not_saved_begins_episodes_of_its_own(learner: Learner) -> None:
    def begun(index: int, update: int) -> list[int]:
        shard = make_shard(index, make_corridor, learner, SETTINGS)
        shard.load({}, update)
        return shard.world.hash().tolist()

    fresh = [make_shard(i, make_corridor, learner, SETTINGS).world.hash().tolist() for i in range(2)]
    starts = [*fresh, begun(0, 3), begun(1, 3), begun(0, 4)]
    assert len({hash_ for start in starts for hash_ in start}) == sum(map(len, starts))
    assert begun(1, 3) == begun(1, 3)


def test_idle_rows_have_no_advantage_and_reach_the_batch_as_such(learner: Learner) -> None:
    shard = make_shard(0, make_corridor, learner, SETTINGS)
    shard.play(learner.inference_parameters(), 0)
    shard.estimate()
    pending, ready = shard.collector.pending["agent"], shard.ready["agent"]
    idle = ~pending.acts[ready.picked]
    assert idle.any()
    assert not idle.all()
    assert (ready.advantage[idle] == 0).all()
    batch = join_batches([shard], "agent")[0]
    assert np.array_equal(np.asarray(batch.acts)[: len(idle)], (~idle).astype(np.float32))


def test_discounting_by_decision_reaches_the_targets() -> None:
    """Those who arrived wait without a reward: by decision their targets are what comes at the end, by step it fades."""
    found = 0
    for discount in ("step", "decision"):
        settings = changed(SETTINGS, {"ppo": {"discount": discount, "gamma": 0.5}}, "test")
        learner = learner_of(settings, Corridor())
        shard = make_shard(0, make_corridor, learner, settings)
        shard.play(learner.inference_parameters(), 0)
        shard.estimate()
        buffer, pending, ready = (
            shard.collector.buffer,
            shard.collector.pending["agent"],
            shard.ready["agent"],
        )
        bootstrap, ended = (array.reshape(32, -1) for array in (buffer.bootstrap, buffer.ended))
        for row in np.flatnonzero(~pending.acts[: pending.count]):
            step, slot = pending.step[row], pending.slot[row]
            steps = int(np.argmax(ended[step:, slot])) + 1  # until its life ends
            last = bootstrap[step + steps - 1, slot]
            if not last:
                continue
            fades = 1.0 if discount == "decision" else 0.5**steps
            assert ready.target[row] == pytest.approx(fades * last, rel=1e-5)
            found += 1
    assert found >= 2


def test_rewards_are_scaled_once_also_those_of_earlier_rollouts() -> None:
    found = []
    for scale in (1.0, 0.5):
        own = {"rollout": 16, "horizon": 24, "reward_scale": scale}
        settings = short_run("corridor", {"algorithm": "policy_gradient", "policy_gradient": own})
        learner = learner_of(settings, Corridor())
        shard = make_shard(0, make_corridor, learner, settings)
        for update in range(3):
            if update:
                shard.finish()
            shard.play(learner.inference_parameters(), update)
            shard.estimate()
        found.append(shard.collector.buffer.reward.copy())
    assert shard.collector.buffer.earlier == 24
    assert np.count_nonzero(found[0], axis=(1, 2)).all()
    np.testing.assert_allclose(found[1], 0.5 * found[0])
    shard.divide_rewards(np.array([2.0, 4.0], np.float32))
    divided = shard.collector.buffer.reward
    assert np.array_equal(divided[:24], found[1][:24])
    assert np.array_equal(divided[24:], found[1][24:] / np.array([2.0, 4.0], np.float32))


def test_worlds_that_begin_anew_are_others_in_each_shard_and_after_each_update() -> None:
    learner = learner_of(SETTINGS, Corridor())
    drawn = []
    for index, update in ((0, 3), (1, 3), (0, 4), (1, 4)):
        shard = make_shard(index, make_corridor, learner, SETTINGS)
        shard.load({}, update)
        drawn += shard.world.timestep.observation["noise"][:, 0, 0].tolist()
    assert len(set(drawn)) == len(drawn) >= 8


def normalised(settings: TrainSettings, make: Any, world: World) -> list[Shard]:
    """The shards of a run after their first rollout, whose advantages are normalised."""
    learner = learner_of(settings, world)
    worker = Worker(settings, make, learner, SingleProcess())
    worker.play()
    worker.estimate()
    return worker.shards


def advantages(shards: list[Shard], kind: str, population: int) -> np.ndarray:
    """Those of all acting samples."""
    parts = []
    for shard in shards:
        ready, pending = shard.ready[kind], shard.collector.pending[kind]
        own = pending.acts[ready.picked] & (ready.population == population)
        parts.append(ready.advantage[own])
    assert all(len(part) for part in parts)
    assert abs(parts[0].mean()) > 1e-3  # no shard is normalised by itself
    return np.concatenate(parts).astype(np.float64)


def test_advantages_are_normalised_over_the_acting_samples_of_all_shards() -> None:
    shards = normalised(SETTINGS, make_corridor, Corridor())
    acts = np.concatenate([s.collector.pending["agent"].acts[s.ready["agent"].picked] for s in shards])
    assert not acts.all()
    whole = advantages(shards, "agent", 0)
    assert whole.mean() == pytest.approx(0.0, abs=1e-6)
    assert whole.std() == pytest.approx(1.0, abs=1e-5)


def test_every_population_and_kind_has_a_deviation_of_its_own() -> None:
    meadow = settings_of(world={"id": "meadow"}, network={"kind": "tiles", "width": 8})
    shards = normalised(meadow, make_meadow, Meadow(1))
    for population in range(3):
        own = advantages(shards, "agent", population)
        assert own.mean() == pytest.approx(0.0, abs=1e-6)
        assert own.std() == pytest.approx(1.0, abs=1e-5)
    shards = normalised(SETTINGS, make_two_kinds, TwoKinds(1))
    for kind in ("walker", "guide"):
        assert advantages(shards, kind, 0).std() == pytest.approx(1.0, abs=1e-5)


def test_advantages_stay_as_they_are_where_nobody_asks_for_more() -> None:
    plain = settings_of(ppo={"rollout": 32, "minibatch": 64, "normalise_advantage": False})
    whole = advantages(normalised(plain, make_corridor, Corridor()), "agent", 0)
    assert abs(whole.std() - 1.0) > 0.1
