"""The rules of this world: a runner that reaches the target leaves the grid; the last agent left has finished."""

import numpy as np

from interplay.core.jit import kernel, phase
from interplay.gridworld.rules.cells import leave_cell
from interplay.gridworld.rules.moves import step_by


@phase
def run_by(agents, cells, overlap, w, a, target, down, right):
    """Moves an agent; on the target's cell it leaves the grid and becomes inactive. Returns whether it moved."""
    moved = step_by(agents, cells, overlap, w, a, down, right)
    if is_there(agents, w, a, target):
        if agents[w, a].placed:
            leave_cell(agents, cells, w, a)
        agents[w, a].active = False
    return moved


@phase
def is_there(agents, w, a, target):
    """Whether an agent is, or was last, on the target's cell."""
    return agents[w, a].row == agents[w, target].row and agents[w, a].col == agents[w, target].col


@kernel
def run(agents, cells, overlap, stream, w, a, target, down, right):
    """One agent's move; `target` is a slot. Returns true for a move made and for staying."""
    stream[w, 2] += np.uint64(1)  # a new moment
    return run_by(agents, cells, overlap, w, a, target, down, right)


@kernel
def run_all(agents, cells, overlap, stream, order, count, target, codes, attempted, success, runners, lo, hi):
    """Moves all acting agents in the worlds lo..hi-1, in their order.

    Args:
        order, count: (W, A), (W,) slots of acting agents, and their number.
        target: its slot.
        codes: (W, A, 2) int32 steps.
        attempted, success: (W, A) uint8, written.
        runners: (A,) bool, agents that the actor supports.
    """
    for w in range(lo, hi):
        for a in range(agents.shape[1]):
            attempted[w, a] = 0
            success[w, a] = 0
        for i in range(count[w]):
            a = order[w, i]
            if runners[a] and agents[w, a].active:
                stream[w, 2] += np.uint64(1)
                attempted[w, a] = 1
                success[w, a] = run_by(agents, cells, overlap, w, a, target, codes[w, a, 0], codes[w, a, 1])


@kernel
def pay_arrivals(agents, order, count, payees, attempted, target, amount, lo, hi):
    """Pays agents that end a move on the target's cell."""
    for w in range(lo, hi):
        for i in range(count[w]):
            a = order[w, i]
            if payees[a] and attempted[w, a] and is_there(agents, w, a, target):
                agents[w, a].reward += amount


@kernel
def evaluate_arrivals(agents, runners, target, done, over, lo, hi):
    """Ends runners (A,) that are, or were last, on the target's cell, and the world when all have."""
    for w in range(lo, hi):
        everybody = True
        for a in range(agents.shape[1]):
            if not runners[a]:
                continue
            if is_there(agents, w, a, target):
                done[w, a] = 1
            else:
                everybody = False
        if everybody:
            over[w] = 1


@kernel
def evaluate_alone(agents, ended, done, over, lo, hi):
    """Ends all agents in ``ended`` (A,) and the world once at most one learning agent is active."""
    for w in range(lo, hi):
        left = 0
        for a in range(agents.shape[1]):
            if agents[w, a].learns and agents[w, a].active:
                left += 1
        if left <= 1:
            over[w] = 1
            for a in range(agents.shape[1]):
                if ended[a]:
                    done[w, a] = 1
