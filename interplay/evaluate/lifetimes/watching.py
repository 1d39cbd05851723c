"""Plays a world for some ticks and feeds recorders."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from interplay.core.errors import UserError
from interplay.core.policy import Policy
from interplay.core.world import World
from interplay.evaluate.lifetimes.tick import Recorder, tick_reader


def watch(
    world: World,
    policy: Policy,
    recorders: Iterable[Recorder],
    ticks: int,
    seed: int = 0,
    burn_in: int = 0,
    progress: Callable[[int], None] | None = None,
    reader: Callable[[World], Callable[[World], Any]] = tick_reader,
) -> None:
    """Resets a world, plays it, and feeds the recorders after the burn-in and every later tick.

    Args:
        world: a batch; worlds that are over stand still.
        policy: acts for every agent.
        ticks: to record.
        seed: of the worlds' streams and of the policy's.
        burn_in: ticks played before recording.
        progress: called with the number of ticks played.
        reader: world -> function that reads the recorders' input from it.
    """
    if ticks < 1 or burn_in < 0:
        raise UserError(
            f"ticks = {ticks}, burn_in = {burn_in}: record at least one tick after a burn-in of 0 or more"
        )
    watching, read = tuple(recorders), reader(world)
    timestep = world.reset(seeds=seed)
    policy.start(world, seed)
    for done in range(burn_in + ticks + 1):
        if done:
            timestep = world.step(policy.act(timestep))
        tick = read(world)  # in the burn-in too: a reader may keep the previous tick
        if done >= burn_in:
            for recorder in watching:
                recorder.add(tick)
        if progress is not None:
            progress(done)
        if timestep.over.all():
            return
