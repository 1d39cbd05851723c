"""Counting ballots and choosing by rule (specification 4)."""

import numpy as np

from interplay.core.jit import phase
from interplay.kernels.splitmix import integer_below
from interplay.worlds.werewolf.rules.draws import TIES, start
from interplay.worlds.werewolf.rules.numbers import (
    MAJORITY,
    NO_EXECUTION,
    THRESHOLD,
    UNIQUE_TOP,
    VOTE_AGAIN,
)
from interplay.worlds.werewolf.state import NONE


@phase
def is_first_mention(ballot, slot):
    """Whether a name does not occur earlier on the ballot."""
    new = True
    for earlier in range(slot):
        new = new and ballot[earlier] != ballot[slot]
    return new


@phase
def count_ballots(state, rules, scratch, s, w, ability):
    """Counts the first k names of seats with that ability; returns the number of voters."""
    votes, ballots = scratch.votes[s], scratch.ballots[s]
    voters = 0
    for i in range(rules.players):
        votes[i] = 0
    for i in range(rules.players):
        entitled = state.ability[w, i] == ability
        voters += entitled
        for slot in range(rules.depth):
            name = ballots[i, slot]
            counts = entitled & (name != NONE)
            if slot > 0 and not rules.count_duplicates:
                counts = counts & is_first_mention(ballots[i], slot)
            votes[max(name, 0)] += counts
    return voters


@phase
def find_top(rules, scratch, s):
    """The highest count and how many seats share it, listed in `scratch.top`; (0, 0) without votes."""
    votes, top = scratch.votes[s], scratch.top[s]
    best, sharing = 0, 0
    for j in range(rules.players):
        best = max(best, votes[j])
    for j in range(rules.players):
        top[sharing] = j  # overwritten by the next unless it counts
        sharing += (votes[j] == best) & (best > 0)
    return best, sharing


@phase
def find_second(rules, scratch, s, best, sharing):
    """The second highest count; the highest if several share it."""
    if sharing > 1:
        return best
    second = 0
    for j in range(rules.players):
        count = scratch.votes[s, j]
        second = max(second, count if count < best else 0)
    return second


@phase
def draw_among(state, scratch, s, w, sharing):
    """One of the seats that share the top; always one draw of the stream `ties` per step."""
    begin = start(state.stream[w, 0], state.stream[w, 1], TIES)
    return scratch.top[s, integer_below(begin, state.stream[w, 2], sharing)]


@phase
def passes_rule(rules, best, sharing, living, wolves):
    """Whether the top count suffices for an execution."""
    if best == 0:
        return False
    if rules.rule == MAJORITY:
        return 2 * best > living
    if rules.rule == THRESHOLD:
        whole = living - 2 * wolves if rules.of_margin else living
        # Without a margin any count passes.
        return whole <= 0 or best / whole >= rules.quota
    if rules.rule == UNIQUE_TOP:
        return sharing == 1
    return True


@phase
def choose_execution(state, rules, scratch, s, w, best, sharing):
    """The executed seat, NONE, or NONE - 1 for a revote."""
    room = state.room[w]
    if not passes_rule(rules, best, sharing, room.living, room.wolves):
        return NONE
    if sharing == 1:
        return np.int64(scratch.top[s, 0])
    tie = rules.tie
    if tie == VOTE_AGAIN:
        if room.revotes < rules.revotes:
            return NONE - 1
        tie = rules.revote_final
    if tie == NO_EXECUTION:
        return NONE
    return np.int64(draw_among(state, scratch, s, w, sharing))


@phase
def call_revote(state, rules, scratch, s, w, sharing):
    """Restricts the next vote to the tied seats."""
    state.room[w].revotes += 1
    for j in range(rules.players):
        state.suspect[w, j] = False
    for t in range(sharing):
        state.suspect[w, scratch.top[s, t]] = True
