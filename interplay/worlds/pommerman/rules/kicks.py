"""Kicks, and bombs that slide into standing agents (specification 3.4, rows 6 and 7)."""

from interplay.core.jit import phase
from interplay.worlds.pommerman.rules.directions import step_along
from interplay.worlds.pommerman.state import NOWHERE, PASSAGE


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
