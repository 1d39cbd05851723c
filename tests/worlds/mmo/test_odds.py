"""Probabilities of the persistent world against their closed forms (specification 18). Seeds are fixed: nothing here can flicker."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from interplay.worlds.mmo.config import MmoSettings
from interplay.worlds.mmo.tiles import FOREST, SCRUB
from interplay.worlds.mmo.world import MmoWorld
from tests.worlds.mmo.scenes import MELEE, PASS

# One agent that cannot die stands still: the world goes on, and no food is eaten.
STILL: dict[str, Any] = {"interior": 18, "slots": 1, "npop": 1, "starve": 0}


def assert_fits(counts: np.ndarray, shares: np.ndarray) -> None:
    """Chi-square; five standard deviations above its mean is refused."""
    wanted = counts.sum() * shares
    assert wanted.min() > 5
    statistic = float(((counts - wanted) ** 2 / wanted).sum())
    degrees = len(counts) - 1
    assert statistic < degrees + 5 * np.sqrt(2 * degrees), statistic


def test_waits_for_regrowth_are_geometric():
    ticks, each, chance = 120, 70, 0.025
    world = MmoWorld(MmoSettings(**STILL, regrow=chance, maps=1), num_worlds=1_450, seed=1)
    world.reset()
    state, side = world.state, world.settings.side
    places = np.flatnonzero(state.tiles[0] == FOREST)[:each]
    rows, cols = places // side, places % side
    state.tiles[:, rows, cols] = SCRUB
    state.depleted[:, :each] = places
    state.room["depleted"] = each
    idle = np.zeros((world.num_worlds, 1, 2), np.int64)
    grown = []
    for _ in range(ticks):
        world.step(idle)
        grown.append(int((state.tiles[:, rows, cols] == FOREST).sum()))
    total = world.num_worlds * each
    assert total > 10**5
    counts = np.diff([0, *grown, total])
    shares = chance * (1 - chance) ** np.arange(ticks)
    assert_fits(counts, np.append(shares, (1 - chance) ** ticks))
    assert (state.room["depleted"] == (state.tiles == SCRUB).sum(axis=(1, 2))).all()


@pytest.mark.parametrize("order", ["shuffle", "rotate"])
def test_mutual_melee_is_won_by_each_half_the_time(order):
    worlds = 4_000
    world = MmoWorld(
        MmoSettings(interior=8, slots=2, npop=1, prefill=2, cap_draw="fixed", respawn="none", order=order),
        num_worlds=worlds,
        seed=2,
    )
    world.reset()
    agent = world.state.agent
    world.state.heads[:] = 0
    agent["row"], agent["col"], agent["life"] = 12, (12, 13), 50
    world.state.heads[:, 12, 12:14] = 1
    world.refresh()
    world.step(np.full((worlds, 2, 2), (PASS, MELEE)))
    assert (agent["alive"].sum(axis=1) == 1).all()
    won = int(agent["alive"][:, 0].sum())
    assert abs(won - worlds / 2) < 5 * np.sqrt(worlds) / 2


def births(**options: Any) -> MmoWorld:
    """100 births in each of 300 worlds on one map."""
    drawn = MmoSettings(
        **{**STILL, "slots": 100, "cap_draw": "fixed", "prefill": 100, "maps": 1, "npop": 10, **options}
    )
    world = MmoWorld(drawn, num_worlds=300, seed=3)
    world.reset()
    return world


def test_births_on_the_ring_are_uniform():
    world = births()
    heads = world.state.heads.sum(axis=0)
    first, last = 9, 9 + 17
    ring = np.zeros_like(heads, bool)
    ring[first : last + 1, first : last + 1] = True
    ring[first + 1 : last, first + 1 : last] = False
    assert ring.sum() == 4 * 17
    assert heads[~ring].sum() == 0
    assert_fits(heads[ring], np.full(68, 1 / 68))


def test_scattered_births_are_uniform_over_what_can_be_reached():
    world = births(spawn_where="scatter")
    heads, ground = world.state.heads.sum(axis=0), world.state.reachable[0]
    assert heads[~ground].sum() == 0
    assert_fits(heads[ground], np.full(ground.sum(), 1 / ground.sum()))


def test_populations_of_newcomers_are_uniform_among_the_open_ones():
    world = births()
    first, last = world.state.agent["population"][:, 0], world.state.agent["population"][:, 99]
    assert_fits(np.bincount(first, minlength=10), np.full(10, 0.1))
    assert_fits(np.bincount(last, minlength=10), np.full(10, 0.1))
    assert (world.state.standing == 10).all(), "the quotas are filled"


@pytest.mark.parametrize("rule", ["uniform", "multiple"])
def test_caps(rule):
    world = MmoWorld(
        MmoSettings(**{**STILL, "slots": 24, "npop": 4}, cap_draw=rule, maps=1), num_worlds=6_000, seed=5
    )
    world.reset()
    caps = np.bincount(world.state.room["cap"], minlength=25)[1:]
    if rule == "multiple":
        assert caps.reshape(6, 4)[:, :3].sum() == 0
        caps = caps[3::4]
    assert_fits(caps, np.full(len(caps), 1 / len(caps)))
    assert (world.state.quota[:, 0] == -(-world.state.room["cap"] // 4)).all()
