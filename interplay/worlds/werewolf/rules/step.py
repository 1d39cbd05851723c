"""One phase of every world: ballots, boards, counts, deaths, and the walk to the next phase."""

import numpy as np

from interplay.core.jit import kernel, phase
from interplay.worlds.werewolf.observe import show_boards, show_pack, write_masks
from interplay.worlds.werewolf.phases import EXECUTED, KILLED, PACK, TALKED
from interplay.worlds.werewolf.roles import ATTACK, VOTE
from interplay.worlds.werewolf.rules.deal import clear_table, clear_tally, deal_roles
from interplay.worlds.werewolf.rules.deaths import (
    bury,
    decide_winner,
    end_dead,
    end_everybody,
    inform_mediums,
    mark_dying,
)
from interplay.worlds.werewolf.rules.flow import advance_row, clear_actors, find_row, set_brewers, set_shooter
from interplay.worlds.werewolf.rules.night import break_dawn, brew, divine, guard, look_at_victim
from interplay.worlds.werewolf.rules.rewards import charge_accord, charge_day, settle_teams
from interplay.worlds.werewolf.rules.speech import (
    read_ballots,
    remember_board,
    write_board,
)
from interplay.worlds.werewolf.rules.tally import (
    add_count,
    add_drift,
    add_execution,
    add_kill,
    add_suicides,
    compare_with_talk,
)
from interplay.worlds.werewolf.rules.votes import (
    call_revote,
    choose_execution,
    count_ballots,
    draw_among,
    find_second,
    find_top,
)
from interplay.worlds.werewolf.state import IN_TABLE, NONE, POTIONS_STAGE, REVOTE, SHOT_STAGE

_ONE = np.uint64(1)
AGAIN = NONE - 1  # the vote is tied and repeated


@kernel
def step_worlds(state, sight, table, tables, scratch, action, s, first_world, end_world):
    """Plays and observes one phase of every world of the range that is not over."""
    rules = table[0]
    for w in range(first_world, end_world):
        if state.told[w]:
            state.told[w] = False
            if rules.reward_terms:
                state.terms[w] = 0.0
        if state.room[w].over:
            continue
        state.stream[w, 2] += _ONE
        room = state.room[w]
        room.ended_phase = room.phase
        room.ended_round = room.talk_round
        room.ended_day = room.day
        room.chosen = NONE
        room.tied = False
        read_ballots(state, sight, rules, scratch, action, s, w)
        goes_on = True
        if room.stage == POTIONS_STAGE:
            brew(state, rules, scratch, s, w)
            break_dawn(state, rules, scratch, s, w)
        elif room.stage == SHOT_STAGE:
            shoot(state, rules, scratch, s, w)
        else:
            goes_on = play_row(state, rules, tables, scratch, action, s, w)
        if goes_on:
            bury(state, rules, tables, scratch, s, w)
            finish_phase(state, rules, tables, w)
        if not rules.spectate and state.told[w] and not room.over:
            end_dead(state, rules, w)
        show_boards(state, sight, rules, w, room.ended_phase)
        write_masks(state, sight, rules, tables, scratch, s, w, False)


@kernel
def begin_worlds(state, sight, table, tables, which, thread, first_world, end_world):
    """Starts the games of the worlds in `which`; `look_at_worlds` writes the observations."""
    rules = table[0]
    for w in range(first_world, end_world):
        if which[w]:
            clear_table(state, rules, w)
            clear_tally(state, w)
            deal_roles(state, rules, tables, w)
            find_row(state, rules, tables, w)


@kernel
def look_at_worlds(state, sight, table, tables, scratch, which, s, first_world, end_world):
    """Recomputes the observations of the worlds in `which`."""
    rules = table[0]
    for w in range(first_world, end_world):
        if not which[w]:
            continue
        show_pack(state, sight, rules, tables, w)
        room = state.room[w]
        for number in (room.public_phase, room.pack_phase, room.block_phase):  # the last one overwrites
            show_boards(state, sight, rules, w, number)
        write_masks(state, sight, rules, tables, scratch, s, w, True)


