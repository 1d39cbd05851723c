"""What is kept of play: a slow twin that reads a log of the world, and what the networks chose is what the stretches say."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium import spaces

from interplay.core.errors import UserError
from interplay.core.world import TimeStep, World
from interplay.train.distributions import Distribution
from interplay.train.factored.learner import TeamLearner
from interplay.train.factored.recorder import TeamRecorder
from interplay.train.factored.replay import Frames, Replay
from interplay.train.factored.teams import TeamGroup, find_marks
from interplay.train.selfplay.matchups import with_opponents
from interplay.train.settings import TrainSettings
from interplay.train.shard import Shard, make_shard
from tests.train.factored.games import TwoStep, make_two_step
from tests.train.runs import short_run
from tests.train.toy_worlds import LENGTH, Corridor, TwoKinds

ID = "tests.train.factored.games:TwoStep"
ALL = {"by": "name", "groups": {"all": ["*"]}}


def settings_of(**own: Any) -> TrainSettings:
    group = {"rollout": 90, "sequence": 4, "minibatch": 512, "gamma": 0.5, "reward_scale": 2.0}
    values = {"algorithm": "qmix", "num_worlds": 1, "train": {"shards": 1}, "qmix": group}
    return short_run("x", values, **own)


class Logged(Corridor):
    """A corridor that remembers what it said and was told."""

    log: list[tuple[Any, ...]]

    def step(self, action: Any) -> Any:
        before = self.timestep
        said = (before.observation["place"][0].copy(), before.acting[0].copy())
        after = super().step(action)
        told = (after.reward[0], after.terminated[0], after.truncated[0], after.over[0])
        last = after.observation["place"][0].copy()
        self.log.append((*said, np.asarray(action)[0].copy(), *(np.copy(part) for part in told), last))
        return after


class Resting(Logged):
    """In every third step, and in the last before the limit, nobody chooses: all are pushed, back and forth by turns."""

    def _step(self, action: np.ndarray) -> TimeStep:
        steps = self.state.steps[:, None]
        return super()._step(np.where(steps % 3 == 1, steps // 3 % 2, action))

    def _read(self) -> TimeStep:
        step = super()._read()
        return step._replace(acting=step.acting & (self.state.steps % 3 != 1)[:, None])


def make_logged(num_worlds: int, seed: int, first_world: int, kind: type[Logged] = Logged) -> Logged:
    world = kind(num_worlds, seed, first_world)
    world.log = []
    return world


make_resting = partial(make_logged, kind=Resting)


def shard_of(settings: TrainSettings, make: Any) -> tuple[Shard, TeamLearner]:
    world: World = make(num_worlds=1, seed=settings.seed, first_world=0)
    world.reset()
    learner = TeamLearner(world, settings, with_opponents(settings, world))
    return make_shard(0, make, learner, settings), learner


def replay_of(shard: Shard) -> Replay:
    return next(iter(shard.replays.values()))


def kept(shard: Shard) -> list[Frames]:
    replay = replay_of(shard)
    return [replay.take(np.array([place]), 1) for place in range(replay.there)]


def slow_frames(log: list[tuple[Any, ...]], pay: str, gamma: float, scale: float) -> list[dict[str, Any]]:
    """All frames of the team in order, by the rules of docs/value-factorisation.md."""
    frames: list[dict[str, Any]] = []
    present = np.zeros(2, bool)
    for place, acting, action, reward, terminated, truncated, over, last in log:
        present |= acting
        if acting.any():
            frames.append(
                {
                    "place": np.where(acting, place[:, 0], 0),
                    "acts": acting,
                    "action": np.where(acting, action, 0),
                }
                | {"reward": 0.0, "discount": 1.0, "decides": True, "state": [*place[:, 0], *acting]}
            )
        earned = reward[present]
        frame = frames[-1]
        frame["reward"] += frame["discount"] * scale * float(earned.mean() if pay == "mean" else earned.sum())
        frame["discount"] *= gamma
        if over:
            cut = truncated & frame["acts"]
            if cut.any():
                own = {"place": np.where(cut, last[:, 0], 0), "state": [*last[:, 0], *cut]}
                frames.append(own | {"acts": cut, "decides": False})
            else:
                assert terminated.any()
                frame["discount"] = 0.0
            present[:] = False
    return frames


@pytest.mark.parametrize("make", [make_logged, make_resting])
@pytest.mark.parametrize("pay", ["mean", "sum"])
def test_stretches_are_what_the_world_said(pay: str, make: Any):
    """With a member who is done and waits, steps in which nobody chooses, episodes that end and such that are cut."""
    settings = settings_of(population=ALL, qmix={"reward": pay, "state": "team"})
    shard, learner = shard_of(settings, make)
    learner.epsilon = 1.0
    shard.play(learner.inference_parameters(), 0)
    log = shard.world.log
    expected = slow_frames(log, pay, 0.5, 2.0)
    assert any(step[5].any() for step in log), "nothing was cut"
    assert any(step[4].any() for step in log), "nothing ended"
    assert any(frame["acts"].sum() == 1 for frame in expected), "nobody waited"
    at, count = 0, 0
    for frames in kept(shard):
        for f in range(5):
            own = expected[at + f]
            assert frames.rows["float32"][0, :, f, 0].tolist() == own["place"].tolist()
            assert frames.acts[0, :, f].tolist() == own["acts"].tolist()
            assert frames.state[0, f, [0, 3, 2, 5]].tolist() == own["state"]  # places, and which act
            decides = own["decides"] and f < 4
            assert bool(frames.decides[0, f]) == decides
            if decides:
                assert frames.action[0, :, f, 0].tolist() == own["action"].tolist()
                assert frames.reward[0, f] == pytest.approx(own["reward"], abs=1e-5)
                assert frames.discount[0, f] == own["discount"]
                count += 1
        at += 5 if not expected[at + 4]["decides"] else 4
    assert count > 50


@pytest.mark.parametrize(("pay", "expected"), [("mean", [3.0, 12.0]), ("sum", [6.0, 24.0])])
def test_a_team_is_paid_for_those_who_are_there(pay: str, expected: list[float]) -> None:
    """Teams of three slots, of which one is empty, and of two; only the first slot chose."""
    teams = np.array([[0, 1, 2], [3, 4, 5]])
    earned, acted = [], []
    replay = SimpleNamespace(
        open=np.ones(2, bool),
        chose=np.ones((2, 3), bool),
        earn=lambda *given: earned.append(given),
        act=lambda *given: acted.append(given),
        end=lambda over: None,
    )
    recorder: Any = TeamRecorder.__new__(TeamRecorder)
    recorder.team_groups, recorder.replays = (TeamGroup("agent", 0, teams),), [replay]
    recorder._collector = SimpleNamespace(present=np.array([[1, 1, 0, 1, 1]], bool))
    recorder._group = SimpleNamespace(reward=pay, reward_scale=2.0, gamma=0.5)
    recorder._world, recorder._columns = SimpleNamespace(num_worlds=1), [teams]
    recorder._taken = {"agent": np.arange(10.0, 15.0)[:, None]}
    nothing = np.zeros((1, 5), bool)
    step: Any = SimpleNamespace(reward=np.array([[1, 2, 100, 4, 8]], np.float32), truncated=nothing)
    recorder._add(0, step, np.array([[1, 0, 0, 0, 0]], bool), nothing)
    ((who, reward, gamma),) = earned
    assert (who.tolist(), reward.tolist(), gamma) == ([0, 1], expected, 0.5)
    ((who, action),) = acted
    assert (who.tolist(), action[:, :, 0].tolist()) == ([0], [[10, 11, 12]])


@pytest.mark.parametrize(
    "asked",
    [
        {},
        {"network": {"memory": "gru", "memory_size": 6}},
        {"network": {"memory": "lstm"}},
        {"network": {"stack": 3}},
        {"qmix": {"agent_id": True}},
    ],
)
def test_the_choices_of_play_are_the_best_ones_of_the_stretches(asked: dict[str, Any]):
    """What was remembered at a stretch's beginning, who was fresh, and the order of rows: all have to be right for that."""
    shard, learner = shard_of(settings_of(population=ALL, **asked), make_logged)
    learner.epsilon, own, chosen = 0.0, learner.networks["agent"], []

    @jax.jit
    def best_of(vector: Any, frames: Frames) -> jax.Array:
        seen = own._read({d: rows.reshape(-1, rows.shape[-1]) for d, rows in frames.rows.items()})
        return own.distribution.greedy(own._parameters(own._network(vector), seen, frames), None)

    for seed in range(4):
        # Weights of their beginning prefer one choice everywhere.
        shaken = np.random.default_rng(seed).normal(0, 1, learner.vectors["agent"].shape).astype(np.float32)
        learner.vectors["agent"] = shaken
        before = replay_of(shard).taken
        shard.play(learner.inference_parameters(), seed)
        # The first stretch was begun with other weights.
        for frames in kept(shard)[before + 1 :]:
            best = np.asarray(best_of(shaken[0], frames)).reshape(frames.acts.shape)
            decided = frames.acts & frames.decides[:, None]
            assert (best == frames.action[..., 0])[decided].all()
            chosen += best[decided].tolist()
    assert set(chosen) == {0.0, 1.0}, "a policy of one choice tells nothing"


