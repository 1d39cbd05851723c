"""How scripted players find food and water (specification 16.1). They read only observations."""

from typing import NamedTuple

import numpy as np

from interplay.core.jit import phase
from interplay.kernels.philox import integer_below, uniform
from interplay.worlds.mmo.config import MOVES
from interplay.worlds.mmo.search import (
    FOOD_GOAL,
    WATER_GOAL,
    edge_towards,
    is_goal,
    is_ground,
    nearest_reached,
    search,
    step_down,
    step_right,
)

ASTRAY = 0.1  # chance of a random step with nothing in sight
# Columns of an entity row.
LIFE, HEALTH, FOOD, WATER, ROW, COLUMN, DOWN, RIGHT, SAME, FREEZE = 0, 1, 2, 3, 4, 5, 6, 7, 9, 10


class Senses(NamedTuple):
    """The arrays of a time step."""

    tiles: np.ndarray  # (W, A, V, V) uint8
    entities: np.ndarray  # (W, A, R, 11) float32, or int8
    count: np.ndarray  # (W, A) int16 filled rows
    mask: np.ndarray  # (W, A, choices) bool
    acting: np.ndarray  # (W, A) bool


class Rules(NamedTuple):
    """A player's prior knowledge of the rules."""

    scale: np.ndarray  # (11,) float64, a column's number times this ...
    offset: np.ndarray  # (11,) float64, ... plus this = the value in ticks, points or tiles
    middle: np.ndarray  # (2,) float64 row and column of the map's centre
    reach: int  # tiles, of the longest style
    full_water: int  # a drinker leaves at this level
    combat: bool
    spares_own: bool  # the own population is immune
    immune_until: int  # life in ticks of an agent's first vulnerability
    elder_age: int  # older agents cannot hit younger ones; -1 = no limit
    none_first: bool  # the attack head has a choice 0: no attack


class Stream(NamedTuple):
    """Random draws as a pure function of the seed, the tick, the world and the slot."""

    seed: np.ndarray  # (W,) uint64
    episode: np.ndarray  # (W,) uint64
    tick: np.ndarray  # (W,) uint64


@phase
def draw_number(stream, w, a, tick, k):
    """The number of an agent's k-th draw in a tick."""
    return (tick << np.uint64(24)) | (np.uint64(a) << np.uint64(8)) | np.uint64(k)


@phase
def read(senses, rules, w, a, row, column):
    """An integer value of an entity row."""
    raw = np.float64(senses.entities[w, a, row, column])
    return np.int64(np.floor(raw * rules.scale[column] + rules.offset[column] + 0.5))


@phase
def can_step(senses, w, a, move):
    """Whether a move leads to a tile that is not deadly; passing always does."""
    if move == 0:
        return True
    middle = senses.tiles.shape[2] // 2
    tile = senses.tiles[w, a, middle + step_down(move), middle + step_right(move)]
    return senses.mask[w, a, move] and is_ground(tile)


@phase
def random_step(senses, stream, w, a):
    """A uniform legal step; passes if there is none."""
    legal = 0
    for move in range(1, MOVES):
        legal += can_step(senses, w, a, move)
    if legal == 0:
        return np.int64(0)
    skip = integer_below(
        stream.seed[w], stream.episode[w], draw_number(stream, w, a, stream.tick[w], 1), legal
    )
    for move in range(1, MOVES):
        if can_step(senses, w, a, move):
            if skip == 0:
                return np.int64(move)
            skip -= 1
    return np.int64(0)


@phase
def explore(senses, rules, stream, scratch, w, a, reached):
    """Walks to the reachable edge of the view that lies most towards the map's centre; sometimes astray."""
    draw = draw_number(stream, w, a, stream.tick[w], 0)
    if uniform(stream.seed[w], stream.episode[w], draw) < ASTRAY:
        return random_step(senses, stream, w, a)
    down = rules.middle[0] - read(senses, rules, w, a, 0, ROW)
    right = rules.middle[1] - read(senses, rules, w, a, 0, COLUMN)
    edge = edge_towards(senses.tiles.shape[2], down, right, reached, scratch)
    if edge < 0:
        return random_step(senses, stream, w, a)
    return np.int64(scratch.first[edge])


@phase
def forage(senses, rules, stream, scratch, w, a, whole):
    """The forager's preferred move. With `whole` the search covers everything reachable, for later queries."""
    food, water = read(senses, rules, w, a, 0, FOOD), read(senses, rules, w, a, 0, WATER)
    need = np.int64(WATER_GOAL if water <= food else FOOD_GOAL)
    best, reached = search(senses.tiles, senses.mask, w, a, need, whole, scratch)
    middle = senses.tiles.shape[2] // 2
    if water < rules.full_water and is_goal(senses.tiles, w, a, middle, middle, np.int64(WATER_GOAL)):
        return np.int64(0)
    if best < 0:
        best = nearest_reached(senses.tiles, w, a, 1 - need, reached, scratch)
    if best >= 0:
        return np.int64(scratch.first[best])
    return explore(senses, rules, stream, scratch, w, a, reached)
