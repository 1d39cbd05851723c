"""Scripted sides follow specification 4.6, by legal actions only."""

from __future__ import annotations

import numpy as np
import pytest

from interplay.core.errors import UserError
from interplay.evaluate.policy_map import PolicyMap
from interplay.registry import list_policies, make_policy, make_world
from interplay.worlds.battle.config import VARIANTS
from tests.worlds.battle.scenes import ATTACK, STOP, scene, unit

NORTH, SOUTH, EAST, WEST = 2, 3, 4, 5


def chosen(world, name):
    """(A,) the choices of a scripted player."""
    player = make_policy("battle/3m", name)
    player.start(world)
    return player.act(world.timestep)[0]


@pytest.mark.parametrize("variant", VARIANTS)
def test_all_of_them_play_legally(variant):
    for number, name in enumerate(list_policies(f"battle/{variant}")):
        world = make_world(
            f"battle/{variant}",
            2,
            seed=number,
            width=20.0,
            height=20.0,
            randomize="all",
            diagonals=number % 2 == 0,
            look_directions=12 * (number % 3),
            notice_chance=1 - number / 10,
            attack_anyone=number == 5,
        )
        player = make_policy(f"battle/{variant}", name)
        player.start(world, 1)
        step = world.reset()
        for _ in range(15):
            step = world.step(player.act(step))  # an illegal action would be refused
    assert set(list_policies(f"battle/{variant}")) == {
        "random",
        "still",
        "attack_nearest",
        "attack_move",
        "focus_weakest",
        "hit_and_run",
    }


def test_hit_and_run_attacks_when_ready_and_steps_away_while_not():
    """A Stalker, a Zealot next to it: with a cold weapon it attacks; with a hot one it goes the other way, along the edge at last."""
    world = scene("1 stalker", "1 zealot", [(0, 0), (2, 0)])
    assert chosen(world, "hit_and_run")[0] == ATTACK
    unit(world, 0)["cooldown"] = 20.0
    world.refresh()
    assert chosen(world, "hit_and_run")[0] == WEST
    unit(world, 0)["x"], unit(world, 1)["x"], unit(world, 1)["y"] = -16.0, -14.5, 0.5
    world.refresh()
    assert chosen(world, "hit_and_run")[0] == SOUTH
    unit(world, 1)["x"] = -10.0  # out of a Zealot's range and 1
    world.refresh()
    assert chosen(world, "hit_and_run")[0] == STOP


def test_nobody_runs_from_who_cannot_hit_it():
    """A Mutalisk, a Zealot below it, a Stalker behind: it runs from the Stalker alone."""
    world = scene("1 mutalisk", "1 zealot, 1 stalker", [(0, 0), (1, 0), (0, 20)], height=64.0)
    unit(world, 0)["cooldown"] = 20.0
    world.refresh()
    assert chosen(world, "hit_and_run")[0] == STOP
    unit(world, 2)["y"] = 5.0
    world.refresh()
    assert chosen(world, "hit_and_run")[0] == SOUTH


@pytest.mark.parametrize("variant", ["3m", "5i", "3i2z", "2s3z"])
def test_on_the_ground_everybody_runs_from_everybody(variant):
    world = make_world(f"battle/{variant}", 64, seed=3, randomize="all", width=16.0, height=16.0)
    player = make_policy(f"battle/{variant}", "hit_and_run")
    player.start(world)
    found = player.act(world.reset())
    assert (found > STOP).any()
    assert (found < ATTACK).any()
    world.body["hits_air"] = True
    assert np.array_equal(player.act(world.timestep), found)


def test_short_ranges_never_run():
    world = scene("1 zealot", "1 zealot", [(0, 0), (2, 0)])
    unit(world, 0)["cooldown"] = 15.0
    world.refresh()
    assert chosen(world, "hit_and_run")[0] == ATTACK


def test_the_nearest_that_can_be_hit():
    world = scene("1 roach", "1 mutalisk, 1 zergling", [(0, 0), (1, 0), (4, 0)])
    assert chosen(world, "attack_nearest")[0] == ATTACK + 1
    unit(world, 2)["y"] = 9.0
    world.refresh()
    assert chosen(world, "attack_nearest")[0] == NORTH  # too far to be attacked


def test_attack_move_walks_ahead_and_fights_what_it_sees():
    world = scene("1 marine", "1 marine", [(-8, 0), (8, 0)])
    assert chosen(world, "attack_move").tolist() == [EAST, EAST]  # each as it sees the field
    unit(world, 1)["x"], unit(world, 1)["y"] = -8.0, 8.5
    world.refresh()
    assert chosen(world, "attack_move")[0] == NORTH
    unit(world, 0)["x"], unit(world, 1)["y"] = 8.0, 12.0  # arrived, without enemies in sight
    world.refresh()
    assert chosen(world, "attack_move")[0] == STOP


def test_the_weakest_in_reach():
    world = scene("1 marine", "3 marine", [(0, 0), (1, 0), (3, 0), (5, 0)])
    unit(world, 2)["health"] = 7.0
    world.refresh()
    assert chosen(world, "focus_weakest")[0] == ATTACK + 1


def test_a_shield_counts_among_the_points_that_are_left():
    """50 and 5 points, then 40 and 30, then 45 and 15: the first is the weakest in all, the second in health alone."""
    world = scene("1 marine", "3 zealot", [(0, 0), (1, 0), (2, 0), (3, 0)])
    for slot, (health, shield) in enumerate([(50.0, 5.0), (40.0, 30.0), (45.0, 15.0)], 1):
        unit(world, slot)["health"], unit(world, slot)["shield"] = health, shield
    world.refresh()
    assert chosen(world, "focus_weakest")[0] == ATTACK
    unit(world, 3)["health"] = 39.0
    world.refresh()
    assert chosen(world, "focus_weakest")[0] == ATTACK + 2


def test_better_players_win():
    for better, worse in (
        ("attack_nearest", "random"),
        ("focus_weakest", "attack_nearest"),
        ("hit_and_run", "random"),
    ):
        world = make_world("battle/5i", 64, seed=5, randomize="positions")
        ours, theirs = make_policy("battle/5i", better), make_policy("battle/5i", worse)
        players = PolicyMap({name: ours for name in world.agents if name.startswith("red")}, others=theirs)
        players.start(world, 1)
        step = world.reset()
        while not step.over.all():
            step = world.step(players.act(step))
        assert world.metrics["outcome"][:, 0].mean() > 0.1, (better, worse)
        assert np.isfinite(step.reward).all()


def test_another_world_is_refused():
    with pytest.raises(UserError, match="attack_move: dilemma/fixed is no battle"):
        make_policy("battle/3m", "attack_move").start(make_world("dilemma/fixed"))
