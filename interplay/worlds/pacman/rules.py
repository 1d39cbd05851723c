"""Drifting through tunnels, eating, meeting. Source: specification 9.4.

Axes: W worlds, A agents. Kinds of agents are (A,) bool masks by slot.
"""

import numpy as np

from interplay.core.jit import kernel, phase
from interplay.gridworld.rules.cells import leave_cell
from interplay.gridworld.rules.moves import COLS, ROWS, step_by


@phase
def step_through(agents, cells, overlap, w, a, code):
    """One step; the first and the last cell of a row are neighbours where both are open: a tunnel."""
    right = COLS[code]
    last = np.int32(cells.shape[2] - 1)
    if agents[w, a].col + right < 0:
        right = last
    elif agents[w, a].col + right > last:
        right = -last
    return step_by(agents, cells, overlap, w, a, ROWS[code], right)


@phase
def drift_through(agents, cells, overlap, w, a, code):
    """Turns and steps if that cell is free, else continues in its direction."""
    if code != 0 and step_through(agents, cells, overlap, w, a, code):
        agents[w, a].orientation = code
        return True
    return step_through(agents, cells, overlap, w, a, agents[w, a].orientation)


@kernel
def move_all(agents, cells, overlap, stream, order, count, codes, attempted, success, movers, lo, hi):
    """Moves all acting agents in the worlds lo..hi-1, in their order; see `interplay.gridworld.rules.moves.move_all`."""
    for w in range(lo, hi):
        for a in range(agents.shape[1]):
            attempted[w, a] = 0
            success[w, a] = 0
        for i in range(count[w]):
            a = order[w, i]
            if movers[a] and agents[w, a].active:
                stream[w, 2] += np.uint64(1)
                attempted[w, a] = 1
                success[w, a] = drift_through(agents, cells, overlap, w, a, codes[w, a, 0])


@kernel
def walk_rounds(agents, cells, overlap, stream, count, rounds, clock, lo, hi):
    """Moves agents with rounds in the worlds lo..hi-1, whichever agents act.

    Args:
        count: (W,) number of acting agents; a world without any does not move.
        rounds: (A, L) int8 codes, -1 behind the last; a row of -1 = none.
        clock: (W,) int64 steps of the episode.
    """
    for w in range(lo, hi):
        if count[w] == 0:
            continue
        stream[w, 2] += np.uint64(1)
        for a in range(agents.shape[1]):
            if rounds[a, 0] < 0 or not agents[w, a].active:
                continue
            length = 0
            while length < rounds.shape[1] and rounds[a, length] >= 0:
                length += 1
            code = np.int32(rounds[a, clock[w] % length])
            if code > 0:
                drift_through(agents, cells, overlap, w, a, code)


@kernel
def eat_all(agents, cells, count, pacman, food, num_hits, lo, hi):
    """Pacman eats the food in its cell, in the worlds lo..hi-1; ``num_hits`` (W, A) is the number of pieces."""
    for w in range(lo, hi):
        num_hits[w, pacman] = 0
        if count[w] == 0 or not agents[w, pacman].active or not agents[w, pacman].placed:
            continue
        other = cells[w, agents[w, pacman].row, agents[w, pacman].col].first
        while other >= 0:
            following = agents[w, other].next
            if food[other]:
                agents[w, other].active = False
                agents[w, other].health = 0.0
                leave_cell(agents, cells, w, other)
                num_hits[w, pacman] += 1
            other = following


@kernel
def meet_all(agents, cells, count, pacman, baddies, num_hits, lo, hi):
    """Pacman dies if baddies share its cell, in the worlds lo..hi-1; ``num_hits`` (W, A) marks those baddies, and pacman by -1."""
    for w in range(lo, hi):
        for a in range(agents.shape[1]):
            num_hits[w, a] = 0
        if count[w] == 0 or not agents[w, pacman].active or not agents[w, pacman].placed:
            continue
        caught = False
        other = cells[w, agents[w, pacman].row, agents[w, pacman].col].first
        while other >= 0:
            if baddies[other] and agents[w, other].active:
                num_hits[w, other] = 1
                caught = True
            other = agents[w, other].next
        if caught:
            num_hits[w, pacman] = -1
            agents[w, pacman].active = False
            agents[w, pacman].health = 0.0
            leave_cell(agents, cells, w, pacman)


@kernel
def pay_hits(agents, payees, num_hits, amount, sign, lo, hi):
    """Pays ``amount`` for each hit of that sign, in the worlds lo..hi-1."""
    for w in range(lo, hi):
        for a in range(agents.shape[1]):
            hits = num_hits[w, a] * sign
            if hits > 0 and payees[a]:
                agents[w, a].reward += hits * amount


@kernel
def tick(acted, clock, lo, hi):
    """Counts a step of the worlds with acting agents."""
    for w in range(lo, hi):
        clock[w] += 1 if acted[w] > 0 else 0
