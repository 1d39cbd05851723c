"""Bodies, ground and what is seen, each rule in a scene worked out by hand (specification 18, first half)."""

from __future__ import annotations

import numpy as np
import pytest

from interplay.worlds.mmo.tiles import FOREST, GRASS, LAVA, SCRUB, STONE, WATER
from tests.naive.mmo_things import BOTH, CUT, HUNGER, LAVA_DEATH, THIRST
from tests.worlds.mmo.scenes import EAST, MAGE, MELEE, MIDDLE, NORTH, PASS, RANGE, SOUTH, WEST

HERE = (MIDDLE, MIDDLE)
BESIDE = (MIDDLE, MIDDLE + 1)
OLD = {"life": 50}


def updates_until_death(scene, most=200):
    """Of slot 0; None if it lives through all of them."""
    for update in range(1, most + 1):
        scene.act()
        if scene.agent(0) is None:
            return update
    return None


# -- hunger and thirst ------------------------------------------------------------------------------


def test_nothing_to_eat_or_drink(scene):
    s = scene()
    s.place()
    assert updates_until_death(s) == 36
    assert (s.ended(0).cause, s.ended(0).life) == (BOTH, 35)
    assert s.over(), "nobody lives and nobody will be born"


@pytest.mark.parametrize("water", [(MIDDLE, MIDDLE + 1), (MIDDLE - 1, MIDDLE)])
def test_water_alone(scene, water):
    s = scene()
    s.paint(WATER, water)
    s.place()
    assert updates_until_death(s) == 41
    assert s.ended(0).cause == HUNGER


def test_food_alone(scene):
    s = scene(regrow=1.0)
    s.paint(FOREST, HERE)
    s.place()
    assert updates_until_death(s) == 41
    assert s.ended(0).cause == THIRST


def test_food_and_water(scene):
    s = scene(regrow=1.0)
    s.paint(FOREST, HERE)
    s.paint(WATER, BESIDE)
    s.place()
    assert updates_until_death(s) is None


def test_a_forest_is_one_portion(scene):
    s = scene()
    s.paint(FOREST, HERE)
    s.place()
    s.act()
    assert s.tile(*HERE) == SCRUB, "eaten even by the full"
    assert s.agent(0).food == 31
    s.act()
    assert s.agent(0).food == 30


def test_grown_back_in_the_tick_in_which_it_was_eaten(scene):
    s = scene(regrow=1.0)
    s.paint(FOREST, HERE)
    s.place(food=10)
    s.act()
    assert s.tile(*HERE) == FOREST
    assert s.agent(0).food == 14


def test_beside_water_one_drinks_every_tick_and_once(scene):
    s = scene()
    s.paint(WATER, BESIDE, (MIDDLE + 1, MIDDLE), (MIDDLE, MIDDLE - 1))
    s.place(water=20)
    for water in (24, 28, 31, 31, 31):
        s.act()
        assert s.agent(0).water == water


def test_water_at_a_corner_is_not_beside(scene):
    s = scene()
    s.paint(WATER, (MIDDLE + 1, MIDDLE + 1))
    s.place(water=20)
    s.act()
    assert s.agent(0).water == 19


@pytest.mark.parametrize(
    ("food", "water", "health"), [(17, 17, 6), (16, 17, 5), (17, 16, 5), (32, 32, 6), (1, 17, 4), (1, 1, 3)]
)
def test_regain_is_tested_before_the_drain_and_above_half(scene, food, water, health):
    s = scene()
    s.place(food=food, water=water, health=5)
    s.act()
    assert s.agent(0).health == health


def test_one_regains_after_the_meal(scene):
    s = scene()
    s.paint(FOREST, HERE)
    s.place(food=12, health=5)
    s.act()
    assert s.agent(0).health == 6
    s = scene(regain=False)
    s.place(health=5)
    s.act()
    assert s.agent(0).health == 5


# -- moves ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("direction", "place"),
    [
        (PASS, HERE),
        (EAST, BESIDE),
        (SOUTH, (MIDDLE + 1, MIDDLE)),
        (WEST, (MIDDLE, MIDDLE - 1)),
        (NORTH, (MIDDLE - 1, MIDDLE)),
    ],
)
def test_directions(scene, direction, place):
    s = scene()
    s.place()
    s.act({0: (direction, MAGE)})
    assert (s.agent(0).row, s.agent(0).col) == place


@pytest.mark.parametrize(
    ("tile", "enters"), [(WATER, False), (STONE, False), (GRASS, True), (SCRUB, True), (FOREST, True)]
)
def test_what_is_passable(scene, tile, enters):
    s = scene()
    s.paint(tile, BESIDE)
    s.place()
    assert s.legal(0)[EAST] is enters
    s.act({0: (EAST, MAGE)})
    assert ((s.agent(0).row, s.agent(0).col) == BESIDE) is enters
    if enters:
        assert s.tile(*BESIDE) == tile, "eaten at the next update, not on moving in"


