"""Blows, theft, frost and immunity, each rule in a scene worked out by hand (specification 18, second half)."""

from __future__ import annotations

import pytest

from interplay.worlds.mmo.tiles import FOREST, WATER
from tests.naive.mmo_things import HUNGER
from tests.naive.mmo_things import MAGE as MAGE_DEATH
from tests.naive.mmo_things import MELEE as MELEE_DEATH
from tests.naive.mmo_things import RANGE as RANGE_DEATH
from tests.worlds.mmo.scenes import EAST, MAGE, MELEE, NORTH, NOTHING, PASS, RANGE, SOUTH, WEST

OLD = {"life": 50}
POWER, REACH = (10, 2, 1), (1, 2, 3)


def duel(scene, distance=(0, 1), attacker=None, victim=None, **options):
    """Slot 0 beside slot 1; the senior, slot 0, acts first."""
    s = scene(**{"order": "seniority", **options})
    s.place(17, 17, **{**OLD, **(attacker or {})})
    s.place(17 + distance[0], 17 + distance[1], **{**OLD, **(victim or {})})
    return s


# -- reach and damage -------------------------------------------------------------------------------


@pytest.mark.parametrize("style", [MELEE, RANGE, MAGE])
def test_reach_is_a_square_around_the_own_tile(scene, style):
    for down in range(-4, 5):
        for right in range(-4, 5):
            s = duel(scene, (down, right), victim={"food": 16})
            hits = max(abs(down), abs(right)) <= REACH[style]
            legal = s.styles(0)[style]
            assert legal is hits
            s.act({0: (PASS, style)})
            if not hits:
                assert s.agent(1).health == 10
            elif style == MELEE:
                assert s.agent(1) is None
            else:
                assert (s.agent(1).health, s.agent(1).damage) == (10 - POWER[style], POWER[style])


def test_damage_is_shown_for_one_tick(scene):
    s = duel(scene, (0, 3))
    s.act({0: (PASS, MAGE)})
    assert s.sees(0)["entities"][1, 8] == pytest.approx(1 / 5 - 0.5)
    s.act()
    assert s.agent(1).damage == 0


@pytest.mark.parametrize(
    ("style", "health", "cause"), [(MELEE, 10, MELEE_DEATH), (RANGE, 2, RANGE_DEATH), (MAGE, 1, MAGE_DEATH)]
)
def test_who_is_killed_and_who_is_credited(scene, style, health, cause):
    s = duel(scene, victim={"health": health, "food": 10})
    s.act({0: (PASS, style), 1: (PASS, MELEE)})
    assert s.agent(1) is None
    assert (s.ended(1).cause, s.ended(1).life) == (cause, 50)
    assert s.agent(0).health == 10, "the dead do not attack"
    assert s.agent(0).kills == 1
    assert (s.reward(0), s.reward(1)) == (1.0, 0.0)


def test_the_dead_are_not_robbed(scene):
    s = duel(scene, attacker={"food": 5, "water": 5})
    s.place(17, 19, food=5, water=5, **OLD)
    s.act({0: (PASS, MELEE), 1: (PASS, MAGE), 2: (PASS, RANGE)})
    assert (s.agent(0).food, s.agent(2).food) == (14, 4), "the second attack finds nobody"


def test_the_hungry_do_not_strike(scene):
    s = duel(scene, attacker={"food": 1, "water": 5, "health": 1})
    s.act({0: (PASS, MELEE), 1: (PASS, MELEE)})
    assert s.ended(0).cause == HUNGER
    assert s.agent(1).health == 10
    assert s.agent(1).kills == 0


def test_combat_off(scene):
    s = duel(scene, combat=False)
    assert s.legal(0)[5:] == [True] * 4
    s.act({0: (PASS, MELEE), 1: (PASS, MELEE)})
    assert s.agent(0).health == s.agent(1).health == 10


@pytest.mark.parametrize(
    ("retest", "flight", "chase", "hits"),
    [
        (False, EAST, PASS, True),
        (True, EAST, PASS, False),
        (True, EAST, EAST, True),
        (True, PASS, WEST, False),
    ],
)
@pytest.mark.parametrize("resolution", ["sequential", "simultaneous"])
def test_a_target_that_flees(scene, resolution, retest, flight, chase, hits):
    s = scene(order="seniority", retest_range=retest, resolution=resolution)
    s.place(17, 20, **OLD)
    s.place(17, 17, **OLD)
    s.act({0: (flight, NOTHING), 1: (chase, MAGE)})
    assert s.agent(0).damage == int(hits)


# -- targets ----------------------------------------------------------------------------------------


