"""Rollouts: what is kept and where it stands, who is present, what follows a life that was cut."""

from __future__ import annotations

import math
import time
from typing import Any

import jax
import numpy as np
import pytest

from interplay.core.errors import UserError
from interplay.core.world import TimeStep
from interplay.train.collector import IDLE_EVERY, Collector
from interplay.train.learner import Learner
from interplay.train.rollout import collect
from interplay.train.run.episodes import EpisodeStatistics
from interplay.train.run.side_sums import Balance, LoggedSides
from interplay.train.selfplay.matchups import with_opponents
from interplay.train.settings import TrainSettings
from interplay.train.shard import Shard, make_shard
from tests.train.plain_rollout import count_episodes
from tests.train.runs import short_run
from tests.train.toy_worlds import LENGTH, LIMIT, PLACE, Corridor, TwoKinds, make_corridor, make_two_kinds

WORLDS, STEPS, SEED = 6, 48, 1


def settings_of(**ppo: Any) -> TrainSettings:
    ppo = {"rollout": STEPS, **ppo}
    return short_run("corridor", seed=SEED, num_worlds=WORLDS, train={"shards": 1}, ppo=ppo)


@pytest.fixture(scope="module")
def learner() -> Learner:
    world = Corridor()
    return Learner(world.kinds, settings_of(), with_opponents(settings_of(), world))


def played(learner: Learner) -> Collector:
    """A collector after its first rollout."""
    collector = make_shard(0, make_corridor, learner, settings_of()).collector
    began = time.perf_counter()
    seconds = collect([collector], learner.inference_parameters(), 0)
    assert min(seconds.values()) > 0.0
    assert sum(seconds.values()) < time.perf_counter() - began
    return collector


@pytest.fixture
def collector(learner: Learner) -> Collector:
    return played(learner)


def samples_of(collector: Collector, step: int) -> slice:
    """Where the samples of a step stand; they are kept in the order of their steps."""
    pending = collector.pending["agent"]
    first, after = np.searchsorted(pending.step[: pending.count], [step, step + 1])
    return slice(int(first), int(after))


def value_of(learner: Learner, observation: dict[str, np.ndarray]) -> np.ndarray:
    """V of every slot, by the network without anything that is compiled around it."""
    network = learner.networks["agent"]
    lead = observation["place"].shape[:2]
    rows = network.layout.allocate(lead[0] * lead[1])
    network.layout.write(observation, None, rows)
    _, value = network._network(learner.vectors["agent"][0])(network._read(rows))
    return np.asarray(value).reshape(lead)


def test_a_rollout_replays_in_a_fresh_world(learner: Learner, collector: Collector) -> None:
    """The actions that are kept lead a second world through the observations, rewards and ends that are kept."""
    buffer, pending = collector.buffer, collector.pending["agent"]
    twin = Corridor(WORLDS, seed=SEED)
    timestep = twin.reset()
    acted = 0
    for t in range(STEPS):
        own = samples_of(collector, t)
        seen = np.stack([timestep.observation[name].ravel() for name in ("place", "noise")], axis=1)
        assert np.array_equal(pending.seen.rows["float32"][own], seen[pending.slot[own]])
        teaching = np.zeros(twin.state.acting.size, bool)
        teaching[pending.slot[own][pending.acts[own]]] = True
        assert np.array_equal(teaching.reshape(buffer.acting[t].shape), timestep.acting)
        assert np.array_equal(buffer.acting[t], timestep.acting)
        acted += np.count_nonzero(timestep.acting)
        action = np.zeros(teaching.size, np.int64)
        action[pending.slot[own]] = pending.action[own, 0]
        timestep = twin.step(action.reshape(WORLDS, -1))
        assert np.array_equal(buffer.reward[t], timestep.reward)
        assert np.array_equal(buffer.ended[t], timestep.terminated | timestep.truncated)
        value = np.where(timestep.truncated, value_of(learner, timestep.observation), 0.0)
        np.testing.assert_allclose(buffer.bootstrap[t], value, atol=1e-5)
        if timestep.over.any():
            timestep = twin.reset(timestep.over)
    assert buffer.bootstrap.any()
    assert collector.acted == acted
    assert collector.present.all()  # everybody belongs to an episode
    np.testing.assert_allclose(buffer.last_value, value_of(learner, timestep.observation), atol=1e-5)


