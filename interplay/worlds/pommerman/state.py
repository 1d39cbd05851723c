"""Pommerman's arrays, one line each, and the settings as kernels read them. Axes: W worlds, A agents, K bombs, C = P * P cells of the board with its rim.

The board has a rim of rigid cells, so that rules need no bounds checks: P = N + 2, and the cell in row r and column c is
number (r + 1) * P + c + 1.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from interplay.core import seeding
from interplay.core.jit import as_table, numbers_of, records
from interplay.worlds.pommerman.config import PommermanSettings

# Codes of a cell (specification 3.2).
PASSAGE, RIGID, WOOD, BOMB, FLAMES, FOG, EXTRA_BOMB, MORE_RANGE, KICK, DUMMY, AGENT_0 = range(11)
CODES = 14

STOP, UP, DOWN, LEFT, RIGHT, LAY = range(6)  # actions; the first five are directions of bombs, too
ACTIONS = 6

AGENT = np.dtype(
    [
        ("cell", np.int16),
        ("ammo", np.uint8),  # bombs in hand
        ("blast", np.uint8),  # reach of its bombs, the bomb's cell included
        ("kick", np.bool_),
        ("alive", np.bool_),
        ("ended", np.bool_),  # its end was already reported
        ("died", np.bool_),  # in this step, as the next three
        ("won_range", np.bool_),
        ("won_kick", np.bool_),
        ("won_bomb", np.bool_),
        ("outcome", np.int8),  # +1, 0, -1 once the game is over
        ("ranges", np.uint16),  # of this episode, as the next three
        ("kicks", np.uint16),
        ("extra_bombs", np.uint16),
        ("bombs_laid", np.uint16),
        ("returns", np.float64),
    ],
    align=True,
)
BOMB_RECORD = np.dtype(
    [
        ("cell", np.int16),
        ("life", np.uint8),  # steps
        ("blast", np.uint8),
        ("direction", np.uint8),  # in which it slides, or STOP
        ("owner", np.uint8),
    ],
    align=True,
)
ROOM = np.dtype([("steps", np.int32), ("bombs", np.int32), ("over", np.bool_)], align=True)


class PommermanState(NamedTuple):
    """One batch of games, as kernels take it."""

    agent: np.ndarray  # (W, A) AGENT
    bomb: np.ndarray  # (W, K) BOMB_RECORD, the first `room.bombs` live, the oldest first
    room: np.ndarray  # (W,) ROOM
    stream: np.ndarray  # (W, 3) uint64, see core.seeding
    ground: np.ndarray  # (W, C) uint8 passage, rigid, wood or an open item
    item: np.ndarray  # (W, C) uint8 hidden item, or 0
    flame: np.ndarray  # (W, C) uint8 observations that flames still last, or 0
    words: np.ndarray  # (W, A, words) uint8 sent in the last step, 0 = silence; (W, A, 0) without radio
    reward: np.ndarray  # (W, A) float32
    acting: np.ndarray  # (W, A) bool
    terminated: np.ndarray  # (W, A) bool
    truncated: np.ndarray  # (W, A) bool


class Sight(NamedTuple):
    """The observations (specification 3.5), computed from the state. M = N * N cells, row by row."""

    board: np.ndarray  # (W, A, M) uint8
    bomb_blast_strength: np.ndarray  # (W, A, M) uint8
    bomb_life: np.ndarray  # (W, A, M) uint8
    bomb_moving_direction: np.ndarray  # (W, A, M) uint8
    flame_life: np.ndarray  # (W, A, M) uint8
    position: np.ndarray  # (W, A, 2) uint8 row and column
    ammo: np.ndarray  # (W, A) uint8
    blast_strength: np.ndarray  # (W, A) uint8
    can_kick: np.ndarray  # (W, A) uint8
    teammate: np.ndarray  # (W, A) uint8 its code, or DUMMY
    enemies: np.ndarray  # (W, A, 3) uint8 their codes, padded with DUMMY
    alive: np.ndarray  # (W, A, A) uint8 by agent
    step_count: np.ndarray  # (W, A) int16
    game_type: np.ndarray  # (W, A) uint8
    message: np.ndarray  # (W, A, words) uint8


class Scratch(NamedTuple):
    """Working arrays within a step. First axis: thread."""

    agent_want: np.ndarray  # (S, A) int16 wanted cell, or NOWHERE for the dead
    agent_edge: np.ndarray  # (S, A) int32 edge that it would cross, or NOWHERE
    agent_back: np.ndarray  # (S, A) bool, turns back after all bombs are processed
    kicks: np.ndarray  # (S, A) int16 bomb that it kicks, or NOWHERE
    bomb_want: np.ndarray  # (S, K) int16
    bomb_edge: np.ndarray  # (S, K) int32
    bomb_next: np.ndarray  # (S, K) int16 its cell after all bombs are processed, or NOWHERE
    kicked: np.ndarray  # (S, K) int16 agent that kicks it, or NOWHERE
    agents_there: np.ndarray  # (S, C) uint8 number of agents that have wanted a cell
    bombs_there: np.ndarray  # (S, C) uint8
    burning: np.ndarray  # (S, C) bool, in reach of this step's explosions
    plane: np.ndarray  # (S, 5, M) uint8 the board without fog
    free: np.ndarray  # (S, C) int32 pairs of cells without a wall; cells with wood; a queue


NOWHERE = -1


def allocate_state(settings: PommermanSettings, num_worlds: int) -> PommermanState:
    """Empty games."""
    w, a, cells = num_worlds, settings.players, (settings.size + 2) ** 2
    return PommermanState(
        agent=records((w, a), AGENT),
        bomb=records((w, settings.bombs), BOMB_RECORD),
        room=records(w, ROOM),
        stream=seeding.new_stream(w),
        ground=np.zeros((w, cells), np.uint8),
        item=np.zeros((w, cells), np.uint8),
        flame=np.zeros((w, cells), np.uint8),
        words=np.zeros((w, a, settings.words if settings.radio else 0), np.uint8),
        reward=np.zeros((w, a), np.float32),
        acting=np.zeros((w, a), bool),
        terminated=np.zeros((w, a), bool),
        truncated=np.zeros((w, a), bool),
    )


def allocate_scratch(settings: PommermanSettings, threads: int) -> Scratch:
    """Working arrays for a number of threads."""
    s, a, k, cells = threads, settings.players, settings.bombs, (settings.size + 2) ** 2
    return Scratch(
        agent_want=np.zeros((s, a), np.int16),
        agent_edge=np.zeros((s, a), np.int32),
        agent_back=np.zeros((s, a), bool),
        kicks=np.zeros((s, a), np.int16),
        bomb_want=np.zeros((s, k), np.int16),
        bomb_edge=np.zeros((s, k), np.int32),
        bomb_next=np.zeros((s, k), np.int16),
        kicked=np.zeros((s, k), np.int16),
        agents_there=np.zeros((s, cells), np.uint8),
        bombs_there=np.zeros((s, cells), np.uint8),
        burning=np.zeros((s, cells), bool),
        plane=np.zeros((s, 5, settings.size**2), np.uint8),
        free=np.zeros((s, cells), np.int32),
    )


class Rules(NamedTuple):
    """Settings as numbers."""

    rows: int  # N; records of NumPy already have a `size`
    side: int  # P = N + 2
    players: int
    teams: bool
    rigid: int
    bridges: int  # cells of wood in the plan
    wood: int
    items: int
    fog: int  # 0 = none
    most_blast: int
    first_ring: int  # step, 0 = none
    ring_every: int  # steps
    limit: int
    zero_sum: bool
    stays: bool  # dead agents stay present, because they can still be paid
    pay_result: float
    pay_lost: float
    pay_felled: float
    pay_range: float
    pay_kick: float
    pay_bomb: float
    item_lost: bool
    late_collapse: bool
    pays_dead: bool


class Plan(NamedTuple):
    """What all boards have in common. C cells with the rim."""

    ground: np.ndarray  # (C,) uint8 rim, passages and the wood between the players
    pairs: np.ndarray  # (Q, 2) int16 mirrored cells that walls may be laid on
    start: np.ndarray  # (A,) int16 the players' cells


def rules_of(settings: PommermanSettings) -> np.ndarray:
    """The rules as a table of one record."""
    rings = settings.ring_steps
    weights = dict(
        zip(
            ("pay_result", "pay_lost", "pay_felled", "pay_range", "pay_kick", "pay_bomb"),
            settings.reward_weights,
            strict=True,
        )
    )
    quirks = settings.quirks
    alone = not settings.teams
    rules: Any = numbers_of(
        Rules,
        settings,
        rows=settings.size,
        side=settings.size + 2,
        fog=settings.fog or 0,
        first_ring=rings[0] if rings else 0,
        ring_every=rings[1] - rings[0] if rings else 1,
        zero_sum=settings.reward == "zero_sum",
        stays=settings.teams
        or settings.reward == "zero_sum"
        or quirks.pays_dead
        or any(settings.reward_weights[1:]),
        item_lost=quirks.item_lost,
        late_collapse=quirks.late_collapse,
        pays_dead=quirks.pays_dead and alone,
        **weights,
    )
    return as_table(rules)


def start_cells(settings: PommermanSettings) -> list[tuple[int, int]]:
    """Rows and columns of the players' first cells (specification 3.2)."""
    far = settings.size - 2
    corners = [(1, 1), (far, 1), (far, far), (1, far)]
    return corners if settings.players == 4 else corners[::2]


def plan_of(settings: PommermanSettings) -> Plan:
    """The fixed cells of a board, and the pairs for random walls."""
    n, side = settings.size, settings.size + 2
    board = np.full((n, n), PASSAGE, np.uint8)
    free = ~np.eye(n, dtype=bool)
    for row, col in start_cells(settings):
        free[row, col] = False
        for step in (1, 2):
            free[row, col + step if col == 1 else col - step] = False
            free[row + step if row == 1 else row - step, col] = False
    if settings.players == 4:
        for ring in (1, n - 2):
            board[ring, 4 : n - 4] = board[4 : n - 4, ring] = WOOD
    free &= board == PASSAGE
    rows, cols = np.nonzero(np.triu(free))
    ground = np.full((side, side), RIGID, np.uint8)
    ground[1:-1, 1:-1] = board
    return Plan(
        ground=ground.reshape(-1),
        pairs=np.stack([(rows + 1) * side + cols + 1, (cols + 1) * side + rows + 1], axis=1).astype(np.int16),
        start=np.array([(r + 1) * side + c + 1 for r, c in start_cells(settings)], np.int16),
    )
