"""The settings as kernels read them, and the common plan of all boards."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from interplay.core.jit import as_table, numbers_of
from interplay.worlds.pommerman.config import PommermanSettings
from interplay.worlds.pommerman.state import PASSAGE, RIGID, WOOD


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
    row, col = np.nonzero(np.triu(free))
    ground = np.full((side, side), RIGID, np.uint8)
    ground[1:-1, 1:-1] = board
    return Plan(
        ground=ground.reshape(-1),
        pairs=np.stack([(row + 1) * side + col + 1, (col + 1) * side + row + 1], axis=1).astype(np.int16),
        start=np.array([(r + 1) * side + c + 1 for r, c in start_cells(settings)], np.int16),
    )
