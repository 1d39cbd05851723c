"""Policies by the names of populations."""

from __future__ import annotations

import numpy as np
import pytest

from interplay.core.errors import UserError
from interplay.evaluate import Cast, Populations, play
from interplay.registry import make_world
from interplay.worlds.werewolf.policies import POLICIES


def test_a_cast_is_populations_by_name() -> None:
    asked: list[str] = []

    def others(name: str) -> object:
        asked.append(name)
        return POLICIES["password"]()

    form = {"world_id": "werewolf/9-l1s9", "num_worlds": 8, "seed": 1}
    cast = Cast({"werewolf": POLICIES["revenge"]()}, others)  # type: ignore[arg-type]
    ours = play(make_world(**form), cast, 24, seed=5)
    numbers = Populations({0: POLICIES["password"](), 1: POLICIES["revenge"]()})
    theirs = play(make_world(**form), numbers, 24, seed=5)
    assert asked == ["villager"]
    np.testing.assert_array_equal(ours["return"], theirs["return"])
    assert cast.name == "revenge for werewolf"


def test_one_object_may_play_all_the_rest() -> None:
    """It is asked once, for all the seats of its populations."""
    world, rest = make_world("werewolf/aiwolf5", num_worlds=4), POLICIES["random"]()
    seer = world.population_names.index("seer")  # type: ignore[union-attr]
    asked: list[np.ndarray] = []
    act = rest.act
    rest.act = lambda timestep: asked.append(timestep.acting) or act(timestep)  # type: ignore[func-returns-value, method-assign]
    cast = Cast({"seer": POLICIES["bandwagon"]()}, lambda _: rest)
    step = world.reset()
    cast.start(world)
    while (step.observation["phase"] != 2).any():
        step = world.step(cast.act(step))
    asked.clear()
    cast.act(step)
    assert len(asked) == 1
    np.testing.assert_array_equal(asked[0], step.acting & (world.population != seer))


def test_an_unknown_population_is_refused() -> None:
    cast = Cast({"wolf": POLICIES["random"]()}, lambda _: POLICIES["random"]())
    with pytest.raises(UserError, match="no population 'wolf'; did you mean 'werewolf'"):
        cast.start(make_world("werewolf/9"))
    with pytest.raises(UserError, match="there are villager, werewolf"):
        Cast({"xyz": POLICIES["random"]()}, lambda _: POLICIES["random"]()).start(make_world("werewolf/9"))
