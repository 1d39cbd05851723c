"""The compiled survival world equals its slow twin, fact by fact, in every variant, option and quirk.

Each case steps four worlds for 500 steps (2,000 compared steps) with players who pick up, heal, give, break,
place, fight and die; `test_the_players_make_everything_happen` keeps them honest.
"""

from __future__ import annotations

import functools
import itertools

import pytest

from interplay.worlds.survival.config import DEMO, READ_BY, VARIANTS
from tests.naive.survival import SurvivalTwin
from tests.naive.survival.things import Agent
from tests.worlds.survival_pair import TEMPERS, Pair

pytestmark = pytest.mark.slow

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
    "three teams": (*SMALL, {"agents": 6, "teams": (2, 1, 3), "team_reward": "each", "heals": 8} | LATE),
    "four teams": ("survival/2v2-all-high", CROWDED, {"agents": 5, "teams": (1, 2, 1, 1), "ownership": True}),
    "uneven quirks": (*SMALL, {"agents": 5, "teams": (1, 4), "author_parity": True}),
    "all quirks": (*SMALL, {"author_parity": True} | LATE),
    "all quirks, four alone": (*SMALL, {"author_parity": True, "teams": False, "slots": 2} | LATE),
}
# Zone, melee, inventory and cameras, on or off: every combination but the one where all are on.
MODULES = ("zone", "melee", "inventory", "cameras")
LEFT_OUT = [off for count in range(1, 5) for off in itertools.combinations(MODULES, count)]
# Each quirk alone: options and players that make it matter, and the event that proves it did.
HOARD = {"pickup_radius": 1.5, "slots": 1, "heals": 20}
QUIRKS = {
    "duplicate_pickup": (HOARD | {"slots": 4}, ("collector",), "duplicated"),
    "gift_lost_when_full": (HOARD, ("collector", "helper"), "gift lost"),
    "give_nearest_any_body": ({"teams": False}, ("collector", "helper"), "gift misdirected"),
    "vision_row_shift": ({"heals": 4}, ("hunter", "breaker"), "vision shifted"),
    "compact_rows": ({}, ("collector", "breaker"), "picked up"),
    "rotated_vertices": ({}, ("collector", "breaker"), "box broken"),
    "dead_killer_no_credit": ({"teams": False, "health": 15, "boxes": 0}, ("hunter",), "killer died too"),
}


def play(world_id: str, options: dict, steps: int = STEPS, tempers: tuple[str, ...] = TEMPERS) -> Pair:
    pair = Pair(world_id, WORLDS, seed=0, tempers=tempers, **options)
    step_together(pair, steps)
    return pair


def step_together(pair: Pair, steps: int) -> None:
    for _ in range(steps):
        pair.step()


@pytest.mark.parametrize("variant", VARIANTS)
def test_published_variants(variant: str) -> None:
    play(f"survival/{variant}", {})


@pytest.mark.parametrize("case", CASES)
def test_options(case: str) -> None:
    world_id, base, extra = CASES[case]
    play(world_id, base | extra)


@pytest.mark.parametrize("left_out", LEFT_OUT, ids="-".join)
def test_modules_left_out(left_out: tuple[str, ...]) -> None:
    """With omniscience every second time: it tells of things where no camera does, of others never."""
    unread = {name for module in left_out for name in READ_BY[module]}
    crowded = {name: value for name, value in CROWDED.items() if name not in unread}
    off = dict.fromkeys(left_out, "off") | {"max_steps": 120, "omniscient": len(left_out) % 2 == 0}
    pair = Pair(SMALL[0], 2, seed=0, **crowded | LATE | off)
    step_together(pair, 150)
    events = pair.events
    assert (events["agent hit"] > 0) == ("melee" not in left_out), events
    assert (events["picked up"] > 0) == ("inventory" not in left_out), events


@pytest.mark.parametrize("quirk", QUIRKS)
def test_one_quirk_at_a_time(quirk: str) -> None:
    options, tempers, event = QUIRKS[quirk]
    pair = play(SMALL[0], CROWDED | LATE | options | {quirk: True}, STEPS // 2, tempers)
    assert pair.events[event] > 0, pair.events


def test_the_players_make_everything_happen() -> None:
    events = play(SMALL[0], CROWDED | LATE | {"boxes": 12, "heals": 14}).events
    everything = (
        "agent hit",
        "team-mate spared",
        "box broken",
        "box broken again",
        "box protected",
        "box placed",
        "heal used",
        "picked up",
        "given",
        "nobody to give to",
        "scattered",
        "death",
        "kill",
    )
    assert all(events[name] > 0 for name in everything), events


# -- can the comparison fail? A rule changed on one side must be noticed ------------------------------------------


def _melee_first(twin: SurvivalTwin, agent: Agent, action: tuple) -> None:
    twin.attack(agent, bool(action[3]))
    SurvivalTwin.push(twin, agent, (*action[:3], 0, *action[4:]))


def _first_hit_takes_the_credit(twin: SurvivalTwin, target: Agent, attacker: Agent) -> None:
    cause = target.cause if target.health <= 0 else attacker.badge
    SurvivalTwin.hurt_agent(twin, target, attacker)
    target.cause = cause


def _looks_after_the_deaths(twin: SurvivalTwin) -> tuple:
    told = SurvivalTwin.bury_the_dead(twin)
    twin.looks()
    return told


def _items_come_at_once(twin: SurvivalTwin) -> None:
    SurvivalTwin.settle_boxes(twin)
    twin.drop_items_of_broken_boxes()


def _first_in_first_out(twin: SurvivalTwin, agent: Agent) -> None:
    agent.inventory.reverse()
    SurvivalTwin.use_last(twin, agent)
    agent.inventory.reverse()


def _clock_before_damage(twin: SurvivalTwin) -> None:
    twin.zone.ticks += 1
    SurvivalTwin.close_zone(twin)
    twin.zone.ticks -= 1


def _the_breaker_owns_anew(twin: SurvivalTwin) -> None:
    broken = [box for box in twin.boxes if box.present and box.health is not None and box.health <= 0]
    SurvivalTwin.settle_boxes(twin)
    for box in broken:
        box.owner = None


def _the_nearest_opponent_takes_too(twin: SurvivalTwin, agent: Agent) -> Agent | None:
    others = [other for other in twin.living() if other is not agent and agent.distance(other) <= 2.0]
    return min(others, key=agent.distance, default=None)


FAULTS = {
    "push": _melee_first,
    "hurt_agent": _first_hit_takes_the_credit,
    "bury_the_dead": _looks_after_the_deaths,
    "settle_boxes": _items_come_at_once,
    "use_last": _first_in_first_out,
    "close_zone": _clock_before_damage,
    "settle_boxes ": _the_breaker_owns_anew,
    "taker_of": _the_nearest_opponent_takes_too,
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_changed_rule_is_noticed(fault: str) -> None:
    options = CROWDED | LATE | {"teams": fault == "taker_of", "heals": 16, "health": 25}
    pair = Pair(SMALL[0], WORLDS, seed=0, tempers=("hunter", "breaker", "collector"), **options)
    for twin in pair.twins:
        setattr(twin, fault.strip(), functools.partial(FAULTS[fault], twin))
    with pytest.raises(AssertionError, match="compiled"):
        step_together(pair, 4 * STEPS)
