"""Ends, results and rewards (specification 3.7)."""

import numpy as np

from interplay.core.jit import phase


@phase
def side_of(rules, a):
    """The agent's team, or the agent itself."""
    return a % 2 if rules.teams else a


@phase
def decide_end(state, rules, w):
    """Ends a game with at most one living side, or at the limit, and sets the outcomes."""
    standing, last = 0, -1
    for side in range(2 if rules.teams else rules.players):
        for a in range(rules.players):
            if side_of(rules, a) == side and state.agent[w, a].alive:
                standing += 1
                last = side
                break
    room = state.room[w]
    ended = standing <= 1
    room.over = ended or room.steps >= rules.limit
    for a in range(rules.players):
        person = state.agent[w, a]
        state.acting[w, a] = person.alive and not room.over
        if ended and standing == 1:
            person.outcome = 1 if side_of(rules, a) == last else -1
        gone = not (person.alive or rules.stays)
        if not person.ended and (room.over or gone):
            state.terminated[w, a] = ended or gone
            state.truncated[w, a] = not (ended or gone)


@phase
def result_of(state, rules, w, a):
    """Reward of the result for an agent in this step."""
    person, over = state.agent[w, a], state.room[w].over
    if rules.zero_sum:  # losers pay the winners' gain in equal shares
        if rules.teams or rules.players == 2 or person.outcome == 1:
            return np.float64(person.outcome)
        return person.outcome / (rules.players - 1)
    if over and person.outcome == 1:
        return 1.0
    if rules.teams:
        return -1.0 if over else 0.0
    if rules.players == 2:
        both_fell = over and not (state.agent[w, 0].alive or state.agent[w, 1].alive)
        return -1.0 if over and not both_fell else 0.0
    if rules.pays_dead:
        return -1.0 if over or not person.alive else 0.0
    return -1.0 if person.died or (over and person.alive) else 0.0


@phase
def give_rewards(state, rules, w):
    """Pays the result and the weighted deaths and items of this step, by side."""
    for a in range(rules.players):
        person, paid = state.agent[w, a], 0.0
        if not person.ended:
            paid = rules.pay_result * result_of(state, rules, w, a)
            for b in range(rules.players):
                other = state.agent[w, b]
                if side_of(rules, a) != side_of(rules, b):
                    paid += rules.pay_felled * other.died
                    continue
                paid -= rules.pay_lost * other.died
                paid += rules.pay_range * other.won_range + rules.pay_kick * other.won_kick
                paid += rules.pay_bomb * other.won_bomb
        state.reward[w, a] = paid
        person.returns += paid
        person.ended = person.ended or state.terminated[w, a] or state.truncated[w, a]
