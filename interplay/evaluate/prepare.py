"""Compiles a world's kernels before they are needed, by using each of its functions once."""

from __future__ import annotations

import contextlib
import multiprocessing
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import Any

import numpy as np

from interplay.core.errors import CannotSave
from interplay.core.scene import scene_of
from interplay.core.spec import WorldSpec
from interplay.evaluate.lifetimes.survival_world.moments import moment_reader
from interplay.registry import list_policies, list_worlds, make_policy, make_world

STEPS = 8  # by each player: the first calls nearly every kernel, the others reach later phases


def prepare(world_id: str, **options: Any) -> float:
    """Resets, steps, draws, saves and loads a world with each of its players; returns seconds.

    Afterwards none of this compiles.

    Args:
        world_id: as `make_world` takes it.
        **options: the world's settings; few of them select other kernels.
    """
    began = time.monotonic()
    world = make_world(world_id, **options)
    try:
        for name in list_policies(world_id):
            player = make_policy(world_id, name)
            timestep = world.reset()
            player.start(world)
            for _ in range(STEPS):
                timestep = world.step(player.act(timestep))
                if timestep.over.any():
                    player.forget(timestep.over)
                    timestep = world.reset(timestep.over)
        with contextlib.suppress(CannotSave):
            world.load(world.save())
        scene_of(world, 0)
        _prepare_instruments(world)
    finally:
        world.close()
    return time.monotonic() - began


def _prepare_instruments(world: Any) -> None:
    """Calls what `interplay analyze` uses of a world beside its steps."""
    if "moments" in world.instruments:
        moment_reader(world)(world)
    if hasattr(world, "observe_ghosts"):
        middle = np.array([world.settings.side // 2])
        world.observe_ghosts(0, middle, middle, population=0)


def prepare_worlds(
    world_ids: Sequence[str], processes: int, options: Mapping[str, Any] | None = None
) -> Iterator[tuple[str, float]]:
    """Prepares worlds in several processes; yields each with its seconds.

    Worlds of one family share most kernels, so a family stays in one process. No task is repeated, so the standard pool will do.
    """
    families = _families(world_ids)
    if processes == 1 or len(families) == 1:
        for family in families:
            yield from _prepare_all(family, options or {})
        return
    context = multiprocessing.get_context("spawn")  # threads of compilers do not survive a fork
    with ProcessPoolExecutor(min(processes, len(families)), context) as pool:
        for done in as_completed([pool.submit(_prepare_all, family, options or {}) for family in families]):
            yield from done.result()


def _prepare_all(world_ids: Sequence[str], options: Mapping[str, Any]) -> list[tuple[str, float]]:
    return [(world_id, prepare(world_id, **options)) for world_id in world_ids]


def _families(world_ids: Sequence[str]) -> list[list[str]]:
    """The ids, grouped by the package that makes them."""
    known: dict[str, WorldSpec] = {spec.id: spec for spec in list_worlds()}
    families: dict[str, list[str]] = {}
    for world_id in world_ids:
        make = known[world_id].make if world_id in known else world_id
        families.setdefault(make.partition(":")[0].rpartition(".")[0], []).append(world_id)
    return list(families.values())
