"""The survival world's arrays, one line each. Axes: W worlds, A agents, N bodies, B boxes, P zone phases.

Body rows: agents 0 .. A-1, boxes A .. A+B-1, heals, box items, then groups of a user's own items.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from interplay.core import seeding
from interplay.planar.bodies import Bodies, Physics, allocate_bodies

NOBODY, ZONE = -1, -2  # causes of a change of health that are no side (agent or team)
EMPTY = -1  # an empty inventory slot


class SurvivalState(NamedTuple):
    """One batch of survival worlds."""

    bodies: Bodies
    stream: np.ndarray  # (W, 3) uint64, see core.seeding
    steps: np.ndarray  # (W,) int64, environment steps of this episode
    cells: np.ndarray  # (W, cells) int16, spawn cells in shuffled order
    next_cell: np.ndarray  # (W,) int64, first unused entry of cells
    index: np.ndarray  # (W, N) int16, IndexBodies: the body's number, -1 once it has despawned
    came: np.ndarray  # (W, N) bool, spawned by the last phase that spawns
    left: np.ndarray  # (W, N) bool, despawned by the last phase that despawns
    visible: np.ndarray  # (W, A, N) bool, Cameras
    health: np.ndarray  # (W, N) int32, hit points of agents and boxes
    cause: np.ndarray  # (W, N) int16, the side that last changed the health, or NOBODY, ZONE
    owner: np.ndarray  # (W, N) int16, the side that broke this box first, or NOBODY
    placed: np.ndarray  # (W, N) bool, box put down in this step: stands, but has no health yet
    due: np.ndarray  # (W, N) bool, broken box whose item appears in the next step
    broken: np.ndarray  # (W, N) bool, box that broke at least once in this episode
    action: np.ndarray  # (W, A, heads) int64, the queued actions; idle for the dead
    cooldown: np.ndarray  # (W, A) int64, steps until the melee is ready (melee = "cooldown")
    inventory: np.ndarray  # (W, A, slots) int16, body rows of the items held, first in first; EMPTY
    held: np.ndarray  # (W, A) int64, number of items held
    used: np.ndarray  # (W, A) int16, row of the item used in this step, or EMPTY
    died: np.ndarray  # (W, A) bool, TrackDeaths: died in this step
    kills: np.ndarray  # (W, A) int32, TrackKills: kills in this step, by side (agent, or team in columns 0 and 1)
    zone_centres: np.ndarray  # (W, P, 2) m
    zone: np.ndarray  # (W, 3) m, centre and radius now
    dropped: np.ndarray  # (W,) int64, contacts that found no room: a capacity error if not 0
    observation: np.ndarray  # (W, A, F) float32, the fields one after another (observe.py)
    reward: np.ndarray  # (W, A) float32
    acting: np.ndarray  # (W, A) bool
    terminated: np.ndarray  # (W, A) bool
    truncated: np.ndarray  # (W, A) bool
    over: np.ndarray  # (W,) bool
    returns: np.ndarray  # (W, A) float64, sum of rewards in this episode
    kill_count: np.ndarray  # (W, A) int32, kills in this episode, by side
    heals_used: np.ndarray  # (W,) int64, in this episode
    boxes_placed: np.ndarray  # (W,) int64, in this episode


class Rules(NamedTuple):
    """The numbers that kernels read, made from the settings (`world.rules_of`). Rows are body rows."""

    physics: Physics
    agents: int
    teams: bool
    boxes: int
    heals: int
    first_box: int  # = agents
    first_heal: int
    first_box_item: int
    first_other: int  # rows of a user's own items begin here
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
    health: int
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
    num_worlds: int, num_bodies: int, agents: int, heads: int, slots: int, cells: int, phases: int, fields: int
) -> SurvivalState:
    """Empty worlds; `fields` is the length of one agent's observation."""
    w, n, a = num_worlds, num_bodies, agents
    return SurvivalState(
        bodies=allocate_bodies(w, n),
        stream=seeding.new_stream(w),
        steps=np.zeros(w, np.int64),
        cells=np.zeros((w, cells), np.int16),
        next_cell=np.zeros(w, np.int64),
        index=np.full((w, n), -1, np.int16),
        came=np.zeros((w, n), bool),
        left=np.zeros((w, n), bool),
        visible=np.zeros((w, a, n), bool),
        health=np.zeros((w, n), np.int32),
        cause=np.full((w, n), NOBODY, np.int16),
        owner=np.full((w, n), NOBODY, np.int16),
        placed=np.zeros((w, n), bool),
        due=np.zeros((w, n), bool),
        broken=np.zeros((w, n), bool),
        action=np.zeros((w, a, heads), np.int64),
        cooldown=np.zeros((w, a), np.int64),
        inventory=np.full((w, a, slots), EMPTY, np.int16),
        held=np.zeros((w, a), np.int64),
        used=np.full((w, a), EMPTY, np.int16),
        died=np.zeros((w, a), bool),
        kills=np.zeros((w, a), np.int32),
        zone_centres=np.zeros((w, phases, 2)),
        zone=np.zeros((w, 3)),
        dropped=np.zeros(w, np.int64),
        observation=np.zeros((w, a, fields), np.float32),
        reward=np.zeros((w, a), np.float32),
        acting=np.zeros((w, a), bool),
        terminated=np.zeros((w, a), bool),
        truncated=np.zeros((w, a), bool),
        over=np.zeros(w, bool),
        returns=np.zeros((w, a)),
        kill_count=np.zeros((w, a), np.int32),
        heals_used=np.zeros(w, np.int64),
        boxes_placed=np.zeros(w, np.int64),
    )
