"""The macro actions: their list, masks and orders (specification games 6.3)."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from interplay.worlds.sc2.commander import Commander, building_sites
from interplay.worlds.sc2.ids import ATTACK, BURROW, GATHER, INJECT, MOVE, RETURN, UNBURROW
from interplay.worlds.sc2.macro import MACROS, RELEASED, index_of, legal
from interplay.worlds.sc2.regions import centre_of, ground_of, region_of
from interplay.worlds.sc2.things import BUILDING, MORPH, THINGS, UNIT, UPGRADE
from tests.worlds.sc2.messages import east, prices, unit, view, west
from tests.worlds.sc2.zerg import ability_of, data

RICH = {"minerals": 1000, "vespene": 1000, "food_used": 20, "food_cap": 100}
BASE = unit("own", "hatchery", 80.5, 10.5, assigned_harvesters=2, ideal_harvesters=16)
DRONE = unit("own", "drone", 78, 10)


def allowed(*units, ground=None, **rest):
    """Names of the legal actions."""
    mask = legal(view(*units, **{**RICH, **rest}), ground or east(), prices())
    return {macro.name for macro, good in zip(MACROS, mask, strict=True) if good}


def test_there_are_165_actions_of_which_62_are_released():
    assert Counter(thing.kind for thing in THINGS) == {BUILDING: 13, MORPH: 4, UNIT: 18, UPGRADE: 27}
    assert len(MACROS) == 1 + 13 + 4 + 18 + 27 + 2 + 100 == 165
    assert len({macro.name for macro in MACROS}) == 165
    assert Counter(macro.thing.kind for macro in RELEASED if macro.thing) == {
        BUILDING: 12,
        MORPH: 4,
        UNIT: 14,
        UPGRADE: 26,
    }
    assert [macro.name for macro in RELEASED if macro.what == "fight"] == [
        "0 attacks 0",
        "4 attacks 1",
        "9 attacks 4",
    ]
    assert len(RELEASED) == 62


def test_prices_leave_out_what_is_used_up():
    """The stand-in's data have 250 for a spawning pool, of which 50 are the drone, and 25 for one of two Zerglings."""
    found = prices()
    assert [found[name].minerals for name in ("spawning_pool", "zergling", "overlord", "queen")] == [
        200,
        50,
        100,
        100,
    ]
    assert [found[name].food for name in ("drone", "zergling", "spawning_pool")] == [1, 1, 0]
    assert found["baneling"].minerals == 100 - 25


def test_at_the_start_there_is_little_to_do():
    assert allowed(BASE, DRONE, unit("own", "larva", 80, 8)) == {
        *(
            "nothing",
            "make drone",
            "make overlord",
            "make spawning pool",
            "make evolution chamber",
            "make hatchery",
        ),
        *("make burrow", "make overlord speed"),
    }
    assert allowed(BASE, DRONE, unit("own", "larva", 80, 8), minerals=49) == {"nothing"}
    assert "make drone" not in allowed(BASE, unit("own", "larva", 80, 8), food_used=100)
    assert "make drone" in allowed(BASE, unit("own", "larva", 80, 8), food_used=99)
    assert "make burrow" in allowed(BASE, vespene=100)
    assert "make burrow" not in allowed(BASE, vespene=99)


@pytest.mark.parametrize(
    ("action", "units", "more"),
    [
        ("make zergling", [unit("own", "larva", 1, 1)], unit("own", "spawning_pool", 1, 1)),
        ("make roach warren", [DRONE], unit("own", "spawning_pool", 1, 1)),
        ("make lair", [BASE], unit("own", "spawning_pool", 1, 1)),
        ("make hive", [unit("own", "lair", 1, 1)], unit("own", "infestation_pit", 1, 1)),
        ("make hydralisk den", [DRONE], unit("own", "hive", 1, 1)),
        ("make ravager", [unit("own", "roach_warren", 1, 1)], unit("own", "roach", 1, 1)),
        ("make brood lord", [unit("own", "corruptor", 1, 1)], unit("own", "greater_spire", 1, 1)),
        ("make mutalisk", [unit("own", "larva", 1, 1)], unit("own", "greater_spire", 1, 1)),
        ("make queen", [unit("own", "spawning_pool", 1, 1)], BASE),
        ("make nydus worm", [], unit("own", "nydus_network", 1, 1)),
        ("make zergling attack speed", [unit("own", "hive", 1, 1)], unit("own", "spawning_pool", 1, 1)),
        ("to gas", [DRONE], unit("own", "extractor", 1, 1, ideal_harvesters=3)),
        ("9 attacks 1", [unit("own", "zergling", 80, 9)] * 2, unit("own", "roach", 80, 9)),
    ],
)
def test_an_action_becomes_legal_with_what_it_needs(action, units, more):
    assert action not in allowed(*units)
    assert action in allowed(*units, more)
    if more["unit_type"] not in (110, 688):
        assert action not in allowed(*units, {**more, "build_progress": 0.9})


