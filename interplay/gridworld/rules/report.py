"""The managers' work for a batch: acting, reported and finished agents (specification 2.3)."""

import numpy as np

from interplay.core.jit import kernel

# Records of each of the L learners, the ones of A agents that may ever act, and of each world.
LEARNER = np.dtype(
    [
        ("reward", np.float32),  # an output, as the next three
        ("acting", np.bool_),
        ("terminated", np.bool_),
        ("truncated", np.bool_),
        ("finished", np.bool_),  # done
    ],
    align=True,
)
ROOM = np.dtype(
    [("line", np.int64), ("length", np.int64), ("over", np.bool_)], align=True
)  # next in line; steps


@kernel
def list_acting(slots, learners, room, order, count, lo, hi):
    """Lists acting agents of unfinished worlds: writes order (W, A) and count (W,)."""
    for w in range(lo, hi):
        number = 0
        if not room[w].over:
            for k in range(slots.shape[0]):
                if learners[w, k].acting:
                    order[w, number] = slots[k]
                    number += 1
        count[w] = number


@kernel
def first_report(which, slots, learners, room, queried, in_turns):
    """Begins the episodes of the worlds in ``which``: all agents are observed, all or the first in line act."""
    number = slots.shape[0]
    for w in range(which.shape[0]):
        if not which[w]:
            continue
        room[w].length = 0
        room[w].line = 1 % max(number, 1)
        room[w].over = number == 0
        for k in range(number):
            learners[w, k].finished = False
            learners[w, k].acting = k == 0 or not in_turns
            queried[w, slots[k]] = True


@kernel
def report(agents, done, ended, slots, learners, room, queried, limit, in_turns, lo, hi):
    """Reports a step of the worlds lo..hi-1 as a manager does; outputs must be cleared.

    Args:
        done, ended: (W, A), (W,) uint8: results of the done components.
        slots: (L,) int32, of the learners.
        learners, room: (W, L) LEARNER, (W,) ROOM, written.
        queried: (W, A) bool, written: agents to observe.
        limit: steps before truncation; 0 = never.
        in_turns: one after another, in the order of the learners.
    """
    number = slots.shape[0]
    for w in range(lo, hi):
        for k in range(number):
            queried[w, slots[k]] = False
        if room[w].over:
            continue
        room[w].length += 1
        stop = ended[w] != 0
        cut = not stop and limit > 0 and room[w].length >= limit
        everybody = stop or cut or not in_turns
        for k in range(number):
            learners[w, k].acting = False
        for i in range(number):
            k = i if everybody else (room[w].line + i) % number
            a = slots[k]
            if learners[w, k].finished:
                continue
            queried[w, a] = True
            learners[w, k].reward = agents[w, a].reward
            agents[w, a].reward = 0.0
            if done[w, a]:
                learners[w, k].finished = True
                learners[w, k].terminated = True
            else:
                learners[w, k].acting = True
                if not everybody:
                    room[w].line = (k + 1) % number
                    break
        left = False
        for k in range(number):
            left = left or not learners[w, k].finished
        room[w].over = stop or cut or not left
        if room[w].over:
            for k in range(number):
                learners[w, k].acting = False
                if not learners[w, k].finished:
                    learners[w, k].terminated = not cut
                    learners[w, k].truncated = cut
