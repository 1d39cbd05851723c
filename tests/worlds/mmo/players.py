"""Players for comparisons: they mostly keep alive and often fight, so that things happen."""

from __future__ import annotations

import random

from interplay.worlds.mmo.tiles import FOREST, LAVA, PASSABLE, WATER
from tests.naive.mmo import MmoTwin
from tests.naive.mmo_things import STEPS, Agent


def is_goal(world: MmoTwin, row: int, col: int, thirsty: bool) -> bool:
    if not thirsty:
        return world.tile(row, col) == FOREST
    return any(world.tile(row + down, col + right) == WATER for down, right in STEPS[1:])


def first_step(world: MmoTwin, agent: Agent, thirsty: bool) -> int:
    """Direction of a shortest way to food or water, 0 where it is reached or there is none."""
    start = (agent.row, agent.col)
    came, front = {start: 0}, [start]
    while front:
        ahead = []
        for row, col in front:
            if is_goal(world, row, col, thirsty):
                return came[row, col]
            for direction in range(1, 5):
                place = (row + STEPS[direction][0], col + STEPS[direction][1])
                tile = world.tile(*place)
                if place not in came and PASSABLE[tile] and tile != LAVA:
                    came[place] = came[row, col] or direction
                    ahead.append(place)
        front = ahead
    return 0


def choose(world: MmoTwin, agent: Agent, rng: random.Random, wild: float) -> list[int]:
    """One action; a share `wild` of moves, and of attacks, are any choice, legal or not."""
    s = world.settings
    move = first_step(world, agent, agent.water <= agent.food)
    if rng.random() < wild:
        move = rng.randrange(5)
    legal = world.legal[agent.slot]
    heads = [3 + s.no_attack] + [s.rows] * 3 * (s.targeting == "learned")
    action, first = [move], 5
    for size in heads:
        allowed = [k for k in range(size) if legal[first + k]]
        action.append(rng.randrange(size) if rng.random() < wild else rng.choice(allowed))
        first += size
    return action


def actions(world: MmoTwin, rng: random.Random, wild: float = 0.1) -> list[list[int]]:
    """By slot; arbitrary for empty slots."""
    s = world.settings
    nobody = [4, 2] + [s.rows - 1] * 3 * (s.targeting == "learned")
    return [
        choose(world, agent, rng, wild) if agent is not None and agent.alive else nobody
        for agent in world.agents
    ]
