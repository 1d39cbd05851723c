"""Bad input of the persistent world: one line each, with the thing, the value and the cure."""

from __future__ import annotations

import pytest

import interplay
from interplay.core.errors import UserError
from interplay.worlds.mmo.config import MmoSettings
from interplay.worlds.mmo.terrain import check_ground


@pytest.mark.parametrize(
    ("options", "key"),
    [
        ({"cap": 100}, "cap = 100"),
        ({"npop": 7}, "npop = 7"),
        ({"cap": 200}, "cap = 200"),
        ({"cap": 4, "prefill": 1}, r"npop = 8 .* 4"),
        ({"quotas": [1, 2], "npop": 2}, r"quotas = \[1, 2\]"),
        ({"quotas": [1, 2, 3], "npop": 2}, r"quotas = \[1, 2, 3\]"),
        ({"quotas": [64, 64], "npop": 2}, "cap_draw"),
        ({"interior": 8}, r"interior"),
        ({"prefill": 129}, r"prefill = 129"),
        ({"prefill": 0, "respawn": "none"}, r"prefill = 0"),
        ({"interior": 14, "one_per_tile": True, "prefill": 53}, r"prefill = 53"),
        ({"vision": 10}, r"border = 9 .*vision = 10"),
        ({"border": 6}, r"border = 6"),
        ({"border": 7, "lava": "next_update"}, r"border = 7"),  # an agent on lava would see beyond the array
        ({"reward_new_tile": 1.0}, r"reward_new_tile = 1\.0"),
        ({"feature_tiles": 1e-12}, r"feature_tiles"),
        ({"slot": 3}, r"slot"),
        ({"max_tick": 3}, r"max_tick"),
        ({"respawn": "nobody"}, r'respawn = "nobody"'),
        ({"damage": [1, 2]}, r"damage\.2"),
        ({"slots": 70_000}, r"slots = 70000"),
        ({"reward_task": 2.0}, r"reward_task = 2\.0"),
        ({"task": "fly(3)"}, r"task: fly"),
        ({"task": "eat"}, r'task: "eat"'),
        ({"task": "eat()"}, r"task: eat needs"),
        ({"task": "eat(0)"}, r"task: eat needs"),
        ({"task": "eat(True)"}, r"task: eat needs"),
        ({"task": "eat(n=3)"}, r'task: "eat\(n=3\)"'),
        ({"task": "stand(3)"}, r"task: stand needs"),
        ({"task": "stand(mud)"}, r"task: stand needs"),
        ({"task": "centre(3)"}, r"task: centre"),
        ({"task": "eat(3) + drink(3)"}, r'task: "eat\(3\) \+ drink\(3\)"'),
        ({"task": "eat(3) and"}, r'task = "eat\(3\) and"'),
        ({"task": "food(33)"}, r"task: food\(33\).* 32"),
        ({"task": "apart(8)"}, r"task: apart\(8\).* 7"),
        ({"task": "__import__('os').getcwd()"}, r"is no condition"),
        ({"task": "not " * 200 + "eat(1)"}, r"task = "),
        ({"regrow": float("nan")}, r"regrow = nan"),
    ],
)
def test_a_mistake_is_one_line(options, key):
    with pytest.raises(UserError, match=key) as caught:
        interplay.make_world("mmo/forage", **options)
    assert "\n" not in str(caught.value)


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
