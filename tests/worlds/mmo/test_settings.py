"""Bad input of the persistent world: one line each, with the thing, the value and the cure."""

from __future__ import annotations

import pytest

from interplay.core.errors import UserError
from interplay.worlds.mmo.config import MmoSettings
from interplay.worlds.mmo.terrain import check_ground
from interplay.worlds.mmo.world import MmoWorld


def test_a_map_without_ground_for_all_is_refused():
    crowded = MmoSettings(interior=30, slots=700, npop=1)
    check_ground(crowded, 700, seed=4)
    with pytest.raises(UserError, match="map seed 4"):
        check_ground(crowded, 699, seed=4)


def test_as_many_as_fit_are_taken():
    for options in (
        {"interior": 14, "one_per_tile": True, "prefill": 52},
        {"prefill": 1, "respawn": "none"},
        {"cap": 100, "cap_draw": "uniform"},
        {"quotas": [100, 28], "npop": 2, "cap_draw": "fixed"},
        {"interior": 8, "slots": 36, "npop": 4, "prefill": 20},
    ):
        MmoSettings(**options)


@pytest.mark.parametrize(("where", "interior", "agents"), [("ring", 33, 128), ("scatter", 12, 100)])
def test_as_many_as_were_asked_for_begin_on_a_tile_each(where, interior, agents):
    options = {"one_per_tile": True, "spawn_where": where, "interior": interior, "terrain": "max_ratio"}
    given = {"slots": agents, "prefill": agents, "npop": 1, "cap_draw": "fixed"}
    world = MmoWorld(MmoSettings(**options, **given), 8, 3)
    world.reset()
    assert (world.metrics["living"] == agents).all()
    assert (world.state.heads.max(axis=(1, 2)) == 1).all()
