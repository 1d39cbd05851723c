"""Numbers that fit no array: refused by the settings, or the world has them."""

from __future__ import annotations

import numpy as np
import pytest
from pydantic import Field

from interplay.core.errors import UserError
from interplay.core.settings import Settings, build
from interplay.registry import make_world
from tests.worlds.wild_options import fault, wild_options

# `bench.trust_configurations --worlds` tries all, in a process of its own: large worlds, and the town, whose copies are programs.
FEW = (2**31, 2**63, 10**30, 1e39)
WILD = [
    wild
    for wild in wild_options()
    if wild.option != "num_worlds"
    and wild.world != "navigation/town"
    and any(str(x) in str(wild.value) for x in FEW)
]


class Clock(Settings):
    """Integers with and without bounds, alone and inside."""

    ticks: int = 3
    most: int | None = None
    seed: int = 0
    hands: tuple[int, ...] = (1, 2)
    names: dict[str, int] = Field(default_factory=dict)


@pytest.mark.parametrize("world", sorted({wild.world for wild in WILD}))
def test_a_number_is_refused_in_one_line_or_played(world):
    found = {f"{wild.option}={wild.value}": fault(wild) for wild in WILD if wild.world == world}
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


@pytest.mark.parametrize("key", ["ticks", "most"])
@pytest.mark.parametrize("end", [2**63 - 1, -(2**63)])
def test_integers_without_a_bound_have_those_of_int64(key, end):
    assert getattr(build(Clock, {key: end}, "clock"), key) == end
    with pytest.raises(UserError, match=key):
        build(Clock, {key: end + (1 if end > 0 else -1)}, "clock")


def test_integers_inside_of_lists_and_groups_have_them_too():
    with pytest.raises(UserError, match="hands"):
        build(Clock, {"hands": [1, 2**63]}, "clock")
    with pytest.raises(UserError, match="names"):
        build(Clock, {"names": {"a": 2, "b": -(2**63) - 1}}, "clock")


def test_the_healthiest_survivor_can_take_every_heal():
    """256 heals of the largest size on top of the largest health stay below 2^31."""
    most = 1_000_000
    world = make_world(
        "survival/1v1-heals-low", 1, 0, health=most, heal_amount=most, heals=256, spawn_grid=17
    )
    world.reset()
    assert world.state.body["health"][0].max() == most
    assert most + 256 * most < np.iinfo(world.state.body["health"].dtype).max


def test_the_longest_game_of_werewolf_can_be_counted():
    world = make_world("werewolf/9", 1, 0, max_days=10_000)
    assert world.settings.days + 1 < np.iinfo(world.state.room["day"].dtype).max
    with pytest.raises(UserError, match="max_days"):
        make_world("werewolf/9", 1, 0, max_days=40_000)


@pytest.mark.parametrize(("name", "most"), [("threads", 1_024), ("num_worlds", 1_000_000)])
def test_batches_have_bounds(name, most):
    for value in (0, -1, most + 1, 10**30):
        with pytest.raises(UserError, match=f"{name} = {value}"):
            make_world("matrix/climbing", **{name: value})
