"""Observations beside the shared boards: action masks, the pack, boards with a limited audience.

Public boards are not copied: all players view the world's own array. The arrays here are updated where they changed, or with `anew`
recomputed from the state.
"""

from interplay.core.jit import phase
from interplay.worlds.werewolf.roles import (
    ATTACK,
    BREW,
    DIVINE,
    GUARD,
    NO_ABILITY,
    SHOOT,
    SPEAK,
    SPEAK_IN_PACK,
    VOTE,
    WEREWOLF,
)
from interplay.worlds.werewolf.rules.flow import can_divine, can_guard
from interplay.worlds.werewolf.rules.night import HEAL, POISON
from interplay.worlds.werewolf.rules.numbers import LAST_PHASE, SPLIT
from interplay.worlds.werewolf.rules.speech import speaks
from interplay.worlds.werewolf.state import IN_TABLE, NONE, REVOTE

# -- masks (specification 6) ------------------------------------------------------------------------------------------


@phase
def write_masks(state, sight, rules, tables, scratch, s, w, anew):
    """Writes the action masks where they changed."""
    room = state.room[w]
    form = tables.form[room.row] if room.stage == IN_TABLE and not room.over else NONE
    if not anew and form != NONE and form == sight.written[w] and room.living == sight.counted[w]:
        return
    n, mask, names = rules.players, sight.mask[w], scratch.names[s]
    list_names(state, rules, names, w)
    for i in range(n):
        ability = state.ability[w, i]
        for j in range(n + 1):
            mask[i, j] = names[ability, j]
        if ability == VOTE and not rules.allow_self_vote:
            mask[i, i] = False
        elif ability >= DIVINE:
            write_private_names(state, mask, rules, w, i, ability)
        for slot in range(1, rules.names):
            for j in range(n + 1):
                mask[i, slot * (n + 1) + j] = mask[i, j]
    if rules.length > 0:
        for i in range(n):
            write_symbols(mask, rules, tables, i, speaks(state.ability[w, i]))
    sight.written[w] = form
    sight.counted[w] = room.living


@phase
def list_names(state, rules, names, w):
    """Lists the legal names of abilities that depend only on the living; pass is the last column."""
    n, again = rules.players, state.room[w].stage == REVOTE
    for j in range(n):
        alive = state.alive[w, j]
        prey = alive & (state.role[w, j] != WEREWOLF)
        names[NO_ABILITY, j] = False
        names[SPEAK, j] = alive
        names[SPEAK_IN_PACK, j] = prey
        names[ATTACK, j] = prey
        names[VOTE, j] = alive & (state.suspect[w, j] | (not again))
    names[NO_ABILITY, n] = True
    names[SPEAK, n] = names[SPEAK_IN_PACK, n] = names[ATTACK, n] = False
    names[VOTE, n] = rules.allow_abstain


@phase
def write_private_names(state, mask, rules, w, i, ability):
    """Writes the legal names of a seer, a guard, a witch or a dying hunter."""
    n, victim = rules.players, state.room[w].victim
    mask[i, n] = ability == BREW or (ability == SHOOT and rules.hunter_pass)
    for j in range(n):
        legal = False
        if ability == DIVINE:
            legal = can_divine(state, w, i, j)
        elif ability == GUARD:
            legal = can_guard(state, rules, w, i, j)
        elif ability == SHOOT:
            legal = state.alive[w, j]
        elif ability == BREW:
            heals = j == victim and state.potions[w, i, HEAL]
            legal = heals or (j != i and state.alive[w, j] and state.potions[w, i, POISON])
        mask[i, j] = legal


@phase
def write_symbols(mask, rules, tables, i, speaking):
    """Allows all symbols for speakers, symbol 0 for others."""
    column = rules.names * (rules.players + 1)
    for choice in range(column, rules.choices):
        mask[i, choice] = speaking
    for place in range(rules.length):
        mask[i, column] = True
        column += tables.symbols[place]


# -- the pack and its boards (specification 7) ------------------------------------------------------------------------


@phase
def show_pack(state, sight, rules, tables, w):
    """Shows the pack to its members, and clears the boards of the night."""
    n, insiders, count = rules.players, sight.insiders[w], 0
    for k in range(n):
        if insiders[k] != NONE:
            hide_night(sight, rules, w, insiders[k])
        insiders[k] = NONE
    if rules.board != SPLIT:
        for i in range(n):
            blank(sight.block_targets[w, i], n, rules.names)
            blank(sight.block_signals[w, i], n, rules.length)
    for i in range(n):
        if tables.knows_pack[state.role[w, i]]:
            insiders[count] = i
            count += 1
            for j in range(n):
                sight.pack[w, i, j] = rules.show_pack & (state.role[w, j] == WEREWOLF)


@phase
def hide_night(sight, rules, w, i):
    """Clears the pack's information of a seat that was in it in the last game."""
    for j in range(rules.players):
        sight.pack[w, i, j] = False
    sight.pack_phase[w, i] = NONE
    if rules.board == SPLIT:
        blank(sight.pack_targets[w, i], rules.players, rules.names)
        blank(sight.pack_signals[w, i], rules.players, rules.length)


@phase
def show_boards(state, sight, rules, w, number):
    """Copies that phase's board to its viewers; public boards are copied only in WD's form."""
    room, n = state.room[w], rules.players
    if number == NONE:
        return
    if number == room.pack_phase:
        if rules.board == LAST_PHASE:
            for i in range(n):
                blank(sight.block_targets[w, i], n, rules.names)
                blank(sight.block_signals[w, i], n, rules.length)
        for k in range(n):
            i = sight.insiders[w, k]
            if i == NONE:
                break
            show_night(state, sight, rules, w, i)
    elif number == room.public_phase and rules.board != SPLIT:
        for i in range(n):
            copy_board(state.public_targets[w], sight.block_targets[w, i], n, rules.names)
            copy_board(state.public_signals[w], sight.block_signals[w, i], n, rules.length)


@phase
def show_night(state, sight, rules, w, i):
    """Copies the pack's board to one of its members."""
    if rules.board == SPLIT:
        copy_board(state.pack_targets[w], sight.pack_targets[w, i], rules.players, rules.names)
        copy_board(state.pack_signals[w], sight.pack_signals[w, i], rules.players, rules.length)
        sight.pack_phase[w, i] = state.room[w].pack_phase
    else:
        copy_board(state.pack_targets[w], sight.block_targets[w, i], rules.players, rules.names)
        copy_board(state.pack_signals[w], sight.block_signals[w, i], rules.players, rules.length)


@phase
def copy_board(board, seen, players, width):
    for i in range(players):
        for k in range(width):
            seen[i, k] = board[i, k]


@phase
def blank(seen, players, width):
    for i in range(players):
        for k in range(width):
            seen[i, k] = NONE
