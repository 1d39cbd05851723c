"""What the managers do, for a batch: who acts, who is told what, who has finished (specification 2.3)."""

from typing import NamedTuple

import numpy as np

from interplay.core.jit import kernel


class Turns(NamedTuple):
    """Whose turn it is. L learners are those of A agents who may ever act; outputs are theirs."""

    learners: np.ndarray  # (L,) int32 slots
    line: np.ndarray  # (W,) int64, who is next in line
    lengths: np.ndarray  # (W,) int64, steps of the episode
    finished: np.ndarray  # (W, L) bool, whoever is done
    asked: np.ndarray  # (W, A) bool, whose observation is wanted


@kernel
def line_up(turns, outputs, order, count, lo, hi):
    """Lists those who act in worlds that go on: order (W, A) and count (W,), written."""
    for w in range(lo, hi):
        number = 0
        if not outputs.over[w]:
            for k in range(turns.learners.shape[0]):
                if outputs.acting[w, k]:
                    order[w, number] = turns.learners[k]
                    number += 1
        count[w] = number


@kernel
def first_report(which, turns, outputs, in_turns):
    """Begins the episodes of the worlds in ``which``: everybody is observed, all or the first in line act."""
    number = turns.learners.shape[0]
    for w in range(which.shape[0]):
        if not which[w]:
            continue
        turns.lengths[w] = 0
        turns.line[w] = 1 % max(number, 1)
        outputs.over[w] = number == 0
        for k in range(number):
            turns.finished[w, k] = False
            turns.asked[w, turns.learners[k]] = True
            outputs.acting[w, k] = k == 0 or not in_turns


@kernel
def report(agents, done, ended, turns, outputs, limit, in_turns, lo, hi):
    """Reports a step of the worlds lo..hi-1 as a manager does; the outputs come cleared.

    Args:
        done, ended: (W, A), (W,) uint8: what the done components say.
        turns, outputs: written.
        limit: steps after which an episode is cut; 0 = never.
        in_turns: one after another, in the order of the learners.
    """
    learners, line, lengths, finished, asked = turns
    reward, acting, terminated, truncated, over = outputs
    number = learners.shape[0]
    for w in range(lo, hi):
        for k in range(number):
            asked[w, learners[k]] = False
        if over[w]:
            continue
        lengths[w] += 1
        stop = ended[w] != 0
        cut = not stop and limit > 0 and lengths[w] >= limit
        everybody = stop or cut or not in_turns
        for k in range(number):
            acting[w, k] = False
        for i in range(number):
            k = i if everybody else (line[w] + i) % number
            a = learners[k]
            if finished[w, k]:
                continue
            asked[w, a] = True
            reward[w, k] = agents[w, a].reward
            agents[w, a].reward = 0.0
            if done[w, a]:
                finished[w, k] = True
                terminated[w, k] = True
            else:
                acting[w, k] = True
                if not everybody:
                    line[w] = (k + 1) % number
                    break
        left = False
        for k in range(number):
            left = left or not finished[w, k]
        over[w] = stop or cut or not left
        if over[w]:
            for k in range(number):
                acting[w, k] = False
                if not finished[w, k]:
                    terminated[w, k] = not cut
                    truncated[w, k] = cut
