"""Laws of save, load and hash: a snapshot is the whole state, shares no memory, and can be loaded into a fresh world."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from interplay.checker.bench import Bench, Broken, Players
from interplay.checker.outputs import Field, as_long, copy_fields, first_difference, read_fields
from interplay.core.world import Array, World

_MOMENTS = (0, 17, 130)  # steps after which a snapshot is taken
_WINDOW = 25  # steps played after it, then a reset into the next episode, then _AFTER steps
_AFTER = 10
_HASHED = 4  # steps between looks at the hash

Snapshot = dict[str, Array]


def check_snapshots(bench: Bench) -> None:
    """Saves in the middle of episodes, plays on, and checks that both loaded worlds continue alike."""
    world, t = bench.begun(), 0
    players = Players(world, bench.seed, range(world.num_worlds))
    for moment in _MOMENTS:
        while t < min(moment, bench.steps):
            t += 1
            _step(bench, world, players, t)
            if world.timestep.over.all():
                bench.attempt(world.reset, "reset", t)
        _check_moment(bench, world, t)


def _step(bench: Bench, world: World, players: Players, t: int) -> None:
    action = players.act(world.timestep)
    bench.attempt(lambda: world.step(action), "step", t)


def _check_moment(bench: Bench, world: World, t: int) -> None:
    """Leaves the world as it found it, or raises `Broken`."""
    snapshot = bench.attempt(world.save, "save", t)
    check_arrays(bench, world, snapshot, t)
    kept = {name: array.copy() for name, array in snapshot.items()}
    pending, hashed = copy_fields(world, world.timestep), world.hash()
    _check_hash_form(bench, hashed, world.num_worlds, t)
    _check_hash_tells_apart(bench, kept, hashed, t)
    outputs = [copy_fields(world, world.timestep) for _ in _continue(bench, world, t, watch_hash=True)]
    if _changed(snapshot, kept):
        bench.add(
            "save-load", "the snapshot changed while the world went on: it is no copy", step=t, field="save"
        )
        raise Broken
    fresh = bench.build(seed=bench.seed + 1)
    for name, other in (("a fresh world", fresh), ("the world itself", world)):
        loaded = {key: array.copy() for key, array in kept.items()}
        _load(bench, other, loaded, name, t)
        _check_pending(bench, other, pending, hashed, name, t)
        for array in loaded.values():
            array.fill(0)  # the world must have copied it
        _check_continuation(bench, other, outputs, name, t)
    bench.attempt(lambda: world.load(kept), "load", t)


def check_arrays(bench: Bench, world: World, snapshot: Mapping[str, Array], t: int) -> None:
    """Checks the form of a snapshot.

    Raises:
        Broken: if worlds cannot be compared by it.
    """
    for name, array in snapshot.items():
        if not isinstance(array, np.ndarray) or array.dtype.kind not in "biufSU":
            bench.add(
                "save-load", "no array of numbers", step=t, field=f"save/{name}", value=type(array).__name__
            )
            raise Broken
        if not array.ndim or len(array) != world.num_worlds:
            bench.add(
                "save-load",
                "the first axis is not the worlds'",
                step=t,
                field=f"save/{name}",
                value=array.shape,
            )
            raise Broken


def _check_hash_form(bench: Bench, hashed: Array, num_worlds: int, t: int) -> None:
    if not isinstance(hashed, np.ndarray) or hashed.shape != (num_worlds,) or hashed.dtype != np.uint64:
        bench.add("hash", "expected (W,) uint64", step=t, field="hash")
        raise Broken


def _check_hash_tells_apart(bench: Bench, snapshot: Snapshot, hashed: Array, t: int) -> None:
    """Worlds of one batch in other states have other hashes."""
    for w in range(1, len(hashed)):
        if hashed[w] == hashed[0] and any((array[w] != array[0]).any() for array in snapshot.values()):
            bench.add("hash", "two worlds in other states have the same hash", world=w, step=t, field="hash")


def _load(bench: Bench, world: World, snapshot: Snapshot, name: str, t: int) -> None:
    step = bench.attempt(lambda: world.load(snapshot), f"load into {name}", t)
    if step is not world.timestep:
        bench.add(
            "save-load",
            f"after load into {name}, world.timestep is not what load returned",
            step=t,
            field="timestep",
        )
        raise Broken


def _check_pending(
    bench: Bench, world: World, pending: Mapping[str, Field], hashed: Array, name: str, t: int
) -> None:
    rows = list(range(world.num_worlds))
    at = first_difference(read_fields(world, world.timestep), pending, rows, rows)
    if at is not None:
        seen = f"loaded into {name}, the time step is not the one that was saved"
        bench.add_difference("save-load", seen, world, at, at.row, t)
        raise Broken
    if not np.array_equal(world.hash(), hashed):
        bench.add("hash", f"loaded into {name}, the hash is not the one at save", step=t, field="hash")
        raise Broken


def _continue(bench: Bench, world: World, t: int, watch_hash: bool = False) -> Iterator[None]:
    """Plays on, across a reset into the next episode; the same from equal states."""
    players = Players(world, bench.seed + 1, range(world.num_worlds))
    for i in range(1, _WINDOW + _AFTER + 1):
        before = (world.save(), world.hash()) if watch_hash and i % _HASHED == 1 else None
        if i == _WINDOW + 1:
            bench.attempt(world.reset, "reset", t + i)
        _step(bench, world, players, t + i)
        if before is not None:
            _check_hash_moves(bench, world, *before, t + i)
        yield


def _check_hash_moves(bench: Bench, world: World, saved: Snapshot, hashed: Array, t: int) -> None:
    """The hash changes exactly where the state does."""
    now = world.save()
    moved = np.zeros(world.num_worlds, bool)
    for name, array in saved.items():
        moved |= _bytes(array, now[name])
    wrong = moved != (hashed != world.hash())
    if wrong.any():
        w = int(np.flatnonzero(wrong)[0])
        seen = (
            "the state changed and the hash did not" if moved[w] else "the hash changed and the state did not"
        )
        bench.add("hash", seen, world=w, step=t, field="hash")


def _bytes(a: Array, b: Array) -> Array:
    """Which rows differ in any bit."""
    one, two = (np.ascontiguousarray(x).reshape(len(x), -1).view(np.uint8) for x in as_long(a, b))
    return (one != two).any(axis=1)


def _check_continuation(
    bench: Bench, world: World, outputs: list[dict[str, Field]], name: str, t: int
) -> None:
    rows = range(world.num_worlds)
    for i, _ in enumerate(_continue(bench, world, t)):
        at = first_difference(read_fields(world, world.timestep), outputs[i], rows, rows)
        if at is not None:
            seen = f"loaded into {name}, it goes on otherwise"
            bench.add_difference("save-load", seen, world, at, at.row, t + i + 1)
            raise Broken


def _changed(a: Mapping[str, Array], b: Mapping[str, Array]) -> bool:
    return any(_bytes(array, b[name]).any() for name, array in a.items())
