"""Kernels of an exact belief: the weight of every set of players that may be the pack.

A hypothesis is a set of wolves with one of their assumed policies. Its weight is the likelihood of the observed actions divided by
that of the same actions by villagers. So seats outside the set cancel, and all viewers share the weights. A viewer skips the sets
that contain it; an action that no villager takes proves to all others that its seat is a wolf.
"""

from typing import NamedTuple

import numpy as np

from interplay.core.jit import kernel, phase
from interplay.worlds.werewolf.roles import WEREWOLF
from interplay.worlds.werewolf.theory.likelihood import (
    ANY,
    AS_ONE,
    NAMES,
    any_name,
    names_agreed,
    names_outside,
    reads_names,
    spoke,
    villager_names,
    villager_word_likelihood,
    wolf_word_likelihood,
)


class Sets(NamedTuple):
    """All hypotheses."""

    members: np.ndarray  # (H, m) int16
    inside: np.ndarray  # (H, A) bool
    weight: np.ndarray  # (W, M, H) float64, logarithm
    possible: np.ndarray  # (W, H) bool, by deaths and the game's continuation only
    must: np.ndarray  # (W, A) bool, took an action that no villager takes
    villager: np.ndarray  # (A,) float64, a working array: log-likelihood of each row as a villager's
    share: np.ndarray  # (M, H) float64, a working array


@kernel
def weigh(evidence, creed, sets):
    """Updates the weights with one step of every world."""
    for w in range(evidence.going.shape[0]):
        if evidence.fresh[w]:
            weigh_board(evidence, creed, sets, w)
        weigh_deaths(evidence, sets, w)


@kernel
def restart(which, sets):
    """Resets worlds to equal weights."""
    for w in range(which.shape[0]):
        if which[w]:
            sets.weight[w] = 0.0
            sets.possible[w] = True
            sets.must[w] = False


# -- a board ----------------------------------------------------------------------------------------------------------


@phase
def weigh_board(evidence, creed, sets, w):
    for j in range(evidence.alive.shape[1]):
        sets.villager[j] = 0.0
        if spoke(evidence, w, j):
            row = villager_word_likelihood(evidence, creed, w, j) + villager_names(evidence, creed, w, j)
            sets.must[w, j] |= row == -np.inf
            sets.villager[j] = row if row > -np.inf else 0.0
    for m in range(creed.wolves.shape[0]):
        for h in range(sets.members.shape[0]):
            if sets.weight[w, m, h] > -np.inf:
                sets.weight[w, m, h] += weigh_set(evidence, creed, sets, w, creed.wolves[m], h)


@phase
def weigh_set(evidence, creed, sets, w, way, h):
    """Log-likelihood of a set's rows as wolves' minus that as villagers'."""
    inside, total = sets.inside[h], 0.0
    outside = 0
    for i in range(inside.shape[0]):
        outside += evidence.legal[w, i] and not inside[i]
    one = way == AS_ONE and not evidence.talk[w]
    agreed = np.int64(-1)
    for place in range(sets.members.shape[1]):
        j = sets.members[h, place]
        if not spoke(evidence, w, j):
            continue
        total += wolf_word_likelihood(evidence, creed, w, j) - sets.villager[j]
        if not reads_names(evidence, creed, w):
            continue
        if outside == 0 or way in (ANY, NAMES) or (way == AS_ONE and not one):
            total += any_name(evidence, creed, w, j, way == ANY)
        elif one:
            total += names_agreed(evidence, inside, w, j, agreed, outside)
            agreed = np.int64(evidence.targets[w, j, 0])
        else:
            total += names_outside(evidence, inside, w, j, outside)
    return total


# -- deaths -----------------------------------------------------------------------------------------------------------


