"""The safe zone's clock, rewards and the end (specification 4.5, 8)."""

import numpy as np

from interplay.core.jit import kernel, phase
from interplay.worlds.survival.rules.fight import change_health
from interplay.worlds.survival.state import ZONE


@phase
def burn_outside(state, rules, w):
    """SafeZone: damages living agents outside the zone as before this tick; in the endgame all of them.

    Without the last clause an agent at the exact centre of the endgame would never die.
    """
    x, y, radius = state.room[w].zone_x, state.room[w].zone_y, state.room[w].zone_r
    for a in range(rules.agents):
        if not state.body[w, a].present:
            continue
        dx, dy = state.body[w, a].x - x, state.body[w, a].y - y
        if radius == 0.0 or dx * dx + dy * dy > radius * radius:
            change_health(state, rules, w, a, -rules.zone_damage, ZONE)


@phase
def count_step(state, w):
    """Advances the clock of the episode; the zone's tick also calls it."""
    state.room[w].steps += 1


@phase
def move_zone(state, rules, w):
    """SafeZone: one tick. Phase p stays for `zone_cooldown` ticks, then moves for as many to phase p + 1."""
    count_step(state, w)
    centres = state.zone_centres[w]
    phase = min(state.room[w].steps // (2 * rules.zone_cooldown), centres.shape[0] - 1)
    moved = 0.0
    if phase < centres.shape[0] - 1:
        tick = state.room[w].steps - 2 * rules.zone_cooldown * phase
        moved = max(tick - rules.zone_cooldown, 0) / rules.zone_cooldown
    following = min(phase + 1, centres.shape[0] - 1)
    state.room[w].zone_x = (1.0 - moved) * centres[phase, 0] + moved * centres[following, 0]
    state.room[w].zone_y = (1.0 - moved) * centres[phase, 1] + moved * centres[following, 1]
    state.room[w].zone_r = (1.0 - moved) * state.zone_radii[phase] + moved * state.zone_radii[following]


@phase
def alive_on_side(state, rules, w, side):
    """Number of living agents of a side."""
    alive = 0
    for a in range(rules.agents):
        if state.body[w, a].present and state.sides[a] == side:
            alive += 1
    return alive


@phase
def deaths_on_side(state, rules, w, side):
    """Number of agents of a side that died in this step."""
    deaths = 0
    for a in range(rules.agents):
        if state.agent[w, a].died and state.sides[a] == side:
            deaths += 1
    return deaths


@phase
def members_of(state, side):
    """Number of agents of a side at the start."""
    members = 0
    for a in range(state.sides.shape[0]):
        members += state.sides[a] == side
    return members


@kernel
def share_alive(alive, members, each):
    """1 while any member lives; with `each` the share of members that live."""
    return alive / members if each else (1.0 if alive > 0 else 0.0)


@phase
def give_rewards(state, rules, w):
    """R = alive r_alive + (1 - alive) r_dead + kills r_kill + deaths r_death, per side, for all its members."""
    for side in range(rules.num_sides):
        alive = alive_on_side(state, rules, w, side)
        share = share_alive(alive, members_of(state, side), rules.team_each)
        reward = share * rules.reward_alive + (1.0 - share) * rules.reward_dead
        reward += state.agent[w, side].kills * rules.reward_kill
        reward += deaths_on_side(state, rules, w, side) * rules.reward_death
        for a in range(rules.agents):
            if state.sides[a] == side:
                state.agent[w, a].reward = np.float32(reward)
                state.agent[w, a].returns += reward


@phase
def decide_end(state, rules, w):
    """Ends every slot's life when at most one side is alive, or at the limit."""
    standing = 0
    for side in range(rules.num_sides):
        standing += alive_on_side(state, rules, w, side) > 0
    ended = standing == 0 or (rules.last_alive and standing <= 1 and rules.num_sides > 1)
    cut = not ended and rules.max_steps > 0 and state.room[w].steps >= rules.max_steps
    state.room[w].over = ended or cut
    for a in range(rules.agents):
        state.agent[w, a].acting = state.body[w, a].present and not state.room[w].over
        state.agent[w, a].terminated = ended
        state.agent[w, a].truncated = cut
