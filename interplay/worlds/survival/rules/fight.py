"""Actions, melee, health and kill credit (specification 4.2, 4.6)."""

from interplay.core.jit import kernel, phase
from interplay.planar.sight import NOTHING, first_hit
from interplay.worlds.survival.state import NO_SIDE

# Heads of the action.
FORWARD, LEFT, TURN, ATTACK, USE, GIVE, DROP = range(7)


@phase
def change_health(state, rules, w, i, amount, cause):
    """Changes health at once and records the cause."""
    body = state.body[w, i]
    value = body.health + amount
    if rules.health_cap > 0 and i < rules.agents and amount > 0:
        value = max(body.health, min(value, rules.health_cap))
    body.health = value
    body.cause = cause


@phase
def queue_actions(state, rules, w):
    """Turns the motion heads into motor impulses: forward, left and rotation; dead agents are idle."""
    middle = 0.5 * (rules.motion_levels - 1)
    for a in range(rules.agents):
        alive = state.body[w, a].present
        for axis in range(3):
            push = rules.angular_impulse if axis == TURN else rules.linear_impulse
            state.control[w, a, axis] = (state.action[w, a, axis] / middle - 1.0) * push if alive else 0.0


@phase
def melee_target(state, rules, w, a):
    """The first body on the melee segment of agent a: a row, `sight.WALL` or `sight.NOTHING`."""
    body = state.body[w, a]
    x, y = body.x, body.y
    reach_x = x + rules.melee_range * body.cosine
    reach_y = y + rules.melee_range * body.sine
    last = rules.num_bodies if rules.items_block_rays else rules.agents + rules.boxes
    hit, _ = first_hit(state.body, w, x, y, reach_x, reach_y, a, last, rules.physics.wall)
    return hit


@phase
def can_damage(state, rules, w, side, target):
    """Whether this side's melee hurts the target: immunities first, then vulnerabilities."""
    if target < rules.agents:
        if rules.teams and state.sides[target] == side:
            return False
        return state.room[w].steps >= rules.immunity
    if target >= rules.agents + rules.boxes or state.body[w, target].placed:
        return False
    return (
        not rules.ownership or state.body[w, target].owner == NO_SIDE or state.body[w, target].owner == side
    )


@phase
def attack(state, rules, w):
    """Melee: rays from the current positions, damage at once, in agent order.

    Continuous: every step while attack = 1. With cooldown: only if the ray meets something, even a wall.
    """
    for a in range(rules.agents):
        if not state.body[w, a].present:
            continue
        if not rules.continuous and state.agent[w, a].cooldown > 0:
            state.agent[w, a].cooldown -= 1
            continue
        if state.action[w, a, ATTACK] == 0:
            continue
        target = melee_target(state, rules, w, a)
        if target == NOTHING:
            continue
        if not rules.continuous:
            state.agent[w, a].cooldown = rules.melee_cooldown - 1
        side = state.sides[a]
        if target >= 0 and can_damage(state, rules, w, side, target):
            change_health(state, rules, w, target, -rules.melee_damage, side)


@phase
def credit_kills(state, rules, w):
    """TrackKills: credits a kill to the side that last changed the dead agent's health."""
    for a in range(rules.agents):
        killer = state.body[w, a].cause
        if not state.body[w, a].left or killer < 0:
            continue
        if rules.dead_killer_no_credit and not rules.teams and not state.body[w, killer].present:
            continue
        state.agent[w, killer].kills += 1
        state.agent[w, killer].kill_count += 1


@phase
def clear_kills(state, w):
    """TrackKills: a new step has no kills yet."""
    for a in range(state.agent.shape[1]):
        state.agent[w, a].kills = 0


@kernel
def melee_targets(state, table, targets):
    """Fills (W, A) with the current `melee_target` of every living agent, for drawing."""
    rules = table[0]
    for w in range(targets.shape[0]):
        for a in range(rules.agents):
            targets[w, a] = melee_target(state, rules, w, a) if state.body[w, a].present else NOTHING
