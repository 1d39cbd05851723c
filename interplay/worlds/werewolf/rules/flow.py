"""The walk through the table of phases, and the acting seats of each phase."""

from interplay.core.jit import phase
from interplay.worlds.werewolf.phases import LAST_SHOT, POTIONS
from interplay.worlds.werewolf.roles import BREW, DIVINE, GUARD, NO_ABILITY, SHOOT, WITCH
from interplay.worlds.werewolf.rules.night import HEAL, POISON
from interplay.worlds.werewolf.rules.numbers import ANY_DAY
from interplay.worlds.werewolf.state import IN_TABLE, NONE, SHOT_STAGE


@phase
def advance_row(state, rules, tables, w):
    """Goes to the next round or row with actors."""
    room = state.room[w]
    room.stage = IN_TABLE
    room.revotes = 0
    room.talk_round += 1
    if room.talk_round >= tables.rounds[room.row]:
        next_row(state, rules, w)
    find_row(state, rules, tables, w)


@phase
def next_row(state, rules, w):
    """Goes to the next row. A round of the table without an execution is a day too."""
    room = state.room[w]
    room.talk_round = 0
    room.row = 0 if room.row + 1 == rules.rows else room.row + 1
    if room.row == 0:
        if room.day == room.dawn:
            room.day += 1
        room.dawn = room.day


@phase
def find_row(state, rules, tables, w):
    """Goes to the next row that is played today and has actors; else cuts the game."""
    room = state.room[w]
    for _ in range((rules.days + 1) * rules.rows):  # once around for every day left
        row = room.row
        held = room.day != tables.except_day[row]
        held = held and (tables.only_day[row] == ANY_DAY or tables.only_day[row] == room.day)
        if held and tables.rounds[row] > 0 and set_actors(state, rules, tables, w, row):
            room.phase = tables.phase[row]
            return
        next_row(state, rules, w)
    room.cut = True
    room.over = True


@phase
def set_actors(state, rules, tables, w, row):
    """Sets the abilities and acting seats of a row; returns whether any seat acts."""
    role, alive, ability, acting = state.role[w], state.alive[w], state.ability[w], state.acting[w]
    count = 0
    for i in range(rules.players):
        found = tables.ability[row, role[i]] * alive[i]
        if rules.private:
            found = drop_useless(state, rules, w, i, found)
        ability[i] = found
        acting[i] = found != NO_ABILITY
        count += found != NO_ABILITY
    return count > 0


@phase
def drop_useless(state, rules, w, i, ability):
    """The ability, or NO_ABILITY if it has no target."""
    if ability != DIVINE and ability != GUARD:
        return ability
    found = False
    for j in range(rules.players):
        if ability == DIVINE:
            found = found or can_divine(state, w, i, j)
        else:
            found = found or can_guard(state, rules, w, i, j)
    return ability if found else ability * 0  # of the ability's type


@phase
def can_divine(state, w, i, j):
    """Whether j is a living other seat of unknown species."""
    return j != i and state.alive[w, j] and state.known[w, i, j] == NONE


@phase
def can_guard(state, rules, w, i, j):
    """Whether the guard i may guard j."""
    if not state.alive[w, j] or (j == i and not rules.guard_self):
        return False
    return rules.guard_repeat or state.guarded[w, i] != j


# -- phases without a row ---------------------------------------------------------------------------------------------


@phase
def set_brewers(state, rules, w):
    """Sets the witches that can act this night; returns whether any can."""
    wakes = False
    for i in range(rules.players):
        brews = can_brew(state, w, i)
        wakes = wakes or brews
    if wakes:
        for i in range(rules.players):
            brews = can_brew(state, w, i)
            state.ability[w, i] = BREW if brews else NO_ABILITY
            state.acting[w, i] = brews
        state.room[w].phase = POTIONS
    return wakes


@phase
def can_brew(state, w, i):
    """Whether a seat has a usable potion."""
    if state.role[w, i] != WITCH or not state.alive[w, i]:
        return False
    heals = state.potions[w, i, HEAL] and state.room[w].victim != NONE
    return heals or state.potions[w, i, POISON]


@phase
def set_shooter(state, rules, w):
    """Sets the first pending hunter as the acting seat."""
    room = state.room[w]
    room.stage = SHOT_STAGE
    room.phase = LAST_SHOT
    room.shooter = NONE
    for i in range(rules.players):
        asked = state.owed[w, i] and room.shooter == NONE
        if asked:
            room.shooter = i
        state.ability[w, i] = SHOOT if asked else NO_ABILITY
        state.acting[w, i] = asked


@phase
def clear_actors(state, rules, w):
    """Clears abilities and acting seats of a world that is over."""
    for i in range(rules.players):
        state.ability[w, i] = NO_ABILITY
        state.acting[w, i] = False