def test_the_weakest_then_the_nearest_then_the_lowest_slot(scene):
    s = scene(regain=False)
    s.place(17, 17, **OLD)
    s.place(17, 18, health=9, **OLD)
    s.place(19, 17, health=8, **OLD)
    s.place(18, 16, health=8, **OLD)
    s.place(17, 16, health=8, **OLD)
    s.act({0: (PASS, RANGE)})
    assert [s.agent(k).damage for k in range(5)] == [0, 0, 0, 2, 0]
    s.act({0: (PASS, RANGE)})
    assert [s.agent(k).damage for k in range(5)] == [0, 0, 0, 2, 0], "now the weakest"


def test_the_immune_may_be_aimed_at_in_vain(scene):
    s = duel(scene)
    s.place(17, 16, health=3, life=3)
    assert s.styles(0) == [True] * 3
    s.act({0: (PASS, MELEE)})
    assert (s.agent(1).damage, s.agent(2).damage) == (0, 0)


def test_the_nearest_then_the_weakest_then_the_lowest_slot(scene):
    s = duel(scene, (0, 2), victim={"health": 4}, targeting="nearest")
    for row, col, health in ((18, 18, 9), (16, 18, 7), (18, 16, 7)):
        s.place(row, col, health=health, **OLD)
    s.act({0: (PASS, RANGE)})
    assert [s.agent(k).damage for k in range(5)] == [0, 0, 0, 2, 0]


def test_targets_are_those_of_before_the_tick(scene):
    s = duel(scene, (0, 4))
    s.act({0: (PASS, MAGE), 1: (WEST, MAGE)})
    s2 = scene(order="seniority")
    s2.place(17, 21, **OLD)
    s2.place(17, 17, **OLD)
    s2.act({0: (WEST, MAGE), 1: (PASS, MAGE)})
    for one in (s, s2):
        assert one.agent(0).health == one.agent(1).health == 10


def test_friendly_fire(scene):
    s = duel(scene, friendly_fire=False)
    s.place(17, 20, population=1, **OLD)
    assert s.styles(0) == [False, False, True]
    s.act({0: (PASS, MELEE), 1: (PASS, MELEE)})
    assert s.agent(0).health == s.agent(1).health == 10
    s.act({0: (PASS, MAGE)})
    assert (s.agent(1).damage, s.agent(2).damage) == (0, 1)


def test_masks_of_styles(scene):
    assert duel(scene).legal(0)[5:] == [True] * 4
    assert duel(scene, (0, 3)).legal(0)[5:] == [True, False, False, True]
    assert duel(scene, (0, 3), no_attack=False).legal(0)[5:] == [False, False, True]
    assert duel(scene, (0, 5)).legal(0)[5:] == [True, False, False, False]
    # a head without any legal choice would be a trap, so then all are legal and in vain
    assert duel(scene, (0, 5), no_attack=False).legal(0)[5:] == [True] * 3
    s = duel(scene, (0, 5), no_attack=False)
    s.act({0: (PASS, MELEE), 1: (PASS, RANGE)})
    assert s.agent(0).damage == s.agent(1).damage == 0


def test_chosen_targets(scene):
    s = duel(scene, (0, 2), targeting="learned", rows=4)
    s.place(17, 18, population=1, **OLD)
    s.place(17, 21, health=1, **OLD)
    # rows of slot 0: itself, then by slot within the bucket: 1, 2, 3
    melee, rnge, mage = (s.legal(0)[9 + 4 * k : 13 + 4 * k] for k in range(3))
    assert melee == [True, False, True, False]
    assert rnge == [True, True, True, False]
    assert mage == [True, True, True, False]
    s.act({0: (PASS, RANGE, 2, 1, 2)})
    assert [s.agent(k).damage for k in range(4)] == [0, 2, 0, 0]
    for choice in ((PASS, MELEE, 1, 2, 2), (PASS, MAGE, 1, 2, 3), (PASS, RANGE, 1, 0, 1)):
        s.act({0: choice})
        assert [s.agent(k).damage for k in range(4)] == [0, 0, 0, 0], "illegal or nobody"


