"""Laws of copies: a copy of a world continues as the world does, and shares nothing with it."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

from interplay.checker.bench import Bench, Broken, Players, described
from interplay.checker.outputs import Field, copy_fields, first_difference, read_fields
from interplay.core.world import World

_MOMENT = 17  # steps after which copies are made
_WINDOW = 25  # steps played after it, then a reset into the next episode, then _AFTER steps
_AFTER = 10

Fields = dict[str, Field]


def check_copies(bench: Bench) -> None:
    """Copies a new world and one in the middle of an episode, and plays copies and original alike."""
    copiers: dict[str, Callable[[Any], Any]] = {
        "deepcopy": copy.deepcopy,
        "copy": copy.copy,
        "pickle": _there_and_back,
    }
    world = bench.begun()
    players = Players(world, bench.seed, range(world.num_worlds))
    for _ in range(min(_MOMENT, bench.steps)):
        _step(bench, world, players)
        if world.timestep.over.all():
            bench.attempt(world.reset, "reset")
    before, outputs = _whole(bench, world), {}
    for name, copier in copiers.items():
        if name == "pickle" and not _has_names(bench, world):
            continue
        _check_new(bench, name, copier)
        if bench.can_save:
            twin = _copied(bench, name, copier, world)
            _compare(bench, name, "the copy is not what the original is", twin, _whole(bench, twin), before)
            outputs[name] = _play(bench, twin)
            _compare(
                bench, name, "playing the copy changed the original", world, _whole(bench, world), before
            )
    expected = _play(bench, world) if outputs else []
    for name, seen in outputs.items():
        for t, fields in enumerate(seen):
            _compare(bench, name, f"{t + 1} steps later copy and original differ", world, fields, expected[t])


def _there_and_back(world: World) -> Any:
    return pickle.loads(pickle.dumps(world))  # our own bytes, of this moment


def _has_names(bench: Bench, world: World) -> bool:
    """Whether pickle can name the world's class and its arguments: nothing defined inside a function."""
    try:
        pickle.dumps((type(world), world._recipe))
    except Exception as error:
        bench.report.skipped.append(f"whether it is pickled whole ({described(error)})")
        return False
    return True


def _copied(bench: Bench, name: str, copier: Callable[[Any], Any], world: World) -> World:
    try:
        twin: World = copier(world)
    except Exception as error:
        bench.add("copies", f"{name} raised {described(error)}", field=name)
        raise Broken from error
    return twin


def _check_new(bench: Bench, name: str, copier: Callable[[Any], Any]) -> None:
    """A world that was never reset, and its copy, begin with the same episode."""
    world = bench.build()
    twin = _copied(bench, name, copier, world)
    for one in (twin, world):
        bench.attempt(one.reset, "reset", 0)
    seen = "a copy made before the first reset begins otherwise"
    _compare(bench, name, seen, world, read_fields(twin, twin.timestep), read_fields(world, world.timestep))


def _whole(bench: Bench, world: World) -> Fields:
    return copy_fields(world, world.timestep) | bench.saved(world)


def _play(bench: Bench, world: World) -> list[Fields]:
    """Plays across a reset into the next episode; returns the outputs."""
    players = Players(world, bench.seed + 1, range(world.num_worlds))
    outputs = []
    for i in range(_WINDOW + _AFTER):
        if i == _WINDOW:
            bench.attempt(world.reset, "reset")
        _step(bench, world, players)
        outputs.append(copy_fields(world, world.timestep))
    return outputs


def _step(bench: Bench, world: World, players: Players) -> None:
    action = players.act(world.timestep)
    bench.attempt(lambda: world.step(action), "step")


def _compare(bench: Bench, name: str, seen: str, world: World, ours: Fields, theirs: Fields) -> None:
    rows = list(range(world.num_worlds))
    at = first_difference(ours, theirs, rows, rows)
    if at is not None:
        place = f"{name}: {at.field}"
        bench.add_difference("copies", seen, world, at._replace(field=place), at.row, None)
        raise Broken
