"""Cones of sight, enemies noticed by chance, attacks in vain (specification 5.1 and 5.2)."""

from __future__ import annotations

import numpy as np
import pytest

from interplay.checker import check_world
from interplay.core.errors import UserError
from interplay.core.scene import scene_of
from interplay.registry import make_policy, make_world
from tests.worlds.battle.scenes import ATTACK, STOP, legal, scene, unit

ENEMY = 5  # numbers of a marine in an observation
MOVES = 4


def around(way, *degrees):
    """Places so far from the middle."""
    turn = np.deg2rad(degrees)
    return [(way * c, way * s) for c, s in zip(np.cos(turn), np.sin(turn), strict=True)]


def told(world, slot):
    """(enemies, 5) a unit's observation of each: in reach, distance, place, health."""
    enemies = len(world.teams[slot in world.teams[0]])
    row = world.timestep.observation["units"][0, slot, MOVES : MOVES + ENEMY * enemies]
    return row.reshape(enemies, ENEMY)


def seen(world, slot=0):
    """Numbers of the enemies that a unit observes."""
    return np.flatnonzero(told(world, slot).any(axis=1)).tolist()


def in_reach(world, slot=0):
    """Those that it observes as in reach."""
    return np.flatnonzero(told(world, slot)[:, 0] == 1).tolist()


def may_attack(world, slot=0):
    """Of those that it may attack by the mask."""
    mask = world.timestep.action_mask["action"][0, slot]
    return np.flatnonzero(mask[ATTACK : ATTACK + int(world.table[0]["enemies"])]).tolist()


def pictured(world, slot=0):
    """Enemies that its picture under fog shows."""
    enemies = list(world.teams[slot in world.teams[0]])
    return np.flatnonzero(world.visible(0, slot)["agents"][enemies]).tolist()


def looking(world, direction):
    """The action."""
    return world.action_space.n - world.settings.look_directions + direction


# -- cones -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(("side", "sign"), [(0, 1), (1, -1)])
def test_twelve_cones_of_thirty_degrees_that_begin_ahead(side, sign):
    """At 14 degrees of a cone's middle one is in it, at 16 degrees in the next; blue sees the same mirrored."""
    others = [(sign * x, y) for x, y in around(5, 0, 14, -14, 16, -16, 104, 106, 180)]
    armies = ("1 marine", "8 marine") if side == 0 else ("8 marine", "1 marine")
    places = [(0.0, 0.0), *others] if side == 0 else [*others, (0.0, 0.0)]
    world = scene(*armies, places, look_directions=12)
    looker = 0 if side == 0 else 8
    for direction, wanted in {0: [0, 1, 2], 1: [3], 2: [], 3: [5], 4: [6], 6: [7], 11: [4]}.items():
        world.state.look[0, looker] = direction
        world.refresh()
        for answer in (seen, in_reach, may_attack, pictured):
            assert answer(world, looker) == wanted, direction


def test_every_place_is_in_one_cone():
    world = scene(
        "1 marine", "24 marine", [(0.0, 0.0), *around(5, *np.arange(3, 363, 15))], look_directions=12
    )
    count = np.zeros(24, int)
    for direction in range(12):
        world.state.look[0, 0] = direction
        world.refresh()
        count[may_attack(world)] += 1
    assert count.tolist() == [1] * 24


def test_a_look_takes_the_decision_and_is_told():
    """The unit stands; its vector ends with the direction and the time, the state tells it as well."""
    world = scene(
        "2 marine", "1 marine", [(0, 0), (-5, 0), (6, 0)], look_directions=12, see_time=True, diagonals=True
    )
    assert world.action_space.n == 6 + 2 + 4 + 12
    world.step(legal(world, {0: looking(world, 6), 2: looking(world, 3)}))
    assert (unit(world, 0)["x"], unit(world, 0)["y"], unit(world, 2)["x"]) == (0, 0, 6)
    rows = world.timestep.observation["units"][0]
    assert rows[0, -3:] == pytest.approx([-1, 0, 1 / 1000])
    assert rows[1, -3:] == pytest.approx([1, 0, 1 / 1000])
    assert rows[2, -3:] == pytest.approx([0, 1, 1 / 1000])
    assert world.side_state(0)[0, 4:6] == pytest.approx([-1, 0])
    assert world.side_state(1)[0, 4:6] == pytest.approx([0, 1])
    world.step(legal(world, {}))
    assert world.state.look[0].tolist() == [6, 0, 3]  # until it looks elsewhere
    world.reset()
    assert not world.state.look.any()


