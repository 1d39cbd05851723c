"""Kernels around a battle's decision in the real game: what the actions order, and what the decision led to."""

from interplay.core.jit import kernel
from interplay.worlds.battle.observe import look_around
from interplay.worlds.battle.rules.ending import AFTER, BEFORE, count_sides, decide_end, give_rewards
from interplay.worlds.battle.rules.motion import take_orders
from interplay.worlds.battle.rules.notice import notice_enemies

# The working arrays have a row for each world here, because a decision is split by the game's step.


@kernel
def read_orders(state, body, table, scratch, action, which):
    """Writes targets and destinations of the worlds in `which`, and counts both sides."""
    rules = table[0]
    for w in range(len(which)):
        if which[w]:
            take_orders(state, body, rules, scratch, action, w, w)
            count_sides(state, rules, scratch, w, w, BEFORE)


@kernel
def judge(state, outputs, sight, body, table, scratch, which):
    """Writes rewards, ends and views of the worlds in `which` from the units that the game has left."""
    rules = table[0]
    for w in range(len(which)):
        if which[w]:
            count_sides(state, rules, scratch, w, w, AFTER)
            decide_end(state, outputs, rules, scratch, w, w)
            give_rewards(state, body, outputs, rules, scratch, w, w)
            notice_enemies(state, body, rules, w)
            look_around(state, sight, body, rules, w)
