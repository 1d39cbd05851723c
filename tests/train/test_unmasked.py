"""Policies without masks: what is illegal is as likely as its logit says, in training and in play, and only where a world plays it."""

from __future__ import annotations

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from gymnasium import spaces

from interplay.core.errors import UserError
from interplay.core.settings import build
from interplay.evaluate import play
from interplay.registry import make_world
from interplay.train.distributions import Distribution
from interplay.train.making import check_unmasked
from interplay.train.settings import TrainSettings
from interplay.train.trainer import load_policy, train
from tests.train.runs import log_of

UNMASKED = {"kind": "mlp", "hidden": [8], "action_masks": False}


def settings_of(world: str, **network: object) -> TrainSettings:
    return build(TrainSettings, {"world": {"id": world}, "network": {**UNMASKED, **network}}, "test")


@pytest.mark.parametrize("floor", [0.0, 0.001])
def test_masks_are_not_looked_at(floor: float) -> None:
    space = spaces.MultiDiscrete([3, 3, 2])
    rng = np.random.default_rng(0)
    parameters = jnp.asarray(rng.normal(size=(64, 8)), jnp.float32)
    mask = jnp.asarray(np.tile([True, False, True, False, True, True, True, False], (64, 1)))
    action = jnp.asarray(np.tile([1.0, 0.0, 1.0], (64, 1)), jnp.float32)
    blind, seeing = Distribution(space, floor, masked=False), Distribution(space, floor)
    for ask in ("probabilities", "entropy", "greedy"):
        assert np.array_equal(getattr(blind, ask)(parameters, mask), getattr(seeing, ask)(parameters, None))
    assert np.array_equal(blind.log_prob(parameters, action, mask), seeing.log_prob(parameters, action, None))
    key = jax.random.key(1)
    drawn = np.asarray(blind.sample(parameters, key, mask))
    assert np.array_equal(drawn, seeing.sample(parameters, key, None))
    assert (drawn[:, 0] == 1).any()  # which the mask forbids
    assert not (np.asarray(seeing.sample(parameters, key, mask))[:, 0] == 1).any()
    assert float(jnp.abs(seeing.probabilities(parameters, mask)[:, 1]).max()) < 1e-6


@pytest.mark.parametrize(
    ("world", "options", "said"),
    [
        ("werewolf/9", {"illegal": "raise"}, "werewolf/9 refuses illegal choices .*; leave it out"),
        ("dilemma/fixed", {}, "dilemma/fixed has no action masks, everything is legal; leave it out"),
    ],
)
def test_refused_where_it_means_nothing_or_is_an_error(world: str, options: dict, said: str) -> None:
    with pytest.raises(UserError, match=f"network.action_masks = false: {said}") as told:
        check_unmasked(settings_of(world), make_world(world, 1, 0, **options))
    assert "\n" not in str(told.value)
    check_unmasked(settings_of(world, action_masks=True), make_world(world, 1, 0, **options))


@pytest.mark.parametrize("world", ["werewolf/9", "mmo/forage"])
def test_taken_where_a_world_plays_what_is_illegal(world: str) -> None:
    check_unmasked(settings_of(world), make_world(world, 1, 0))


@pytest.mark.slow
def test_illegal_names_are_played_counted_and_logged(tmp_path: Path) -> None:
    illegal = {}
    for masks in (False, True):
        values = {
            "world": {"id": "werewolf/6"},
            "num_worlds": 8,
            "steps": 10**6,
            "train": {"shards": 1, "max_updates": 2, "quiet": True},
            "ppo": {"rollout": 32, "epochs": 1},
            "network": {**UNMASKED, "action_masks": masks},
        }
        run = train(build(TrainSettings, values, "test"), tmp_path / f"{masks}")
        logged = log_of(run)
        played = play(make_world("werewolf/6", 8, 0), load_policy(run), episodes=16)
        illegal[masks] = (logged[-1]["illegal"], played["illegal"].mean())
    assert illegal[True] == (0, 0)
    assert min(illegal[False]) > 1  # of about ten names in a game, passes and the dead are illegal
