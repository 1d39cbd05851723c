"""Kernels of rewards and dones (specification 2.10 and 7)."""

import numpy as np

from interplay.core.jit import kernel

ACTIVE, ONE_TEAM, OVERLAP, TARGET_INACTIVE, ENCODING_INACTIVE = 0, 1, 2, 3, 4


@kernel
def fine_all(agents, order, count, payers, amount, lo, hi):
    """Every acting agent in ``payers`` (A,) earns ``amount``."""
    for w in range(lo, hi):
        for i in range(count[w]):
            if payers[order[w, i]]:
                agents[w, order[w, i]].reward += amount


@kernel
def pay_moves(agents, order, count, payers, attempted, success, made, failed, lo, hi):
    """Pays moves made and moves failed."""
    for w in range(lo, hi):
        for i in range(count[w]):
            a = order[w, i]
            if payers[a] and attempted[w, a]:
                agents[w, a].reward += made if success[w, a] else failed


@kernel
def pay_attacks(agents, order, count, payers, attempted, num_hits, hits, kills, kill, killed, failed, lo, hi):
    """Pays attackers for kills and failures, and killed agents, if they learn."""
    for w in range(lo, hi):
        for i in range(count[w]):
            a = order[w, i]
            if not attempted[w, a]:
                continue
            if num_hits[w, a] == 0 and payers[a]:
                agents[w, a].reward += failed
            for j in range(num_hits[w, a]):
                if kills[w, a, j]:
                    victim = hits[w, a, j]
                    if payers[victim]:
                        agents[w, victim].reward += killed
                    if payers[a]:
                        agents[w, a].reward += kill


@kernel
def pay_targets(agents, order, count, targets, amount, exactly, lo, hi):
    """Pays acting agents on their target; targets: (A,) slots, -1 = none."""
    for w in range(lo, hi):
        for i in range(count[w]):
            a = order[w, i]
            t = targets[a]
            if t >= 0 and agents[w, a].row == agents[w, t].row and agents[w, a].col == agents[w, t].col:
                agents[w, a].reward = amount if exactly else agents[w, a].reward + amount


@kernel
def evaluate_dones(agents, form, users, members, targets, encodings, any_ends, done, over, lo, hi):
    """Adds one done component's results to ``done`` (W, A) and ``over`` (W,), uint8.

    Args:
        form: which of the five conditions.
        users: (A,) bool, supported agents.
        members: (A,) bool, the component's own agents: only these count as a target's encoding.
        targets: (A,) slots of targets; -1 = none.
        encodings: (E + 1, E + 1) bool: targets of encodings; a row of False = not mapped.
        any_ends: the world is over when one mapped encoding is done, not when all are.
    """
    for w in range(lo, hi):
        if form in (ACTIVE, ONE_TEAM):
            first = 0
            several = False
            for a in range(agents.shape[1]):
                if not users[a]:
                    continue
                if not agents[w, a].active:
                    done[w, a] = 1
                elif first == 0:
                    first = agents[w, a].encoding
                elif agents[w, a].encoding != first:
                    several = True
            if first == 0 or (form == ONE_TEAM and not several):
                over[w] = 1
        elif form in (OVERLAP, TARGET_INACTIVE):
            everybody = True
            for a in range(agents.shape[1]):
                t = targets[a]
                if t < 0:
                    continue
                if form == OVERLAP:
                    reached = agents[w, a].row == agents[w, t].row and agents[w, a].col == agents[w, t].col
                else:
                    reached = not agents[w, t].active
                if reached:
                    done[w, a] = 1
                else:
                    everybody = False
            if everybody:
                over[w] = 1
        else:
            one, all_of_them = False, True
            for e in range(1, encodings.shape[0]):
                mapped = False
                for t in range(1, encodings.shape[0]):
                    mapped = mapped or encodings[e, t]
                if not mapped:
                    continue
                finished = True
                for a in range(agents.shape[1]):
                    if members[a] and agents[w, a].active and encodings[e, agents[w, a].encoding]:
                        finished = False
                        break
                one = one or finished
                all_of_them = all_of_them and finished
                if finished:
                    for a in range(agents.shape[1]):
                        if users[a] and agents[w, a].encoding == e:
                            done[w, a] = 1
            if one if any_ends else all_of_them:
                over[w] = 1


@kernel
def check_codes(codes, low, high, order, count, users, lo, hi):
    """The first acting (world, slot) in ``users`` with a code out of bounds, as w * A + a; -1 = none."""
    for w in range(lo, hi):
        for i in range(count[w]):
            a = order[w, i]
            if users[a]:
                for k in range(codes.shape[2]):
                    if codes[w, a, k] < low[a, k] or codes[w, a, k] > high[a, k]:
                        return w * codes.shape[1] + a
    return np.int64(-1)
