"""Movement: wanted cells, swaps, kicks, collisions (specification 3.4, rows 2 to 8).

As in the playground, counts of wanted cells are never decreased: a cell stays counted after an agent turned back from it. Kicks and
late collisions depend on it.
"""

from interplay.core.jit import phase
from interplay.worlds.pommerman.config import BOMB_LIFE, MOST_AMMO
from interplay.worlds.pommerman.state import (
    DOWN,
    EXTRA_BOMB,
    KICK,
    LAY,
    LEFT,
    MORE_RANGE,
    NOWHERE,
    PASSAGE,
    RIGHT,
    RIGID,
    STOP,
    UP,
    WOOD,
)


@phase
def step_along(direction, side):
    """The difference of cell numbers along a direction."""
    if direction == UP:
        return -side
    if direction == DOWN:
        return side
    if direction == LEFT:
        return -1
    return 1 if direction == RIGHT else 0


@phase
def edge_between(cell, other):
    """A number for the edge between two neighbouring cells."""
    first = min(cell, other)
    return 2 * first + (max(cell, other) - first > 1)  # numbers differ by more than 1 within a column


@phase
def kick_bombs(state, rules, scratch, thread, action, w):
    """Agents moving onto a bomb kick it or turn back; a bomb sliding into a standing agent turns back.

    Returns whether any wanted cell changed.
    """
    agents_there, bombs_there = scratch.agents_there[thread], scratch.bombs_there[thread]
    want, bomb_want, bomb_next = (
        scratch.agent_want[thread],
        scratch.bomb_want[thread],
        scratch.bomb_next[thread],
    )
    for a in range(rules.players):
        scratch.agent_back[thread, a] = False
        scratch.kicks[thread, a] = NOWHERE
    for k in range(state.room[w].bombs):
        bomb_next[k] = NOWHERE
        a = agent_moving_to(want, bomb_want[k], rules.players)
        if a == NOWHERE:
            continue
        bomb, person = state.bomb[w, k], state.agent[w, a]
        if want[a] == person.cell:  # the agent stands still
            if bomb_want[k] != bomb.cell:
                bomb_next[k] = bomb.cell
            continue
        direction = action[w, a, 0]
        target = want[a] + step_along(direction, rules.side)
        is_free = (
            agents_there[target] == 0 and bombs_there[target] == 0 and state.ground[w, target] == PASSAGE
        )
        if person.kick and is_free:
            bombs_there[bomb_want[k]] = 0  # so that the agent may come
            bomb_next[k] = target
            bomb.direction = direction
            scratch.kicked[thread, k] = a
            scratch.kicks[thread, a] = k
        else:
            bomb_next[k] = bomb.cell
            scratch.agent_back[thread, a] = True
    return send_back(state, rules, scratch, thread, w)


@phase
def agent_moving_to(want, cell, players):
    """The agent moving to a cell, or NOWHERE."""
    for a in range(players):
        if want[a] == cell:
            return a
    return NOWHERE


@phase
def send_back(state, rules, scratch, thread, w):
    """Applies what `kick_bombs` collected; returns whether anything changed."""
    change = False
    for k in range(state.room[w].bombs):
        cell = scratch.bomb_next[thread, k]
        if cell != NOWHERE:
            scratch.bomb_want[thread, k] = cell
            scratch.bombs_there[thread, cell] += 1
            change = True
    for a in range(rules.players):
        if scratch.agent_back[thread, a]:
            cell = state.agent[w, a].cell
            scratch.agent_want[thread, a] = cell
            scratch.agents_there[thread, cell] += 1
            change = True
    return change


