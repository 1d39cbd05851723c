"""The managers of production, resources and combat (specification games 6.4)."""

from __future__ import annotations

import numpy as np
import pytest

from interplay.core.errors import UserError
from interplay.registry import make_policy
from interplay.worlds.sc2.commander import Commander
from interplay.worlds.sc2.ids import ATTACK, BURROW, GATHER, UNBURROW
from interplay.worlds.sc2.macro import index_of, legal
from interplay.worlds.sc2.managers import (
    DEFEND,
    GAS_FIRST,
    MINERALS_FIRST,
    NEAREST,
    PRODUCTION,
    RESOURCES,
    Managers,
    heads,
)
from tests.worlds.sc2.messages import east, prices, unit, view
from tests.worlds.sc2.zerg import ability_of

AREAS = ((84.0, 10.0), (60.0, 20.0), (20.0, 50.0))
FIELD = unit("neutral", "field", 86, 10, mineral_contents=900)
ARMY = [unit("own", "zergling", 70, 10)] * 2


def managers():
    ground = east(*AREAS)
    commander = Commander(ground, prices(), lambda ability, places: np.ones(len(places), bool))
    return Managers(commander, ground, areas=4), ground


def orders(of, chosen, *units, **player):
    seen = view(*units, **player)
    return of[0].orders(chosen, legal(seen, of[1], prices(), PRODUCTION), seen)


def test_the_heads_have_an_entry_for_each_thing_three_and_the_areas_with_four_more():
    assert [len(names) for names in heads(16).values()] == [62, 3, 20]


@pytest.mark.parametrize(
    ("choice", "place"),
    [
        (0, AREAS[0]),
        (1, AREAS[1]),
        (2, AREAS[2]),
        (3, None),
        (4, (50, 30)),
        (5, (80.5, 10.5)),
        (6, (80.5, 10.5)),
        (7, (9.5, 49.5)),
    ],
)
def test_the_combat_manager_sends_the_army_to_one_place(choice, place):
    """An enemy 36 from the start is the nearest one, and too far to defend against."""
    enemies = unit("enemy", "zergling", 50, 30), unit("enemy", "drone", 10, 50)
    found = orders(managers(), {"production": 0, "resource": 2, "combat": choice}, *ARMY, *enemies)
    if place is None:
        assert found == []
    else:
        assert found == [
            {
                "ability_id": ATTACK,
                "unit_tags": [100, 101],
                "target_world_space_pos": {"x": place[0], "y": place[1]},
            }
        ]


def test_defending_means_the_nearest_enemy_at_home():
    found = orders(
        managers(), {"combat": 5}, *ARMY, unit("enemy", "zergling", 60, 12), unit("enemy", "roach", 70, 20)
    )
    assert found[-1]["target_world_space_pos"] == {"x": 70, "y": 20}


def test_lurkers_burrow_beside_ground_units_and_walk_elsewhere():
    lurker, burrowed = (unit("own", name, 70, 10) for name in ("lurker", "burrowed_lurker"))
    near, far = unit("enemy", "roach", 70, 18), unit("enemy", "roach", 70, 19)
    for units, expected in (
        ((*ARMY, lurker, near), [(ATTACK, [100, 101]), (BURROW, [102])]),
        ((burrowed, near), []),
        ((burrowed, far), [(UNBURROW, [100])]),
        ((lurker, far), [(ATTACK, [100])]),
    ):
        found = orders(managers(), {"production": 0, "resource": 2, "combat": 6}, *units)
        assert [(order["ability_id"], order["unit_tags"]) for order in found] == expected


def test_the_resource_manager_keeps_its_last_choice():
    of = managers()
    workers = unit("own", "extractor", 75, 10, ideal_harvesters=3), unit("own", "drone", 78, 10, GATHER, 100)
    gas = {"ability_id": GATHER, "unit_tags": [102], "target_unit_tag": 101}
    for choice, expected in ((MINERALS_FIRST, []), (GAS_FIRST, [gas]), (RESOURCES.index("keep last"), [gas])):
        assert orders(of, {"production": 0, "resource": choice, "combat": 6}, FIELD, *workers) == expected


def test_the_production_manager_makes_what_can_be_made():
    larva = unit("own", "larva", 80, 8)
    chosen = {"production": index_of("make drone", PRODUCTION), "resource": 2, "combat": 6}
    rich = {"minerals": 50, "food_cap": 14}
    assert orders(managers(), chosen, larva, **rich) == [{"ability_id": 1342, "unit_tags": [100]}]
    assert orders(managers(), chosen, larva, minerals=49, food_cap=14) == []
    assert orders(managers(), {}, larva, **rich) == [
        {"ability_id": 1342, "unit_tags": [100]}
    ]  # the script's choice, too


def test_a_unit_that_changes_does_not_attack():
    chosen = {"production": index_of("make ravager", PRODUCTION), "resource": 2, "combat": 6}
    units = unit("own", "roach_warren", 1, 1), unit("own", "roach", 70, 10)
    found = orders(managers(), chosen, *units, minerals=100, vespene=100)
    assert [order["ability_id"] for order in found] == [ATTACK, ability_of("ravager")]


def test_the_script_makes_drones_up_to_a_number_and_attacks_with_an_army():
    of, _ = managers()
    mask = np.array(["drone" in macro.name for macro in PRODUCTION])
    roaches = [unit("own", "roach", 1, 1)] * 12
    few = of.script(mask, view(*roaches[:11], food_workers=15, food_army=22))
    many = of.script(mask, view(*roaches, food_workers=16, food_army=24))
    assert few == {
        "production": index_of("make drone", PRODUCTION),
        "resource": MINERALS_FIRST,
        "combat": 4 + DEFEND,
    }
    assert many["production"] == index_of("make zergling", PRODUCTION)
    assert many["combat"] == 4 + NEAREST


def test_managers_play_whole_matches(make):
    world = make("sc2/zvz", control="managers", scripts=["production", "combat"], seed=2)
    assert world.action_space.n == 3
    world.reset()
    for _ in range(200):
        if world.timestep.over[0]:
            break
        world.step(np.full((1, 2), MINERALS_FIRST))
    assert world.metrics["loops"][0] > 1_000
    assert world.metrics["engine_restarts"].tolist() == [0]
    free = make("sc2/zvz", control="managers", chosen_waits=True)
    assert free.action_space.nvec.tolist() == [62, 3, 20, 8]
    assert free.reset().action_mask["action"].shape == (1, 2, 93)
    with pytest.raises(UserError, match="macro"):
        make_policy(free, "rush").start(free)
    with pytest.raises(UserError, match="scripts"):
        make("sc2/zvz", scripts=["production", "combat", "resource"])