def test_lava_kills_in_the_tick_of_the_move(scene):
    s = scene(reward_death=-1.0)
    s.place(9, 17)
    s.place(10, 17, **OLD)
    s.place(24, 24)
    assert s.legal(0)[NORTH]
    s.act({0: (NORTH, MELEE)})
    assert s.agent(0) is None
    assert (s.ended(0).cause, s.ended(0).life) == (LAVA_DEATH, 0)
    assert (s.reward(0), s.reward(1)) == (-1.0, 1.0)
    assert s.agent(1).health == 10, "no attack follows"


def test_lava_at_the_next_update(scene):
    s = scene(lava="next_update")
    s.place(9, 17)
    s.place(10, 17, **OLD)
    s.act({0: (NORTH, MELEE)})
    assert (s.agent(0).row, s.agent(1)) == (8, None), "it moves, lives and attacks"
    s.place(24, 24)
    s.act({0: (SOUTH, MELEE)})
    assert (s.ended(0).cause, s.ended(0).life) == (LAVA_DEATH, 1)


def test_lava_at_the_next_update_comes_before_the_meal(scene):
    s = scene(lava="next_update")
    s.place(20, 20)
    s.place(8, 17, food=1, water=1, health=1)
    s.act()
    assert s.ended(1).cause == LAVA_DEATH


def test_lava_mask(scene):
    s = scene(mask_lava=True)
    s.place(9, 17)
    assert s.legal(0)[:5] == [True, True, True, True, False]


def test_tiles_are_shared(scene):
    s = scene()
    s.place(food=20)
    s.place(MIDDLE, MIDDLE + 1, **OLD)
    s.act({0: (EAST, MAGE)})
    assert (s.agent(0).row, s.agent(0).col) == BESIDE
    assert s.sees(0)["occupancy"][7, 7] == 2
    assert s.sees(0)["count"] == 2


def test_one_per_tile(scene):
    s = scene(one_per_tile=True, order="seniority")
    s.place(17, 17)
    s.place(17, 18)
    s.place(17, 19)
    assert s.legal(0)[EAST], "the mask does not look at who stands there"
    s.act({0: (EAST, MAGE), 1: (EAST, MAGE), 2: (EAST, MAGE)})
    assert [s.agent(k).col for k in range(3)] == [17, 18, 20]
    s.act({0: (EAST, MAGE), 1: (EAST, MAGE), 2: (PASS, MAGE)})
    assert [s.agent(k).col for k in range(3)] == [17, 19, 20]


# -- what is seen -----------------------------------------------------------------------------------


def test_the_own_row(scene):
    s = scene()
    s.place(20, 11, population=1, life=30, health=7, food=8, water=24)
    own = s.sees(0)["entities"][0]
    wanted = [-0.2, 0.2, -0.25, 0.25, 20 / 25 - 0.5, 11 / 25 - 0.5, 0, 0, -0.5, 0.5, -0.5]
    assert own.dtype == np.float32
    assert own == pytest.approx(np.array(wanted, np.float32))
    assert s.sees(0)["count"] == 1
    assert not s.sees(0)["entities"][1:].any()


def test_the_row_of_another(scene):
    s = scene()
    s.place(17, 17)
    s.place(10, 24, population=1, life=250, health=3, damage=4, freeze=2)
    s.place(10, 10)
    s.place(17, 9)
    rows = s.sees(0)["entities"]
    assert s.sees(0)["count"] == 3, "eight columns away is out of sight"
    assert rows[1][[6, 7]].tolist() == [-7, -7], "its bucket comes first"
    wanted = [2.0, -0.2, 0.5, 0.5, 10 / 25 - 0.5, 24 / 25 - 0.5, -7, 7, 0.3, -0.5, 0.5]
    assert rows[2] == pytest.approx(np.array(wanted, np.float32))
    assert s.sees(0)["occupancy"][0, 14] == 1
    assert s.sees(0)["occupancy"].sum() == 3


def test_the_crop(scene):
    s = scene()
    s.paint(FOREST, (17 - 7, 17 + 7))
    s.paint(WATER, (17 + 1, 17))
    s.place()
    tiles = s.sees(0)["tiles"]
    assert tiles.shape == (15, 15)
    assert (tiles[0, 14], tiles[8, 7], tiles[7, 7]) == (FOREST, WATER, GRASS)
    s.place(9, 9)
    assert (s.sees(1)["tiles"][:7] == LAVA).all()
    assert (s.sees(1)["tiles"][:, :7] == LAVA).all()


@pytest.mark.parametrize(("vision", "border"), [(7, 7), (1, 1), (3, 3), (8, 8)])
def test_the_crop_at_the_last_corner(scene, vision, border):
    """The view ends with the map's last byte."""
    s = scene(vision=vision, border=border, reach=(1, 1, 1))
    last = border + 15
    s.paint(WATER, (last, last - 1))
    s.place(last, last)
    tiles = s.sees(0)["tiles"]
    assert (tiles[vision, vision - 1], tiles[vision, vision]) == (WATER, GRASS)
    assert (tiles[vision + 1 :] == LAVA).all()
    assert (tiles[:, vision + 1 :] == LAVA).all()
    assert (s.sees(0)["count"], s.sees(0)["occupancy"].sum()) == (1, 1)


