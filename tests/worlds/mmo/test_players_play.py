"""The scripted players in the world itself: they read what the state holds, and live as long as they should."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from interplay.registry import make_policy, make_world
from interplay.worlds.mmo.policies import POLICIES, Forager, decoding


def play(world: Any, policy: Any, ticks: int, seed: int = 0) -> Any:
    timestep = world.reset()
    policy.start(world, seed)
    for _ in range(ticks):
        timestep = world.step(policy.act(timestep))
    return world


@pytest.mark.parametrize("compact", [False, True])
def test_players_read_the_numbers_that_the_state_holds(compact: bool) -> None:
    options: dict[str, Any] = {"compact": compact, "prefill": 64, "health": 20, "food": 50, "border": 12}
    world = play(make_world("mmo/combat", num_worlds=2, seed=1, **options), Forager(), 40)
    scale, offset = decoding(world.settings)
    own = world.timestep.observation["entities"][:, :, 0] * scale + offset
    agent, alive = world.state.agent, world.state.acting
    for column, name in enumerate(("life", "health", "food", "water", "row", "col")):
        told, held = np.floor(own[..., column] + 0.5).astype(int)[alive], agent[name][alive]
        if compact and name == "life":
            held = held // 8 * 8
        assert (told == held).all(), name
    assert (np.floor(own[..., 10] + 0.5) == agent["freeze"])[alive].all()


@pytest.mark.parametrize("name", ["forager", "fighter", "fleer"])
def test_nobody_with_a_plan_dies_in_lava_and_all_outlive_random_players(name: str) -> None:
    lives = {}
    for who in (name, "random"):
        world = make_world("mmo/combat", num_worlds=4, seed=2, cap_draw="fixed")
        metrics = play(world, make_policy(world.id, who), 600).metrics
        lives[who] = metrics["mean_life"].mean()
        if who == name:
            assert metrics["deaths_lava"].sum() == 0
    assert lives[name] > 2 * lives["random"]


def test_foragers_alone_hardly_ever_go_hungry() -> None:
    world = make_world("mmo/forage", num_worlds=4, seed=2, cap=16, npop=1, cap_draw="fixed")
    metrics = play(world, Forager(), 2000).metrics
    assert metrics["mean_life"].min() > 150
    assert (metrics["living"] >= 12).all()


@pytest.mark.parametrize("name", list(POLICIES))
def test_a_world_of_a_batch_is_played_as_it_is_alone(name: str) -> None:
    batch = play(make_world("mmo/combat", num_worlds=3, seed=4), POLICIES[name](), 80)
    alone = make_world("mmo/combat", num_worlds=1, seed=4, first_world=2)
    assert (play(alone, POLICIES[name](), 80).hash() == batch.hash()[2:]).all()
