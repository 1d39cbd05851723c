"""The persistent world's arrays, one line each. Axes: W worlds, N slots, P populations, T side of the map, V side of a view.

A snapshot holds the state. Views (`Sight`) follow from it and are recomputed after every tick and load.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from interplay.core import seeding
from interplay.core.jit import as_records, records
from interplay.worlds.mmo.config import COLUMNS, MOVES, STYLES, MmoSettings
from interplay.worlds.mmo.terrain import SHARES

NONE = -1
BUCKET = 8  # tiles per side of the squares of the neighbour search (specification 7)

LINE = 15  # side of the usual view, whose rows of bytes are copied as two words
# A row and the byte behind it, which the next row overwrites; and a row alone, by words that overlap, for the last one.
WIDE = np.dtype({"names": ["first", "last"], "formats": [np.uint64] * 2, "offsets": [0, 8], "itemsize": 16})
EXACT = np.dtype(
    {"names": ["first", "last"], "formats": [np.uint64] * 2, "offsets": [0, LINE - 8], "itemsize": LINE}
)

# Causes of death (specification 2); styles of combat are melee, range, mage.
CAUSES = ("alive", "hunger", "thirst", "hunger and thirst", "lava", "melee", "range", "mage", "cut")
ALIVE, HUNGER, THIRST, BOTH, LAVA_CAUSE, MELEE = range(6)
CUT = 8

# The part of an agent used in every tick, in one cache line of 64 bytes.
AGENT = np.dtype(
    [
        ("life_id", np.int64),  # births of this world's episode before this one
        ("life", np.int32),  # updates lived through
        ("birth", np.int32),  # tick in which it was born
        ("struck", np.int32),  # slot that this tick's attack landed on, or NONE
        ("damage", np.int32),  # received in this tick
        ("row", np.int16),
        ("col", np.int16),
        ("health", np.int16),
        ("food", np.int16),
        ("water", np.int16),
        ("freeze", np.int16),  # counter; moves are refused while it is above 0
        ("struck_row", np.int8),  # where the attack's target stood, from the attacker
        ("struck_col", np.int8),
        ("kills", np.int32),  # of this life, as the next three
        ("eaten", np.int32),  # units of food taken up
        ("drunk", np.int32),  # units of water
        ("harm", np.int32),  # damage dealt
        ("style", np.int8),  # of this tick's attack, 0..2, or NONE
        ("population", np.uint8),
        ("alive", np.bool_),
    ],
    align=True,
)
# What is kept of a slot's last life that ended.
TALLY = np.dtype(
    [
        ("ended_life", np.int32),  # ticks
        ("ended_kills", np.int32),
        ("ended_food", np.int32),
        ("ended_water", np.int32),
        ("ended_harm", np.int32),
        ("ended_id", np.int64),
        ("ended_cause", np.uint8),  # see CAUSES
        ("ended_population", np.uint8),
    ],
    align=True,
)
# The attack of an agent that died in that tick: a newcomer may have its slot already. In no snapshot.
BLOW = np.dtype(
    [
        ("struck", np.int32),  # as in AGENT, with those below
        ("row", np.int16),
        ("col", np.int16),
        ("struck_row", np.int8),
        ("struck_col", np.int8),
        ("style", np.int8),
    ],
    align=True,
)
ROOM = np.dtype(
    [
        ("map_seed", np.uint64),
        ("tick", np.int64),
        ("births", np.int64),  # in this episode; the next life_id
        ("deaths", np.int64),
        ("life_ticks", np.int64),  # ticks of ended lives, summed
        ("ground", np.int32),  # R: reachable walkable tiles
        ("living", np.int32),
        ("cap", np.int32),
        ("depleted", np.int32),  # entries of `State.depleted` in use
        ("over", np.bool_),
    ],
    align=True,
)


class MmoState(NamedTuple):
    """One batch of worlds, as kernels take it."""

    agent: np.ndarray  # (W, N) AGENT
    tally: np.ndarray  # (W, N) TALLY
    room: np.ndarray  # (W,) ROOM
    stream: np.ndarray  # (W, 3) uint64: seed, episode, draws (specification 6)
    tiles: np.ndarray  # (W, T, T) uint8, see tiles.py
    heads: np.ndarray  # (W, T, T) uint8, living agents per tile, 255 = 255 or more
    reachable: np.ndarray  # (W, T, T) bool, walkable from the ring when the map was made
    depleted: np.ndarray  # (W, D) int32, row * T + column of scrub, in the order of regrowth
    quota: np.ndarray  # (W, P) int32, most living agents of each population
    standing: np.ndarray  # (W, P) int32, living agents of each population
    causes: np.ndarray  # (W, 9) int64, ended lives by cause
    visits: (
        np.ndarray
    )  # (W, P, T, T) uint32, agent-ticks spent on each tile, or (W, 1, 1, 1) without count_visits
    reward: np.ndarray  # (W, N) float32
    acting: np.ndarray  # (W, N) bool, alive
    terminated: np.ndarray  # (W, N) bool
    truncated: np.ndarray  # (W, N) bool


class Sight(NamedTuple):
    """Views of agents and targets of their attacks, a function of the state. O observers: slots, or ghosts."""

    tiles: np.ndarray  # (W, O, V, V) uint8
    occupancy: np.ndarray  # (W, O, V, V) uint8, or (W, O, 0, 0)
    entities: np.ndarray  # (W, O, R, 11) float32 or int8
    filled: np.ndarray  # (W, O) int16, rows in use
    mask: np.ndarray  # (W, O, choices) bool
    target: np.ndarray  # (W, O, 3) int32, slot that each style would hit, or NONE
    row_slot: np.ndarray  # (W, O, R) int32, slot in each entity row (targeting = learned), or (W, O, 0)
    tile_lines: np.ndarray  # (W, ...) WIDE, the state's tiles: the 16 bytes from any place on
    head_lines: np.ndarray  # (W, ...) WIDE, the same of its heads
    tile_rows: np.ndarray  # (W, O, 14) WIDE, `tiles` by rows; empty for views of another side
    head_rows: np.ndarray  # (W, O, 14) WIDE, `occupancy` by rows
    tile_ends: np.ndarray  # (W, O) EXACT, the last rows
    head_ends: np.ndarray  # (W, O) EXACT


class Scratch(NamedTuple):
    """Working arrays of the threads; invalid after a tick. First axis: thread."""

    order: np.ndarray  # (S, N) uint32, acting order
    before: np.ndarray  # (S, N) uint8, population of agents alive when the tick began, 255 if empty
    start: np.ndarray  # (S, B * B + 1) int32, first entry of each bucket in `sorted`
    sorted: np.ndarray  # (S, N + 2) uint32, living slots by bucket
    place: np.ndarray  # (S, N + 2, 2) int32, row and column of `sorted`
    health: np.ndarray  # (S, N + 2) int32, of `sorted`
    kin: np.ndarray  # (S, N + 2) int32, population of `sorted`
    features: (
        np.ndarray
    )  # (S, N + 2, 11) entity rows of `sorted` without columns that depend on the observer; a ghost's; zeros
    spot: np.ndarray  # (S, N) uint32, each living slot's entry in `sorted`
    near: np.ndarray  # (S, N + 2) uint32, entries of `sorted` in view
    fetched: np.ndarray  # (S,) float64, sums without meaning that keep prefetching reads alive
    number: np.ndarray  # (S, 2 P) float64, sums of rewards and heads by population


def choices(settings: MmoSettings) -> list[int]:
    """Choices of each action head: move, attack and, with learned targeting, an entity row for each style."""
    rows = [settings.rows] * STYLES if settings.targeting == "learned" else []
    return [MOVES, STYLES + settings.no_attack, *rows]


def allocate_state(settings: MmoSettings, num_worlds: int) -> MmoState:
    """Empty worlds."""
    w, n, p, side = num_worlds, settings.slots, settings.npop, settings.side
    seen = (w, p, side, side) if settings.count_visits else (w, 1, 1, 1)
    return MmoState(
        agent=records((w, n), AGENT),
        tally=records((w, n), TALLY),
        room=records(w, ROOM),
        stream=seeding.new_stream(w),
        tiles=np.zeros((w, side, side), np.uint8),
        heads=np.zeros((w, side, side), np.uint8),
        reachable=np.zeros((w, side, side), bool),
        depleted=np.zeros((w, most_forest(settings)), np.int32),
        quota=np.zeros((w, p), np.int32),
        standing=np.zeros((w, p), np.int32),
        causes=np.zeros((w, len(CAUSES)), np.int64),
        visits=np.zeros(seen, np.uint32),
        reward=np.zeros((w, n), np.float32),
        acting=np.zeros((w, n), bool),
        terminated=np.zeros((w, n), bool),
        truncated=np.zeros((w, n), bool),
    )


def allocate_sight(settings: MmoSettings, state: MmoState, num_worlds: int, observers: int) -> Sight:
    """Allocates empty views for the worlds of `state`."""
    lead, view = (num_worlds, observers), settings.view
    crop = (view, view) if settings.occupancy else (0, 0)
    learned = settings.targeting == "learned"
    tiles, occupancy = np.zeros((*lead, view, view), np.uint8), np.zeros((*lead, *crop), np.uint8)
    return Sight(
        tiles=tiles,
        occupancy=occupancy,
        entities=np.zeros((*lead, settings.rows, COLUMNS), np.int8 if settings.compact else np.float32),
        filled=np.zeros(lead, np.int16),
        mask=np.ones((*lead, sum(choices(settings))), bool),
        target=np.full((*lead, STYLES), NONE, np.int32),
        row_slot=np.full((*lead, settings.rows if learned else 0), NONE, np.int32),
        tile_lines=_lines(state.tiles),
        head_lines=_lines(state.heads),
        tile_rows=_rows(tiles),
        head_rows=_rows(occupancy),
        tile_ends=_ends(tiles),
        head_ends=_ends(occupancy),
    )


def _lines(grid: np.ndarray) -> np.ndarray:
    """The 16 bytes from each place of grids (W, T, T) of bytes: (W, T T - 15)."""
    size = grid[0].size
    return as_records(np.ndarray((len(grid), size - LINE), WIDE, grid, strides=(size, 1)))


def _rows(views: np.ndarray) -> np.ndarray:
    """The first rows of square views of side 15, each with the byte behind it; unused for other sides."""
    views = _of_usual_side(views)
    return as_records(
        np.ndarray((*views.shape[:2], LINE - 1), WIDE, views, strides=(*views.strides[:2], LINE))
    )


def _ends(views: np.ndarray) -> np.ndarray:
    """The last rows of square views of side 15; unused for other sides."""
    views = _of_usual_side(views)
    return as_records(np.ndarray(views.shape[:2], EXACT, views, LINE * (LINE - 1), views.strides[:2]))


def _of_usual_side(views: np.ndarray) -> np.ndarray:
    """Blank views in place of those with another side, in the same layout, so that Numba does not recompile."""
    return views if views.shape[-1] == LINE else np.zeros((*views.shape[:2], LINE, LINE), np.uint8)


def allocate_scratch(settings: MmoSettings, threads: int) -> Scratch:
    """Allocates working arrays for so many threads."""
    s, n = threads, settings.slots
    buckets = -(-settings.side // BUCKET)
    return Scratch(
        order=np.zeros((s, n), np.uint32),
        before=np.zeros((s, n), np.uint8),
        start=np.zeros((s, buckets * buckets + 2), np.int32),
        sorted=np.zeros((s, n + 2), np.uint32),
        place=np.zeros((s, n + 2, 2), np.int32),
        health=np.zeros((s, n + 2), np.int32),
        kin=np.zeros((s, n + 2), np.int32),
        features=np.zeros((s, n + 2, COLUMNS), np.int8 if settings.compact else np.float32),
        spot=np.zeros((s, n), np.uint32),
        near=np.zeros((s, n + 2), np.uint32),
        fetched=np.zeros(s),
        number=np.zeros((s, 2 * settings.npop)),
    )


def most_forest(settings: MmoSettings) -> int:
    """D: forest tiles that a map can have; with quantiles their number is the same on every map (specification 3.3)."""
    ground = (settings.interior - 2) ** 2
    if settings.terrain != "quantile":
        return ground
    return int(np.floor(SHARES[2] * ground + 0.5)) - int(np.floor(SHARES[1] * ground + 0.5)) + 1