def test_only_lives_that_were_cut_are_bootstrapped(collector: Collector) -> None:
    buffer = collector.buffer
    cut = buffer.bootstrap != 0
    assert cut.any()
    assert buffer.ended[cut].all()
    # A cut ends every life of a world at once, LIMIT steps after it began.
    assert (cut.any(axis=2) == cut.all(axis=2)).all()
    steps, worlds = np.nonzero(cut.all(axis=2))
    for step, world in zip(steps, worlds, strict=True):
        assert step + 1 >= LIMIT
        assert not buffer.ended[step - LIMIT + 1 : step, world].any()


def test_those_who_arrived_are_present_but_do_not_act(collector: Collector) -> None:
    """They give a sample of their value in the first step and every eighth after it; it teaches no policy."""
    pending, slots = collector.pending["agent"], collector.present.size
    arrived = pending.seen.rows["float32"][: pending.count, PLACE] == LENGTH - 1
    acts = pending.acts[: pending.count]
    assert arrived.any()
    assert np.array_equal(acts, ~arrived)
    assert set(pending.step[: pending.count][~acts] % IDLE_EVERY) == {0}
    idle = 0
    for t in range(STEPS):
        own = samples_of(collector, t)
        acting = np.count_nonzero(collector.buffer.acting[t])
        everyone = t % IDLE_EVERY == 0  # nobody is absent in this world
        assert own.stop - own.start == (slots if everyone else acting)
        assert len(set(pending.slot[own].tolist())) == own.stop - own.start
        idle += slots - acting if everyone else 0
    assert idle == np.count_nonzero(~acts) > 0


class Turns(Corridor):
    """Two agents act in turn in episodes without an end."""

    def _reset(self, which: np.ndarray, seeds: np.ndarray | None) -> TimeStep:
        super()._reset(which, seeds)
        self.state.acting[which, 1] = False
        return self._read()

    def _step(self, action: np.ndarray) -> TimeStep:
        self.state.acting[:] = ~self.state.acting
        return self._read()


@pytest.mark.parametrize("rollout", [5, 16])
def test_the_values_that_end_a_rollout_are_trained_in_the_next(rollout: int) -> None:
    settings, world = settings_of(rollout=rollout), Turns(WORLDS)
    learner = Learner(world.kinds, settings, with_opponents(settings, world))
    world.reset()
    shard, waiting = Shard(0, world, learner, settings), np.zeros(0)
    for update in range(4):
        shard.play(learner.inference_parameters(), update)
        pending = shard.collector.pending["agent"]
        step, acts, slot = (array[: pending.count] for array in (pending.step, pending.acts, pending.slot))
        assert np.array_equal(slot[(step == 0) & ~acts], waiting)
        waiting = np.flatnonzero(~world.timestep.acting)
        assert shard.collector.buffer.last_value.reshape(-1)[waiting].all()
        shard.estimate()
        shard.finish()


def test_agents_that_wait_are_not_dead() -> None:
    settings, world = settings_of(mask_dead=False), Turns(WORLDS)
    learner = Learner(world.kinds, settings, with_opponents(settings, world))
    world.reset()
    collector = Shard(0, world, learner, settings).collector
    collect([collector], learner.inference_parameters(), 0)
    assert collector.buffer.acting.sum() == STEPS * WORLDS  # one of two agents


def test_those_who_are_present_act_and_teach_where_the_dead_are_not_masked() -> None:
    settings, world = settings_of(mask_dead=False), Corridor(WORLDS, SEED)
    world.dead_stay = True
    world.reset()
    learner = Learner(world.kinds, settings, with_opponents(settings, world))
    shard = Shard(0, world, learner, settings)
    shard.play(learner.inference_parameters(), 0)
    shard.estimate()
    collector, ready = shard.collector, shard.ready["agent"]
    pending, whole = collector.pending["agent"], STEPS * collector.present.size
    arrived = pending.seen.rows["float32"][: pending.count, PLACE] == LENGTH - 1
    assert pending.count == len(ready.picked) == whole
    assert pending.acts[:whole].all()
    assert collector.buffer.acting.all()
    assert len(set(pending.action[:whole][arrived, 0].tolist())) == 2  # drawn, not made up
    assert (ready.advantage[arrived] != 0).any()
    assert collector.acted == whole - np.count_nonzero(arrived)  # what the world read


