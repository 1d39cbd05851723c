"""Environments of an older interface, or half of RLlib's: one line says what `reset` and `step` must give."""

from __future__ import annotations

import numpy as np
import pytest

from interplay.connect.parallel_world import ParallelEnvWorld
from interplay.core.errors import UserError
from tests.connect.masked_envs import Older, OldGym

REFUSED = {
    "observations alone": r"reset\(\).*infos",
    "no seed": "seed",
    "four": r"step\(\) gave 4 values.*truncations",
    "lists": r"step\(\).*list.*dict",
    "__all__ alone": "__all__.*alone",
    "__all__ more": "__all__.*ann",
    "None": "bob acts",
}


def played(make):
    world = ParallelEnvWorld(make, 1)
    step, count = world.reset(), 0
    while not step.over.all() and count < 9:
        step, count = world.step(np.zeros((1, len(world.agents)), int)), count + 1
    return world


@pytest.mark.parametrize("fault", REFUSED)
def test_an_older_interface_is_refused(fault):
    with pytest.raises(UserError, match=REFUSED[fault]):
        played(lambda: Older(fault))


@pytest.mark.parametrize("fault", ["", "__all__ beside"])
def test_flags_of_all_beside_those_of_the_agents_do_no_harm(fault):
    assert played(lambda: Older(fault)).metrics["episode_return"].tolist() == [[3.0, 3.0]]


@pytest.mark.parametrize("call", ["reset", "step"])
def test_gym_before_its_fifth_value_is_refused(call):
    with pytest.raises(UserError, match=rf"{call}\(\).*Gymnasium"):
        played(lambda: OldGym(call))