@phase
def play_row(state, rules, tables, scratch, action, s, w):
    """Plays a row of the table, or a revote; returns whether the phase is finished."""
    room = state.room[w]
    resolver, public = tables.resolver[room.row], tables.audience[room.row] != PACK
    if resolver == EXECUTED and room.stage == IN_TABLE:
        compare_with_talk(state, rules, tables, scratch, s, w)
    if public:
        room.public_phase = room.phase
        targets, words = state.public_targets, state.public_signals
        write_board(state, rules, tables, scratch, action, targets, words, s, w)
        if rules.history > 0:
            remember_board(state, rules, w)
    else:
        room.pack_phase = room.phase
        targets, words = state.pack_targets, state.pack_signals
        write_board(state, rules, tables, scratch, action, targets, words, s, w)
    room.block_phase = room.phase
    if resolver == KILLED:
        return resolve_kill(state, rules, tables, scratch, s, w)
    if resolver == EXECUTED:
        return resolve_execution(state, rules, tables, scratch, s, w)
    return True


@phase
def resolve_kill(state, rules, tables, scratch, s, w):
    """Resolves the night: the victim dies now, or after a witch's choice."""
    room = state.room[w]
    if rules.private:
        divine(state, rules, tables, scratch, s, w)
    voters = count_ballots(state, rules, scratch, s, w, ATTACK)
    best, sharing = find_top(rules, scratch, s)
    second = find_second(rules, scratch, s, best, sharing)
    add_count(state, rules, tables, scratch, s, w, voters, best, second)
    add_kill(state, rules, scratch, s, w, ATTACK)
    victim = NONE
    if sharing > 0:
        victim = np.int64(draw_among(state, scratch, s, w, sharing))
        state.tally[w].accord += charge_accord(state, rules, scratch, s, w, ATTACK, victim)
        state.tally[w].held += 1
    room.chosen = victim
    room.tied = sharing > 1
    state.tally[w].ties += room.tied
    if rules.private:
        victim = guard(state, rules, scratch, s, w, victim)
    room.victim = victim
    state.told[w] = True
    if rules.private and set_brewers(state, rules, w):
        room.stage = POTIONS_STAGE
        look_at_victim(state, rules, w)
        return False
    break_dawn(state, rules, scratch, s, w)
    return True


@phase
def resolve_execution(state, rules, tables, scratch, s, w):
    """Counts the votes: an execution, none, or a revote."""
    room = state.room[w]
    voters = count_ballots(state, rules, scratch, s, w, VOTE)
    best, sharing = find_top(rules, scratch, s)
    second = find_second(rules, scratch, s, best, sharing)
    add_count(state, rules, tables, scratch, s, w, voters, best, second)
    chosen = choose_execution(state, rules, scratch, s, w, best, sharing)
    room.tied = sharing > 1
    if chosen == AGAIN:
        call_revote(state, rules, scratch, s, w, sharing)
        room.stage = REVOTE
        return False
    room.chosen = chosen
    state.told[w] = True
    charge_day(state, rules, w, chosen == NONE)
    if chosen != NONE:
        state.tally[w].accord += charge_accord(state, rules, scratch, s, w, VOTE, chosen)
        state.tally[w].held += 1
        state.tally[w].ties += room.tied  # decided by a draw
        mark_dying(scratch, s, rules.players, chosen)
        if rules.history > 0:
            state.past_chosen[w, 0] = chosen
    add_suicides(state, rules, scratch, s, w, voters)
    add_drift(state, rules, scratch, s, w)
    add_execution(state, tables, w, chosen)
    inform_mediums(state, rules, tables, w, chosen)
    room.executed = chosen
    return True


@phase
def shoot(state, rules, scratch, s, w):
    """Applies a dying hunter's shot."""
    room = state.room[w]
    name = scratch.ballots[s, room.shooter, 0]
    room.chosen = name
    state.told[w] = True
    state.owed[w, room.shooter] = False
    room.shots -= 1
    room.shooter = NONE
    if name != NONE:
        mark_dying(scratch, s, rules.players, name)


@phase
def finish_phase(state, rules, tables, w):
    """Lets the next dying hunter act, or ends the phase: day, end test, next row."""
    room = state.room[w]
    if room.shots > 0:
        set_shooter(state, rules, w)
        return
    resolver = tables.resolver[room.row]
    if resolver == EXECUTED:
        room.day += 1
    if resolver != TALKED:
        decide_winner(state, rules, w)
    if not room.over:
        advance_row(state, rules, tables, w)
    if room.over:
        settle_teams(state, rules, tables, w)
        end_everybody(state, rules, w)
        clear_actors(state, rules, w)
        state.told[w] = True
