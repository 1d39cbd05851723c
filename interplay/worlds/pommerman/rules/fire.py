"""Fire: flames age, bombs tick and explode, agents in flames die (specification 3.4, rows 1 and 9)."""

from interplay.core.jit import phase
from interplay.worlds.pommerman.config import FLAME_LIFE, MOST_AMMO
from interplay.worlds.pommerman.rules.motion import step_along
from interplay.worlds.pommerman.state import PASSAGE, RIGHT, RIGID, UP, WOOD


@phase
def age_flames(state, w):
    """Ages flames; burnt-out cells show their item, or become passages."""
    flame = state.flame[w]
    for cell in range(flame.shape[0]):
        if flame[cell] > 0:
            flame[cell] -= 1
            if flame[cell] == 0:
                state.ground[w, cell] = state.item[w, cell]
                state.item[w, cell] = 0


@phase
def explode_bombs(state, rules, scratch, thread, w):
    """Ticks bombs and explodes those due, those in flames, and all that these reach."""
    due = 0
    for k in range(state.room[w].bombs):
        bomb = state.bomb[w, k]
        bomb.life -= 1
        if bomb.life > 0 and state.flame[w, bomb.cell] > 0:
            bomb.life = 0
        due += bomb.life == 0
    if due == 0:
        return
    scratch.burning[thread, :] = False
    while due > 0:
        due = explode_due(state, rules, scratch, thread, w)
    burn_cells(state, rules, scratch, thread, w)


@phase
def explode_due(state, rules, scratch, thread, w):
    """Explodes the due bombs; returns how many others they set off."""
    kept = 0
    for k in range(state.room[w].bombs):
        if state.bomb[w, k].life > 0:
            state.bomb[w, kept] = state.bomb[w, k]
            kept += 1
        else:
            spread_fire(state, rules, scratch, thread, w, k)
            give_ammo_back(state, w, state.bomb[w, k].owner)
    state.room[w].bombs = kept
    due = 0
    for k in range(kept):
        if scratch.burning[thread, state.bomb[w, k].cell]:
            state.bomb[w, k].life = 0
            due += 1
    return due


@phase
def give_ammo_back(state, w, owner):
    state.agent[w, owner].ammo = min(state.agent[w, owner].ammo + 1, MOST_AMMO)


@phase
def spread_fire(state, rules, scratch, thread, w, k):
    """Marks a bomb's cell and those in reach: up to rigid cells, up to and including wood."""
    bomb, burning = state.bomb[w, k], scratch.burning[thread]
    burning[bomb.cell] = True
    for direction in range(UP, RIGHT + 1):
        cell, step = bomb.cell, step_along(direction, rules.side)
        for _ in range(1, bomb.blast):
            cell += step
            if state.ground[w, cell] == RIGID:
                break
            burning[cell] = True
            if state.ground[w, cell] == WOOD:
                break


@phase
def burn_cells(state, rules, scratch, thread, w):
    """Sets flames on marked cells: wood and open items are lost, hidden items appear after the flames."""
    for cell in range(state.flame.shape[1]):
        if not scratch.burning[thread, cell]:
            continue
        if rules.item_lost and state.flame[w, cell] > 0:
            state.item[w, cell] = 0
        state.ground[w, cell] = PASSAGE
        state.flame[w, cell] = FLAME_LIFE


@phase
def kill_burning(state, rules, w):
    """Kills agents in flames."""
    for a in range(rules.players):
        person = state.agent[w, a]
        if person.alive and state.flame[w, person.cell] > 0:
            person.alive = False
            person.died = True


@phase
def close_ring(state, rules, w, ring):
    """Turns a ring rigid: agents there die, bombs return their ammo, items and flames vanish."""
    far = rules.side - 1 - (ring + 1)
    for cell in range(state.ground.shape[1]):
        row, col = cell // rules.side, cell % rules.side
        if min(row, col) > ring + 1 and max(row, col) < far:
            continue
        state.ground[w, cell], state.item[w, cell], state.flame[w, cell] = RIGID, 0, 0
    for a in range(rules.players):
        person = state.agent[w, a]
        if person.alive and state.ground[w, person.cell] == RIGID:
            person.alive = False
            person.died = True
    kept = 0
    for k in range(state.room[w].bombs):
        bomb = state.bomb[w, k]
        if state.ground[w, bomb.cell] == RIGID:
            give_ammo_back(state, w, bomb.owner)
        else:
            state.bomb[w, kept] = state.bomb[w, k]
            kept += 1
    state.room[w].bombs = kept
