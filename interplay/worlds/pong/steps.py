"""Kernels over a range of worlds: rules and observations together, for the cache."""

from interplay.core.jit import kernel
from interplay.worlds.pong import observe, pictures, rules

# Kernels call kernels by name.
begin_game, play_step = rules.begin_game, rules.play_step
show_numbers = observe.show_numbers
show_beginning, show_step, paint_stack = pictures.show_beginning, pictures.show_step, pictures.paint_stack


@kernel
def begin(state, outputs, table, sight, which, first_world, end_world):
    """Begins an episode in the worlds of the range in `which` (W,); `table` is the rules as one record."""
    for w in range(first_world, end_world):
        if not which[w]:
            continue
        begin_game(state, outputs, table[0], w)
        if state.frames.shape[1] > 0:
            show_beginning(state, sight, w)
        else:
            show_numbers(state, table[0], sight, w)


@kernel
def advance(state, outputs, table, sight, action, thread, first_world, end_world):
    """Steps every world of the range that is not over; `action` is (W, A)."""
    for w in range(first_world, end_world):
        if outputs.over[w]:
            continue
        play_step(state, outputs, table[0], action, w)
        if state.frames.shape[1] > 0:
            show_step(state, sight, thread, w)
        else:
            show_numbers(state, table[0], sight, w)


@kernel
def look_anew(state, table, sight):
    """Recomputes all observations from the state."""
    for w in range(len(state.ball)):
        if state.frames.shape[1] > 0:
            paint_stack(state, sight, w)
        else:
            show_numbers(state, table[0], sight, w)
