"""From actions to ballots and boards: illegal names are replaced, arms alter boards, boards are written."""

import numpy as np

from interplay.core.jit import phase
from interplay.kernels.splitmix import integer_below, uniform
from interplay.worlds.werewolf.phases import TALKED
from interplay.worlds.werewolf.roles import SPEAK, VOTE
from interplay.worlds.werewolf.rules.draws import ARMS, ILLEGAL, start
from interplay.worlds.werewolf.rules.numbers import (
    REPLAYED,
    RESAMPLED,
    SHUFFLED,
    SIGNALS_OFF,
    TARGETS_OFF,
)
from interplay.worlds.werewolf.state import NONE


@phase
def read_ballots(state, sight, rules, scratch, action, s, w):
    """Reads ballots into `scratch.ballots`; illegal names become uniform legal ones and are counted (specification 1)."""
    n, names = rules.players, rules.names
    ballots, mask, acting = scratch.ballots[s], sight.mask[w], state.acting[w]
    for i in range(n):
        for slot in range(names):
            name = action[w, i, slot]
            if acting[i] and not mask[i, name]:
                name = replace_name(state, rules, mask, w, i, slot)
            # Without a branch, because acting seats are hard to predict.
            ballots[i, slot] = name if acting[i] & (name < n) else NONE


@phase
def replace_name(state, rules, mask, w, i, slot):
    """A uniform legal name."""
    state.tally[w].illegal += 1
    begin = start(state.stream[w, 0], state.stream[w, 1], ILLEGAL)
    number = (state.stream[w, 2] * np.uint64(rules.players) + np.uint64(i)) * np.uint64(rules.names)
    return np.int16(pick_legal(begin, number + np.uint64(slot), mask[i], rules.players + 1))


@phase
def pick_legal(begin, number, mask, count):
    """A uniform legal choice among the first `count`."""
    legal = 0
    for choice in range(count):
        legal += mask[choice]
    left = integer_below(begin, number, legal)
    for choice in range(count):
        left -= mask[choice]
        if left < 0:
            return choice
    return count - 1


@phase
def speaks(ability):
    """Whether the ability writes to a board."""
    return (ability >= SPEAK) & (ability <= VOTE)


@phase
def write_board(state, rules, tables, scratch, action, targets, words, s, w):
    """Writes this phase's board."""
    hides = rules.arm == TARGETS_OFF and tables.resolver[state.room[w].row] == TALKED
    write_names(state.ability[w], scratch.ballots[s], targets[w], rules, hides)
    write_words(state, rules, tables, scratch, action, words[w], s, w)


@phase
def write_names(ability, ballots, board, rules, hides):
    for i in range(rules.players):
        shown = speaks(ability[i]) & (not hides)
        for slot in range(rules.names):
            board[i, slot] = ballots[i, slot] if shown else NONE


@phase
def write_words(state, rules, tables, scratch, action, board, s, w):
    """Writes the words, altered by the experiment's arm (specification 18)."""
    ability, length, names = state.ability[w], rules.length, rules.names
    for i in range(rules.players):
        shown = speaks(ability[i])
        for place in range(length):
            board[i, place] = action[w, i, names + place] if shown else NONE
    if rules.arm < SIGNALS_OFF or length == 0:
        return
    if rules.arm == SIGNALS_OFF:
        for i in range(rules.players):
            for place in range(length):
                board[i, place] = 0 if speaks(ability[i]) else NONE
    elif rules.arm == SHUFFLED:
        shuffle_words(state, rules, scratch, board, s, w)
    elif rules.arm == RESAMPLED:
        draw_words(state, rules, tables, board, w)
    elif rules.arm == REPLAYED:
        replay_words(state, rules, tables, board, w)


@phase
def shuffle_words(state, rules, scratch, board, s, w):
    """Permutes the words of the speakers, anew in every phase."""
    speakers, count = scratch.speakers[s], 0
    for i in range(rules.players):
        if speaks(state.ability[w, i]):
            speakers[count] = i
            count += 1
    begin = start(state.stream[w, 0], state.stream[w, 1], ARMS)
    number = state.stream[w, 2] * np.uint64(rules.players)
    for k in range(count - 1, 0, -1):
        other = integer_below(begin, number + np.uint64(k), k + 1)
        for place in range(rules.length):
            a, b = speakers[k], speakers[other]
            board[a, place], board[b, place] = board[b, place], board[a, place]


@phase
def draw_words(state, rules, tables, board, w):
    """Draws every symbol from the world's marginal."""
    begin = start(state.stream[w, 0], state.stream[w, 1], ARMS)
    for i in range(rules.players):
        if not speaks(state.ability[w, i]):
            continue
        number = (state.stream[w, 2] * np.uint64(rules.players) + np.uint64(i)) * np.uint64(rules.length)
        for place in range(rules.length):
            x = uniform(begin, number + np.uint64(place))
            symbol = 0
            while symbol < tables.symbols[place] - 1 and x >= tables.marginal[place, symbol]:
                symbol += 1
            board[i, place] = symbol


@phase
def replay_words(state, rules, tables, board, w):
    """Copies the words of a recorded game, drawn once per episode, at the same day, phase and seat."""
    begin = start(state.stream[w, 0], state.stream[w, 1], ARMS)
    game = integer_below(begin, np.uint64(0), rules.games)
    day = min(state.room[w].day, tables.replay.shape[1] - 1)
    words = tables.replay[game, day, tables.phase[state.room[w].row]]
    for i in range(rules.players):
        if speaks(state.ability[w, i]):
            for place in range(rules.length):
                board[i, place] = words[i, place]


@phase
def remember_board(state, rules, w):
    """Adds the public board to the front of the history."""
    room = state.room[w]
    past_targets, past_signals = state.past_targets[w], state.past_signals[w]
    for k in range(rules.history - 1, 0, -1):
        state.past_phase[w, k] = state.past_phase[w, k - 1]
        state.past_day[w, k] = state.past_day[w, k - 1]
        state.past_chosen[w, k] = state.past_chosen[w, k - 1]
        for i in range(rules.players):
            for slot in range(rules.names):
                past_targets[k, i, slot] = past_targets[k - 1, i, slot]
            for place in range(rules.length):
                past_signals[k, i, place] = past_signals[k - 1, i, place]
    state.past_phase[w, 0] = room.public_phase
    state.past_day[w, 0] = room.day
    state.past_chosen[w, 0] = NONE
    for i in range(rules.players):
        for slot in range(rules.names):
            past_targets[0, i, slot] = state.public_targets[w, i, slot]
        for place in range(rules.length):
            past_signals[0, i, place] = state.public_signals[w, i, place]
