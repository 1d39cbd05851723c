"""The settings as numbers for kernels."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from interplay.core.jit import as_table, numbers_of
from interplay.worlds.mmo.config import MmoSettings
from interplay.worlds.mmo.state import BUCKET, choices

SHUFFLE, ROTATE, SENIORITY = 0, 1, 2
RING, SCATTER = 0, 1
FLOW, IMMEDIATE, NEVER = 0, 1, 2
FULL, HEALTH_ONLY, ELDERS, OFF = 0, 1, 2, 3
LOWEST_HEALTH, NEAREST, LEARNED = 0, 1, 2
FIXED, UNIFORM, MULTIPLE = 0, 1, 2


class Rules(NamedTuple):
    """Settings as numbers; choices as above."""

    side: int  # T
    border: int
    interior: int
    window: int  # V
    vision: int
    buckets: int  # per side
    slots: int
    npop: int
    rows: int
    choices: int  # of all action heads
    most: int  # C
    cap_draw: int
    own_quotas: bool
    spawn_per_tick: int
    spawn_where: int
    respawn: int
    prefill: int
    max_ticks: int  # 0 = none
    one_per_tile: bool
    health: int
    food: int
    water: int
    drain: int
    starve: int
    eat: int
    drink: int
    regain: bool
    regrow: float
    combat: bool
    damage0: int
    damage1: int
    damage2: int
    reach0: int
    reach1: int
    reach2: int
    reach: int  # the longest
    freeze: int
    stolen0: int  # food and water that an attack takes
    stolen1: int
    stolen2: int
    conserved: bool
    immunity: int
    immunity_ticks: int
    elder_age: int
    friendly_fire: bool
    targeting: int
    retest_range: bool
    no_attack: bool
    order: int
    simultaneous: bool
    lava_next_update: bool
    occupancy: bool
    compact: bool
    mask_lava: bool
    reward_alive: float
    reward_death: float
    reward_kill: float
    reward_food: float
    reward_water: float
    reward_new_tile: float
    team_spirit: float
    count_visits: bool
    maps: int  # 0 = a new one for every episode
    map_seed: int


def rules_of(s: MmoSettings) -> np.ndarray:
    """The rules as a table of one record."""
    named: dict[str, Any] = {
        "cap_draw": ("fixed", "uniform", "multiple").index(s.cap_draw),
        "spawn_where": ("ring", "scatter").index(s.spawn_where),
        "respawn": ("flow", "immediate", "none").index(s.respawn),
        "immunity": ("full", "health_only", "elders", "off").index(s.immunity),
        "targeting": ("lowest_health", "nearest", "learned").index(s.targeting),
        "order": ("shuffle", "rotate", "seniority").index(s.order),
    }
    made: dict[str, Any] = {
        "window": s.view,
        "buckets": -(-s.side // BUCKET),
        "choices": sum(choices(s)),
        "own_quotas": s.quotas is not None,
        "max_ticks": s.max_ticks or 0,
        "maps": s.maps or 0,
        "reach": max(s.reach),
        "conserved": s.steal == "conserved",
        "simultaneous": s.resolution == "simultaneous",
        "lava_next_update": s.lava == "next_update",
    }
    for style in range(3):
        made[f"damage{style}"] = s.damage[style]
        made[f"reach{style}"] = s.reach[style]
        made[f"stolen{style}"] = int(np.floor(s.damage[style] * s.steal_fraction + 0.5))
    return as_table(numbers_of(Rules, s, **named, **made))
