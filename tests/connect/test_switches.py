"""Arguments of `interplay.make` that are not what they seem: refused in one line, never read as something else."""

from __future__ import annotations

import pytest

import interplay
from interplay.core.errors import UserError

WORLD, HOMES = "simulation/multi-corridor", "mmo/forage"
SMALL = {"slots": 8, "interior": 16, "prefill": 4, "max_ticks": 10}


@pytest.mark.parametrize("name", ["remove_dead", "keep_dead", "mask_in_observation"])
@pytest.mark.parametrize("value", ["no", 1, 0.0, None])
def test_a_switch_is_true_or_false(name, value):
    with pytest.raises(UserError, match=f"{WORLD}: {name} = {value!r} is not allowed; pass True or False"):
        interplay.make(WORLD, **{name: value})


def test_dead_are_kept_or_removed():
    with pytest.raises(UserError, match="keep_dead = True says the opposite"):
        interplay.make(WORLD, keep_dead=True, remove_dead=True)
    with pytest.raises(UserError, match=r'agents = "slots" never leave'):
        interplay.make(HOMES, agents="slots", remove_dead=True, **SMALL)


@pytest.mark.parametrize("lives", [0, -1, 2.5, True, 10**9])
def test_lives_are_a_number_that_memory_can_hold(lives):
    with pytest.raises(
        UserError, match=rf"lives = {lives} is not allowed; pass a whole number from 1 to 1,000,000"
    ):
        interplay.make(HOMES, lives=lives, **SMALL)


@pytest.mark.parametrize("seed", ["x", 1.5, None])
def test_a_seed_is_a_whole_number(seed):
    with pytest.raises(UserError, match=r"seed = .* is not allowed; pass a whole number"):
        interplay.make(WORLD, seed=seed)