# What must be finished, and what makes it: as in the game 4.10; things without a requirement are not listed.
NEEDS = """
hatchery: spawning_pool evolution_chamber
spawning_pool: roach_warren baneling_nest spine_crawler spore_crawler lair zergling queen
lair: hydralisk_den infestation_pit spire nydus_network lurker_den overseer centrifugal_hooks glial_reconstitution tunneling_claws
lair: flyer_armour_2 flyer_weapons_2 ground_armour_2 melee_2 missile_2
hive: ultralisk_cavern greater_spire viper zergling_attack_speed flyer_armour_3 flyer_weapons_3 ground_armour_3 melee_3 missile_3
infestation_pit: hive swarm_host infestor
baneling_nest: baneling
roach_warren: roach ravager
hydralisk_den: hydralisk
lurker_den: lurker
spire: mutalisk corruptor
greater_spire: brood_lord
ultralisk_cavern: ultralisk
"""
MADE_BY = """
drone: extractor spawning_pool roach_warren hydralisk_den hatchery evolution_chamber baneling_nest infestation_pit spire ultralisk_cavern
drone: nydus_network spine_crawler spore_crawler
larva: drone zergling roach hydralisk viper mutalisk corruptor swarm_host infestor ultralisk overlord
hatchery: lair queen burrow overlord_speed
lair: hive
spire: greater_spire flyer_armour_1 flyer_armour_2 flyer_armour_3 flyer_weapons_1 flyer_weapons_2 flyer_weapons_3
hydralisk_den: lurker_den grooved_spines muscular_augments
zergling: baneling
roach: ravager
hydralisk: lurker
corruptor: brood_lord
overlord: overseer
nydus_network: nydus_worm
baneling_nest: centrifugal_hooks
ultralisk_cavern: chitinous_plating
roach_warren: glial_reconstitution tunneling_claws
infestation_pit: infestor_energy neural_parasite
spawning_pool: zergling_attack_speed zergling_move_speed
evolution_chamber: ground_armour_1 ground_armour_2 ground_armour_3 melee_1 melee_2 melee_3 missile_1 missile_2 missile_3
"""


def by_thing(table):
    rows = [line.split(": ") for line in table.strip().splitlines()]
    return {name: key for key, names in rows for name in names.split()}


@pytest.mark.parametrize("thing", THINGS, ids=lambda thing: thing.name)
def test_each_thing_has_its_maker_and_its_requirement(thing):
    need, maker = by_thing(NEEDS).get(thing.name), by_thing(MADE_BY)[thing.name]
    *others, made = (unit("own", name, 80, 10) for name in (need, maker) if name)
    others += [unit("neutral", "geyser", 86, 10, vespene_contents=1), BASE] * (thing.name == "extractor")
    level = thing.name[-1:]
    before = (f"{thing.name[:-1]}{int(level) - 1}",) if level in "23" else ()
    action = f"make {thing.name.replace('_', ' ')}"
    assert action in allowed(*others, made, upgrades=before)
    assert action not in allowed(*others, upgrades=before)
    assert need is None or action not in allowed(made, upgrades=before)
    assert not before or action not in allowed(*others, made)


