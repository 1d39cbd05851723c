"""A small piece of the persistent world: two populations learn to live clearly longer than random play does."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from interplay.core.policy import Policy, RandomPolicy
from interplay.registry import make_world
from interplay.train.settings import (
    NetworkGroup,
    PolicyGradientGroup,
    TrainGroup,
    TrainSettings,
    WorldChoice,
)
from interplay.train.trainer import load_policy, train
from tests.train.runs import log_of

OPTIONS = {"interior": 30, "slots": 16, "npop": 2, "cap_draw": "fixed"}


def mean_life(policy: Policy, ticks: int) -> float:
    """Ticks lived per life, from many lives; those under way count with what they have lived."""
    world = make_world("mmo/forage", num_worlds=16, seed=9, **OPTIONS)
    policy.start(world, seed=1)
    timestep, lived, ended = world.reset(), 0, 0
    for _ in range(ticks):
        timestep = world.step(policy.act(timestep))
        lived += int(timestep.acting.sum())
        ended += int(timestep.terminated.sum())
    return lived / max(ended, 1)


def test_a_small_world_is_learnt(tmp_path: Path) -> None:
    settings = TrainSettings(
        world=WorldChoice(id="mmo/forage", options=OPTIONS),
        num_worlds=32,
        steps=10**9,
        algorithm="policy_gradient",
        train=TrainGroup(shards=2, max_updates=60, checkpoint_seconds=1e6),
        policy_gradient=PolicyGradientGroup(rollout=8, horizon=64, learning_rate=3e-3),
        network=NetworkGroup(kind="tiles", activation="none", probability_floor=0.001),
    )
    run = train(settings, tmp_path / "run")
    log = log_of(run)
    random, learnt = mean_life(RandomPolicy(), 150), mean_life(load_policy(run), 150)
    assert learnt > 3.0 * random, (learnt, random)
    for name in ("pop0", "pop1"):
        assert np.mean([line[f"life[{name}]"] for line in log[-8:] if f"life[{name}]" in line]) > 2.0 * random
