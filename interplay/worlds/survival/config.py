"""Every number of the survival world once, with unit and source, and the eight published variants.

Sources: A. Fanti, "Multi-Agent Interplay in a Competitive Survival Environment" (2022), "the paper", and the
released code of the same author, "the code". The defaults are the experiments' (the paper's chapter 5); the
class defaults of the code's demo are the preset `DEMO`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, model_validator

from interplay.core.settings import Reward, Settings

# Bounds of what has no closer one: float32 observations of such a world stay finite, and int32 health does not wrap around.
MOST = 1_000_000
Positive = Annotated[float, Field(gt=0, le=MOST)]
NotNegative = Annotated[float, Field(ge=0, le=MOST)]
Size = Annotated[float, Field(ge=-MOST, le=MOST)]
Points = Annotated[int, Field(ge=0, le=MOST)]


# Differences of the code from the paper; all off unless switched on singly or by `author_parity`.
QUIRKS = (
    "duplicate_pickup",
    "gift_lost_when_full",
    "give_nearest_any_body",
    "vision_row_shift",
    "compact_rows",
    "rotated_vertices",
    "dead_killer_no_credit",
)

# Module, or number -> settings that do nothing if it is off or 0.
READ_BY = {
    "zone": ("zone_radii", "zone_centres", "zone_cooldown", "zone_damage"),
    "melee": ("melee_damage", "melee_range", "immunity", "box_health", "ownership"),
    "inventory": (
        *("slots", "drop_action", "give_radius", "drop_radius", "death_scatter", "place_distance"),
        *("heal_amount", "pickup_radius"),
    ),
    "cameras": ("view_depth", "view_angle"),
    "boxes": ("box_width", "box_height", "box_least", "boxes_dynamic", "box_health", "ownership"),
    "teams": ("team_reward",),
}


class SurvivalSettings(Settings):
    """Settings of one survival world. Lengths in metres, times in environment steps (30 per second)."""

    read_with: ClassVar[Mapping[str, tuple[str, Any]]] = {"melee_cooldown": ("melee", "cooldown")}

    # -- modules that can be left out, as `melee` can (paper A; 14.2): then their fields, heads and settings are unused --
    zone: Literal["on", "off"] = "on"  # SafeZone
    inventory: Literal["on", "off"] = "on"  # Inventory and all that depends on it
    cameras: Literal["on", "off"] = "on"  # Cameras

    # -- agents and places (paper 3.1, 5.1) --
    agents: Annotated[int, Field(ge=1, le=64)] = 2
    # True: first half of the ids against the rest (4.6); a list: members of each team, in the order of the ids.
    teams: bool | tuple[int, ...] = False
    heals: Annotated[int, Field(ge=0, le=256)] = 15
    boxes: Annotated[int, Field(ge=0, le=256)] = 0
    room: Positive = 25.0  # side of the room
    spawn_grid: Annotated[int, Field(ge=1, le=64)] = 8  # cells per side

    # -- bodies (paper 3.1; code) --
    agent_radius: Positive = 0.5
    item_radius: Positive = 0.25
    box_width: tuple[Size, Size] = (1.0, 1.0)  # mean and standard deviation of a normal
    box_height: tuple[Size, Size] = (1.5, 1.5)
    box_least: Positive = 0.1  # shortest side
    density: Positive = 1.0  # kg per square metre
    friction: NotNegative = 0.2
    restitution: Annotated[float, Field(ge=0, le=1)] = 0.0
    damping: NotNegative = 0.8  # 1/s, linear and angular
    damping_rule: Literal["old", "pade"] = "old"  # old: Box2D 2.3; pade: Box2D >= 2.4
    substeps: Annotated[int, Field(ge=1, le=64)] = 2
    substep_seconds: Positive = 1.0 / 60.0
    linear_impulse: NotNegative = 0.25  # N s per step and axis
    angular_impulse: NotNegative = 0.0125  # N m s per step
    boxes_dynamic: bool = False  # boxes can be pushed (extension)
    motion_levels: Annotated[int, Field(ge=3, le=21)] = (
        3  # levels per axis, odd; more = finer control (remedy)
    )

    # -- health and melee (paper 3.3) --
    health: Annotated[int, Field(ge=1, le=MOST)] = 100
    health_cap: Annotated[int, Field(ge=1)] | None = None  # remedy: largest health
    melee: Literal["continuous", "cooldown", "off"] = "continuous"
    melee_damage: Points = 5
    melee_cooldown: Annotated[int, Field(ge=1)] = 40  # steps, for melee = "cooldown"
    melee_range: Positive = 2.0  # from the agent's centre
    immunity: Annotated[int, Field(ge=0)] = (
        0  # first steps without damage between agents (paper: 300, not enabled)
    )

    # -- heals, boxes, inventory (paper 3.4, 3.5) --
    heal_amount: Points = 75
    box_health: Annotated[int, Field(ge=1, le=MOST)] = 5
    ownership: bool = True  # only the first breaker damages a placed box
    slots: Annotated[int, Field(ge=1, le=16)] = 4
    pickup_radius: NotNegative = 0.5
    give_radius: NotNegative = 2.0
    drop_radius: NotNegative = 0.5
    death_scatter: Literal["ring", "disc"] = "ring"
    place_distance: NotNegative = 0.75
    drop_action: bool = False  # a seventh, binary action that drops the last item

    # -- safe zone (paper 3.2; code) --
    zone_radii: tuple[Positive, ...] = (12.5, 10.0, 7.5, 5.0, 4.0, 2.0, 1.0)  # a final 0 is appended
    zone_centres: tuple[tuple[Size, Size], ...] | None = (
        None  # fixed centres, one per phase with the final one
    )
    zone_cooldown: Annotated[int, Field(ge=1)] = 100  # steps of a phase, and of the move to the next one
    zone_damage: Points = 1  # per step outside

    # -- sight (paper 3.6) --
    view_depth: Positive = 10.0
    view_angle: Annotated[float, Field(gt=0, lt=3.1415)] = (
        0.4 * 3.141592653589793
    )  # rad, the whole field of view
    items_block_rays: bool = True
    omniscient: bool = False

    # -- reward and end (paper 3.7, 5.1) --
    reward_alive: Reward = 1.0
    reward_dead: Reward = 0.0
    reward_kill: Reward = 0.0
    reward_death: Reward = 0.0
    team_reward: Literal["any", "each"] = "any"  # each (remedy): mean over the members, dead ones included
    end: Literal["alldead", "lastalive"] = "alldead"
    max_steps: Annotated[int, Field(ge=1)] | None = None  # truncation

    # -- the author's quirks (specification section 13) --
    author_parity: bool = False  # turns all of them on
    duplicate_pickup: bool = False  # two agents over one item in the same step both get it
    gift_lost_when_full: bool = False  # a gift to a full inventory vanishes
    give_nearest_any_body: bool = False  # the nearest body of any kind receives, walls by their centre points
    vision_row_shift: bool = False  # in the step of a death survivors read another agent's row of vision
    compact_rows: bool = False  # entity rows are compacted to the bodies present
    rotated_vertices: bool = False  # after a box broke its vertices start at (+w/2, -hgt/2)
    dead_killer_no_credit: bool = False  # free for all: no credit for a killer that dies in the same step

    @model_validator(mode="after")
    def _fits(self) -> SurvivalSettings:
        bodies, cells = self.boxes + self.heals + self.agents, self.spawn_grid**2
        if bodies > cells:
            n = self.spawn_grid
            raise ValueError(
                f"boxes = {self.boxes}, heals = {self.heals} and agents = {self.agents} need {bodies} spawn cells, "
                f"the {n}x{n} grid has {cells}; raise spawn_grid or lower boxes"
            )
        self._seat_teams()
        if self.motion_levels % 2 == 0:
            raise ValueError(f"motion_levels = {self.motion_levels} has no level at rest; use an odd number")
        if self.damping_rule == "old" and self.damping * self.substep_seconds > 1:
            raise ValueError(
                f"damping = {self.damping:g} turns velocities around; lower it to 1 / substep_seconds = "
                f'{1 / self.substep_seconds:g}, or give damping_rule = "pade"'
            )
        if self.health_cap is not None and self.health_cap < self.health:
            raise ValueError(
                f"health_cap = {self.health_cap} is below health = {self.health}; raise it or lower health"
            )
        if self.zone == "on":
            self._fit_zone()
        if self.max_steps is None and (self.zone == "off" or self.zone_damage == 0):
            raise ValueError(
                "zone = off or zone_damage = 0: an episode without fights never ends; set max_steps, e.g. 1500"
            )
        self._refuse_unread()
        return self

    def _refuse_unread(self) -> None:
        """Refuses changed settings that have no effect because a module is off or there are no boxes or teams."""
        for module, names in READ_BY.items():
            if getattr(self, module) not in ("off", 0):  # False is 0
                continue
            for name in names:
                if getattr(self, name) != type(self).model_fields[name].default:
                    off = str(getattr(self, module)).lower()
                    raise ValueError(f"{name} has no effect with {module} = {off}; remove one of them")

    def _seat_teams(self) -> None:
        if self.teams is True and self.agents % 2:
            raise ValueError(
                f"agents = {self.agents} cannot form two equal teams; use an even number, or name the sizes: "
                f"teams = [{self.agents // 2 + 1}, {self.agents // 2}]"
            )
        if isinstance(self.teams, tuple):
            sizes = f"teams = {list(self.teams)}"
            if len(self.teams) < 2 or min(self.teams) < 1:
                raise ValueError(
                    f"{sizes} is no contest; give at least two teams of one or more, or teams = false"
                )
            if sum(self.teams) != self.agents:
                raise ValueError(
                    f"{sizes} sum to {sum(self.teams)}, but agents = {self.agents}; set agents = {sum(self.teams)}"
                )

    def _fit_zone(self) -> None:
        if self.zone_centres is not None and len(self.zone_centres) != self.phases:
            raise ValueError(
                f"zone_centres has {len(self.zone_centres)} entries, the zone has {self.phases} phases "
                "(zone_radii and a final 0); give one centre for each"
            )
        if not self.zone_radii or max(self.zone_radii) > self.room / 2:
            raise ValueError(
                f"zone_radii = {self.zone_radii} do not fit the room; use radii up to room/2 = {self.room / 2}"
            )

    @property
    def sides(self) -> tuple[int, ...]:
        """The side of each agent, which marks its attacks: its team, or itself without teams."""
        if self.teams is False:
            return tuple(range(self.agents))
        sizes = (self.agents // 2,) * 2 if self.teams is True else self.teams
        return tuple(side for side, size in enumerate(sizes) for _ in range(size))

    @property
    def phases(self) -> int:
        """Number of zone phases, the endgame (radius 0) included."""
        return len(self.zone_radii) + 1

    @property
    def wall(self) -> float:
        """Half the inner side of the room: the code's walls are room/100 thick, centred on room/2."""
        return self.room / 2 - self.room / 200

    @property
    def quirks(self) -> dict[str, bool]:
        """Name -> whether it is on."""
        return {name: self.author_parity or getattr(self, name) for name in QUIRKS}


