"""Laws of bad input: it is refused with one line, and the batch is unchanged."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from gymnasium import spaces

from interplay.checker.bench import Bench, Players, described
from interplay.checker.outputs import copy_fields, first_difference, read_fields
from interplay.core.world import World


def check_refusals(bench: Bench) -> None:
    """Tries what no world may take."""
    new = bench.build()
    action = _some_actions(new)
    _refused(bench, lambda: new.step(action), "a step before the first reset", (ValueError, RuntimeError))
    world = bench.begun()
    players = Players(world, bench.seed, range(world.num_worlds))
    for t in range(1, 4):
        good = players.act(world.timestep)
        bench.attempt(lambda good=good: world.step(good), "step", t)  # type: ignore[misc]
    for name, bad in bad_actions(world, players.act(world.timestep)):
        _unchanged(bench, world, lambda bad=bad: world.step(bad), f"actions: {name}")  # type: ignore[misc]
    n = world.num_worlds
    for name, call in (
        ("reset(which=[W])", lambda: world.reset(which=np.array([n]))),
        ("reset(which=mask of W + 1 worlds)", lambda: world.reset(which=np.ones(n + 1, bool))),
        ("reset(seeds of W + 1 worlds)", lambda: world.reset(seeds=np.ones(n + 1, np.uint64))),
        ("reset(seeds=-1)", lambda: world.reset(seeds=-1)),
    ):
        _unchanged(bench, world, call, name)
    if bench.can_save:
        _check_bad_snapshots(bench, world)


def _check_bad_snapshots(bench: Bench, world: World) -> None:
    snapshot = bench.attempt(world.save, "save")
    for field in list(snapshot)[:1]:
        without = {name: array for name, array in snapshot.items() if name != field}
        taller = {name: np.concatenate([array, array[:1]]) for name, array in snapshot.items()}
        _unchanged(bench, world, lambda: world.load(without), "load of a snapshot with a field missing")  # noqa: B023
        _unchanged(bench, world, lambda: world.load(taller), "load of a snapshot with another W")  # noqa: B023


def _some_actions(world: World) -> Any:
    parts = {
        kind.name: _leaf_actions(kind.action_space, (world.num_worlds, len(kind.slots)))
        for kind in world.kinds
    }
    return parts if len(parts) > 1 else next(iter(parts.values()))


def _leaf_actions(space: spaces.Space, shape: tuple[int, ...]) -> Any:
    if isinstance(space, spaces.Dict):
        return {name: _leaf_actions(part, shape) for name, part in space.spaces.items()}
    sample = np.asarray(space.sample())
    return np.broadcast_to(sample, (*shape, *sample.shape)).copy()


def bad_actions(world: World, good: Any) -> Iterator[tuple[str, Any]]:
    """Variants of legal actions that must be refused, each with what is wrong in it."""
    yield "None", None
    if len(world.kinds) == 1:
        yield from _bad(world.kinds[0].action_space, good)
        return
    yield "a kind is missing", dict(list(good.items())[1:])
    for kind in world.kinds:
        for name, bad in _bad(kind.action_space, good[kind.name]):
            yield f"{kind.name}, {name}", {**good, kind.name: bad}


def _bad(space: spaces.Space, good: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(space, spaces.Dict):
        yield "a key is missing", dict(list(good.items())[1:])
        for key, part in space.spaces.items():
            for name, bad in _bad(part, good[key]):
                yield f"{key}, {name}", {**good, key: bad}
        return
    yield "one world too few", good[1:]
    yield "one axis too many", good[..., None]
    wide = good.astype(np.float64 if isinstance(space, spaces.Box) else np.int64)
    if isinstance(space, spaces.Box):
        yield "NaN", _first(wide, np.nan)
        high, low = space.high.reshape(-1)[0], space.low.reshape(-1)[0]
        beyond = [(high, np.inf), (low, -np.inf)]
    else:
        yield "not whole numbers", good + 0.5
        start = np.asarray(getattr(space, "start", 0)).reshape(-1)[0]
        count = getattr(space, "n", 2) if not hasattr(space, "nvec") else space.nvec.reshape(-1)[0]
        top = 2 if isinstance(space, spaces.MultiBinary) else start + count
        yield "above the range", _first(wide, top)
        yield "below the range", _first(wide, start - 1)
        return
    for bound, side in beyond:
        if np.isfinite(bound):
            yield "outside the range", _first(wide, bound + np.sign(side))


def _first(array: np.ndarray, value: float) -> np.ndarray:
    bad = array.copy()
    bad.reshape(-1)[0] = value
    return bad


def _refused(
    bench: Bench, call: Callable[[], Any], name: str, errors: tuple[type[Exception], ...] = (ValueError,)
) -> None:
    try:
        call()
    except errors as error:
        if "\n" in str(error) or not str(error):
            bench.add("refusal", f"{name}: the refusal is not one line", field=name)
    except Exception as error:
        bench.add("refusal", f"{name}: raised {described(error)}", field=name)
    else:
        bench.add("refusal", f"{name}: was accepted", field=name)


def _unchanged(bench: Bench, world: World, call: Callable[[], Any], name: str) -> None:
    before = copy_fields(world, world.timestep) | bench.saved(world)
    _refused(bench, call, name)
    rows = list(range(world.num_worlds))
    at = first_difference(read_fields(world, world.timestep) | bench.saved(world), before, rows, rows)
    if at is not None:
        bench.add_difference("refusal", f"{name}: changed the batch", world, at, at.row, 3)
