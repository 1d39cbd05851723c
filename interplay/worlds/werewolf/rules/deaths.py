"""Deaths, their consequences, and the end of a game (specification 5 and 16.3)."""

from interplay.core.jit import phase
from interplay.worlds.werewolf.phases import EXECUTED, LAST_SHOT, POTIONS
from interplay.worlds.werewolf.roles import HUMAN, HUNTER, MEDIUM, VILLAGERS, WOLF, WOLVES
from interplay.worlds.werewolf.rules.rewards import DEATH, pay
from interplay.worlds.werewolf.state import BY_POISON, BY_SHOT, BY_TEETH, BY_VOTE, NONE


@phase
def cause_of_death(ended_phase, eaten, resolver, i):
    """The cause of a death in the phase that was played."""
    if ended_phase == LAST_SHOT:
        return BY_SHOT
    if ended_phase == POTIONS and i != eaten:
        return BY_POISON
    return BY_VOTE if resolver == EXECUTED and ended_phase != POTIONS else BY_TEETH


@phase
def mark_dying(scratch, s, players, seat):
    """Adds a seat to the deaths of this step, once."""
    dying = scratch.dying[s]
    count = dying[players]
    for k in range(count):
        if dying[k] == seat:
            return
    dying[count] = seat
    dying[players] = count + 1


@phase
def bury(state, rules, tables, scratch, s, w):
    """Applies the deaths of this step."""
    room, dying = state.room[w], scratch.dying[s]
    if dying[rules.players] > 0:
        state.told[w] = True
    for k in range(dying[rules.players]):
        seat = dying[k]
        role = state.role[w, seat]
        state.alive[w, seat] = False
        state.fate[w, seat] = cause_of_death(room.ended_phase, room.eaten, tables.resolver[room.row], seat)
        state.fell[w, seat] = state.stream[w, 2]
        room.living -= 1
        room.wolves -= tables.counts_as[role] == WOLF
        room.humans -= tables.counts_as[role] == HUMAN
        pay(state, rules, w, seat, DEATH, rules.reward_death)
        if rules.reveal_role:
            state.revealed[w, seat] = role
        if role == HUNTER and room.living > 0:
            state.owed[w, seat] = True
            room.shots += 1
    dying[rules.players] = 0


@phase
def inform_mediums(state, rules, tables, w, executed):
    """Gives living mediums the executed seat's species."""
    if not rules.private or executed == NONE:
        return
    species = tables.species[state.role[w, executed]]
    for i in range(rules.players):
        if state.role[w, i] == MEDIUM and state.alive[w, i]:
            state.known[w, i, executed] = species


@phase
def decide_winner(state, rules, w):
    """Ends the game when no wolf is left, at parity, or at the limit of days."""
    room = state.room[w]
    if room.wolves == 0:
        room.winner = VILLAGERS
    elif room.wolves >= room.humans:
        room.winner = WOLVES
    elif room.day >= rules.days:
        room.cut = True
    room.over = room.cut or room.winner != NONE


@phase
def end_everybody(state, rules, w):
    """Ends all seats that have not ended yet."""
    cut = state.room[w].cut
    for i in range(rules.players):
        fresh = not state.ended[w, i]
        # A death in this step terminates, even at the limit.
        dies = (not rules.spectate) & (not state.alive[w, i])
        state.terminated[w, i] = fresh & (dies | (not cut))
        state.truncated[w, i] = fresh & cut & (not dies)
        state.ended[w, i] = True


@phase
def end_dead(state, rules, w):
    """With dead = end_with_bootstrap: ends dead seats, hunters after their shot."""
    for i in range(rules.players):
        if not (state.alive[w, i] or state.ended[w, i] or state.owed[w, i]):
            state.terminated[w, i] = True
            state.ended[w, i] = True
