"""Breadth-first search over what an agent sees, for the scripted players (specification 16.1).

The search walks over the tiles of the crop that can be walked on and are no lava, from the centre outwards. Which of
several shortest paths is taken: the one that begins with the earliest move in the order of the action (east, south,
west, north). It stops as soon as the nearest goal is certain.
"""

from typing import NamedTuple

import numpy as np

from interplay.core.jit import phase
from interplay.worlds.mmo.tiles import FOREST, GRASS, SCRUB, WATER

FOOD_GOAL, WATER_GOAL = 0, 1


class Scratch(NamedTuple):
    """Room for one search; V = side of the crop, its tiles numbered row by row."""

    steps: np.ndarray  # (V * V,) int16 length of the shortest path, -1 = not reached
    first: np.ndarray  # (V * V,) int8 the move it begins with
    queue: np.ndarray  # (V * V,) int16 tiles in the order in which they were reached


def allocate_scratch(side: int) -> Scratch:
    """Scratch for crops of `side` x `side` tiles."""
    return Scratch(
        np.zeros(side * side, np.int16), np.zeros(side * side, np.int8), np.zeros(side * side, np.int16)
    )


@phase
def step_down(move):
    """Rows that a move goes down."""
    return np.int64(move == 2) - np.int64(move == 4)


@phase
def step_right(move):
    """Columns that a move goes right."""
    return np.int64(move == 1) - np.int64(move == 3)


@phase
def is_ground(tile):
    """Whether a tile can be walked on and lived on."""
    return tile in (GRASS, SCRUB, FOREST)


@phase
def is_goal(tiles, w, a, row, col, goal):
    """Whether an agent at a tile of the crop would eat (it is forest) or drink (a neighbour in the crop is water)."""
    if goal == FOOD_GOAL:
        return tiles[w, a, row, col] == FOREST
    last = tiles.shape[2] - 1
    return (
        (row > 0 and tiles[w, a, row - 1, col] == WATER)
        or (row < last and tiles[w, a, row + 1, col] == WATER)
        or (col > 0 and tiles[w, a, row, col - 1] == WATER)
        or (col < last and tiles[w, a, row, col + 1] == WATER)
    )


@phase
def search(tiles, mask, w, a, goal, whole, scratch):
    """The nearest tile of a goal (ties: row by row), -1 = none, and the number of tiles reached.

    The first step obeys the action mask too: frozen agents reach nothing but their own tile. With `whole`, or without
    any tile of the goal, everything that can be reached is.
    """
    side = tiles.shape[2]
    steps, first, queue = scratch.steps, scratch.first, scratch.queue
    for cell in range(side * side):
        steps[cell] = -1
    centre = side * side // 2
    steps[centre], first[centre], queue[0] = 0, 0, centre
    best, head, tail = np.int64(-1), 0, 1
    while head < tail:
        cell = np.int64(queue[head])
        if best >= 0 and not whole and steps[cell] > steps[best]:
            break
        head += 1
        row, col = cell // side, cell % side
        nearest = best < 0 or (steps[cell] == steps[best] and cell < best)
        if nearest and is_goal(tiles, w, a, row, col, goal):
            best = cell
        for move in range(1, 5):
            r, c = row + step_down(move), col + step_right(move)
            if r < 0 or c < 0 or r >= side or c >= side or steps[r * side + c] >= 0:
                continue
            if not is_ground(tiles[w, a, r, c]) or (cell == centre and not mask[w, a, move]):
                continue
            steps[r * side + c] = steps[cell] + 1
            first[r * side + c] = move if cell == centre else first[cell]
            queue[tail] = r * side + c
            tail += 1
    return best, tail


@phase
def nearest_reached(tiles, w, a, goal, reached, scratch):
    """The nearest tile of a goal among those that a whole search reached (ties: row by row), -1 = none."""
    side = tiles.shape[2]
    best = np.int64(-1)
    for i in range(reached):
        cell = np.int64(scratch.queue[i])
        if best >= 0 and scratch.steps[cell] > scratch.steps[best]:
            break
        if (best < 0 or cell < best) and is_goal(tiles, w, a, cell // side, cell % side, goal):
            best = cell
    return best


@phase
def edge_towards(side, down, right, reached, scratch):
    """The reached tile on the crop's edge that lies most in a direction (ties: row by row), -1 = none.

    Most = the largest cosine between the way to the tile and the direction. (The largest component along it would be a
    corner's, and who walks along an axis of the map would swing from one corner to the other.)
    """
    best, most = np.int64(-1), 0.0
    middle = side // 2
    for i in range(reached):
        cell = np.int64(scratch.queue[i])
        row, col = cell // side, cell % side
        if row == 0 or col == 0 or row == side - 1 or col == side - 1:
            below, beside = row - middle, col - middle
            along = (below * down + beside * right) / np.sqrt(np.float64(below * below + beside * beside))
            if best < 0 or along > most or (along == most and cell < best):
                best, most = cell, along
    return best