def test_who_does_not_act_has_no_part_in_the_value():
    shard, learner = shard_of(settings_of(population=ALL), make_logged)
    learner.epsilon, own = 1.0, learner.networks["agent"]
    shard.play(learner.inference_parameters(), 0)
    frames = kept(shard)[0]
    network, utilities = own._network(learner.vectors["agent"][0]), np.ones(10, np.float32)
    both = frames._replace(acts=np.ones_like(frames.acts))
    one = both._replace(acts=both.acts * np.array([True, False])[:, None])
    other = utilities.reshape(2, 5) * np.array([[1.0], [7.0]], np.float32)
    assert not np.allclose(own._mixed(network, utilities, both), own._mixed(network, utilities, one))
    np.testing.assert_array_equal(
        own._mixed(network, utilities, one), own._mixed(network, other.ravel(), one)
    )


def test_random_choices_are_as_many_as_epsilon_says_and_legal_alone():
    own = Distribution(spaces.Discrete(2))
    best = jnp.tile(jnp.array([[5.0, 0.0]]), (4000, 1))
    for epsilon in (0.0, 0.3, 1.0):
        taken = np.asarray(own.explore(best, jax.random.key(1), None, jnp.float32(epsilon)))
        assert taken.mean() == pytest.approx(epsilon / 2, abs=0.03)
    legal = jnp.tile(jnp.array([[False, True]]), (4000, 1))
    assert (np.asarray(own.explore(best, jax.random.key(2), legal, jnp.float32(0.5))) == 1).all()


