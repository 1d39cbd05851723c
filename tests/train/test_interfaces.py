"""Runs through interfaces: the others play the world itself, a frozen policy brings its interfaces along."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from interplay.core.errors import UserError
from interplay.evaluate import play
from interplay.interfaces.world import InterfacedWorld
from interplay.registry import make_policy, make_world
from interplay.train.interfaced import InterfacedTrainedPolicy, through_interfaces
from interplay.train.learner import Learner
from interplay.train.selfplay.matchups import with_opponents
from interplay.train.settings import TrainSettings
from interplay.train.shard import Shard
from interplay.train.trainer import load_policy, train
from tests.train.runs import arrays_of, go_on, short_run
from tests.train.test_opponents import last

pytestmark = pytest.mark.slow

DUEL = "dilemma/fixed"
STACKS = {"one": [{"name": "FrameStack", "k": 3}, "ConcatVec"], "two": ["PrevActObs", "ConcatVec"]}
BY_NAME = {"by": "name", "groups": {"one": ["agent_0"], "two": ["*_1"]}}


def settings_of(updates: int = 1, **own: Any) -> TrainSettings:
    values = {
        "world": {"options": {"rounds": 9}},
        "train": {"max_updates": updates},
        "ppo": {"rollout": 16, "minibatch": 128, "epochs": 2, "learning_rate": 1e-2, "target_kl": "off"},
        "population": BY_NAME,
        "interfaces": STACKS,
    }
    return short_run(DUEL, {**values, **own})


def make(**own: Any) -> Any:
    return make_world(DUEL, rounds=9, **own)


def test_populations_with_different_interfaces_train_in_one_batch(tmp_path: Path) -> None:
    world = through_interfaces(settings_of(), make)(num_worlds=2, seed=0, first_world=0)
    shapes = {kind.name: kind.observation_space["observation"].shape for kind in world.kinds}
    assert shapes["one"] != shapes["two"]
    run = train(settings_of(2), tmp_path / "run")
    tensors = {name: arrays for name, arrays in last(run).items() if name.startswith("policy-")}
    assert set(tensors) == {"policy-one", "policy-two"}


def test_a_policy_brings_its_interfaces_along(tmp_path: Path) -> None:
    """The same raw actions, whether the interfaces lie around the world or around the policy."""
    run = train(settings_of(2), tmp_path / "run")
    policy = load_policy(run, greedy=True)
    assert isinstance(policy, InterfacedTrainedPolicy)
    around = through_interfaces(settings_of(), make)(num_worlds=6, seed=5, first_world=0)
    raw = make(num_worlds=6, seed=5)
    inner = policy.policy
    theirs, ours = around.reset(), raw.reset()
    inner.start(around, seed=1)
    told = []
    for _ in range(5):
        theirs = around.step(inner.act(theirs))
        told.append(around.inner.timestep.observation["own"].copy())
    policy.start(raw, seed=1)
    for step in range(5):
        ours = raw.step(policy.act(ours))
        assert np.array_equal(ours.observation["own"], told[step])
    table = play(make(num_worlds=4), load_policy(run), episodes=8)
    assert len(table["return"]) == 8
    for question in (policy.values, policy.probabilities):
        with pytest.raises(UserError, match="sees through interfaces"):
            question({})


def test_the_others_play_the_world_itself() -> None:
    """tit_for_tat reads the world's own fields, which an interface hides; nobody learns from its rows."""
    settings = settings_of(
        opponents={"two": "tit_for_tat"}, interfaces={"one": STACKS["one"], "two": STACKS["two"]}
    )
    world = through_interfaces(settings, make)(num_worlds=8, seed=0, first_world=0)
    assert isinstance(world, InterfacedWorld)
    learner = Learner(world.kinds, settings, with_opponents(settings, world))
    world.reset()
    shard = Shard(0, world, learner, settings)
    step, before, met = world.inner.step, [], 0

    def spy(action: np.ndarray) -> Any:
        nonlocal met
        if before and not world.inner.timestep.over.any():
            fresh = (
                world.inner.state.rounds == 0 if hasattr(world.inner.state, "rounds") else np.zeros(8, bool)
            )
            expected = before[-1][:, 0]
            assert np.array_equal(action[~fresh, 1], expected[~fresh])
            met += int((~fresh).sum())
        before.append(action.copy())
        return step(action)

    world.inner.step = spy  # type: ignore[method-assign]
    shard.play(learner.inference_parameters(), 0)
    assert met > 50
    assert shard.collector.pending["two"].count == 0
    assert shard.collector.pending["one"].count > 100


def test_a_league_learns_through_interfaces_and_meets_fixed_players(tmp_path: Path) -> None:
    league = {
        "period": 200,
        "keep": 2,
        "learners": {
            "main": {
                "meets": [{"by": "pfsp", "share": 0.5}, {"by": "fixed", "play": "tit_for_tat", "share": 0.5}]
            }
        },
    }
    own = {"population": {"block": 8}, "league": league, "interfaces": {"agent": STACKS["one"]}}
    whole = train(settings_of(4, **own), tmp_path / "whole")
    run = train(settings_of(2, **own), tmp_path / "run")
    assert arrays_of(go_on(run, 4)) == arrays_of(whole)
    player = load_policy(f"{run}@main")
    assert player.act.__self__.names == ("main",)  # type: ignore[attr-defined]
    assert last(whole)["pool"]["matches"].sum() > 10


def test_ratings_in_training_are_of_the_world_itself(tmp_path: Path) -> None:
    own = {"population": {}, "interfaces": {"agent": STACKS["one"]}}
    rated = {"evaluate_against": ["tit_for_tat"], "evaluate_every": 100, "evaluate_episodes": 4}
    run = train(settings_of(**own, train={"shards": 2, "max_updates": 1, **rated}), tmp_path / "run")
    assert "score_rate[tit_for_tat]" in (run / "metrics.jsonl").read_text()


def test_a_scripted_policy_is_not_asked_through_interfaces() -> None:
    """`inside` is what guests are started with: their own reading of the world stays right."""
    world = through_interfaces(settings_of(), make)(num_worlds=2, seed=0, first_world=0)
    policy = make_policy(DUEL, "tit_for_tat")
    world.reset()
    policy.start(world.inner)
    assert policy.act(world.inner.timestep).shape == (2, 2)
