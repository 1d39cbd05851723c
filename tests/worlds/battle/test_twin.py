"""The battle agrees with its slow twin, bit for bit: every scenario, every option."""

from __future__ import annotations

import pytest

from interplay.worlds.battle.config import VARIANTS, BattleSettings
from tests.worlds.battle.pair import march, settings_of

OPTIONS = {
    "positions": {"randomize": "positions", "mirror": False, "limit": 40},
    "all": {"randomize": "all", "mirror": False, "see_time": True, "state_time": True},
    "jitter": {"jitter": True, "diagonals": True, "see_last_action": True},
    "barrier": {"red": "4 immortal", "barrier": True, "unit_ranges": True, "see_pathing": True, "see_heights": True},
    "mutalisks": {"red": "3 mutalisk, 2 baneling", "mutalisk_regeneration": True, "see_position": True},
    "no bounces": {"red": "3 mutalisk", "blue": "2 hydralisk, 1 roach", "bounce_radius": 0.0, "unit_ranges": True},
    "unlike": {"red": "2 marauder, 1 stalker", "blue": "4 zergling", "state_last_action": False, "see_last_action": True},
    "crowded": {"red": "6 zealot", "width": 9.0, "height": 9.0, "randomize": "all"},
    "crowded formation": {"red": "20 zergling, 4 baneling", "width": 12.0, "height": 12.0},
    "result": {"reward": "result", "timeout": -1.0, "limit": 9},
    "losses": {"reward": "losses"},
    "negatives": {"negatives": True, "defeat": 20.0},
    "exact": {"red": "3 stalker", "exact_smac": True, "limit": 200},
    "sparse": {"reward": "smac_sparse"},
    "cone": {"randomize": "all", "limit": 40, "look_directions": 12, "diagonals": True, "see_last_action": True, "see_position": True, "see_time": True},
    "wide cone": {"limit": 40, "red": "2 stalker, 2 mutalisk", "look_directions": 3, "unit_ranges": True, "attack_anyone": True, "state_time": True},
    "notice": {"limit": 40, "red": "4 marine, 2 marauder", "blue": "5 zergling", "notice_chance": 0.4, "jitter": True, "mirror": False},
    "notice alike": {"limit": 40, "red": "2 mutalisk, 4 roach, 3 zergling", "drawn": True, "randomize": "positions", "notice_chance": 0.0},
    "all hidden": {"limit": 40, "red": "5 marine", "randomize": "all", "look_directions": 4, "notice_chance": 0.5, "attack_anyone": True},
    "exact sparse": {"reward": "smac_sparse", "exact_smac": True},
}  # fmt: skip


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_scenario(variant):
    steps = {"mab": 41, "bane_vs_bane": 24}.get(variant, 50)
    assert march(settings_of(variant, width=16.0, height=16.0, limit=40), steps) > 0


@pytest.mark.parametrize("name", OPTIONS)
def test_every_option(name):
    settings = BattleSettings(**{"width": 16.0, "height": 16.0, **OPTIONS[name]})
    assert march(settings, 50, seed=3) > 0