def test_rows_come_by_bucket_and_then_by_slot(scene):
    s = scene()
    s.place(17, 17)
    places = [(23, 23), (16, 16), (15, 18), (15, 11), (15, 15), (16, 17)]
    for place in places:
        s.place(*place)
    # buckets of 8 tiles: rows 8-15 before 16-23, in each columns 8-15 before 16-23
    wanted = [(15, 11), (15, 15), (15, 18), (23, 23), (16, 16), (16, 17)]
    rows = s.sees(0)["entities"][1:7]
    assert [(int(r[6]) + 17, int(r[7]) + 17) for r in rows] == wanted


def test_too_many_for_the_rows(scene):
    s = scene(rows=3)
    s.place(17, 17)
    s.place(20, 17)  # 3 steps away
    s.place(16, 16)  # 2
    s.place(15, 15)  # 4
    s.place(17, 20)  # 3, the same bucket as slot 1, later
    rows = s.sees(0)["entities"]
    assert s.sees(0)["count"] == 3
    assert [tuple(map(int, r[6:8])) for r in rows[1:]] == [(3, 0), (-1, -1)]


def test_compact_rows(scene):
    s = scene(compact=True)
    s.place(17, 17)
    s.place(20, 11, population=1, life=509, health=7, food=8, water=24, damage=3, freeze=1)
    row = s.sees(0)["entities"][1]
    assert row.dtype == np.int8
    # 509 / 8 = 63.6, 20 / 33 * 254 - 127 = 26.9, 11 / 33 * 254 - 127 = -42.3
    assert row.tolist() == [63, 7, 8, 24, 27, -42, 3, -6, 3, 0, 1]
    assert s.sees(0)["entities"][0][[0, 9]].tolist() == [0, 1]


@pytest.mark.parametrize("resolution", ["sequential", "simultaneous"])
def test_the_dead_are_not_seen(scene, resolution):
    s = scene(order="seniority", resolution=resolution)
    s.place(17, 17, **OLD)
    s.place(17, 18, **OLD)
    s.place(17, 18, **OLD)
    s.act({0: (PASS, MELEE)})
    assert s.agent(1) is None
    assert s.sees(0)["count"] == 2
    assert s.sees(0)["occupancy"].sum() == 2
    s.act({0: (PASS, MELEE)})
    assert s.sees(0)["count"] == s.sees(0)["occupancy"].sum() == 1
    assert s.legal(0)[5:] == [True, False, False, False]


# -- the clock --------------------------------------------------------------------------------------


def test_truncation(scene):
    s = scene(max_ticks=3)
    s.place()
    s.wait(2)
    assert not s.over()
    s.act()
    assert s.over()
    assert (s.ended(0).cause, s.ended(0).life) == (CUT, 3)
    assert s.reward(0) == 1.0


# -- rewards ----------------------------------------------------------------------------------------


def test_parts_of_the_reward(scene):
    s = scene(
        reward_alive=1.0,
        reward_death=-7.0,
        reward_kill=100.0,
        reward_food=1000.0,
        reward_water=0.125,
        reward_new_tile=0.25,
        count_visits=True,
    )
    s.paint(FOREST, HERE)
    s.paint(WATER, (MIDDLE + 1, MIDDLE))
    s.place(food=20, water=30)
    s.act({0: (EAST, MAGE)})
    assert s.reward(0) == 1 + 5000 + 2 * 0.125 + 0.25, "only two units of water fit"
    s.act({0: (WEST, MAGE)})
    assert s.reward(0) == 1, "born there"
    s.act({0: (EAST, MAGE)})
    assert s.reward(0) == 1 + 2 * 0.125, "the water fell to 30, the tile beside was visited"


def test_lava_is_no_new_tile(scene):
    s = scene(reward_new_tile=0.25, count_visits=True, lava="next_update")
    s.paint(LAVA, BESIDE)
    s.place()
    s.act({0: (EAST, MAGE)})
    assert s.reward(0) == 1, "it burns in the next tick"
    s.act({0: (WEST, MAGE)})
    assert s.reward(0) == 0


def test_a_kill_pays_and_a_death_costs(scene):
    s = scene(reward_death=-7.0, reward_kill=100.0, order="seniority")
    s.place(17, 17, **OLD)
    s.place(17, 18, **OLD)
    s.act({0: (PASS, MELEE), 1: (PASS, RANGE)})
    assert (s.reward(0), s.reward(1)) == (101.0, -7.0)


def test_team_spirit(scene):
    s = scene(reward_kill=8.0, team_spirit=0.25, order="seniority")
    s.place(17, 17, **OLD)
    s.place(24, 24, population=0)
    s.place(17, 18, population=1, **OLD)
    s.place(24, 9, population=1)
    s.act({0: (PASS, MELEE)})
    assert s.reward(0) == 0.75 * 9 + 0.25 * (9 + 1) / 2
    assert s.reward(1) == 0.75 * 1 + 0.25 * (9 + 1) / 2
    assert s.reward(2) == 0.25 * (0 + 1) / 2, "the dead of this tick count"
    assert s.reward(3) == 0.75 + 0.25 * (0 + 1) / 2
