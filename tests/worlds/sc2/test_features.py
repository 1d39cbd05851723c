"""The features of full matches on messages of the protocol, against numbers worked by hand (specification games 6.2)."""

from __future__ import annotations

from collections import deque
from math import log10

import numpy as np
import pytest

from interplay.worlds.sc2 import features
from interplay.worlds.sc2.areas import area_rows
from interplay.worlds.sc2.ids import GATHER, UNITS, UPGRADES
from interplay.worlds.sc2.progress import TECHS, TIMED, ProgressTracker, techs
from interplay.worlds.sc2.regions import ground_of
from tests.worlds.sc2.messages import east, prices, unit, view, west
from tests.worlds.sc2.zerg import LOOPS, ability_of, data

ARMY = (
    unit("own", "drone", 80, 10, GATHER, 103),
    unit("own", "drone", 80, 10, GATHER, 104),
    unit("own", "drone", 80, 10),
    unit("own", "extractor", 75, 10, build_progress=0.5),
    unit("neutral", "field", 75, 15, mineral_contents=900),
    unit("own", "roach", 1, 59),
    unit("own", "burrowed_roach", 1, 59),
    unit("own", "mutalisk", 45, 30, is_flying=True),
    unit("enemy", "zergling", 1, 59),
    unit("enemy", "hive", 10, 50),
)


def test_the_picture_has_a_channel_for_each_side_and_group():
    """R = 6 on 90 x 60: cells of 15 x 10."""
    shown = features.picture(view(*ARMY), east(), 6)
    assert shown.shape == (45, 6, 6)
    assert shown.dtype == np.float32
    np.testing.assert_allclose(shown.sum(axis=(1, 2))[:3] * 5, [7, 2, 1], rtol=1e-6)
    assert shown[0, 4, 5] == pytest.approx(
        4 / 5
    )  # 80, 10 and 75, 10: the fifth row from the north, the last column
    groups = {"drone": (0, 3), "roach": (2, 2), "extractor": (6, 1), "mutalisk": (12, 1)}
    for number, count in groups.values():
        assert shown[3 + number].sum() * 5 == pytest.approx(count)
    assert shown[3 + 2, 0, 0] == pytest.approx(2 / 5)  # both roaches, in the north-west
    assert shown[3 + 12, 2, 3] == pytest.approx(1 / 5)  # on the corner of four cells: the north-eastern
    assert shown[3 + 21 + 1, 0, 0] == pytest.approx(1 / 5)  # the enemy's Zergling
    assert shown[3 + 21 + 5, 0, 0] == pytest.approx(1 / 5)  # and its hive
    assert np.count_nonzero(shown[3:].sum(axis=(1, 2))) == 6


def test_the_picture_of_the_other_start_is_turned():
    here, there = (features.picture(view(*ARMY), ground, 7) for ground in (east(), west()))
    np.testing.assert_array_equal(there, here[:, ::-1, ::-1])


def test_units_are_counted_in_both_scales():
    counted = features.count_units(view(*ARMY), east())
    assert counted.shape == (76,)
    own = dict.fromkeys(features.COUNTED, 0) | {"drone": 3, "roach": 1, "burrowed_roach": 1, "mutalisk": 1}
    enemy = dict.fromkeys(features.COUNTED, 0) | {"zergling": 1}
    counts = np.array([*own.values(), *enemy.values()])
    np.testing.assert_allclose(counted, [*(counts / 20), *np.log10(counts + 1)])
    built = features.count_buildings(view(*ARMY))
    assert built.shape == (64,)
    assert np.flatnonzero(built).tolist() == [2, 16 + 14, 32 + 2, 48 + 14]
    assert built[2] == pytest.approx(0.05)
    assert built[48 + 14] == pytest.approx(log10(2))


def test_regions_count_what_stands_in_them():
    """Region 9 is the own corner, 1 the enemy's, whichever the start."""
    for ground in (east(), west()):
        counted = features.count_units(view(*ARMY), ground, tuple(range(10))).reshape(10, 76)
        drone = features.COUNTED.index("drone")
        home = 9 if not ground.turned else 1
        assert np.flatnonzero(counted[:, drone]).tolist() == sorted([0, home])
        assert counted[5, features.COUNTED.index("mutalisk")] == pytest.approx(0.05)