def test_log_probabilities_are_those_of_the_stored_actions(learner: Learner, collector: Collector) -> None:
    network, pending = learner.networks["agent"], collector.pending["agent"]
    count = pending.count
    rows = {dtype: array[:count] for dtype, array in pending.seen.rows.items()}
    parameters, value = network._network(learner.vectors["agent"][0])(network._read(rows))
    log_prob = network.distribution.log_prob(parameters, pending.action[:count], None)
    np.testing.assert_allclose(pending.log_prob[:count], log_prob, atol=1e-5)
    at = (pending.step[:count], pending.slot[:count])
    np.testing.assert_allclose(collector.buffer.value.reshape(STEPS, -1)[at], value, atol=1e-5)


@pytest.mark.parametrize("update", [0, 3])
def test_actions_are_drawn_with_the_key_of_their_update_and_step(learner: Learner, update: int) -> None:
    collector = make_shard(0, make_corridor, learner, settings_of()).collector
    collect([collector], learner.inference_parameters(), update)
    network, pending = learner.networks["agent"], collector.pending["agent"]
    for t in (0, 1):
        own = samples_of(collector, t)
        rows = network.layout.allocate(collector.rows("agent"))
        count = own.stop - own.start
        for dtype, array in rows.items():
            array[:count] = pending.seen.rows[dtype][own]
        parameters, _ = network._network(learner.vectors["agent"][0])(network._read(rows))
        key = jax.random.fold_in(jax.random.wrap_key_data(collector.keys["agent"]), update * STEPS + t)
        drawn = network.distribution.sample(parameters, jax.random.fold_in(key, 0), None)
        assert np.array_equal(pending.action[own], drawn[:count])


def test_bad_numbers_are_named_with_the_update(collector: Collector) -> None:
    pending, buffer = collector.pending["agent"], collector.buffer

    def refused(array: np.ndarray, at: Any, says: str) -> None:
        was = array[at].copy()
        array[at] = np.inf
        with pytest.raises(UserError, match=f"update 7: {says}"):
            collector.refuse_bad_numbers(7)
        array[at] = was

    refused(pending.seen.rows["float32"], (pending.count - 1, PLACE), r'observation\["place"\]')
    refused(pending.log_prob, 3, "log_prob of the network")
    refused(buffer.value, (0, 0, 0), "value of the network")
    refused(buffer.last_value, (0, 0), "value of the network")
    refused(buffer.bootstrap, (0, 0, 0), "value of the network")
    refused(buffer.reward, (0, 0, 0), "reward")
    collector.refuse_bad_numbers(7)
    agent, world = collector.world.agents[-1], collector.world.num_worlds - 1
    refused(
        buffer.reward, (2, -1, -1), rf"reward is not finite \(inf, agent {agent}, world {world}, step 3 of"
    )
    last = pending.count - 1
    w, a = divmod(int(pending.slot[last]), len(collector.world.agents))
    place = f"agent {collector.world.agents[a]}, world {w}, step {pending.step[last] + 1} of"
    refused(
        pending.seen.rows["float32"],
        (last, PLACE),
        rf'observation\["place"\] is not finite in float32, {place}',
    )
    pending.seen.rows["float32"][pending.count] = np.nan  # nobody reads it


def test_a_bad_value_is_named_with_its_kind() -> None:
    world, settings = TwoKinds(), settings_of()
    learner = Learner(world.kinds, settings, with_opponents(settings, world))
    collector = make_shard(0, make_two_kinds, learner, settings).collector
    collector.buffer.value[0, 0, 2] = np.nan
    with pytest.raises(UserError, match="value of the network of guide"):
        collector.refuse_bad_numbers(7)


