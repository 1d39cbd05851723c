"""The actions of agents: move and attack (specification 6, steps 2f and 2g, "Combat details")."""

from interplay.core.jit import phase
from interplay.worlds.mmo.rules.lives import die, enter_tile, leave_tile
from interplay.worlds.mmo.rules.numbers import ELDERS, FULL, HEALTH_ONLY, LEARNED
from interplay.worlds.mmo.state import LAVA_CAUSE, MELEE, NONE
from interplay.worlds.mmo.tiles import LAVA, STONE, WATER

PASS, EAST, SOUTH, WEST, NORTH = range(5)


@phase
def move(state, rules, w, i, choice):
    """Moves one tile, or stays if the move is blocked; false if the agent dies of it (lava).

    The target's tile is an unpredictable branch, so staying is a move of no tiles.
    """
    person = state.agent[w, i]
    from_row, from_col = person.row, person.col
    down = int(choice == SOUTH) - int(choice == NORTH)  # NumPy subtracts no booleans, in plain Python
    right = int(choice == EAST) - int(choice == WEST)
    tile = state.tiles[w, from_row + down, from_col + right]
    goes = (tile != WATER) & (tile < STONE) & (person.freeze == 0)
    if rules.one_per_tile:
        goes &= state.heads[w, from_row + down, from_col + right] == 0
    row, col = from_row + down * goes, from_col + right * goes
    person.row, person.col = row, col
    leave_tile(state.agent, state.heads, w, from_row, from_col)
    enter_tile(state.heads, w, row, col)
    if tile == LAVA and goes and choice != PASS and not rules.lava_next_update:
        die(state, w, i, LAVA_CAUSE)
        return False
    if rules.count_visits and not (tile == LAVA and goes):
        _count_visit(state, rules, w, i)
    return True


@phase
def _count_visit(state, rules, w, i):
    person = state.agent[w, i]
    seen = state.visits[w, person.population, person.row, person.col]
    state.visits[w, person.population, person.row, person.col] = seen + 1
    if seen == 0:
        state.reward[w, i] += rules.reward_new_tile


@phase
def is_immune(rules, age, victims_age):
    """Whether a victim is immune to an attacker of that age."""
    if rules.immunity == ELDERS:
        return age > rules.elder_age and victims_age <= rules.elder_age
    return (rules.immunity == FULL or rules.immunity == HEALTH_ONLY) and victims_age < rules.immunity_ticks


@phase
def find_target(sight, rules, w, i, action, style):
    """The slot that a style is aimed at: by rule, or as chosen by the policy among its rows."""
    if rules.targeting != LEARNED:
        return sight.target[w, i, style]
    row = action[w, i, 2 + style]
    if row == 0 or not sight.mask[w, i, rules.choices - (3 - style) * rules.rows + row]:
        return NONE
    return sight.row_slot[w, i, row]


@phase
def attack(state, sight, rules, scratch, thread, w, i, action, together):
    """Attacks with the chosen style; with `together` (resolution = simultaneous) deaths and transfers come later."""
    style = action[w, i, 1] - rules.no_attack
    if style < 0:
        return
    j = find_target(sight, rules, w, i, action, style)
    if j == NONE or not state.agent[w, j].alive:
        return
    person, victim = state.agent[w, i], state.agent[w, j]
    down, right = victim.row - person.row, victim.col - person.col
    reach = rules.reach0 if style == 0 else rules.reach1 if style == 1 else rules.reach2
    if rules.retest_range and max(abs(down), abs(right)) > reach:
        return
    spared = is_immune(rules, person.life, victim.life)
    if spared and rules.immunity != HEALTH_ONLY:
        return
    person.struck, person.style = j, style
    person.struck_row, person.struck_col = down, right
    if together:
        _rob_later(state, rules, scratch.kin[thread], scratch.health[thread], w, i, j, style)
    else:
        _rob(state, rules, w, i, j, style)
    if style == 2:
        victim.freeze = rules.freeze
    if not spared:
        _hurt(state, rules, w, i, j, style, together)


@phase
def _rob(state, rules, w, i, j, style):
    person, victim = state.agent[w, i], state.agent[w, j]
    wanted = rules.stolen0 if style == 0 else rules.stolen1 if style == 1 else rules.stolen2
    food = min(wanted, victim.food) if rules.conserved else wanted
    water = min(wanted, victim.water) if rules.conserved else wanted
    victim.food = max(victim.food - food, 0)
    victim.water = max(victim.water - water, 0)
    person.food = min(person.food + food, rules.food)
    person.water = min(person.water + water, rules.water)


@phase
def _rob_later(state, rules, food_won, water_won, w, i, j, style):
    """Adds the loot to this tick's sums; conserved goods leave the victim at once, so that they are taken only once."""
    victim = state.agent[w, j]
    wanted = rules.stolen0 if style == 0 else rules.stolen1 if style == 1 else rules.stolen2
    if rules.conserved:
        food, water = min(wanted, victim.food), min(wanted, victim.water)
        victim.food -= food
        victim.water -= water
    else:
        food, water = wanted, wanted
        food_won[j] -= wanted
        water_won[j] -= wanted
    food_won[i] += food
    water_won[i] += water


@phase
def share_out(state, rules, food_won, water_won, w, i):
    """Applies a tick's sum of gains and losses by attacks, clipped once."""
    person = state.agent[w, i]
    person.food = min(max(person.food + food_won[i], 0), rules.food)
    person.water = min(max(person.water + water_won[i], 0), rules.water)


@phase
def _hurt(state, rules, w, i, j, style, together):
    victim = state.agent[w, j]
    damage = rules.damage0 if style == 0 else rules.damage1 if style == 1 else rules.damage2
    stood = victim.health > 0
    victim.health = max(victim.health - damage, 0)
    victim.damage += damage
    state.agent[w, i].harm += damage
    if stood and victim.health == 0:
        state.agent[w, i].kills += 1
        state.reward[w, i] += rules.reward_kill
        state.tally[w, j].ended_cause = MELEE + style
        if not together:
            die(state, w, j, MELEE + style)