@phase
def resolve_kicks(state, rules, scratch, thread, w):
    """Resolves conflicts of the new cells until stable; an agent that turns back undoes its kick.

    Agent and bomb share a cell only if neither moved.
    """
    agents_there, bombs_there = scratch.agents_there[thread], scratch.bombs_there[thread]
    want, bomb_want = scratch.agent_want[thread], scratch.bomb_want[thread]
    kicks, kicked = scratch.kicks[thread], scratch.kicked[thread]
    change = True
    while change:
        change = False
        for a in range(rules.players):
            cell = state.agent[w, a].cell
            if want[a] == NOWHERE or want[a] == cell:
                continue
            if agents_there[want[a]] > 1 or bombs_there[want[a]] != 0:
                k = kicks[a]
                if k != NOWHERE:
                    bomb_want[k] = state.bomb[w, k].cell
                    bombs_there[bomb_want[k]] += 1
                    kicked[k], kicks[a] = NOWHERE, NOWHERE
                want[a] = cell
                agents_there[cell] += 1
                change = True
        for k in range(state.room[w].bombs):
            cell = state.bomb[w, k].cell
            if bomb_want[k] == cell and kicked[k] == NOWHERE:
                continue  # a bomb kicked back to its own cell may still be blocked
            if bombs_there[bomb_want[k]] > 1 or agents_there[bomb_want[k]] != 0:
                bomb_want[k] = cell
                bombs_there[cell] += 1
                a = kicked[k]
                if a != NOWHERE:
                    want[a] = state.agent[w, a].cell
                    agents_there[want[a]] += 1
                    kicked[k], kicks[a] = NOWHERE, NOWHERE
                change = True


@phase
def move_all(state, rules, scratch, thread, action, w):
    """Agents and bombs move at the same time."""
    want_cells(state, rules, scratch, thread, action, w)
    want_slides(state, rules, scratch, thread, w)
    stop_swaps(state, rules, scratch, thread, w)
    if resolve(state, rules, scratch, thread, w) and kick_bombs(state, rules, scratch, thread, action, w):
        resolve_kicks(state, rules, scratch, thread, w)
    move_bombs(state, scratch, thread, w)
    move_agents(state, rules, scratch, thread, w)


@phase
def want_cells(state, rules, scratch, thread, action, w):
    """Sets the wanted cells of living agents, and lays bombs."""
    for a in range(rules.players):
        person = state.agent[w, a]
        scratch.agent_want[thread, a] = NOWHERE
        scratch.agent_edge[thread, a] = NOWHERE
        if not person.alive:
            continue
        scratch.agent_want[thread, a] = person.cell
        choice = action[w, a, 0]
        if choice == LAY:
            lay_bomb(state, w, a)
        elif choice != STOP:
            target = person.cell + step_along(choice, rules.side)
            if state.ground[w, target] != RIGID and state.ground[w, target] != WOOD:
                scratch.agent_want[thread, a] = target
                scratch.agent_edge[thread, a] = edge_between(person.cell, target)


@phase
def lay_bomb(state, w, a):
    """Lays a bomb if there is ammo, and no bomb on the cell."""
    person, bombs = state.agent[w, a], state.room[w].bombs
    if person.ammo == 0 or bombs == state.bomb.shape[1]:
        return
    for k in range(bombs):
        if state.bomb[w, k].cell == person.cell:
            return
    bomb = state.bomb[w, bombs]
    bomb.cell, bomb.life, bomb.blast = person.cell, BOMB_LIFE, person.blast
    bomb.direction, bomb.owner = STOP, a
    person.ammo -= 1
    person.bombs_laid += 1
    state.room[w].bombs = bombs + 1


@phase
def want_slides(state, rules, scratch, thread, w):
    """Sets the wanted cells of sliding bombs; walls and items stop them."""
    for k in range(state.room[w].bombs):
        bomb = state.bomb[w, k]
        scratch.bomb_want[thread, k] = bomb.cell
        scratch.bomb_edge[thread, k] = NOWHERE
        if bomb.direction != STOP:
            target = bomb.cell + step_along(bomb.direction, rules.side)
            if state.ground[w, target] == PASSAGE:
                scratch.bomb_want[thread, k] = target
                scratch.bomb_edge[thread, k] = edge_between(bomb.cell, target)


