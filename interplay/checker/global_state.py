"""Laws of the global state: it lies in its space, follows from the snapshot, and is no buffer of the world."""

from __future__ import annotations

import numpy as np
from gymnasium import spaces

from interplay.checker.bench import Bench, Broken, Players
from interplay.core.world import Array, World

_MOMENTS = (0, 1, 17, 60)  # steps after which it is looked at


def check_global_state(bench: Bench) -> None:
    """Checks the global state of a world that has one, in the middle of episodes and at their ends."""
    world = bench.begun()
    if world.state_space is None:
        return
    _check_space(bench, world)
    players, ended = Players(world, bench.seed, range(world.num_worlds)), False
    for t in range(min(max(_MOMENTS), bench.steps) + 1):
        over = bool(world.timestep.over.all())
        if t in _MOMENTS or (over and not ended):
            _check_moment(bench, world, t)
        ended |= over
        if over:
            bench.attempt(world.reset, "reset", t)
        action = players.act(world.timestep)
        outputs = bench.attempt(world.global_state, "global_state", t)
        before = outputs.copy()
        bench.attempt(lambda action=action: world.step(action), "step", t)  # type: ignore[misc]
        if outputs.tobytes() != before.tobytes():
            _add(bench, "it changed with the next step: it is a buffer of the world's own", t)


def _check_space(bench: Bench, world: World) -> None:
    space = world.state_space
    if not isinstance(space, spaces.Box) or len(space.shape) != 1 or space.dtype != np.float32:
        bench.add("global-state", "no float32 Box of one axis", field="state_space", value=space)
        raise Broken


def _check_moment(bench: Bench, world: World, t: int) -> None:
    hashed = world.hash()
    state = _looked(bench, world, t)
    outputs = state.copy()
    if state.flags.writeable:
        state.fill(1)
    if not np.array_equal(world.hash(), hashed):
        _add(bench, "looking at it, or writing into it, changed the world", t)
    if not _equal(_looked(bench, world, t), outputs):
        _add(bench, "a second call returns another state", t)
    _check_saved(bench, world, outputs, t)


def _check_saved(bench: Bench, world: World, outputs: Array, t: int) -> None:
    """The same from a snapshot, in a batch of as many worlds and in one of each alone."""
    snapshot = bench.attempt(world.save, "save", t)
    fresh = bench.build(seed=bench.seed + 1)
    bench.attempt(lambda: fresh.load(snapshot), "load", t)
    if not _equal(_looked(bench, fresh, t), outputs):
        _add(bench, "loaded into a fresh world, it is not what it was at save", t)
    one = bench.build(1)
    for w in range(world.num_worlds):
        row = {name: array[w : w + 1].copy() for name, array in snapshot.items()}
        bench.attempt(lambda row=row: one.load(row), "load", t)  # type: ignore[misc]
        if not _equal(_looked(bench, one, t)[0], outputs[w]):
            _add(bench, "it depends on the other worlds of the batch", t, w)


def _looked(bench: Bench, world: World, t: int) -> Array:
    state: Array = bench.attempt(world.global_state, "global_state", t)
    space = world.state_space
    assert space is not None
    wanted = (world.num_worlds, *space.shape)
    if not isinstance(state, np.ndarray) or state.shape != wanted or state.dtype != np.float32:
        given = f"{state.dtype}{state.shape}" if isinstance(state, np.ndarray) else type(state).__name__
        _add(bench, f"{given}; expected float32{wanted}", t)
    inside = (state >= space.low) & (state <= space.high) & np.isfinite(state)
    if not inside.all():
        w, column = (int(i) for i in np.argwhere(~inside)[0])
        _add(bench, f"column {column} = {state[w, column]} is outside its space, or not finite", t, w)
    return _of_teams(bench, world, state, t)


def _of_teams(bench: Bench, world: World, state: Array, t: int) -> Array:
    """(W, T, m), the first of which is the global state."""
    outputs: Array = bench.attempt(world.team_states, "team_states", t)
    (worlds, size), teams = state.shape, len(world.teams or ())
    shape = np.shape(outputs)
    if len(shape) != 3 or shape[0] != worlds or shape[1] not in (1, teams) or shape[2] < size:
        _add(bench, f"team_states: {shape}; expected ({worlds}, 1 or {teams}, {size} or more)", t)
    if not isinstance(outputs, np.ndarray) or outputs.dtype != np.float32 or not np.isfinite(outputs).all():
        _add(bench, "team_states: no float32 array of finite numbers", t)
    if not np.array_equal(outputs[:, 0, :size], state) or outputs[:, 0, size:].any():
        _add(bench, "team_states: the first team's is not the global state", t)
    return outputs


def _equal(one: Array, two: Array) -> bool:
    return one.tobytes() == two.tobytes()


def _add(bench: Bench, seen: str, t: int, world: int | None = None) -> None:
    """Writes a finding down and ends this part of the check."""
    bench.add("global-state", seen, step=t, world=world, field="global_state")
    raise Broken