@phase
def weigh_deaths(evidence, sets, w):
    """Uses deaths, revealed roles and the game's continuation.

    An eaten player is no wolf, and uniform among the prey.
    """
    n, eaten = evidence.alive.shape[1], evidence.eaten[w]
    living, died = 0, 0
    for j in range(n):
        living += evidence.alive[w, j]
        died += evidence.was_alive[w, j] and not evidence.alive[w, j]
    if died == 0 and not evidence.going[w]:
        return
    killed = eaten >= 0 and evidence.was_alive[w, eaten] and not evidence.alive[w, eaten]
    for h in range(sets.members.shape[0]):
        if not sets.possible[w, h]:
            continue
        inside, wolves, prey = sets.inside[h], 0, 0
        for j in range(n):
            wolves += inside[j] and evidence.alive[w, j]
            prey += not inside[j] and evidence.was_alive[w, j]
        possible = not (killed and inside[eaten]) and agrees(evidence, inside, w)
        if evidence.going[w]:
            possible = possible and wolves > 0 and wolves < living - wolves
        sets.possible[w, h] = possible
        for m in range(sets.weight.shape[1]):
            if not possible:
                sets.weight[w, m, h] = -np.inf
            elif killed:
                sets.weight[w, m, h] -= np.log(prey)


@phase
def agrees(evidence, inside, w):
    """Whether a set matches the revealed roles of the dead."""
    for j in range(inside.shape[0]):
        role = evidence.revealed[w, j]
        if role >= 0 and (role == WEREWOLF) != inside[j]:
            return False
    return True


# -- the belief -------------------------------------------------------------------------------------------------------


@kernel
def believe(sets, viewers, info, belief):
    """The chance that each seat is a wolf, as each viewer sees it.

    If a viewer's evidence is impossible, because a player follows none of the assumed policies, only deaths count.

    Args:
        viewers: (W, A) bool, queried non-wolves; other rows are unchanged.
        info: (W, A, A) int8, private information: 1 a wolf, 0 none, -1 unknown.
        belief: (W, A, A) float64, written.
    """
    for w in range(viewers.shape[0]):
        shared = False  # whether the shares are relative to the heaviest of all sets
        for i in range(viewers.shape[1]):
            if not viewers[w, i]:
                continue
            if not shared:
                divide(sets, w, heaviest(sets, info, w, -1))
            shared = add_up(sets, info, w, i, True, belief) > 1e-250
            if not shared:  # this viewer's sets underflow relative to it
                top = heaviest(sets, info, w, i)
                divide(sets, w, top)
                add_up(sets, info, w, i, top > -np.inf, belief)


@phase
def heaviest(sets, info, w, i):
    """The greatest weight among a viewer's possible sets; -1: among all sets."""
    top = -np.inf
    for h in range(sets.members.shape[0]):
        if i < 0 or is_possible(sets, info, w, i, h, True):
            for m in range(sets.weight.shape[1]):
                top = max(top, sets.weight[w, m, h])
    return top


@phase
def divide(sets, w, top):
    """Writes the weights as shares of the greatest; without one, by deaths only."""
    for m in range(sets.share.shape[0]):
        for h in range(sets.share.shape[1]):
            by_deaths = 1.0 if sets.possible[w, h] else 0.0
            sets.share[m, h] = np.exp(sets.weight[w, m, h] - top) if top > -np.inf else by_deaths


@phase
def add_up(sets, info, w, i, by_actions, belief):
    """Sums the shares of a viewer's possible sets into its belief; returns their total."""
    total, informed = 0.0, has_evidence(sets, info, w, i)
    for j in range(belief.shape[1]):
        belief[w, i, j] = 0.0
    for h in range(sets.members.shape[0]):
        if sets.inside[h, i]:
            continue
        weight = 0.0
        for m in range(sets.share.shape[0]):
            weight += sets.share[m, h]
        if weight == 0.0 or (informed and not is_possible(sets, info, w, i, h, by_actions)):
            continue
        total += weight
        for place in range(sets.members.shape[1]):
            belief[w, i, sets.members[h, place]] += weight
    for j in range(belief.shape[1]):
        belief[w, i, j] /= total if total > 0.0 else 1.0
    return total


@phase
def is_possible(sets, info, w, i, h, by_actions):
    """Whether a set is possible for a viewer.

    It excludes the viewer, agrees with its private information, and has all other proven wolves.
    """
    inside = sets.inside[h]
    if inside[i]:
        return False
    for j in range(inside.shape[0]):
        if info[w, i, j] >= 0 and (info[w, i, j] == 1) != inside[j]:
            return False
        if by_actions and j != i and sets.must[w, j] and not inside[j]:
            return False
    return True


@phase
def has_evidence(sets, info, w, i):
    """Whether a viewer has private information, or any seat is a proven wolf."""
    known = 0
    for j in range(info.shape[2]):
        known += info[w, i, j] >= 0 or sets.must[w, j]
    return known > 0