def test_past_selves_play_their_best():
    settings = settings_of(
        num_worlds=8,
        sides={"by": "seat"},
        opponents={"any": [{"play": "self", "share": 0.5}, {"play": "past", "share": 0.5}]},
        population=ALL,
    )
    world = Corridor(1)
    world.reset()
    learner = TeamLearner(world, settings, with_opponents(settings, world))
    learner.epsilon = 0.7
    share = learner.inference_parameters()["agent"][1]
    assert share[0] == np.float32(0.7)
    assert len(share) == 1 + learner.pool.places > 1
    assert not share[1:].any()


@pytest.mark.parametrize(
    ("learners", "expected"),
    [
        # The guide has weights of both populations, and plays with those of the second.
        pytest.param(["walkers"], {"walker": [0.75, 0.0], "guide": [0.75, 0.0]}, id="population"),
        pytest.param(["walker"], {"walker": [0.75, 0.75], "guide": [0.0, 0.0]}, id="kind"),
    ],
)
def test_who_does_not_learn_plays_its_best(learners, expected):
    groups = {"by": "name", "groups": {"walkers": ["walker_0", "walker_1"], "lead": ["walker_2"]}}
    settings = settings_of(population=groups, train={"learners": learners})
    world = TwoKinds()
    world.reset()
    learner = TeamLearner(world, settings, with_opponents(settings, world))
    learner.epsilon = 0.75
    shares = {name: share.tolist() for name, (_, share) in learner.inference_parameters().items()}
    assert shares == expected


class Stateless(TwoStep):
    """It computes its state wrongly."""

    def global_state(self) -> np.ndarray:
        return np.full_like(super().global_state(), np.nan)

    def _read(self) -> TimeStep:
        step = super()._read()
        return step._replace(observation={"place": np.nan_to_num(step.observation["place"])})


def test_a_state_that_is_not_finite_is_told():
    shard, learner = shard_of(settings_of(), Stateless)
    with pytest.raises(UserError, match=r"update 3: .*qmix\.state.* is not finite"):
        shard.play(learner.inference_parameters(), 3)


def test_teams_with_somebody_elses_member_are_not_kept():
    settings = settings_of(sides={"by": "seat"}, opponents={"two": "random"}, num_worlds=2, world={"id": ID})
    world = TwoStep(2)
    world.reset()
    learner = TeamLearner(world, settings, with_opponents(settings, world))
    shard = make_shard(0, make_two_step, learner, settings)
    shard.play(learner.inference_parameters(), 0)
    assert replay_of(shard).taken == 0
    assert shard.collector.acted > 0


def test_places_are_those_in_teams_as_large_as_they_may_be():
    groups = {"by": "name", "groups": {"pair": ["walker_0", "walker_2"], "lone": ["walker_1"]}}
    world, settings = Corridor(agents=3), settings_of(population=groups, qmix={"agent_id": True})
    populations = with_opponents(settings, world)
    marks = [[1, 0], [1, 0], [0, 1]]
    assert find_marks(settings, world, populations)["agent"].tolist() == marks
    # A policy is told the same that does not know whom the run played against.
    others = populations._replace(opponents=("pair",))
    assert find_marks(settings, world, others)["agent"].tolist() == marks
    assert find_marks(settings_of(population=groups), world, populations) == {}
    kinds = {"by": "name", "groups": {"walkers": ["walker_[01]"], "guide": ["walker_2"]}}
    world, settings = TwoKinds(1), settings_of(population=kinds, qmix={"agent_id": True})
    found = find_marks(settings, world, with_opponents(settings, world))
    assert {kind: own.tolist() for kind, own in found.items()} == {"walker": [[1, 0], [0, 1]], "guide": [[1]]}


def test_a_team_view_begins_with_the_first_members_own():
    shard, learner = shard_of(settings_of(population=ALL), make_logged)
    learner.epsilon = 1.0
    shard.play(learner.inference_parameters(), 0)
    assert learner.state.size == 2 * (2 + 1)  # place, noise, and who acts
    frames = kept(shard)[0]
    acts = frames.acts[0].all(axis=0)
    np.testing.assert_array_equal(frames.state[0, acts, 0], frames.rows["float32"][0, 0, acts, 0])
    assert frames.rows["float32"][0, :, :, 0].max() <= LENGTH - 1