def told(statistics: EpisodeStatistics) -> np.ndarray:
    """The sums of the windows that are complete."""
    return statistics.windows.take(statistics.windows.waiting() == 0)


def test_statistics_of_episodes() -> None:
    world = Corridor(2)
    world.reset()
    statistics = EpisodeStatistics(world)
    for _ in range(LIMIT):
        timestep = world.step(np.array([[1, 1], [0, 0]]))
        count_episodes(statistics, timestep)
        if timestep.over.all():
            break
        # World 0 has arrived and stands still; without a restart it would be counted again in every step.
        world.reset(timestep.over)
    logged = statistics.read(told(statistics), Balance())
    arrivals = LIMIT // (LENGTH - 1)  # of world 0, which goes right; world 1 goes left until it is cut
    assert logged["episodes"] == arrivals + 1
    assert logged["episode_length"] == pytest.approx(2 * LIMIT / (arrivals + 1))
    assert logged["episode_return"] == pytest.approx(
        (0.6 * arrivals - 0.1 * LIMIT) / (arrivals + 1), abs=1e-5
    )
    assert logged["arrived"] == pytest.approx(arrivals / (arrivals + 1))
    assert statistics.read(told(statistics), Balance()) == {"episodes": 0}


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
        count_episodes(statistics, timestep)
    assert timestep.over.all()
    logged = statistics.read(told(statistics), Balance())
    assert logged["episodes"] == 2
    assert logged["episode_length"] == LIMIT
    assert logged["share"] == logged["speed"] == pytest.approx(1 / LIMIT)
    assert math.isnan(logged["luck"])
    assert logged["by_agent"]["speed"] == [pytest.approx(1 / LIMIT), pytest.approx(math.nan, nan_ok=True)]


class Even(Corridor):
    """Nobody wins."""

    @property
    def metrics(self) -> dict[str, np.ndarray]:
        return {"outcome": np.zeros((self.num_worlds, 2))}


def test_an_episode_is_cut_where_a_limit_ends_one_life_of_several() -> None:
    """Walker 1 died before; in world 1 both lives end at the same time without a limit."""
    world = Even(2)
    start = world.reset()
    statistics = EpisodeStatistics(world, sides=LoggedSides(("a", "b"), 2, ("a",)))
    end = start._replace(
        over=np.array([True, True]),
        truncated=np.array([[True, False], [False, False]]),
        terminated=np.array([[False, False], [True, True]]),
    )
    members = np.stack([np.tile(side, (2, 1)) for side in ([True, False], [True, False], [False, True])])
    count_episodes(statistics, end, members=members)
    logged = statistics.read(told(statistics), Balance())
    assert [logged[share] for share in ("won", "lost", "drawn", "cut")] == [0.0, 0.0, 0.5, 0.5]


def test_an_action_that_the_world_refuses_is_blamed_on_the_observation_behind_it(
    learner: Learner, monkeypatch: pytest.MonkeyPatch
) -> None:
    collector = make_shard(0, make_corridor, learner, settings_of()).collector
    collector.world.timestep.observation["place"][1, 0] = np.nan

    def refuse(action: Any) -> None:
        raise UserError("action nan is no number; mend the policy")

    monkeypatch.setattr(collector.world, "step", refuse)
    agent = collector.world.agents[0]
    with pytest.raises(UserError, match=rf'observation\["place"\] .*agent {agent}, world 1, step 1 of'):
        collect([collector], learner.inference_parameters(), 3)


class Shaped(Corridor):
    """A world whose own `step` doubles the rewards."""

    def step(self, action: Any) -> TimeStep:
        timestep = super().step(action)
        timestep.reward[:] *= 2.0
        return timestep


def test_an_overridden_step_is_called(learner: Learner) -> None:
    made = [kind(WORLDS, seed=SEED) for kind in (Corridor, Shaped)]
    rewards = []
    for world in made:
        world.reset()
        shard = Shard(0, world, learner, settings_of())
        collect([shard.collector], learner.inference_parameters(), 0)
        rewards.append(shard.collector.buffer.reward.copy())
    assert rewards[0].any()
    assert np.array_equal(rewards[1], 2.0 * rewards[0])