def _variant(agents: int, boxes: int, kill: float, death: float, dead: float, end: str) -> dict[str, Any]:
    return {
        "agents": agents,
        "teams": agents == 4,
        "boxes": boxes,
        "reward_dead": dead,
        "reward_kill": kill,
        "reward_death": death,
        "end": end,
    }


# The eight experiments: specification section 9, the paper's chapter 5.
VARIANTS: dict[str, dict[str, Any]] = {
    "1v1-heals-low": _variant(2, 0, 0.0, 0.0, 0.0, "alldead"),
    "1v1-heals-mid": _variant(2, 0, 0.0, 0.0, -1.0, "lastalive"),
    "1v1-all-mid": _variant(2, 8, 0.0, 0.0, -1.0, "lastalive"),
    "1v1-all-high": _variant(2, 8, 100.0, -100.0, -1.0, "lastalive"),
    "2v2-all-low": _variant(4, 8, 0.0, 0.0, 0.0, "alldead"),
    "2v2-heals-mid": _variant(4, 0, 0.0, 0.0, -1.0, "lastalive"),
    "2v2-all-mid": _variant(4, 8, 0.0, 0.0, -1.0, "lastalive"),
    "2v2-all-high": _variant(4, 8, 100.0, -100.0, -1.0, "lastalive"),
}

# The class defaults of the code (its demo): specification section 1, left column.
DEMO: dict[str, Any] = {
    "heals": 4,
    "boxes": 4,
    "room": 20.0,
    "spawn_grid": 4,
    "box_width": (1.0, 0.0),
    "box_height": (1.0, 0.0),
    "heal_amount": 50,
    "melee": "cooldown",
    "melee_damage": 20,
    "box_health": 20,
    "ownership": False,
    "zone_radii": (10.0, 5.0, 2.5, 1.0),
    "items_block_rays": False,
    "omniscient": True,
    "reward_dead": -1.0,
}