def test_numbers_of_buildings_are_limited():
    chamber, pool = unit("own", "evolution_chamber", 1, 1), unit("own", "spawning_pool", 1, 1)
    crawlers = [unit("own", "spine_crawler", 1, 1)] * 9
    assert "make evolution chamber" in allowed(BASE, DRONE, chamber)
    assert "make evolution chamber" not in allowed(BASE, DRONE, chamber, chamber)
    assert "make hatchery" in allowed(DRONE, *[BASE] * 5)
    assert "make hatchery" not in allowed(DRONE, *[BASE] * 6)
    assert "make spawning pool" not in allowed(BASE, DRONE, pool)
    assert "make spine crawler" in allowed(BASE, DRONE, pool, *crawlers)
    on_the_way = unit("own", "drone", 70, 10, ability_of("spawning_pool"))
    assert "make spawning pool" not in allowed(BASE, DRONE, on_the_way)


def test_the_lurker_den_is_a_morph_or_a_drones_building_as_the_game_has_it():
    den, lair = unit("own", "hydralisk_den", 1, 1), unit("own", "lair", 1, 1)
    assert "make lurker den" in allowed(den, lair)
    assert "make lurker den" not in allowed(den, DRONE)
    built = {**prices(), "lurker_den": prices()["lurker_den"]._replace(ability=1163)}
    for units, good in (([den, DRONE], True), ([lair, DRONE], False), ([den, lair], False)):
        assert legal(view(*units, **RICH), east(), built)[index_of("make lurker den")] == good


def test_a_drone_that_returns_may_build_and_one_that_builds_may_not():
    assert "make spawning pool" in allowed(BASE, unit("own", "drone", 78, 10, RETURN, 100))
    assert "make spawning pool" not in allowed(BASE, unit("own", "drone", 78, 10, 1152))
    field = unit("neutral", "field", 86, 10, mineral_contents=900)
    gas, back = unit("own", "drone", 79, 10, GATHER, 103), unit("own", "drone", 70, 10, RETURN, 100)
    extractor = unit("own", "extractor", 75, 10)
    (order,) = command("make spawning pool", BASE, back, gas, extractor, field)
    assert order["unit_tags"] == [102]  # the nearest of all


def test_upgrades_follow_one_another():
    chamber, lair = unit("own", "evolution_chamber", 1, 1), unit("own", "lair", 1, 1)
    assert "make melee 1" in allowed(chamber)
    assert "make melee 2" not in allowed(chamber, lair)
    assert "make melee 2" not in allowed(chamber, upgrades=("melee_1",))
    assert "make melee 2" in allowed(chamber, lair, upgrades=("melee_1",))
    assert "make melee 1" not in allowed(chamber, upgrades=("melee_1",))
    busy = unit("own", "evolution_chamber", 1, 1, ability_of("melee_1"))
    assert "make melee 1" not in allowed(chamber, busy)
    assert "make missile 1" in allowed(chamber, busy)


def test_an_extractor_needs_a_free_geyser_near_a_base():
    near, far = (unit("neutral", "geyser", x, 10, vespene_contents=2000) for x in (74, 50))
    assert "make extractor" not in allowed(BASE, DRONE, far)
    assert "make extractor" in allowed(BASE, DRONE, near, far)
    assert "make extractor" not in allowed({**BASE, "build_progress": 0.9}, DRONE, near)
    assert "make extractor" not in allowed(
        BASE, DRONE, near, unit("own", "extractor", 74, 10, build_progress=0.1)
    )


def test_three_units_of_a_region_may_attack():
    """80, 9 is region 9 for the player that starts there and 1 for the other."""
    army = [unit("own", "zergling", 80, 9)] * 3
    for ground, home in ((east(), 9), (west(), 1)):
        fights = {name for name in allowed(*army, ground=ground) if "attacks" in name}
        assert fights == {f"{source} attacks {goal}" for source in (0, home) for goal in range(10)}


def command(action, *units, ground=None, fits=None, commander=None):
    """The orders of one decision."""
    commander = commander or Commander(
        ground or east(), prices(), fits or (lambda ability, places: np.ones(len(places), bool))
    )
    return commander.orders(MACROS[index_of(action)], view(*units, **RICH))


