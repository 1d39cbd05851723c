"""Rollouts: what is stored where, who is present, what follows a life that was cut."""

from __future__ import annotations

import math

import jax
import numpy as np
import pytest

from interplay.core.errors import UserError
from interplay.core.settings import changed
from interplay.train.episodes import EpisodeStatistics, read_sums
from interplay.train.ppo import Learner
from interplay.train.rollout import Collector, refuse_bad_numbers
from interplay.train.settings import NetworkGroup, PpoGroup, TrainGroup, TrainSettings, WorldChoice
from interplay.train.shard import make_shard
from tests.train.toy_worlds import LENGTH, LIMIT, PLACE, Corridor, make_corridor

SETTINGS = TrainSettings(
    world=WorldChoice(id="corridor"),
    num_worlds=8,
    train=TrainGroup(shards=2),
    ppo=PpoGroup(rollout=32, minibatch=64),
    network=NetworkGroup(kind="mlp", hidden=(8,)),
)


@pytest.fixture(scope="module")
def learner() -> Learner:
    return Learner(Corridor().kinds, SETTINGS)


@pytest.fixture
def collector(learner: Learner) -> Collector:
    world = Corridor(6, seed=1)
    world.reset()
    return Collector(world, learner.brains, 48, jax.random.key(0))


def test_a_rollout_replays_in_a_fresh_world(learner: Learner, collector: Collector) -> None:
    """The stored actions lead a second world through the stored observations, rewards and ends."""
    out = collector.collect(learner.vectors, 0)
    twin = Corridor(6, seed=1)
    timestep = twin.reset()
    kind = out.kinds["agent"]
    for t in range(48):
        assert np.array_equal(kind.rows[t, :, :, PLACE], timestep.observation["place"][:, :, 0])
        assert np.array_equal(out.acting[t], timestep.acting)
        timestep = twin.step(kind.action[t, :, :, 0].astype(np.int64))
        assert np.array_equal(out.reward[t], timestep.reward)
        assert np.array_equal(out.ended[t], timestep.terminated | timestep.truncated)
        if timestep.over.any():
            timestep = twin.reset(timestep.over)


def test_only_lives_that_were_cut_are_bootstrapped(learner: Learner, collector: Collector) -> None:
    out = collector.collect(learner.vectors, 0)
    cut = out.bootstrap != 0
    assert cut.any()
    assert out.ended[cut].all()
    # A cut ends every life of a world at once, LIMIT steps after it began.
    assert (cut.any(axis=2) == cut.all(axis=2)).all()
    steps, worlds = np.nonzero(cut.all(axis=2))
    for step, world in zip(steps, worlds, strict=True):
        assert step + 1 >= LIMIT
        assert not out.ended[step - LIMIT + 1 : step, world].any()


def test_those_who_arrived_are_present_but_do_not_act(learner: Learner, collector: Collector) -> None:
    out = collector.collect(learner.vectors, 0)
    place = out.kinds["agent"].rows[..., PLACE]
    arrived = place == LENGTH - 1
    assert arrived.any()
    assert not out.acting[arrived].any()
    assert out.present.all()  # everybody belongs to an episode at every step


def test_log_probabilities_are_those_of_the_stored_actions(learner: Learner, collector: Collector) -> None:
    out = collector.collect(learner.vectors, 0)
    brain, kind = learner.brains["agent"], out.kinds["agent"]
    rows = kind.rows.reshape(-1, brain.rows.width)
    parameters, value = brain._network(learner.vectors["agent"])(brain.prepare(rows))
    log_prob = brain.distribution.log_prob(parameters, kind.action.reshape(-1, 1), None)
    np.testing.assert_allclose(kind.log_prob.ravel(), log_prob, atol=1e-5)
    np.testing.assert_allclose(kind.value.ravel(), value, atol=1e-5)


def test_a_shards_worlds_are_its_part_of_the_runs_worlds(learner: Learner) -> None:
    whole = Corridor(8, seed=SETTINGS.seed)
    whole.reset()
    second = make_shard(1, make_corridor, learner.brains, SETTINGS).world
    assert np.array_equal(second.hash(), whole.hash()[4:])


def test_a_shard_whose_worlds_were_not_saved_begins_episodes_of_its_own(learner: Learner) -> None:
    def begun(index: int, update: int) -> list[int]:
        shard = make_shard(index, make_corridor, learner.brains, SETTINGS)
        shard.load({}, update)
        return shard.world.hash().tolist()

    fresh = [make_shard(i, make_corridor, learner.brains, SETTINGS).world.hash().tolist() for i in range(2)]
    starts = [*fresh, begun(0, 3), begun(1, 3), begun(0, 4)]
    assert len({hash_ for start in starts for hash_ in start}) == sum(map(len, starts))
    assert begun(1, 3) == begun(1, 3)