@phase
def stop_swaps(state, rules, scratch, thread, w):
    """Cancels swaps: of two agents or two bombs both stay, of agent and bomb the bomb."""
    want, edge = scratch.agent_want[thread], scratch.agent_edge[thread]
    bomb_want, bomb_edge = scratch.bomb_want[thread], scratch.bomb_edge[thread]
    for a in range(1, rules.players):
        for b in range(a):
            if edge[a] != NOWHERE and edge[a] == edge[b]:
                want[a], want[b] = state.agent[w, a].cell, state.agent[w, b].cell
    for k in range(state.room[w].bombs):
        if bomb_edge[k] == NOWHERE:
            continue
        for a in range(rules.players):
            if edge[a] == bomb_edge[k]:
                bomb_want[k] = state.bomb[w, k].cell
        for j in range(k):
            if bomb_edge[j] == bomb_edge[k]:
                bomb_want[j], bomb_want[k] = state.bomb[w, j].cell, state.bomb[w, k].cell


@phase
def resolve(state, rules, scratch, thread, w):
    """Turns back agents and bombs that share a wanted cell, until none do.

    Returns whether a bomb and an agent may have met: there is a bomb, and something moves.
    """
    agents_there, bombs_there = scratch.agents_there[thread], scratch.bombs_there[thread]
    want, bomb_want = scratch.agent_want[thread], scratch.bomb_want[thread]
    bombs, moving = state.room[w].bombs, False
    agents_there[:] = 0
    bombs_there[:] = 0
    for a in range(rules.players):
        if want[a] != NOWHERE:
            agents_there[want[a]] += 1
            moving |= want[a] != state.agent[w, a].cell
    for k in range(bombs):
        bombs_there[bomb_want[k]] += 1
        moving |= bomb_want[k] != state.bomb[w, k].cell
    change = moving
    while change:
        change = False
        for a in range(rules.players):
            cell = state.agent[w, a].cell
            if want[a] == NOWHERE or want[a] == cell:
                continue
            if agents_there[want[a]] > 1 or bombs_there[want[a]] > 1:
                want[a] = cell
                agents_there[cell] += 1
                change = True
        for k in range(bombs):
            cell = state.bomb[w, k].cell
            if bomb_want[k] == cell:
                continue
            if bombs_there[bomb_want[k]] > 1 or agents_there[bomb_want[k]] > 1:
                bomb_want[k] = cell
                bombs_there[cell] += 1
                change = True
    for k in range(bombs):
        scratch.kicked[thread, k] = NOWHERE
    return moving and bombs > 0


@phase
def move_bombs(state, scratch, thread, w):
    """Moves bombs one cell; blocked ones stop."""
    for k in range(state.room[w].bombs):
        bomb = state.bomb[w, k]
        if scratch.bomb_want[thread, k] == bomb.cell and scratch.kicked[thread, k] == NOWHERE:
            bomb.direction = STOP
        bomb.cell = scratch.bomb_want[thread, k]


@phase
def move_agents(state, rules, scratch, thread, w):
    """Moves agents; they take items on their new cells."""
    for a in range(rules.players):
        person, cell = state.agent[w, a], scratch.agent_want[thread, a]
        if cell == NOWHERE or cell == person.cell:
            continue
        person.cell = cell
        if state.ground[w, cell] >= EXTRA_BOMB:
            take_item(state, rules, w, a, state.ground[w, cell])
            state.ground[w, cell] = PASSAGE


@phase
def take_item(state, rules, w, a, item):
    """Adds a bomb, reach, or the ability to kick."""
    person = state.agent[w, a]
    if item == EXTRA_BOMB:
        person.ammo = min(person.ammo + 1, MOST_AMMO)
        person.extra_bombs += 1
        person.won_bomb = True
    elif item == MORE_RANGE:
        person.won_range = person.blast < rules.most_blast
        person.blast = min(person.blast + 1, rules.most_blast)
        person.ranges += person.won_range
    elif item == KICK:
        person.won_kick = not person.kick
        person.kick = True
        person.kicks += person.won_kick