def test_things_are_ordered_from_their_makers():
    larva, pool = unit("own", "larva", 80, 8), unit("own", "spawning_pool", 70, 10)
    assert command("make zergling", pool, larva, larva) == [{"ability_id": 1343, "unit_tags": [101]}]
    chamber = unit("own", "evolution_chamber", 1, 1)
    assert command("make melee 1", BASE, chamber) == [
        {"ability_id": ability_of("melee_1"), "unit_tags": [101]}
    ]


def test_a_unit_that_changes_does_not_attack():
    orders = command("make ravager", unit("own", "roach_warren", 1, 1), unit("own", "roach", 70, 10))
    assert [order["ability_id"] for order in orders] == [ATTACK, ability_of("ravager")]  # the last one counts


def test_the_nearest_drone_builds_where_the_game_allows_it():
    asked = []

    def fits(ability, places):
        asked.append(ability)
        return np.arange(len(places)) == 20

    field = unit("neutral", "field", 86, 10, mineral_contents=900)
    drones = [unit("own", "drone", 60, 10, GATHER, 101), unit("own", "drone", 79, 10, GATHER, 101)]
    (order,) = command("make spawning pool", BASE, field, *drones, fits=fits)
    assert asked == [1155]
    assert order["ability_id"] == 1155
    assert order["unit_tags"] == [103]
    sites = building_sites(np.array([[80.5, 10.5]]))
    assert order["target_world_space_pos"] == {"x": sites[20, 0], "y": sites[20, 1]}
    assert np.hypot(*(sites - [80.5, 10.5]).T).max() < 11
    assert (
        command(
            "make spawning pool",
            BASE,
            field,
            *drones,
            fits=lambda ability, places: np.zeros(len(places), bool),
        )
        == []
    )
    geyser = unit("neutral", "geyser", 86, 14, vespene_contents=2000)
    assert command("make extractor", BASE, field, *drones, geyser) == [
        {"ability_id": 1154, "unit_tags": [103], "target_unit_tag": 104}
    ]


def test_a_new_base_goes_to_the_nearest_free_area():
    ground = east((84.0, 10.0), (60.0, 20.0), (20.0, 50.0))
    (order,) = command("make hatchery", BASE, unit("own", "drone", 80, 10, GATHER, 1), ground=ground)
    assert order["target_world_space_pos"] == {"x": 60.5, "y": 20.5}
    for side in ("own", "enemy"):
        there = unit(side, "lair", 60.5, 24.5, build_progress=0.1)
        (order,) = command(
            "make hatchery", BASE, unit("own", "drone", 80, 10, GATHER, 1), there, ground=ground
        )
        assert order["target_world_space_pos"] == {"x": 20.5, "y": 50.5}


def test_new_units_gather_in_the_region_of_the_start():
    base = unit("own", "hatchery", 80.5, 50.5)
    ground = ground_of(90, 60, view(base), data())
    assert (east().home, west().home, ground.home) == (9, 9, 3)
    (order,) = command("nothing", unit("own", "roach", 1, 1), ground=ground)
    assert order["target_world_space_pos"] == {"x": 75, "y": 50}


def test_the_middle_of_a_region_lies_in_the_players_frame():
    """90 x 60, by thirds: the home of the western player, its region 9, is the north-west."""
    assert [centre_of(west(), region).tolist() for region in (9, 1, 3)] == [[15, 50], [75, 10], [15, 10]]
    assert [centre_of(east(), region).tolist() for region in (9, 1, 3)] == [[75, 10], [15, 50], [75, 50]]
    for ground in (east(), west()):
        middles = np.array([centre_of(ground, region) for region in range(1, 10)])
        assert region_of(ground, middles).tolist() == list(range(1, 10))


def test_a_nydus_worm_comes_out_beside_the_enemys_start():
    (order,) = command("make nydus worm", BASE, unit("own", "nydus_network", 70, 10))
    assert (order["ability_id"], order["unit_tags"]) == (ability_of("nydus_worm"), [101])
    place = order["target_world_space_pos"]
    assert np.hypot(place["x"] - 9.5, place["y"] - 49.5) < 7