# -- theft ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("resolution", ["sequential", "simultaneous"])
@pytest.mark.parametrize(
    ("steal", "style", "fraction", "mine", "theirs", "after"),
    [
        ("nominal", RANGE, 1.0, 10, 20, (11, 17)),
        ("nominal", RANGE, 1.0, 10, 2, (11, 0)),
        ("nominal", RANGE, 1.0, 32, 20, (32, 17)),
        ("conserved", RANGE, 1.0, 10, 20, (11, 17)),
        ("conserved", RANGE, 1.0, 10, 2, (10, 0)),
        ("nominal", RANGE, 0.75, 10, 20, (11, 17)),  # floor(1.5 + 0.5) = 2
        ("nominal", RANGE, 0.7, 10, 20, (10, 18)),  # floor(1.4 + 0.5) = 1
        ("nominal", RANGE, 0.0, 10, 20, (9, 19)),
        ("nominal", MAGE, 5.0, 10, 20, (14, 14)),
    ],
)
def test_theft(scene, resolution, steal, style, fraction, mine, theirs, after):
    """Both lose 1 at their own updates; the victim acts first, so that its drain comes before the attack."""
    s = scene(order="seniority", steal=steal, steal_fraction=fraction, resolution=resolution)
    s.place(17, 17, food=theirs, water=theirs, **OLD)
    s.place(17, 19, food=mine, water=mine, **OLD)
    s.act({1: (PASS, style)})
    assert (s.agent(1).food, s.agent(0).food) == after
    assert (s.agent(1).water, s.agent(0).water) == after


@pytest.mark.parametrize("resolution", ["sequential", "simultaneous"])
def test_each_good_is_conserved_by_itself(scene, resolution):
    """The victim has 1 food left and 19 water: it loses 1 and 2, which the thief gains after its own drain of 1."""
    s = scene(order="seniority", steal="conserved", resolution=resolution)
    s.place(17, 17, food=2, water=20, **OLD)
    s.place(17, 19, food=10, water=12, **OLD)
    s.act({1: (PASS, RANGE)})
    assert (s.agent(0).food, s.agent(0).water) == (0, 17)
    assert (s.agent(1).food, s.agent(1).water) == (10, 13)


def test_a_kill_steals_too(scene):
    s = duel(scene, attacker={"food": 5, "water": 30})
    s.act({0: (PASS, MELEE)})
    assert (s.agent(0).food, s.agent(0).water) == (14, 32)


def test_each_good_has_a_limit_of_its_own(scene):
    s = scene(order="seniority", food=20, water=26)
    s.place(17, 17, food=19, water=24, **OLD)
    s.place(17, 18, food=20, water=26, **OLD)
    s.act({0: (PASS, MELEE)})
    assert (s.agent(0).food, s.agent(0).water) == (20, 26)


# -- frost ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("victim_first", [False, True])
def test_frost_blocks_two_moves(scene, victim_first):
    s = scene(order="seniority")
    victim, attacker = (0, 1) if victim_first else (1, 0)
    for slot in (0, 1):
        s.place(17, 17 if slot == victim else 20, **OLD)
    s.act({victim: (NORTH, NOTHING), attacker: (PASS, MAGE)})
    path = []
    for _ in range(4):
        legal = s.legal(victim)[NORTH]
        row = s.agent(victim).row
        s.act({victim: (NORTH, NOTHING), attacker: (PASS, NOTHING)})
        path.append(row - s.agent(victim).row)
        assert legal is bool(path[-1]), "the mask is exact"
    # struck before its own move of the tick, that move is the first of the two
    assert path == ([0, 0, 1, 1] if victim_first else [0, 1, 1, 1])
    moved = 1 if victim_first else 0  # in the tick of the attack
    assert s.agent(victim).row == 17 - moved - sum(path)


def test_a_second_hit_starts_the_frost_anew(scene):
    s = duel(scene, (0, 3))
    s.act({0: (PASS, MAGE), 1: (NORTH, NOTHING)})
    s.act({0: (PASS, MAGE), 1: (NORTH, NOTHING)})
    assert s.agent(1).freeze == 2
    s.act({1: (NORTH, NOTHING)})
    assert s.agent(1).row == 17
    s.act({1: (NORTH, NOTHING)})
    assert s.agent(1).row == 16


def test_the_frozen_drink_and_strike(scene):
    s = duel(scene, (0, 1), victim={"water": 20})
    s.paint(WATER, (18, 18))
    s.act({0: (PASS, MAGE), 1: (PASS, RANGE)})
    assert (s.agent(1).freeze, s.agent(0).damage) == (2, 2)
    assert s.agent(1).water == 20 - 1 + 5 - 1 + 2


# -- immunity ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("life", "immune"), [(0, True), (14, True), (15, False)])
def test_immune_below_fifteen(scene, life, immune):
    s = duel(scene, attacker={"life": 0}, victim={"life": life, "food": 20})
    s.act({0: (PASS, MAGE)})
    one = s.agent(1)
    assert (one.health, one.freeze, one.food, one.damage) == (
        (10, 0, 19, 0) if immune else (10, 2, 18, 1)  # a point lost, a point regained
    )


