"""The acting order (specification 6, step 1)."""

import numpy as np

from interplay.core.jit import phase
from interplay.kernels.splitmix import episode_start, integer_below
from interplay.worlds.mmo.rules.numbers import ROTATE, SHUFFLE

_ONE = np.uint64(1)


@phase
def list_living(agent, order, w):
    """Lists living slots, ascending; returns their number."""
    n = 0
    for i in range(agent.shape[1]):
        if agent[w, i].alive:
            order[n] = i
            n += 1
    return n


@phase
def shuffle(stream, order, w, n):
    """Fisher and Yates: from the last place to the second, each swapped with one at or before it."""
    start, number = episode_start(stream[w, 0], stream[w, 1]), stream[w, 2]
    for i in range(n - 1, 0, -1):
        number += _ONE
        j = integer_below(start, number, i + 1)
        order[i], order[j] = order[j], order[i]
    stream[w, 2] = number


@phase
def rotate(stream, order, spare, w, n):
    """A random start, then round-robin."""
    if n == 0:
        return
    stream[w, 2] += _ONE
    shift = integer_below(episode_start(stream[w, 0], stream[w, 1]), stream[w, 2], n)
    for k in range(n):
        spare[k] = order[k]
    for k in range(n):
        at = k + shift
        order[k] = spare[at - n if at >= n else at]


@phase
def sort_by_age(agent, order, w, n):
    """The oldest first. Shell's sort: slots are nearly in order, and kernels may not allocate."""
    gap = 1
    while gap < n // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for k in range(gap, n):
            slot = order[k]
            born = agent[w, slot].life_id
            at = k
            while at >= gap and agent[w, order[at - gap]].life_id > born:
                order[at] = order[at - gap]
                at -= gap
            order[at] = slot
        gap //= 3


@phase
def draw_order(state, rules, scratch, thread, w):
    """The acting order of this tick; returns the number of acting agents."""
    order = scratch.order[thread]
    n = list_living(state.agent, order, w)
    if rules.order == SHUFFLE:
        shuffle(state.stream, order, w, n)
    elif rules.order == ROTATE:
        rotate(state.stream, order, scratch.near[thread], w, n)
    else:
        sort_by_age(state.agent, order, w, n)
    return n