def test_idle_rows_are_every_eighth_and_teach_no_policy(learner: Learner) -> None:
    shard = make_shard(0, make_corridor, learner.brains, SETTINGS)
    shard.play(learner.vectors, 0)
    shard.estimate()
    acts = np.asarray(shard.batches["agent"].acts)
    used = shard._used["agent"]
    assert set(np.flatnonzero(acts)) <= set(used.tolist())
    idle = used[acts[used] == 0]
    per_step = SETTINGS.num_worlds // 2 * 2
    assert set((idle // per_step) % 8) <= {7}
    assert np.all(np.asarray(shard.batches["agent"].advantage)[idle] == 0)


def test_discounting_by_decision_reaches_the_batches(learner: Learner) -> None:
    """Those who arrived wait without a reward: by decision their targets are what comes at the end, by step it fades."""
    targets = {}
    for discount in ("step", "decision"):
        settings = changed(SETTINGS, {"ppo": {"discount": discount, "gamma": 0.5}}, "test")
        shard = make_shard(0, make_corridor, learner.brains, settings)
        shard.play(learner.vectors, 0)
        shard.estimate()
        targets[discount] = np.asarray(shard.batches["agent"].target).reshape(32, 4, 2)
    acting = shard._rollout.acting
    bootstrap = shard._rollout.bootstrap
    t, w, a = next(
        (t, w, a) for t, w, a in np.argwhere(bootstrap != 0) if not acting[t - 1 : t + 1, w, a].any()
    )
    assert targets["decision"][t - 1, w, a] == pytest.approx(bootstrap[t, w, a])
    assert targets["step"][t - 1, w, a] == pytest.approx(0.25 * bootstrap[t, w, a])


@pytest.mark.parametrize("minibatches", [8, 11])
def test_an_epoch_visits_every_used_row_once(learner: Learner, minibatches: int) -> None:
    shard = make_shard(0, make_corridor, learner.brains, SETTINGS)
    shard.play(learner.vectors, 0)
    shard.estimate()
    assert shard.minibatches() <= minibatches
    rows, plan = shard.shuffle("agent", 0, 3, minibatches)
    assert rows.shape == (minibatches, shard.rows_per_step("agent"))
    assert not plan.any()
    assert sorted(rows[rows >= 0]) == sorted(shard._used["agent"])
    sizes = (rows >= 0).sum(axis=1)
    assert max(sizes) - min(sizes) <= 1


def test_bad_numbers_are_named_with_the_update(learner: Learner, collector: Collector) -> None:
    out = collector.collect(learner.vectors, 0)
    out.kinds["agent"].rows[3, 1, 0, PLACE] = np.inf
    with pytest.raises(UserError, match=r'update 7: observation\["place"\] is not finite'):
        refuse_bad_numbers(out, learner.brains, 7)
    out.kinds["agent"].rows[3, 1, 0, PLACE] = 0
    out.reward[0, 0, 0] = np.nan
    with pytest.raises(UserError, match="update 8: reward is not finite"):
        refuse_bad_numbers(out, learner.brains, 8)


def test_statistics_of_episodes() -> None:
    world = Corridor(2)
    world.reset()
    statistics = EpisodeStatistics(world)
    for _ in range(LIMIT):
        timestep = world.step(np.array([[1, 1], [0, 0]]))
        statistics.add(timestep)
        if timestep.over.all():
            break
        # World 0 has arrived and stands still; without a restart it would be counted again in every step.
        world.reset(timestep.over)
    logged = read_sums(statistics.names, statistics.take())
    arrivals = LIMIT // (LENGTH - 1)  # of world 0, which goes right; world 1 goes left until it is cut
    assert logged["episodes"] == arrivals + 1
    assert logged["episode_length"] == pytest.approx(2 * LIMIT / (arrivals + 1))
    assert logged["episode_return"] == pytest.approx(
        (0.6 * arrivals - 0.1 * LIMIT) / (arrivals + 1), abs=1e-5
    )
    assert logged["arrived"] == pytest.approx(arrivals / (arrivals + 1))
    assert read_sums(statistics.names, statistics.take()) == {"episodes": 0}


class Shares(Corridor):
    """Walker 0 has a speed only where it arrived; nobody ever has luck."""

    @property
    def metrics(self) -> dict[str, np.ndarray]:
        arrived = self.state.place[:, :, 0] == LENGTH - 1
        speed = np.where(arrived, 1.0 / np.maximum(self.state.steps, 1)[:, None], np.nan)
        return {"speed": speed, "share": speed[:, 0], "luck": np.full(self.num_worlds, np.nan)}


def test_an_episode_without_a_case_does_not_count_for_that_metric() -> None:
    """World 0's walker 0 arrives at once, its walker 1 never; in world 1 nobody does, and its episode ends at the same time."""
    world = Shares(2)
    world.reset()
    statistics = EpisodeStatistics(world)
    for _ in range(LIMIT):
        timestep = world.step(np.array([[1, 0], [0, 0]]))
        statistics.add(timestep)
    assert timestep.over.all()
    logged = read_sums(statistics.names, statistics.take())
    assert logged["episodes"] == 2
    assert logged["episode_length"] == LIMIT
    assert logged["share"] == logged["speed"] == pytest.approx(1 / LIMIT)
    assert math.isnan(logged["luck"])
    assert logged["by_agent"]["speed"] == [pytest.approx(1 / LIMIT), pytest.approx(math.nan, nan_ok=True)]
