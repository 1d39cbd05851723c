"""Breadth-first search over an agent's view, for the scripted players (specification 16.1).

The search walks over the passable, harmless tiles of the crop, from the centre outwards. Among equally short paths the one with the
earliest first move wins (east, south, west, north). It stops once the nearest goal is certain.
"""

from typing import NamedTuple

import numpy as np

from interplay.core.jit import phase
from interplay.worlds.mmo.tiles import FOREST, GRASS, SCRUB, WATER

FOOD_GOAL, WATER_GOAL = 0, 1


class Scratch(NamedTuple):
    """Working memory of one search; V = side of the crop, its tiles numbered row by row."""

    steps: np.ndarray  # (V * V,) int16 length of the shortest path, -1 = not reached
    first: np.ndarray  # (V * V,) int8 its first move
    queue: np.ndarray  # (V * V,) int16 tiles in the order of discovery


def allocate_scratch(side: int) -> Scratch:
    """Scratch for crops of `side` x `side` tiles."""
    return Scratch(
        np.zeros(side * side, np.int16), np.zeros(side * side, np.int8), np.zeros(side * side, np.int16)
    )


@phase
def step_down(move):
    """Rows down of a move."""
    return np.int64(move == 2) - np.int64(move == 4)


@phase
def step_right(move):
    """Columns to the right of a move."""
    return np.int64(move == 1) - np.int64(move == 3)


@phase
def is_ground(tile):
    """Whether a tile is passable and harmless."""
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
    """Returns the nearest tile of a goal (ties: row by row; -1 = none), and the number of tiles reached.

    The first step obeys the action mask too: frozen agents reach only their own tile. With `whole`, or without a goal tile, the search
    covers everything reachable.
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
    """The nearest goal tile among those of a whole search (ties: row by row), -1 = none."""
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

    Most = the largest cosine between the tile and the direction. The largest component would be a corner's, and an agent on an axis of the
    map would alternate between two corners.
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