def test_statistics_count_all_combat_ground_and_air():
    shown = features.statistics(view(*ARMY))
    counts = np.array([7, 3, 6, 1, 2, 1, 2, 0])
    np.testing.assert_allclose(shown, [*(counts / 20), *np.log10(counts + 1)])


@pytest.mark.parametrize(
    ("free", "place"), [(-2, 0), (0, 0), (1, 1), (3, 1), (4, 2), (24, 8), (25, 9), (40, 9)]
)
def test_the_players_numbers(free, place):
    seen = view(
        minerals=500,
        vespene=100,
        food_used=30,
        food_cap=30 + free,
        food_army=4,
        food_workers=26,
        idle_worker_count=1,
        army_count=2,
    )
    numbers = np.array([500, 100, 30, 30 + free, 4, 26, 1, 2, max(free, 0)])
    shown = features.player(seen)
    np.testing.assert_allclose(shown[:9], numbers / [2000, 2000, 20, 20, 20, 20, 20, 20, 20])
    np.testing.assert_allclose(shown[9:18], np.log10(numbers + 1))
    assert np.flatnonzero(shown[18:]).tolist() == [place]


def test_score_and_workers():
    seen = view(*ARMY, score={"collected_minerals": 6000, "spent_vespene": 300})
    shown = features.score(seen)
    np.testing.assert_allclose(shown[[4, 9, 14, 19]], [2, 0.1, log10(3), log10(1.1)])
    assert np.count_nonzero(shown) == 4
    np.testing.assert_allclose(features.workers(seen), [1 / 20, 1 / 20, 1 / 20])


@pytest.mark.parametrize(
    ("loop", "places"), [(0, [0, 60, 80, 88]), (7_000, [17, 65, 82, 89]), (30_000, [59, 79, 87, 91])]
)
def test_progress_has_four_widths(loop, places):
    """7,000 / 400 = 17.5, / 1,200 = 5.8, / 3,000 = 2.3, / 6,000 = 1.2."""
    shown = features.progress(loop)
    assert shown.shape == (92,)
    assert np.flatnonzero(shown).tolist() == places


def test_the_vectors_parts_stand_in_order():
    seen, past = view(*ARMY, loop=7_000, minerals=50, score={"spent_minerals": 9}), deque([5, 1, 2], maxlen=8)
    mask = np.arange(62) % 2 == 0
    shown = features.vector(seen, east(), past, mask)
    assert shown.shape == (299 + 9 * 62,) == (857,)
    assert len(features.vector(seen, east(), past, np.ones(165, bool))) == 1784
    assert len(features.vector(seen, east(), past, mask, regions=True)) == 857 + 9 * 76
    np.testing.assert_array_equal(shown[-62:], mask)
    parts = [features.statistics(seen), features.player(seen), features.score(seen), features.workers(seen)]
    np.testing.assert_array_equal(shown[140:207], np.concatenate(parts).astype(np.float32))
    history = shown[207 : 207 + 8 * 62].reshape(8, 62)
    assert [row.tolist().index(1) if row.any() else None for row in history] == [None] * 5 + [5, 1, 2]
    np.testing.assert_array_equal(shown[207 + 8 * 62 : -62], features.progress(7_000))


def test_techs_are_the_finished_upgrades():
    shown = techs(view(upgrades=("burrow", "missile_3", "tunneling_claws")))
    assert shown.shape == (23,)
    assert [TECHS[number] for number in np.flatnonzero(shown)] == ["burrow", "missile_3"]


def test_two_morphs_of_a_kind_have_a_clock_each():
    """D33: hatcheries that begin 20 loops after one another; the stand-in's things take 64."""
    tracker, lair = ProgressTracker(prices()), ability_of("lair")
    place = 2 * TIMED.index("lair")

    def read(loop, *morphing):
        bases = [unit("own", "hatchery", 10 * n, 9, lair if n in morphing else 0) for n in range(2)]
        return tracker.read(view(*bases, loop=loop))[place : place + 2].tolist()

    assert LOOPS == 64
    assert read(80) == [0, 0]
    assert read(100, 0) == [1, 0]
    assert read(116, 0) == [1, pytest.approx(16 / 64)]
    assert read(120, 0, 1) == [1, pytest.approx(20 / 64)]
    assert read(136, 1) == [1, pytest.approx(16 / 64)]  # the first was called off
    assert read(150, 0, 1) == [1, pytest.approx(30 / 64)]  # and began anew
    assert read(400) == [0, 0]


