"""Winner and rewards (specification 4.5 and 5.4)."""

from interplay.core.jit import phase
from interplay.worlds.battle.config import FULL_REWARD, KILL_POINTS, OWN_SHARE, UNIT_REWARD, WIN_POINTS
from interplay.worlds.battle.rules.sides import end_of, first_of, side_of
from interplay.worlds.battle.state import BLUE, RED

BEFORE, AFTER = 0, 1  # a decision


@phase
def count_sides(state, rules, scratch, thread, w, when):
    """Counts the living of both sides, their HP and shields."""
    living, points = scratch.living[thread, when], scratch.points[thread, when]
    for side in range(2):
        living[side], points[side] = 0, 0.0
    for a in range(rules.slots):
        unit, side = state.unit[w, a], side_of(rules, a)
        living[side] += unit.alive
        points[side] += unit.health + unit.shield


@phase
def decide_end(state, outputs, rules, scratch, thread, w):
    """A side without units loses, both at once is a draw; the limit truncates. Dead units still get the final reward, so they end too."""
    room, living = state.room[w], scratch.living[thread, AFTER]
    room.steps += 1
    decided = living[RED] == 0 or living[BLUE] == 0
    room.outcome = int(living[RED] > 0) - int(living[BLUE] > 0) if decided else 0
    over = decided or room.steps >= rules.limit
    outputs.over[w] = over
    for a in range(rules.slots):
        unit = state.unit[w, a]
        outputs.acting[w, a] = unit.alive and not over
        outputs.terminated[w, a] = unit.present and decided
        outputs.truncated[w, a] = unit.present and over and not decided


@phase
def give_rewards(state, body, outputs, rules, scratch, thread, w):
    """The same reward to all members of a side, dead ones included."""
    for side in range(2):
        first, end = first_of(rules, side), end_of(rules, side)
        result = state.room[w].outcome if side == RED else -state.room[w].outcome
        living, points = scratch.living[thread], scratch.points[thread]
        own_lost = living[BEFORE, side] - living[AFTER, side]
        felled = living[BEFORE, 1 - side] - living[AFTER, 1 - side]
        pay = rules.pays_result * result + rules.pays_losses * UNIT_REWARD * (felled - own_lost)
        if rules.pays_smac:
            taken = points[BEFORE, 1 - side] - points[AFTER, 1 - side]
            lost = points[BEFORE, side] - points[AFTER, side]
            pay += smac_points(rules, taken + KILL_POINTS * felled, lost + KILL_POINTS * own_lost, result)
        if rules.scaled:
            pay *= FULL_REWARD / full_points(state, body, rules, w, 1 - side)
        if outputs.over[w] and living[AFTER, RED] > 0 and living[AFTER, BLUE] > 0:
            pay += rules.timeout
        for a in range(first, end):
            if state.unit[w, a].present:
                outputs.reward[w, a] = pay


@phase
def smac_points(rules, gained, lost, result):
    """SMAC's reward before it is scaled."""
    if rules.negatives:
        points = gained - OWN_SHARE * lost
    else:
        points = abs(gained) if rules.exact_smac else max(gained, 0.0)
    if result > 0:
        return points + WIN_POINTS
    return points - rules.defeat if result < 0 else points


@phase
def full_points(state, body, rules, w, enemy):
    """What a clean win over an army pays before it is scaled."""
    points = WIN_POINTS
    for a in range(first_of(rules, enemy), end_of(rules, enemy)):
        if state.unit[w, a].present:
            points += KILL_POINTS + body[a].health + body[a].shield
    return points