def test_allies_are_seen_in_the_cone_alone():
    world = scene("2 marine", "1 marine", [(0, 0), (-5, 0), (15, 0)], look_directions=12)
    ally = slice(MOVES + ENEMY, MOVES + 2 * ENEMY)
    rows = world.timestep.observation["units"][0]
    assert not rows[0, ally].any()
    assert rows[1, ally][0] == 1
    world.step(legal(world, {0: looking(world, 6), 1: looking(world, 6)}))
    rows = world.timestep.observation["units"][0]
    assert rows[0, ally][0] == 1
    assert not rows[1, ally].any()


def test_scripted_sides_look_before_they_shoot():
    world = scene("1 marine", "1 marine", [(0, 0), *around(4, 100)], look_directions=12)
    for name in ("attack_nearest", "attack_move", "focus_weakest", "hit_and_run"):
        player = make_policy("battle/3m", name)
        player.start(world)
        assert player.act(world.timestep)[0].tolist() == [looking(world, 3), looking(world, 9)], name
    world.step(legal(world, {0: looking(world, 3), 1: looking(world, 9)}))
    assert player.act(world.timestep)[0].tolist() == [ATTACK, ATTACK]


@pytest.mark.parametrize("policy", ["attack_nearest", "attack_move", "focus_weakest", "hit_and_run"])
def test_scripted_sides_never_attack_in_vain(policy):
    """Their actions do not depend on whether the mask shows enemies in reach."""
    options = {"look_directions": 12, "randomize": "all", "width": 20.0, "height": 20.0}
    worlds = [
        make_world("battle/3s5z", 4, seed=2, attack_anyone=anyone, **options) for anyone in (False, True)
    ]
    players = [make_policy("battle/3s5z", policy) for _ in worlds]
    for world, player in zip(worlds, players, strict=True):
        world.reset()
        player.start(world, 1)
    while not worlds[0].timestep.over.all():
        actions = [player.act(world.timestep) for world, player in zip(worlds, players, strict=True)]
        assert np.array_equal(*actions)
        for world, action in zip(worlds, actions, strict=True):
            world.step(action)
        assert np.array_equal(*(world.hash() for world in worlds))


def test_pictures_show_the_cones():
    world = scene("1 marine", "1 stalker", [(0, 0), (5, 0)], look_directions=4, unit_ranges=True)
    world.step(legal(world, {1: looking(world, 1)}))
    agents = next(layer for layer in scene_of(world, 0).layers if layer.name == "agents")
    assert agents.columns["angle"] == pytest.approx([0, np.pi / 2])
    assert agents.columns["sight.depth"].tolist() == [9, 10]
    assert agents.options["sight.angle"] == pytest.approx(np.pi / 2)


# -- noticing --------------------------------------------------------------------------------------


def hidden(chance, red="4 marine", blue="1 marine", places=None, **options):
    """Red's units in a row on the left, not noticed yet; blue far away, or at `places`."""
    reds, blues = int(red.split()[0]), int(blue.split()[0])
    places = places or [(15.0, k) for k in range(blues)]
    left = [(-15.0, float(k)) for k in range(reds)]
    return scene(red, blue, [*left, *places], notice_chance=chance, **options)


def test_the_first_sees_for_sure_and_the_others_by_chance():
    """Of 3 x 3,000 draws a share of 0.3; a unit that does not notice at first does not later either."""
    world = make_world("battle/3m", 3000, seed=1, red="4 marine", blue="1 marine", notice_chance=0.3)
    world.reset()
    state = world.state
    assert (state.seer == -1).all()
    state.unit["x"][:, :4], state.unit["x"][:, 4] = -3.0, 3.0
    world.refresh()
    assert not state.known.any()  # chance belongs to decisions
    world.step(np.where(world.timestep.acting, STOP, 0))
    assert (state.seer[:, 4] == 0).all()  # the lowest number of all that see it at once
    assert state.known[:, 0, 0].all()
    assert state.known[:, 1:4, 0].mean() == pytest.approx(0.3, abs=0.015)
    assert abs(np.corrcoef(state.known[:, 1, 0], state.known[:, 2, 0])[0, 1]) < 0.06
    known = state.known.copy()
    for _ in range(3):
        world.step(np.where(world.timestep.acting, STOP, 0))
    assert np.array_equal(state.known, known)


def test_who_has_not_noticed_sees_nothing_and_may_attack():
    """SMACv2's mask shows enemies in reach, seen or not."""
    world = hidden(0.0, red="2 marine", places=[(-12.0, 0.0)])
    world.step(legal(world, {}))
    assert [seen(world, slot) for slot in (0, 1)] == [[0], []]
    assert [in_reach(world, slot) for slot in (0, 1)] == [[0], []]
    assert [may_attack(world, slot) for slot in (0, 1)] == [[0], [0]]


