"""The night: divine, guard, attack, brew, and the deaths at dawn (specification 16.3)."""

from interplay.core.jit import phase
from interplay.worlds.werewolf.roles import BREW, DIVINE, GUARD
from interplay.worlds.werewolf.rules.deaths import mark_dying
from interplay.worlds.werewolf.state import NONE

HEAL, POISON = 0, 1


@phase
def divine(state, rules, tables, scratch, s, w):
    """Gives seers the species of the seat they named, also if it dies this night."""
    for i in range(rules.players):
        name = scratch.ballots[s, i, 0]
        if state.ability[w, i] == DIVINE and name != NONE:
            state.known[w, i, name] = tables.species[state.role[w, name]]


@phase
def guard(state, rules, scratch, s, w, victim):
    """Stores the guarded seats; returns the victim, or NONE if it was guarded."""
    for i in range(rules.players):
        if state.ability[w, i] == GUARD:
            name = scratch.ballots[s, i, 0]
            state.guarded[w, i] = name
            if name == victim:
                victim = NONE
    return victim


@phase
def look_at_victim(state, rules, w):
    """Shows the attacked seat to witches that can heal."""
    victim = state.room[w].victim
    if victim == NONE:
        return
    for i in range(rules.players):
        if state.alive[w, i] and state.potions[w, i, HEAL]:
            state.known[w, i, victim] = 1


@phase
def brew(state, rules, scratch, s, w):
    """Applies the witches' potions: heals the victim, or marks a poisoned seat as dying."""
    room = state.room[w]
    victim = room.victim
    for i in range(rules.players):
        if state.ability[w, i] != BREW:
            continue
        name = scratch.ballots[s, i, 0]
        if name == NONE:
            continue
        if name == victim and state.potions[w, i, HEAL]:
            state.potions[w, i, HEAL] = False
            room.victim = NONE
        elif state.potions[w, i, POISON]:
            state.potions[w, i, POISON] = False
            mark_dying(scratch, s, rules.players, name)
    if victim != NONE:
        for i in range(rules.players):
            if state.ability[w, i] == BREW:
                state.known[w, i, victim] = NONE


@phase
def break_dawn(state, rules, scratch, s, w):
    """Marks the remaining victim as dying."""
    room = state.room[w]
    room.eaten = room.victim
    if room.victim != NONE:
        mark_dying(scratch, s, rules.players, room.victim)
    room.victim = NONE
