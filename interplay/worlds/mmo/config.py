"""Every number of the persistent world once, with unit and source, and its registered variants.

Sources: Suarez, Du, Isola, Mordatch, "Neural MMO: A Massively Multiagent Game Environment for Training and Evaluating
Intelligent Agents" (2019), "the paper", and the code released with it, "the code". The defaults are the profile `paper`;
`CODE2019` follows the code instead, for comparison.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, model_validator

from interplay.core.settings import Reward, Settings
from interplay.worlds.mmo.tasks import HELD, Task, parse_task

Fraction = Annotated[float, Field(ge=0, le=1)]
Count = Annotated[int, Field(ge=0, le=30_000)]

MOVES = 5  # pass, east, south, west, north
STYLES = 3  # melee, range, mage
COLUMNS = 11  # numbers that describe an agent to others
MOST_COMPACT = 127  # of int8
# Settings that only combat reads.
OF_COMBAT = (
    *("damage", "reach", "freeze", "steal_fraction", "steal", "immunity_ticks", "immunity"),
    *("friendly_fire", "retest_range", "reward_kill"),
)


class MmoSettings(Settings):
    """Settings of one world. Lengths in tiles, times in ticks."""

    read_with: ClassVar[Mapping[str, tuple[str, Any]]] = {
        **dict.fromkeys(OF_COMBAT, ("combat", True)),
        "elder_age": ("immunity", "elders"),
    }

    # -- the map (paper, supplement "Environment"; code) --
    interior: Annotated[int, Field(ge=8, le=16_000)] = (
        62  # side of the square inside the lava, spawn ring included
    )
    border: Annotated[int, Field(ge=1, le=64)] = 9  # rows of lava around it
    feature_tiles: Annotated[float, Field(gt=0)] = 5.0  # length of a feature of the first octave
    octaves: Annotated[int, Field(ge=1, le=16)] = 8
    terrain: Literal["quantile", "absolute", "max_ratio"] = "quantile"
    pockets: Literal["auto", "stone", "keep"] = (
        "auto"  # unreachable ground: auto = stone below 90 % reachable
    )
    map_seed: Annotated[int, Field(ge=0, lt=2**63)] = 0  # seed of the first map of the pool
    maps: Annotated[int, Field(ge=1)] | None = (
        None  # maps in the pool, drawn at each reset; off = a new one each time
    )

    # -- births (paper, "Server") --
    slots: Annotated[int, Field(ge=1, le=65_535)] = 128
    cap: Annotated[int, Field(ge=1, le=65_535)] | None = None  # largest population C; off = all slots
    cap_draw: Literal["multiple", "uniform", "fixed"] = "multiple"  # how a world's own cap follows from C
    npop: Annotated[int, Field(ge=1, le=255)] = 8  # populations
    quotas: tuple[Annotated[int, Field(ge=1, le=65_535)], ...] | None = (
        None  # of each population; off = ceil(cap / npop)
    )
    spawn_per_tick: Annotated[int, Field(ge=1, le=65_535)] = 1
    spawn_where: Literal["ring", "scatter"] = "ring"
    respawn: Literal["flow", "immediate", "none"] = "flow"
    prefill: Annotated[int, Field(ge=0, le=65_535)] = 1  # births at reset
    max_ticks: Annotated[int, Field(ge=1, lt=2**31)] | None = None  # truncates the world; off = never

    # -- bodies (paper, "Foraging"; code) --
    one_per_tile: bool = False
    health: Annotated[int, Field(ge=1, le=1000)] = 10  # start and maximum
    food: Annotated[int, Field(ge=1, le=1000)] = 32
    water: Annotated[int, Field(ge=1, le=1000)] = 32
    drain: Count = 1  # food and water lost per tick
    starve: Count = 1  # health lost per tick and empty resource
    eat: Count = 5
    drink: Count = 5
    regain: bool = True  # +1 health with food and water above half
    regrow: Fraction = 0.025  # chance per depleted tile and tick

    # -- combat (paper, "Combat") --
    combat: bool = True
    damage: tuple[Count, Count, Count] = (10, 2, 1)  # melee, range, mage
    # Chebyshev distance, own tile included; not beyond vision
    reach: tuple[Count, Count, Count] = (1, 2, 3)
    freeze: Count = 3  # counter set by mage; blocks freeze - 1 moves
    steal_fraction: Annotated[float, Field(ge=0, le=100)] = 1.0  # food and water taken per point of damage
    steal: Literal["nominal", "conserved"] = "nominal"
    immunity_ticks: Count = 15
    immunity: Literal["full", "health_only", "elders", "off"] = "full"
    elder_age: Count = 20  # ticks; immunity = elders: older ones cannot hit younger ones
    friendly_fire: bool = True
    targeting: Literal["lowest_health", "nearest", "learned"] = "lowest_health"
    retest_range: bool = False
    no_attack: bool = False  # a fourth choice of the attack head, index 0: none

    # -- the tick --
    order: Literal["shuffle", "rotate", "seniority"] = "shuffle"
    resolution: Literal["sequential", "simultaneous"] = "sequential"
    lava: Literal["same_tick", "next_update"] = "same_tick"

    # -- what agents see --
    vision: Annotated[int, Field(ge=1, le=31)] = 7  # radius of the square crop
    rows: Annotated[int, Field(ge=1, le=255)] = 32  # entity rows, the observer's own included
    occupancy: bool = True  # heads per tile
    compact: bool = False  # int8 entity rows
    mask_lava: bool = False  # lava counts as an illegal move

    # -- rewards (paper, "Reward"); each is logged by itself --
    reward_alive: Reward = 1.0  # per tick survived
    reward_death: Reward = 0.0  # once (the code: 0 and -1)
    reward_kill: Reward = 0.0
    reward_food: Reward = 0.0  # per unit gained by eating
    reward_water: Reward = 0.0
    reward_new_tile: Reward = 0.0  # a tile new to the own population; needs count_visits
    task: Annotated[str, Field(max_length=500)] = (
        ""  # conditions (docs/mmo.md), e.g. "survive(100) and eat(20)"
    )
    reward_task: Reward = 1.0  # times the change of the task's progress
    team_spirit: Fraction = 0.0  # share of the reward that is the population's mean

    count_visits: bool = False  # visits per population and tile, for coverage and overlays

    @model_validator(mode="after")
    def _fits(self) -> MmoSettings:
        walked = self.vision + (self.lava == "next_update")  # agents may look out from lava
        if self.border < walked:
            raise ValueError(
                f"border = {self.border} is narrower than {walked} (vision = {self.vision}, lava = {self.lava}), "
                "views would leave the map; raise border"
            )
        if self.map_seed and self.maps is None:
            raise ValueError(
                f"map_seed = {self.map_seed} does nothing without maps; give maps = 1 for this map"
            )
        if self.most > self.slots:
            raise ValueError(
                f"cap = {self.most} needs as many slots, there are {self.slots}; raise slots or lower cap"
            )
        if self.prefill > self.most:
            raise ValueError(f"prefill = {self.prefill} is above the cap of {self.most}; lower prefill")
        if self.prefill == 0 and self.respawn == "none":
            raise ValueError('prefill = 0 with respawn = "none": no agent would ever live; raise prefill')
        if self.one_per_tile and self.spawn_where == "ring" and self.prefill > 4 * (self.interior - 1):
            raise ValueError(
                f"prefill = {self.prefill} with one_per_tile, the spawn ring has {4 * (self.interior - 1)} tiles; "
                'lower prefill, raise interior or give spawn_where = "scatter"'
            )
        if self.npop > self.most:
            raise ValueError(
                f"npop = {self.npop} populations exceed a cap of {self.most}; lower npop or raise cap"
            )
        self._quotas_fit()
        if self.most > (self.interior - 2) ** 2:
            raise ValueError(
                f"{self.most} agents on {(self.interior - 2) ** 2} tiles of ground; raise interior or lower slots"
            )
        stores = max(self.health, self.food, self.water)
        if self.compact and stores > MOST_COMPACT:
            raise ValueError(
                f"compact = true shows at most {MOST_COMPACT}, health, food or water is {stores}; leave compact out"
            )
        if self.reward_new_tile and not self.count_visits:
            raise ValueError(
                f"reward_new_tile = {self.reward_new_tile} needs count_visits = true; switch it on"
            )
        self.read_task()
        if self.reward_task != 1.0 and not self.task:
            raise ValueError(f"reward_task = {self.reward_task} needs a task; set one")
        return self

    def read_task(self) -> Task | None:
        """The task, or None; `ValueError` if it is unreadable or out of reach."""
        most = {name: getattr(self, name) for name in HELD}
        return (
            parse_task(self.task, {**most, "company": self.rows - 1, "apart": self.vision})
            if self.task
            else None
        )

    def _quotas_fit(self) -> None:
        if self.quotas is not None:
            if len(self.quotas) != self.npop:
                raise ValueError(
                    f"quotas = {list(self.quotas)} has {len(self.quotas)} numbers, npop = {self.npop}; give one each"
                )
            if sum(self.quotas) < self.most:
                raise ValueError(
                    f"quotas = {list(self.quotas)} sum to {sum(self.quotas)}, the cap of {self.most} would never be reached; "
                    "raise a quota or lower cap"
                )
            if self.cap_draw != "fixed":
                raise ValueError(
                    f'quotas hold for one cap, cap_draw = "{self.cap_draw}" draws many; give cap_draw = "fixed"'
                )
        elif self.cap_draw == "multiple" and self.most % self.npop:
            raise ValueError(
                f"cap = {self.most} is no multiple of npop = {self.npop}, so quotas cannot be equal; "
                f'give cap = {self.most - self.most % self.npop} or cap_draw = "fixed" or "uniform"'
            )

    @property
    def side(self) -> int:
        """T: side of the whole array, border included."""
        return self.interior + 2 * self.border

    @property
    def most(self) -> int:
        """C: the largest population a world may have."""
        return self.slots if self.cap is None else self.cap

    @property
    def view(self) -> int:
        """V: side of the square crop."""
        return 2 * self.vision + 1


# Differences of the code of 2019; its maps come closest in the mode "absolute".
CODE2019: dict[str, Any] = {
    "terrain": "absolute",
    "pockets": "keep",
    "rows": 128,
    "immunity": "health_only",
    "order": "seniority",
    "lava": "next_update",
    "reward_alive": 0.0,
    "reward_death": -1.0,
}


def large(agents: int) -> dict[str, Any]:
    """Options of a large world: the same ground per agent for any number, births anywhere (specification 2).

    The ring does not scale: its length grows with the square root of the area, so newcomers crowd there.
    """
    sides = {128: 100, 1_024: 283, 8_192: 800, 32_000: 1_581}
    return {
        "slots": agents,
        "interior": sides.get(agents) or round((78.125 * agents) ** 0.5),
        "spawn_where": "scatter",
        "spawn_per_tick": max(1, agents // 128),
    }


VARIANTS: dict[str, dict[str, Any]] = {
    "forage": {"combat": False},
    "combat": {},
    "code2019": CODE2019,
    **{f"forage-{n}": {"combat": False, **large(n)} for n in (128, 1_024, 8_192, 32_000)},
    **{f"combat-{n}": large(n) for n in (128, 1_024, 8_192, 32_000)},
}