def test_the_own_update_ends_immunity(scene):
    """With a life of 14 at the start of the tick: 15 after its own turn."""
    s = scene(order="seniority")
    s.place(17, 17, life=14)
    s.place(17, 20, life=0)
    s.act({1: (PASS, MAGE)})
    assert (s.agent(0).health, s.agent(0).freeze) == (9, 3)


def test_immune_in_health_alone(scene):
    s = duel(scene, victim={"life": 3, "food": 20}, immunity="health_only")
    s.act({0: (PASS, MAGE)})
    one = s.agent(1)
    assert (one.health, one.freeze, one.food, one.damage) == (10, 2, 18, 0)


@pytest.mark.parametrize(
    ("attacker", "victim", "hurts"), [(20, 19, False), (19, 10, True), (20, 21, True), (60, 20, False)]
)
def test_elders_spare_the_young(scene, attacker, victim, hurts):
    """The attacker's counter is one higher when it attacks."""
    s = duel(scene, (0, 3), {"life": attacker}, {"life": victim}, immunity="elders")
    s.act({0: (PASS, MAGE)})
    assert s.agent(1).damage == (1 if hurts else 0)
    assert s.agent(1).freeze == (2 if hurts else 0)


def test_no_immunity(scene):
    s = duel(scene, victim={"life": 0}, immunity="off")
    s.act({0: (PASS, MELEE)})
    assert s.agent(1) is None


# -- all at once ------------------------------------------------------------------------------------


def test_mutual_melee(scene):
    s = duel(scene)
    s.act({0: (PASS, MELEE), 1: (PASS, MELEE)})
    assert (s.agent(0) is None, s.agent(1) is None) == (False, True)
    s = duel(scene, resolution="simultaneous")
    s.act({0: (PASS, MELEE), 1: (PASS, MELEE)})
    assert s.agent(0) is None
    assert s.agent(1) is None
    assert (s.ended(0).kills, s.ended(1).kills) == (1, 1)


def test_blows_add_up_and_one_is_credited(scene):
    s = scene(resolution="simultaneous", order="seniority", steal_fraction=0.0)
    s.place(17, 18, health=4, **OLD)
    for col in (17, 19, 20):
        s.place(17, col, **OLD)
    s.act({1: (PASS, RANGE), 2: (PASS, RANGE), 3: (PASS, RANGE), 0: (PASS, RANGE)})
    assert s.ended(0).cause == RANGE_DEATH
    assert [s.agent(k).kills for k in (1, 2, 3)] == [0, 0, 1], "5 after regain - 2 - 2, the third kills"


def test_thefts_add_up_before_they_are_cut(scene):
    """A takes 2 from B and B takes 2 from A: nothing moves, even at the top."""
    s = duel(scene, (0, 2), {"food": 33 - 1}, {"food": 20}, resolution="simultaneous")
    s.act({0: (PASS, RANGE), 1: (PASS, RANGE)})
    assert (s.agent(0).food, s.agent(1).food) == (31, 19)


def test_conserved_thefts_take_what_is_left(scene):
    s = scene(resolution="simultaneous", order="seniority", steal="conserved")
    s.place(17, 18, food=4, **OLD)
    s.place(17, 16, food=10, **OLD)
    s.place(17, 20, food=10, **OLD)
    s.act({0: (PASS, MELEE), 1: (PASS, RANGE), 2: (PASS, RANGE)})
    assert [s.agent(k).food for k in range(3)] == [0, 11, 10]


def test_a_blow_and_a_flight_into_lava(scene):
    s = scene(resolution="simultaneous", order="seniority")
    s.place(9, 17, **OLD)
    s.place(10, 17, **OLD)
    s.act({0: (NORTH, MELEE)})
    assert s.agent(0) is None
    assert s.agent(1).health == 10
    assert s.agent(1).kills == 0


@pytest.mark.parametrize("resolution", ["sequential", "simultaneous"])
def test_order_decides_who_eats(scene, resolution):
    s = scene(resolution=resolution, order="seniority")
    s.paint(FOREST, (17, 17))
    s.place(17, 17, food=10, life_id=9)
    s.place(17, 17, food=10, life_id=8)
    s.act({0: (SOUTH, NOTHING), 1: (SOUTH, NOTHING)})
    assert [s.agent(k).food for k in range(2)] == [9, 14]


def test_seniority_is_age_not_slot(scene):
    s = scene(order="seniority")
    s.place(17, 17, life_id=7, **OLD)
    s.place(17, 18, life_id=3, **OLD)
    s.act({0: (PASS, MELEE), 1: (PASS, MELEE)})
    assert s.agent(0) is None
