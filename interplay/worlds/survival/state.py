"""The survival world's arrays, one line each. Axes: W worlds, A agents, N bodies, B boxes, P zone phases.

Body rows: agents 0 .. A-1, boxes A .. A+B-1, heals, box items, then user-defined groups of items.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from interplay.core import seeding
from interplay.core.jit import records
from interplay.planar.bodies import Bodies, Physics, allocate_bodies, body_record, view_bodies
from interplay.worlds.survival.config import SurvivalSettings

NO_SIDE, ZONE = np.int16(-1), np.int16(-2)  # causes of a change of health beside the sides (agents or teams)
EMPTY = np.int16(-1)  # an empty inventory slot
PASSING = ("came", "left")  # used within a step, meaningless after it
CONSTANT = ("zone_radii", "zone_fixed", "full_health", "sides")  # settings in array form, not state


# One record for each body (W, N), agent (W, A) and room (W,), so that a kernel gets three tables instead of thirty arrays
# (`docs/decisions/0005-records-and-phases.md`). `SurvivalState` shows each field as an array.
BODY = body_record(
    [
        ("health", np.int32),  # hit points of agents and boxes
        ("cause", np.int16),  # the side that last changed the health, or NO_SIDE, ZONE
        ("owner", np.int16),  # the side that broke this box first, or NO_SIDE
        ("index", np.int16),  # IndexBodies: the body's number, -1 once it has despawned
        ("came", np.bool_),  # spawned by the last phase that spawns
        ("left", np.bool_),  # despawned by the last phase that despawns
        ("placed", np.bool_),  # box placed in this step, still without health
        ("due", np.bool_),  # broken box whose item appears in the next step
        ("broken", np.bool_),  # box that broke at least once in this episode
    ]
)
_OWN = [name for name in BODY.names or () if name not in (body_record().names or ())]
AGENT = np.dtype(
    [
        ("returns", np.float64),  # sum of rewards in this episode
        ("cooldown", np.int64),  # steps until the melee is ready (melee = "cooldown")
        ("held", np.int64),  # number of items held
        (
            "kills",
            np.int32,
        ),  # TrackKills: kills in this step, by side: row k is that of agent k, or of team k
        ("kill_count", np.int32),  # kills in this episode, by side
        ("reward", np.float32),  # earned in this step
        ("used", np.int16),  # row of the item used in this step, or EMPTY
        ("died", np.bool_),  # TrackDeaths: died in this step
        ("acting", np.bool_),
        ("terminated", np.bool_),
        ("truncated", np.bool_),
    ],
    align=True,
)
ROOM = np.dtype(
    [
        ("steps", np.int64),  # environment steps of this episode
        ("next_cell", np.int64),  # first unused entry of cells
        ("zone_x", np.float64),  # m, centre of the safe zone now
        ("zone_y", np.float64),
        ("zone_r", np.float64),  # m, its radius
        ("heals_used", np.int64),  # in this episode
        ("boxes_placed", np.int64),  # in this episode
        ("dropped", np.int64),  # contacts beyond capacity: an error if not 0
        ("over", np.bool_),
    ],
    align=True,
)


class SurvivalState(NamedTuple):
    """One batch of survival worlds, as kernels take it."""

    body: np.ndarray  # (W, N) BODY
    agent: np.ndarray  # (W, A) AGENT
    room: np.ndarray  # (W,) ROOM
    stream: np.ndarray  # (W, 3) uint64, see core.seeding
    cells: np.ndarray  # (W, cells) int16, spawn cells in shuffled order
    visible: np.ndarray  # (W, A, N) bool, Cameras
    action: np.ndarray  # (W, A, heads) int64, the queued actions
    control: np.ndarray  # (W, A, 3) motor impulses: forward N s, left N s, turn N m s
    inventory: np.ndarray  # (W, A, slots) int16, body rows of the items held, first in first; EMPTY
    zone_centres: np.ndarray  # (W, P, 2) m
    zone_radii: np.ndarray  # (P,) m, the final 0 included; the same for all worlds
    zone_fixed: np.ndarray  # (P, 2) m, fixed centres; NaN = drawn; the same for all worlds
    full_health: np.ndarray  # (N,) int32, hit points of a whole body; the same for all worlds
    sides: np.ndarray  # (A,) int16, the side of each agent: its team, or itself; the same for all worlds
    observation: np.ndarray  # (W, A, F) float32, the fields one after another (observe.py)

    @property
    def bodies(self) -> Bodies:
        """The part of the bodies that physics and sight read."""
        return view_bodies(self.body)


class Rules(NamedTuple):
    """The numbers that kernels read, made from the settings (`world.rules_of`). Rows are body rows.

    Kernels get them as one record (`as_table`), passed on as a pointer.
    """

    physics: Physics
    agents: int
    teams: bool
    num_sides: int  # teams, or agents without teams
    zone: bool  # modules switched on
    melee: bool
    inventory: bool
    cameras: bool
    boxes: int
    heals: int
    first_box: int  # = agents
    first_heal: int
    first_box_item: int
    first_other: int  # first row of user-defined items
    num_bodies: int
    room: float
    grid: int
    box_width: float
    box_width_spread: float
    box_height: float
    box_height_spread: float
    box_least: float
    density: float
    boxes_dynamic: bool
    linear_impulse: float
    angular_impulse: float
    motion_levels: int
    health_cap: int  # 0 = none
    continuous: bool
    melee_damage: int
    melee_cooldown: int
    melee_range: float
    immunity: int
    heal_amount: int
    box_health: int
    ownership: bool
    pickup_radius: float
    give_radius: float
    drop_radius: float
    scatter_disc: bool
    place_distance: float
    drop_action: bool
    zone_cooldown: int
    zone_damage: int
    view_depth: float
    view_cosine: float
    view_sine: float
    items_block_rays: bool
    omniscient: bool
    reward_alive: float
    reward_dead: float
    reward_kill: float
    reward_death: float
    team_each: bool
    last_alive: bool
    max_steps: int  # 0 = none
    duplicate_pickup: bool
    gift_lost_when_full: bool
    give_nearest_any_body: bool
    vision_row_shift: bool
    compact_rows: bool
    rotated_vertices: bool
    dead_killer_no_credit: bool


def allocate_state(
    settings: SurvivalSettings, num_worlds: int, num_bodies: int, heads: int, fields: int
) -> SurvivalState:
    """Allocates empty worlds; `fields` is the length of one agent's observation."""
    w, n, a, phases = num_worlds, num_bodies, settings.agents, settings.phases
    return SurvivalState(
        body=allocate_bodies(w, n, BODY),
        agent=records((w, a), AGENT),
        room=records(w, ROOM),
        stream=seeding.new_stream(w),
        cells=np.zeros((w, settings.spawn_grid**2), np.int16),
        visible=np.zeros((w, a, n), bool),
        action=np.zeros((w, a, heads), np.int64),
        control=np.zeros((w, a, 3)),
        inventory=np.full((w, a, settings.slots), EMPTY, np.int16),
        zone_centres=np.zeros((w, phases, 2)),
        zone_radii=np.zeros(phases),
        zone_fixed=np.full((phases, 2), np.nan),
        full_health=np.zeros(n, np.int32),
        sides=np.arange(a, dtype=np.int16),
        observation=np.zeros((w, a, fields), np.float32),
    )


def arrays_of(state: SurvivalState) -> dict[str, np.ndarray]:
    """Every field as an array with the world axis first: name -> view (``"health"``, ``"bodies.position"``, ...)."""
    arrays = {f"bodies.{name}": array for name, array in state.bodies._asdict().items()}
    for name, array in state._asdict().items():
        if name in CONSTANT:
            continue
        names = _OWN if name == "body" else array.dtype.names or ()
        fields = [field for field in names if field not in PASSING]
        arrays |= {field: np.asarray(array[field]) for field in fields} if fields else {name: array}
    return arrays
