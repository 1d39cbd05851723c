"""One decision of a battle, and its beginning, for a range of worlds (specification 4.3)."""

from interplay.core.jit import kernel, phase
from interplay.worlds.battle.config import TICKS
from interplay.worlds.battle.observe import look_around
from interplay.worlds.battle.rules.ending import AFTER, BEFORE, count_sides, decide_end, give_rewards
from interplay.worlds.battle.rules.fight import attack, bury_dead, take_aim
from interplay.worlds.battle.rules.motion import PUSHES, push_apart, take_orders, walk
from interplay.worlds.battle.rules.notice import notice_enemies
from interplay.worlds.battle.rules.spawn import begin_battle
from interplay.worlds.battle.rules.time import pass_tick


@kernel
def step_worlds(state, outputs, sight, body, table, scratch, action, thread, first_world, end_world):
    """Steps every unfinished world of the range by one decision, and writes its views."""
    rules = table[0]
    for w in range(first_world, end_world):
        if outputs.over[w]:
            continue
        take_orders(state, body, rules, scratch, action, thread, w)
        count_sides(state, rules, scratch, thread, w, BEFORE)
        for _ in range(TICKS):
            play_tick(state, body, rules, scratch, thread, w)
        count_sides(state, rules, scratch, thread, w, AFTER)
        decide_end(state, outputs, rules, scratch, thread, w)
        give_rewards(state, body, outputs, rules, scratch, thread, w)
        notice_enemies(state, body, rules, w)
        look_around(state, sight, body, rules, w)


@phase
def play_tick(state, body, rules, scratch, thread, w):
    """A sixteenth of a second."""
    if take_aim(state, body, rules, scratch, thread, w):
        attack(state, body, rules, scratch, thread, w)
        bury_dead(state, body, rules, scratch, thread, w)
    walk(state, body, rules, scratch, thread, w)
    for _ in range(PUSHES):
        push_apart(state, body, rules, scratch, thread, w)
    pass_tick(state, body, rules, w)


@kernel
def begin_worlds(state, outputs, sight, body, table, scratch, which, thread, first_world, end_world):
    """Begins a battle in the worlds of the range marked in `which` (W,)."""
    rules = table[0]
    for w in range(first_world, end_world):
        if which[w]:
            begin_battle(state, body, outputs, rules, scratch, thread, w)
            notice_enemies(state, body, rules, w)
            look_around(state, sight, body, rules, w)


@kernel
def look_at_worlds(state, sight, body, table, first_world, end_world):
    """Recomputes views after the state was written from outside. Nothing new is noticed, because noticing draws random numbers."""
    rules = table[0]
    for w in range(first_world, end_world):
        look_around(state, sight, body, rules, w)