def test_workers_go_where_places_are_free():
    field = unit("neutral", "field", 86, 10, mineral_contents=900)
    extractor = unit("own", "extractor", 75, 10, assigned_harvesters=1, ideal_harvesters=3)
    at_minerals = [unit("own", "drone", x, 10, GATHER, 101) for x in (60, 79, 77)]
    assert command("to gas", BASE, field, extractor, *at_minerals) == [
        {"ability_id": GATHER, "unit_tags": [105, 104], "target_unit_tag": 102}
    ]
    at_gas = unit("own", "drone", 76, 10, GATHER, 102)
    full = {**extractor, "assigned_harvesters": 3}
    assert "to gas" not in allowed(BASE, field, full, *at_minerals)
    assert "to minerals" in allowed(BASE, field, full, at_gas)
    assert "to minerals" not in allowed({**BASE, "assigned_harvesters": 16}, field, full, at_gas)
    assert "to minerals" not in allowed(BASE, field, full, *at_minerals)
    assert "to minerals" not in allowed(BASE, {**field, "mineral_contents": 0}, full, at_gas)
    assert command("to minerals", BASE, field, extractor, at_gas) == [
        {"ability_id": GATHER, "unit_tags": [103], "target_unit_tag": 101}
    ]


def test_idle_drones_mine_and_queens_inject_in_every_step():
    field = unit("neutral", "field", 86, 10, mineral_contents=900)
    queens = unit("own", "queen", 70, 10, energy=25), unit("own", "queen", 70, 10, energy=24)
    assert command("nothing", BASE, field, unit("own", "drone", 80, 10), *queens) == [
        {"ability_id": GATHER, "unit_tags": [102], "target_unit_tag": 101},
        {"ability_id": INJECT, "unit_tags": [103], "target_unit_tag": 100},
    ]
    walks, injects = (unit("own", "queen", 70, 10, order, energy=50) for order in (MOVE, INJECT))
    assert [order["unit_tags"] for order in command("nothing", BASE, walks, injects)] == [[101]]


def test_lurkers_burrow_beside_ground_units_and_walk_elsewhere():
    lurker, burrowed = (unit("own", name, 80, 9) for name in ("lurker", "burrowed_lurker"))
    near, far = unit("enemy", "roach", 80, 17), unit("enemy", "roach", 80, 18)
    flyer = unit("enemy", "mutalisk", 80, 9, is_flying=True)
    assert command("nothing", lurker, near) == [{"ability_id": BURROW, "unit_tags": [100]}]
    assert command("nothing", burrowed, near) == []
    assert command("nothing", burrowed, far, flyer) == [{"ability_id": UNBURROW, "unit_tags": [100]}]
    (order,) = command("nothing", lurker, far, flyer)
    assert (order["ability_id"], order["target_world_space_pos"]) == (ATTACK, {"x": 80, "y": 18})


def test_an_army_attacks_its_region_until_it_gets_another():
    """90 x 60: the middle of region 9 is 75, 10; the place opposite to the start 9.5, 49.5."""
    own = [unit("own", "zergling", 80, 9), unit("own", "mutalisk", 80, 9), unit("own", "corruptor", 80, 9)]
    drone, fighter = unit("enemy", "drone", 12, 50), unit("enemy", "zergling", 20, 50)
    flyer = unit("enemy", "overlord", 40, 30, is_flying=True)
    commander = Commander(east(), prices(), lambda ability, places: np.ones(len(places), bool))

    def goals(action, *units):
        orders = command(action, *units, commander=commander)
        assert {order["ability_id"] for order in orders} <= {ATTACK}
        places = {order["unit_tags"][0]: order["target_world_space_pos"] for order in orders}
        return [(places[100 + number]["x"], places[100 + number]["y"]) for number in range(len(places))]

    assert goals("nothing", *own, drone) == [(75, 10)] * 3  # new units gather at home
    assert goals("0 attacks 0", *own) == [(9.5, 49.5)] * 3
    assert goals("nothing", *own, drone, fighter, flyer) == [(20, 50), (20, 50), (40, 30)]
    assert goals("nothing", *own, drone, flyer) == [(12, 50), (40, 30), (40, 30)]
    assert goals("9 attacks 4", *own, fighter) == [(15, 30)] * 3
