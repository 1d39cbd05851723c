"""Every number of the rule book (specification, section 1), in SI units and environment steps."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

NO_CAUSE, ZONE = None, "zone"  # other causes of a change of health: an agent's id, or a team's under teams


@dataclass(frozen=True)
class Rewards:
    """Section 8."""

    alive: float = 1.0
    dead: float = -1.0
    kill: float = 0.0
    death: float = 0.0


@dataclass(frozen=True)
class Settings:
    """The class default of the author's code; `fanti2022` gives the eight experiments."""

    room: float = 20.0
    spawn_grid: int = 4
    agents: int = 2
    teams: bool | tuple[int, ...] = False  # a tuple: how many members each team has
    zone: bool = True  # modules that can be left out
    melee: bool = True
    inventory: bool = True
    cameras: bool = True
    heals: int = 4
    boxes: int = 4
    box_width: tuple[float, float] = (1.0, 0.0)  # mean and spread of a normal
    box_height: tuple[float, float] = (1.0, 0.0)
    boxes_dynamic: bool = False
    health: int = 100
    health_cap: int | None = None
    heal_amount: int = 50
    melee_damage: int = 20
    melee_cooldown: int = 40  # 0: an attack in every step
    melee_range: float = 2.0
    box_health: int = 20
    ownership: bool = False
    slots: int = 4
    pickup_radius: float = 0.5
    give_radius: float = 2.0
    drop_radius: float = 0.5
    death_scatter: str = "ring"
    place_distance: float = 0.75
    zone_radii: tuple[float, ...] = (10.0, 5.0, 2.5, 1.0)  # a last phase of radius 0 follows
    zone_centres: tuple[tuple[float, float], ...] | None = None  # None: random
    zone_cooldown: int = 100
    zone_damage: int = 1
    immunity_steps: int = 0
    view_depth: float = 10.0
    view_angle: float = 0.4 * math.pi
    items_block_rays: bool = False
    omniscient: bool = True
    agent_radius: float = 0.5
    item_radius: float = 0.25
    linear_impulse: float = 0.25  # N s, along and across the heading
    angular_impulse: float = 0.0125  # N m s
    motion_levels: int = 3
    drop_action: bool = False  # a seventh action: drop the last item
    rewards: Rewards = Rewards()
    team_reward: str = "any"  # who earns r_alive: any (the team, while one lives) or each (mean over members)
    end: str = "alldead"
    max_steps: int | None = None
    # The author's quirks (section 13).
    duplicate_pickup: bool = False
    gift_lost_when_full: bool = False
    give_nearest_any_body: bool = False
    vision_row_shift: bool = False
    compact_rows: bool = False
    rotated_vertices: bool = False
    dead_killer_no_credit: bool = False

    @property
    def wall(self) -> float:
        """Inner faces of the walls (section 2)."""
        return self.room / 2 - self.room / 200


VARIANTS = {
    "1v1-heals-low": (2, 0, Rewards(1, 0, 0, 0), "alldead"),
    "1v1-heals-mid": (2, 0, Rewards(1, -1, 0, 0), "lastalive"),
    "1v1-all-mid": (2, 8, Rewards(1, -1, 0, 0), "lastalive"),
    "1v1-all-high": (2, 8, Rewards(1, -1, 100, -100), "lastalive"),
    "2v2-all-low": (4, 8, Rewards(1, 0, 0, 0), "alldead"),
    "2v2-heals-mid": (4, 0, Rewards(1, -1, 0, 0), "lastalive"),
    "2v2-all-mid": (4, 8, Rewards(1, -1, 0, 0), "lastalive"),
    "2v2-all-high": (4, 8, Rewards(1, -1, 100, -100), "lastalive"),
}


def demo(**options: object) -> Settings:
    """The author's class defaults."""
    return replace(Settings(), **options)  # type: ignore[arg-type]


def fanti2022(variant: str, **options: object) -> Settings:
    """One of the eight experiments (sections 1 and 9), with options on top."""
    agents, boxes, rewards, end = VARIANTS[variant]
    preset = Settings(
        room=25.0,
        spawn_grid=8,
        agents=agents,
        teams=agents == 4,
        heals=15,
        boxes=boxes,
        box_width=(1.0, 1.0),
        box_height=(1.5, 1.5),
        heal_amount=75,
        melee_damage=5,
        melee_cooldown=0,
        box_health=5,
        ownership=True,
        zone_radii=(12.5, 10.0, 7.5, 5.0, 4.0, 2.0, 1.0),
        items_block_rays=True,
        omniscient=False,
        rewards=rewards,
        end=end,
    )
    return replace(preset, **options)  # type: ignore[arg-type]
