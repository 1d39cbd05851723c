"""The beginning of a game: an empty table, roles dealt to seats (specification 2)."""

import numpy as np

from interplay.core.jit import phase
from interplay.kernels.splitmix import integer_below
from interplay.worlds.werewolf.roles import HUMAN, WITCH, WOLF
from interplay.worlds.werewolf.rules.draws import DEAL, start
from interplay.worlds.werewolf.state import IN_TABLE, NONE


@phase
def clear_table(state, rules, w):
    """Clears boards, deaths and phases."""
    room = state.room[w]
    room.day = 0
    room.dawn = 0
    room.row = 0
    room.talk_round = 0
    room.stage = IN_TABLE
    room.revotes = 0
    room.eaten = NONE
    room.executed = NONE
    room.public_phase = NONE
    room.pack_phase = NONE
    room.block_phase = NONE
    room.winner = NONE
    room.victim = NONE
    room.shooter = NONE
    room.shots = 0
    room.ended_phase = NONE
    room.ended_round = 0
    room.ended_day = 0
    room.chosen = NONE
    room.tied = False
    room.over = False
    room.cut = False
    n = rules.players
    clear_boards(state, rules, w)
    for i in range(n):
        state.alive[w, i] = True
        state.ended[w, i] = False
        state.owed[w, i] = False
        state.suspect[w, i] = False
        state.fate[w, i] = NONE
        state.fell[w, i] = NONE
        state.revealed[w, i] = NONE
        state.guarded[w, i] = NONE
        state.late[w, i] = 0.0
    state.told[w] = False
    if rules.reward_terms:
        state.terms[w] = 0.0
    if rules.private:
        state.known[w] = NONE


@phase
def clear_boards(state, rules, w):
    for i in range(rules.players):
        for slot in range(rules.names):
            state.public_targets[w, i, slot] = NONE
            state.pack_targets[w, i, slot] = NONE
            state.last_votes[w, i, slot] = NONE
        for place in range(rules.length):
            state.public_signals[w, i, place] = NONE
            state.pack_signals[w, i, place] = NONE
    if rules.history > 0:
        state.past_targets[w] = NONE
        state.past_signals[w] = NONE
        state.past_phase[w] = NONE
        state.past_day[w] = NONE
        state.past_chosen[w] = NONE


@phase
def clear_tally(state, w):
    """Sets all counts to 0."""
    tally = state.tally[w]
    tally.suicide = 0.0
    tally.accord = 0.0
    tally.margin = 0.0
    tally.entropy = 0.0
    tally.switch = 0.0
    tally.influence = 0.0
    tally.index_distance = 0.0
    tally.repetition_distance = 0.0
    tally.set_difference = 0.0
    tally.drift = 0.0
    tally.drifts = 0
    tally.compared = 0
    tally.held = 0
    tally.counted = 0
    tally.executions = 0
    tally.hits = 0
    tally.removed = 0
    tally.kills = 0
    tally.splits = 0
    tally.ties = 0
    tally.follows = 0
    tally.followable = 0
    tally.busses = 0
    tally.wolf_votes = 0
    tally.illegal = 0


@phase
def deal_roles(state, rules, tables, w):
    """Deals a uniform permutation of the crew (Fisher and Yates), or the crew in order, and counts sides."""
    role, crew, room = state.role[w], tables.crew, state.room[w]
    begin = start(state.stream[w, 0], state.stream[w, 1], DEAL)
    for i in range(rules.players):
        role[i] = crew[i]
    for i in range(rules.players - 1 if rules.dealt else 0, 0, -1):
        j = integer_below(begin, np.uint64(i), i + 1)
        role[i], role[j] = role[j], role[i]
    room.living, room.wolves, room.humans = rules.players, 0, 0
    for i in range(rules.players):
        counts_as = tables.counts_as[role[i]]
        room.wolves += counts_as == WOLF
        room.humans += counts_as == HUMAN
        state.potions[w, i, 0] = state.potions[w, i, 1] = role[i] == WITCH