def test_buildings_upgrades_and_drones_on_their_way_are_in_progress():
    tracker = ProgressTracker(prices())
    shown = tracker.read(
        view(
            unit("own", "spire", 1, 1, build_progress=0.25),
            unit("own", "spire", 9, 1, build_progress=0.5),
            unit("own", "hive", 5, 5),
            unit("own", "drone", 5, 5, ability_of("spawning_pool")),
            unit("own", "evolution_chamber", 5, 5, ability_of("melee_2"), progress=0.75),
            unit("enemy", "infestation_pit", 5, 5, build_progress=0.5),
        )
    ).reshape(36, 2)
    assert shown.shape == (36, 2)
    names = [*TIMED, *TECHS]
    found = {names[number]: shown[number].tolist() for number in np.flatnonzero(shown.any(axis=1))}
    assert found == {"spire": [1, 0.5], "spawning_pool": [1, 0], "melee_2": [1, 0.75]}


def test_resources_of_one_base_are_an_area_and_those_of_two_are_two():
    """Fields 8 apart belong together, 10 apart not; a geyser is a resource, a rock is none."""
    row = [unit("neutral", "field", x, 10) for x in (70, 62, 52)] + [unit("neutral", "geyser", 46, 10)]
    rock = {**row[0], "unit_type": 9999 % 4096, "pos": {"x": 30, "y": 10}}
    ground = ground_of(90, 60, view(unit("own", "hatchery", 80.5, 10.5), rock, *row), data())
    np.testing.assert_allclose(ground.areas, [(66, 10), (49, 10)])


def test_areas_are_sorted_from_the_own_start():
    fields = ((20.0, 50.0), (78.0, 14.0), (83.0, 14.0), (45.0, 30.0))
    ground = east(*fields)
    np.testing.assert_allclose(ground.areas, [(80.5, 14), (45, 30), (20, 50)])
    shown = area_rows(
        view(
            unit(
                "own",
                "hatchery",
                80,
                10,
                health=750,
                health_max=1500,
                assigned_harvesters=10,
                ideal_harvesters=16,
            ),
            unit("own", "extractor", 76, 10, assigned_harvesters=1, ideal_harvesters=3),
            unit("own", "drone", 80, 12),
            unit("own", "drone", 80, 12, GATHER, 1),
            unit("own", "lair", 45, 30, health=750, health_max=1500),
            unit("own", "hive", 45, 30, health=1500, health_max=1500),
            unit("enemy", "drone", 20, 50),  # no orders of enemies are shown
            unit("enemy", "zergling", 40, 30),
            unit("enemy", "zergling", 44, 31),
            *(unit("neutral", "field", x, y, mineral_contents=900) for x, y in fields),
            unit("neutral", "geyser", 85, 12, vespene_contents=2000),
        ),
        ground,
        4,
    )
    assert shown.shape == (4, 44)
    assert shown[0, features.COUNTED.index("drone")] == 2
    assert shown[1, 19 + features.COUNTED.index("zergling")] == 2
    assert shown[0, 38:].tolist() == [0.5, 6, 2, 1, 1800, 2000]
    assert shown[1:3, 38:].tolist() == [[0.75, 0, 0, 0, 900, 0], [0, 0, 0, 0, 900, 0]]
    assert not shown[3].any()


def test_ids_are_those_of_pysc2_where_it_is_installed():
    units = pytest.importorskip("pysc2.lib.units")
    upgrades = pytest.importorskip("pysc2.lib.upgrades")
    assert set(UNITS.values()) <= set(map(int, units.Zerg))
    assert set(UPGRADES.values()) <= set(map(int, upgrades.Upgrades))
