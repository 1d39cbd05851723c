"""The compiled survival world equals its slow twin, fact by fact, in every variant, option and quirk.

Each case steps four worlds for 500 steps (2,000 compared steps) with players who pick up, heal, give, break,
place, fight and die; `test_the_players_make_everything_happen` keeps them honest.
"""

from __future__ import annotations

import pytest

from interplay.worlds.survival.config import DEMO, VARIANTS
from tests.worlds.survival_pair import Pair

WORLDS, STEPS = 4, 500

# A small room in which agents meet all the time.
CROWDED = {
    "room": 12.0,
    "spawn_grid": 6,
    "heals": 10,
    "health": 40,
    "zone_radii": (6.0, 5.0, 4.0),
    "zone_cooldown": 60,
}
SMALL = ("survival/2v2-all-high", CROWDED)
DUEL = ("survival/1v1-all-high", CROWDED)
LATE = {"end": "alldead"}

CASES = {
    "crowded teams": (*SMALL, LATE),
    "crowded duel": (*DUEL, {}),
    "four alone": (*SMALL, {"teams": False}),
    "demo": ("survival/1v1-all-mid", DEMO | {"end": "alldead"}, {}),
    "cooldown": (*SMALL, {"melee": "cooldown", "melee_damage": 20, "melee_cooldown": 10, "box_health": 20}),
    "clear rays": (*SMALL, {"items_block_rays": False}),
    "omniscient": (*SMALL, {"omniscient": True}),
    "no owners": (*DUEL, {"ownership": False}),
    "disc": (*SMALL, {"death_scatter": "disc"} | LATE),
    "pushed boxes": (*SMALL, {"boxes_dynamic": True}),
    "pade": (*DUEL, {"damping_rule": "pade"}),
    "remedies": (
        *SMALL,
        {"health_cap": 120, "team_reward": "each", "motion_levels": 5, "reward_kill": 300.0},
    ),
    "drop action": (*DUEL, {"drop_action": True, "slots": 2}),
    "immunity": (*DUEL, {"immunity": 30, "max_steps": 90}),
    "fixed zone": (
        *SMALL,
        {"zone_centres": ((0.0, 0.0), (1.0, 0.5), (-1.0, 0.0), (2.0, 2.0)), "zone_damage": 3},
    ),
    "few slots": (*SMALL, {"slots": 1, "heals": 20} | LATE),
    "all quirks": (*SMALL, {"author_parity": True} | LATE),
    "all quirks, four alone": (*SMALL, {"author_parity": True, "teams": False, "slots": 2} | LATE),
}
QUIRKS = (
    "duplicate_pickup",
    "gift_lost_when_full",
    "give_nearest_any_body",
    "vision_row_shift",
    "compact_rows",
    "rotated_vertices",
    "dead_killer_no_credit",
)


def play(world_id: str, options: dict, steps: int = STEPS, seed: int = 0) -> Pair:
    pair = Pair(world_id, WORLDS, seed, **options)
    for _ in range(steps):
        pair.step()
    return pair


@pytest.mark.parametrize("variant", VARIANTS)
def test_published_variants(variant: str) -> None:
    play(f"survival/{variant}", {})


@pytest.mark.parametrize("case", CASES)
def test_options(case: str) -> None:
    world_id, base, extra = CASES[case]
    play(world_id, base | extra)


@pytest.mark.parametrize("quirk", QUIRKS)
def test_one_quirk_at_a_time(quirk: str) -> None:
    play(SMALL[0], CROWDED | LATE | {quirk: True, "slots": 2, "teams": quirk == "gift_lost_when_full"})


def test_the_players_make_everything_happen() -> None:
    pair = play(SMALL[0], CROWDED | LATE | {"slots": 2, "gift_lost_when_full": True}, seed=1)
    assert all(count > 0 for count in pair.counted.values()), pair.counted
