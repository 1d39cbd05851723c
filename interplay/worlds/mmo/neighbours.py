"""The neighbours of each agent, and the target of each attack style (specification 6 and 7).

A counting sort puts the living into squares of 8 x 8 tiles. Squares of one row are adjacent in memory, so a view is three runs of
entries. Each agent's row of features is computed once and copied to every observer.
"""

import numpy as np

from interplay.core.jit import phase
from interplay.worlds.mmo.rules.numbers import LEARNED, LOWEST_HEALTH
from interplay.worlds.mmo.state import BUCKET, NONE

_FAR = np.int64(1) << 62  # above every target's key
_SLOT = np.int64(0xFFFFFF)  # the lowest bits of a key


@phase
def sort_into_buckets(state, rules, scratch, thread, w):
    """Sorts living slots by bucket, row by row, slots ascending in each; returns their number."""
    start, entries, agent = scratch.start[thread], scratch.sorted[thread], state.agent
    across = rules.buckets
    for b in range(across * across + 2):
        start[b] = 0
    living = 0
    for i in range(agent.shape[1]):
        if agent[w, i].alive:
            start[(agent[w, i].row // BUCKET) * across + agent[w, i].col // BUCKET + 2] += 1
            living += 1
    for b in range(across * across):
        start[b + 2] += start[b + 1]
    for i in range(agent.shape[1]):
        if agent[w, i].alive:
            b = (agent[w, i].row // BUCKET) * across + agent[w, i].col // BUCKET + 1
            entries[start[b]] = i
            scratch.spot[thread, i] = start[b]
            start[b] += 1
    return living


@phase
def find_near(start, place, near, rules, own, row, col):
    """Lists the agents in view, in the order of the buckets; returns their number.

    A view meets two or three rows of buckets, each a run of entries. Branches on positions would be mispredicted every other time, so the
    three runs are one loop without conditions.
    """
    across, vision = rules.buckets, rules.vision
    left, right = (col - vision) // BUCKET, (col + vision) // BUCKET + 1
    top, bottom = (row - vision) // BUCKET, (row + vision) // BUCKET
    n = 0
    if vision >= BUCKET:  # a view may meet more than three rows
        for b in range(top, bottom + 1):
            for m in range(start[b * across + left], start[b * across + right]):
                near[n] = m
                n += (abs(place[m, 0] - row) <= vision) & (abs(place[m, 1] - col) <= vision) & (m != own)
        return n
    first, end_first = start[top * across + left], start[top * across + right]
    second, end_second = end_first, end_first
    if bottom > top:  # a narrow view may lie within one row, possibly the last
        second, end_second = start[(top + 1) * across + left], start[(top + 1) * across + right]
    third, end_third = end_second, end_second
    if bottom > top + 1:
        third, end_third = start[bottom * across + left], start[bottom * across + right]
    turn = end_first - first
    turn_again = turn + end_second - second
    skip, skip_again = second - end_first, third - end_second
    for t in range(turn_again + end_third - third):
        m = np.uint64(first + t + skip * (t >= turn) + skip_again * (t >= turn_again))
        near[n] = m
        n += (abs(place[m, 0] - row) <= vision) & (abs(place[m, 1] - col) <= vision) & (m != own)
    return n


@phase
def see_others(state, sight, rules, scratch, thread, w, own, row, col, population, ow, o):
    """Writes entity rows of all agents in view, and the targets of the three styles.

    `own` is the observer's entry in the buckets; a ghost's lies beyond those of the living.
    """
    entries, place, kin = scratch.sorted[thread], scratch.place[thread], scratch.kin[thread]
    features, health, near = scratch.features[thread], scratch.health[thread], scratch.near[thread]
    rows, friendly_fire, by_health = rules.rows, rules.friendly_fire, rules.targeting == LOWEST_HEALTH
    reach0, reach1, reach2 = rules.reach0, rules.reach1, rules.reach2
    mine = 1.0 if rules.compact else 0.5
    stranger = 0.0 if rules.compact else -0.5
    blank = rules.slots + 1  # an empty entry, for rows in use a tick ago
    out = sight.entities[ow, o]
    n = 1 + find_near(scratch.start[thread], place, near, rules, own, row, col)
    best0, best1, best2 = _FAR, _FAR, _FAR
    _copy_row(features, own, out[0], 0, 0, mine)
    for k in range(1, max(n, sight.filled[ow, o])):
        there = k < n
        m = near[k - 1] if there else np.uint32(blank)
        dr, dc = place[m, 0] - row, place[m, 1] - col
        same = kin[m] == population
        colour = (mine if same else stranger) if there else 0.0  # a product would be -0
        if k < rows:
            _copy_row(features, m, out[k], dr * there, dc * there, colour)
        away = np.int64(max(abs(dr), abs(dc)))  # plain Python would shift 32 bits away
        tie = away if by_health else np.int64(health[m])
        key = ((np.int64(health[m]) if by_health else away) << 40) | (tie << 24) | entries[m]
        hostile = there & (friendly_fire | (not same))
        best0 = min(best0, key if hostile & (away <= reach0) else _FAR)
        best1 = min(best1, key if hostile & (away <= reach1) else _FAR)
        best2 = min(best2, key if hostile & (away <= reach2) else _FAR)
    target = sight.target[ow, o]
    target[0] = NONE if best0 == _FAR else best0 & _SLOT
    target[1] = NONE if best1 == _FAR else best1 & _SLOT
    target[2] = NONE if best2 == _FAR else best2 & _SLOT
    if n > rows:
        n = _keep_nearest(sight, rules, scratch, thread, n, row, col, population, ow, o, mine, stranger)
    if rules.targeting == LEARNED:
        _mask_rows(sight, rules, scratch, thread, n, row, col, population, ow, o)
    sight.filled[ow, o] = n


@phase
def _keep_nearest(sight, rules, scratch, thread, n, row, col, population, ow, o, mine, stranger):
    """Keeps the nearest rows by L1 distance, in the order of finding, if there are more agents than rows."""
    near, place, kin = scratch.near[thread], scratch.place[thread], scratch.kin[thread]
    room = rules.rows - 1
    limit, closer = 0, 0  # all closer than `limit` fit; of those at `limit` the first ones
    while True:
        at = 0
        for k in range(n - 1):
            at += abs(place[near[k], 0] - row) + abs(place[near[k], 1] - col) == limit
        if closer + at > room:
            break
        closer += at
        limit += 1
    ties, kept = room - closer, 0
    for k in range(n - 1):
        m = near[k]
        dr, dc = place[m, 0] - row, place[m, 1] - col
        away = abs(dr) + abs(dc)
        if away > limit or (away == limit and ties == 0):
            continue
        ties -= away == limit
        colour = mine if kin[m] == population else stranger
        near[kept] = m
        kept += 1
        _copy_row(scratch.features[thread], m, sight.entities[ow, o, kept], dr, dc, colour)
    return kept + 1


@phase
def _mask_rows(sight, rules, scratch, thread, n, row, col, population, ow, o):
    """Which entity rows each style may be aimed at (targeting = learned)."""
    first = rules.choices - 3 * rules.rows
    sight.mask[ow, o, first:] = False
    for style in range(3):
        sight.mask[ow, o, first + style * rules.rows] = True
    sight.row_slot[ow, o, :] = NONE
    found0, found1, found2 = NONE, NONE, NONE
    for k in range(1, n):
        m = scratch.near[thread, k - 1]
        slot = scratch.sorted[thread, m]
        away = max(abs(scratch.place[thread, m, 0] - row), abs(scratch.place[thread, m, 1] - col))
        sight.row_slot[ow, o, k] = slot
        if not rules.friendly_fire and scratch.kin[thread, m] == population:
            continue
        if away <= rules.reach0:
            sight.mask[ow, o, first + k] = True
            found0 = slot
        if away <= rules.reach1:
            sight.mask[ow, o, first + rules.rows + k] = True
            found1 = slot
        if away <= rules.reach2:
            sight.mask[ow, o, first + 2 * rules.rows + k] = True
            found2 = slot
    sight.target[ow, o, 0], sight.target[ow, o, 1], sight.target[ow, o, 2] = found0, found1, found2


@phase
def _copy_row(features, k, out, down, right, same):
    """Copies one entity row: features equal for all observers, and the relative position."""
    line = features[k]
    a, b, c, d, e, f, g, h = line[0], line[1], line[2], line[3], line[4], line[5], line[8], line[10]
    out[0], out[1], out[2], out[3], out[4], out[5] = a, b, c, d, e, f
    out[6], out[7] = down, right
    out[8], out[9], out[10] = g, same, h