def test_the_first_falls_and_another_one_is_the_first():
    world = hidden(0.0, red="3 marine", places=[(-12.0, 0.0)])
    world.step(legal(world, {}))
    assert world.state.seer[0].tolist() == [0, 0, 0, 0]  # blue's only unit is always the first
    for fallen, first in ((0, 1), (1, 2)):
        unit(world, fallen)["health"] = 1.0
        world.refresh()
        while unit(world, fallen)["alive"]:
            assert world.state.seer[0, 3] == fallen
            world.step(legal(world, {3: ATTACK + fallen}))
        assert world.state.seer[0, 3] == first
        assert world.state.known[0, :, 0].tolist()[:3] == [slot == first for slot in range(3)]
    assert not world.state.known[0, 3, :2].any()  # nor are the fallen remembered


def test_an_enemy_that_has_left_and_comes_back_is_known_to_the_same():
    world = hidden(0.0, red="2 marine", places=[(-12.0, 0.0)])
    world.step(legal(world, {}))
    unit(world, 2)["x"] = 15.0
    world.refresh()
    world.step(legal(world, {}))
    assert seen(world) == []
    assert world.state.seer[0, 2] == 0
    unit(world, 2)["x"], unit(world, 0)["x"] = -12.0, 14.0
    world.refresh()
    world.step(legal(world, {}))
    assert [seen(world, slot) for slot in (0, 1)] == [
        [],
        [],
    ]  # the first is far away, and it is the first still


def test_whoever_looks_away_does_not_see_first():
    world = hidden(0.0, red="2 marine", places=[(-12.0, 0.0)], look_directions=4)
    world.state.look[0, 0] = 2
    world.refresh()
    world.step(legal(world, {}))
    assert world.state.seer[0, 2] == 1


@pytest.mark.parametrize("option", ["look", "seer", "known"])
def test_nothing_is_kept_where_all_see_all(option):
    world = make_world("battle/3m", 2)
    world.reset()
    assert world.save()[option].size == 0


def wrong(name, value, at):
    world = hidden(0.5, red="2 marine", places=[(-12.0, 0.0)], look_directions=4)
    world.step(legal(world, {}))
    snapshot = world.save()
    snapshot[name][at] = value
    return world, snapshot


@pytest.mark.parametrize(
    ("name", "value", "at", "key"),
    [
        ("look", 4, (0, 1), "look.* = 4"),
        ("seer", 1, (0, 0), "seer.* = 1"),
        ("seer", -1, (0, 2), "known.* = True"),
        ("known", True, (0, 0, 1), "known.* = True"),
        ("unit.alive", False, (0, 0), "seer.* = 0"),
    ],
)
def test_snapshots_that_cannot_be(name, value, at, key):
    world, snapshot = wrong(name, value, at)
    with pytest.raises(UserError, match=key):
        world.load(snapshot)


# -- attacks in vain -------------------------------------------------------------------------------


def test_an_attack_out_of_reach_comes_to_nothing():
    """All living enemies may be attacked, but no unit walks there; the vector still marks those in reach."""
    world = scene("1 marine", "3 marine", [(0, 0), (5, 0), (7, 0), (8, 0)], attack_anyone=True)
    assert may_attack(world) == [0, 1, 2]
    assert in_reach(world) == [0]
    world.step(legal(world, {0: ATTACK + 1}))
    assert (unit(world, 0)["x"], unit(world, 0)["cooldown"], unit(world, 0)["last"]) == (0, 0, ATTACK + 1)
    world.step(legal(world, {0: ATTACK}))
    assert unit(world, 1)["health"] < 45
    assert unit(world, 0)["cooldown"] > 0
    unit(world, 2)["health"], unit(world, 2)["alive"] = 0.0, False
    world.refresh()
    assert may_attack(world) == [0, 2]


def test_nor_is_one_out_of_the_cone_shot_at():
    world = scene("1 marine", "1 marine", [(0, 0), (-3, 0)], attack_anyone=True, look_directions=12)
    assert may_attack(world) == [0]
    world.step(legal(world, {0: ATTACK}))
    assert unit(world, 1)["health"] == 45
    world.step(legal(world, {0: looking(world, 6)}))
    world.step(legal(world, {0: ATTACK}))
    assert unit(world, 1)["health"] < 45


def test_who_can_never_be_hit_stays_masked():
    world = scene("1 roach", "1 mutalisk", [(0, 0), (3, 0)], attack_anyone=True)
    assert may_attack(world) == []


def test_every_law_holds_with_all_three():
    """Snapshots, copies, seeds, chunks of worlds, wild numbers: looks and noticed enemies are part of the state."""

    def make(num_worlds, seed):
        hidden = {"look_directions": 6, "notice_chance": 0.4, "attack_anyone": True}
        return make_world(
            "battle/2s3z", num_worlds, seed=seed, width=12.0, height=12.0, randomize="all", **hidden
        )

    report = check_world(make, steps=40)
    assert report.ok, str(report)
