"""The rewards of players (specification 8)."""

import numpy as np

from interplay.core.jit import phase
from interplay.worlds.werewolf.state import NONE

DAY, DEATH, ACCORD, TEAM, WASTED = range(5)


@phase
def pay(state, rules, w, i, term, amount):
    """Adds to a seat's reward, and to its term if terms are kept."""
    state.reward[w, i] += np.float32(amount)
    if rules.reward_terms:
        state.terms[w, i, term] += np.float32(amount)


@phase
def charge_accord(state, rules, scratch, s, w, ability, chosen):
    """Charges voters that did not name the chosen player; returns the share that did."""
    ballots = scratch.ballots[s]
    agreeing, voters = 0, 0
    for i in range(rules.players):
        votes = state.ability[w, i] == ability
        place = place_on(ballots[i], rules.names, chosen)
        agrees = votes & (place < rules.depth)
        voters += votes
        agreeing += agrees
        weight = int(votes) - int(agrees)  # NumPy's own bools have no minus
        if rules.by_rank:
            weight = votes * (rules.absent if place >= rules.names else place)
        pay(state, rules, w, i, ACCORD, rules.reward_accord * weight + 0.0)  # 0, not -0
    return agreeing / voters if voters > 0 else 0.0


@phase
def place_on(ballot, names, chosen):
    """Index of the first mention on the ballot; `names` if there is none."""
    place = names
    for slot in range(names - 1, -1, -1):
        place = slot if ballot[slot] == chosen else place
    return place


@phase
def charge_day(state, rules, w, wasted):
    """Charges the living after a vote, once more if it chose none."""
    for i in range(rules.players):
        pay(state, rules, w, i, DAY, rules.reward_day if state.alive[w, i] else 0.0)
    if wasted and rules.reward_wasted != 0.0:
        for i in range(rules.players):
            pay(state, rules, w, i, WASTED, rules.reward_wasted if state.alive[w, i] else 0.0)


@phase
def settle_teams(state, rules, tables, w):
    """Pays victory and loss, also to the dead; seats that ended earlier get it in `late`."""
    winner = state.room[w].winner
    if winner == NONE:
        return
    for i in range(rules.players):
        won = tables.team[state.role[w, i]] == winner
        result = rules.reward_victory if won else rules.reward_lost
        if rules.spectate or not state.ended[w, i]:
            pay(state, rules, w, i, TEAM, result)
        else:
            state.late[w, i] = np.float32(result)
