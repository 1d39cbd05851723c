"""How many attacks a unit bears, each number of specification 4.3."""

from __future__ import annotations

import numpy as np
import pytest

from interplay.core.jit import kernel
from interplay.worlds.battle.rules.fight import damage_of, hurt
from tests.worlds.battle.scenes import ATTACK, legal, scene, unit

# Attacker, target, attacks that kill, strikes of them.
HITS = [
    ("immortal", "immortal", 7, 7),
    ("immortal", "zealot", 8, 8),
    ("zealot", "immortal", 21, 42),
    ("zealot", "zealot", 11, 21),
    ("roach", "roach", 10, 10),
    ("zergling", "zergling", 7, 7),
    ("zergling", "roach", 37, 37),
    ("hydralisk", "hydralisk", 8, 8),
    ("hydralisk", "mutalisk", 10, 10),
    ("mutalisk", "hydralisk", 10, 10),
    ("mutalisk", "roach", 19, 19),
]


@kernel
def strikes_until_dead(units, body):
    """Slot 0 strikes slot 1 until nothing is left."""
    strikes = 0
    while units[1].health > 0.0:
        hurt(units[1], body[1], damage_of(body[0], body[1]))
        strikes += 1
    return strikes


@pytest.mark.parametrize(("attacker", "target", "attacks", "strikes"), HITS)
def test_attacks_and_strikes_that_kill(attacker, target, attacks, strikes):
    world = scene(f"1 {attacker}", f"1 {target}", [(0, 0), (1.1, 0)])
    world.body["regeneration"] = 0.0
    made = 0
    while not world.timestep.over[0]:
        unit(world, 0)["cooldown"], unit(world, 1)["calm"] = 0.0, 0
        world.step(legal(world, {0: ATTACK}))
        made += 1
    assert made == attacks
    world.reset()
    assert strikes_until_dead(world.state.unit[0], world.body) == strikes


def test_a_blast_kills_zerglings_around_it_and_takes_15_from_a_roach():
    world = scene("1 baneling", "3 zergling, 1 roach", [(0, 0), (0.8, 0), (0, 2.5), (0, 3.0), (-1.0, 0)])
    world.step(legal(world, {0: ATTACK}))
    assert np.array(world.state.unit["alive"])[0].tolist() == [False, False, False, True, True]
    assert unit(world, 4)["health"] == pytest.approx(145 - 15 + 8 * 0.27 / 16)


def test_armour_leaves_half_a_point_of_a_strike():
    """A Mutalisk's third strike is 1, a Roach's armour 1."""
    world = scene("1 mutalisk", "3 roach", [(0, 0), (2, 0), (3, 1), (3, -1)])
    world.body["regeneration"] = 0.0
    world.step(legal(world, {0: ATTACK}))
    assert sorted(145 - world.state.unit["health"][0, 1:]) == [0.5, 2.0, 8.0]
