"""Bad input of the persistent world: one line each, with the thing, the value and the cure."""

from __future__ import annotations

import pytest

import interplay
from interplay.core.errors import UserError
from interplay.worlds.mmo.config import MmoSettings
from interplay.worlds.mmo.maps import check_ground


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"cap": 100}, r"cap = 100 is no multiple of npop = 8, so quotas cannot be equal; give cap = 96"),
        ({"npop": 7}, r"cap = 128 is no multiple of npop = 7"),
        ({"cap": 200}, r"cap = 200 needs as many slots, there are 128; raise slots or lower cap"),
        ({"cap": 4, "prefill": 1}, r"npop = 8 populations cannot share a cap of 4"),
        ({"quotas": [1, 2], "npop": 2}, r"quotas = \[1, 2\] sum to 3, the cap of 128 would never be reached"),
        ({"quotas": [1, 2, 3], "npop": 2}, r"quotas = \[1, 2, 3\] are 3, npop = 2; give one each"),
        ({"quotas": [64, 64], "npop": 2}, r'quotas hold for one cap.*give cap_draw = "fixed"'),
        ({"interior": 8}, r"128 agents on 36 tiles of ground; raise interior or lower slots"),
        ({"prefill": 129}, r"prefill = 129 is above the cap of 128; lower prefill"),
        ({"prefill": 0, "respawn": "none"}, r"nobody would ever live; raise prefill"),
        (
            {"interior": 14, "one_per_tile": True, "prefill": 53},
            r"prefill = 53 with one_per_tile, the spawn ring has 52 tiles",
        ),
        (
            {"vision": 10},
            r"border = 9 is narrower than 10 \(vision = 10, .*views would leave the map; raise border",
        ),
        ({"reward_new_tile": 1.0}, r"reward_new_tile = 1\.0 needs count_visits = true"),
        ({"feature_tiles": 1e-12}, r"leaves the range of the noise; raise feature_tiles above"),
        ({"slot": 3}, r"unknown key slot; did you mean slots\?"),
        ({"max_tick": 3}, r"unknown key max_tick; did you mean max_ticks\?"),
        ({"respawn": "nobody"}, r'respawn = "nobody" is not allowed; give one of flow, immediate, none'),
        ({"damage": [1, 2]}, r"damage\.2 is missing; give a list of 3"),
        ({"slots": 70_000}, r"slots = 70000 is not allowed"),
        ({"reward_task": 2.0}, r"reward_task = 2\.0 needs a task; give one"),
        ({"task": "fly(3)"}, r"task: fly is no condition; give one of survive, defeat, harm, eat, drink"),
        ({"task": "eat"}, r'task: "eat" is no condition; write e\.g\. eat\(20\)'),
        ({"task": "eat()"}, r"task: eat needs a whole number above 0 in its brackets; write e\.g\. eat\(5\)"),
        ({"task": "eat(0)"}, r"task: eat needs a whole number above 0"),
        ({"task": "eat(True)"}, r"task: eat needs a whole number above 0"),
        ({"task": "eat(n=3)"}, r'task: "eat\(n=3\)" is no condition'),
        ({"task": "stand(3)"}, r"task: stand needs one of lava, water, grass, scrub, forest, stone"),
        ({"task": "stand(mud)"}, r"task: stand needs one of lava, water"),
        ({"task": "centre(3)"}, r"task: centre needs nothing in its brackets; write e\.g\. centre\(\)"),
        ({"task": "eat(3) + drink(3)"}, r'task: "eat\(3\) \+ drink\(3\)" is no condition'),
        ({"task": "eat(3) and"}, r'task = "eat\(3\) and" cannot be read; write e\.g\. "survive\(100\) and'),
        ({"task": "food(33)"}, r"task: food\(33\) is beyond the 32 that there can be"),
        ({"task": "apart(8)"}, r"task: apart\(8\) is beyond the 7 that there can be"),
        ({"task": "__import__('os').getcwd()"}, r"is no condition"),
        ({"task": "not " * 200 + "eat(1)"}, r"task = .* is not allowed"),
        ({"regrow": float("nan")}, r"regrow = nan is not allowed"),
    ],
)
def test_a_mistake_is_one_line(options, message):
    with pytest.raises(UserError, match=message) as caught:
        interplay.make_world("mmo/forage", **options)
    assert "\n" not in str(caught.value)


def test_a_map_without_ground_for_all_is_one_line():
    with pytest.raises(
        UserError, match=r"map seed 5 has 40 reachable tiles for up to 128 agents; raise interior"
    ):
        check_ground(MmoSettings(), 40, 5)


def test_as_many_as_fit_are_taken():
    for options in (
        {"interior": 14, "one_per_tile": True, "prefill": 52},
        {"prefill": 1, "respawn": "none"},
        {"cap": 100, "cap_draw": "uniform"},
        {"quotas": [100, 28], "npop": 2, "cap_draw": "fixed"},
        {"interior": 8, "slots": 36, "npop": 4, "prefill": 20},
    ):
        MmoSettings(**options)
