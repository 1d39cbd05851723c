"""One step of Pommerman in the order of specification 3.4, and the reset of a game."""

from interplay.core.jit import kernel, phase
from interplay.worlds.pommerman.config import RINGS
from interplay.worlds.pommerman.observe import look_around
from interplay.worlds.pommerman.rules.board import draw_board, place_players
from interplay.worlds.pommerman.rules.ending import decide_end, give_rewards
from interplay.worlds.pommerman.rules.fire import age_flames, close_ring, explode_bombs, kill_burning
from interplay.worlds.pommerman.rules.motion import move_all


@kernel
def step_worlds(state, sight, table, scratch, action, thread, first_world, end_world):
    """Steps and observes every world of the range that is not over."""
    rules = table[0]
    for w in range(first_world, end_world):
        if state.room[w].over:
            continue
        clear_events(state, rules, w)
        if rules.late_collapse:
            collapse(state, rules, w)
        age_flames(state, w)
        store_words(state, rules, action, w)
        move_all(state, rules, scratch, thread, action, w)
        explode_bombs(state, rules, scratch, thread, w)
        kill_burning(state, rules, w)
        state.room[w].steps += 1
        if not rules.late_collapse:
            collapse(state, rules, w)
        decide_end(state, rules, w)
        give_rewards(state, rules, w)
        look_around(state, sight, rules, scratch, thread, w)


@kernel
def begin_worlds(state, sight, plan, table, scratch, which, thread, first_world, end_world):
    """Starts the worlds in `which`; returns a world for which no board was found, or -1."""
    rules = table[0]
    for w in range(first_world, end_world):
        if not which[w]:
            continue
        clear_events(state, rules, w)
        if not draw_board(state, plan, rules, scratch, thread, w):
            return w
        place_players(state, plan, rules, w)
        look_around(state, sight, rules, scratch, thread, w)
    return -1


@kernel
def look_at_worlds(state, sight, table, scratch, thread, first_world, end_world):
    """Recomputes the observations, for states written from outside."""
    rules = table[0]
    for w in range(first_world, end_world):
        look_around(state, sight, rules, scratch, thread, w)


@phase
def clear_events(state, rules, w):
    """Clears the events of the last step."""
    for a in range(rules.players):
        person = state.agent[w, a]
        person.died, person.won_range, person.won_kick, person.won_bomb = False, False, False, False


@phase
def store_words(state, rules, action, w):
    """Stores the words sent in this step; dead agents are silent."""
    for a in range(rules.players):
        for k in range(state.words.shape[2]):
            state.words[w, a, k] = action[w, a, 1 + k] if state.agent[w, a].alive else 0


@phase
def collapse(state, rules, w):
    """Closes the ring due in this step."""
    late = state.room[w].steps - rules.first_ring
    if (
        rules.first_ring > 0
        and late >= 0
        and late % rules.ring_every == 0
        and late < RINGS * rules.ring_every
    ):
        close_ring(state, rules, w, late // rules.ring_every)
