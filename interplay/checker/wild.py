"""Laws of wild snapshots: a snapshot with numbers outside their ranges is refused, or played without harm."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from interplay.checker.bench import Bench, Broken, Players, described
from interplay.checker.outputs import Field, copy_fields, first_difference, read_fields
from interplay.checker.planting import Planted, Snapshot, plant, plant_each
from interplay.core import seeding
from interplay.core.errors import UserError
from interplay.core.ranges import outside
from interplay.core.world import ArrayWorld, World

MOMENTS = (0, 17, 60)  # steps after which sound snapshots are taken; wild ones mix them
PLANTED = 40  # wild snapshots of a check, besides one for each field
PLAYED, AFTER = 20, 3  # steps that an accepted one is played on, and those after a reset


class Outcome(NamedTuple):
    """The outcome of a wild snapshot: whether it was refused, and the harm done, "" for none."""

    refused: bool
    harm: str


def check_declared(bench: Bench) -> None:
    """Every field of numbers has a range that contains the world's own values."""
    world = bench.begun()
    if not isinstance(world, ArrayWorld):
        return  # what its numbers may be is the business of its own `load`
    sound, ranges, sane = sound_snapshots(bench, world), world.state_ranges(), True
    for name, array in sound[0].items():
        if array.dtype != bool and name not in ranges:
            bench.add("undeclared", "numbers without a range", field=f"save/{name}")
    for snapshot in sound:
        for name in ranges.keys() & snapshot.keys():
            wrong = outside(snapshot[name], ranges[name])
            if wrong is not None:
                w, value = int(np.argwhere(wrong)[0][0]), snapshot[name][wrong][0]
                seen = f"a state of the world's own is outside {ranges[name]}"
                bench.add("undeclared", seen, world=w, field=f"save/{name}", value=value)
                sane = False
    if not sane:
        raise Broken


def check_wild_snapshots(bench: Bench) -> None:
    """Plants wild numbers into sound snapshots: each is refused with one line, or plays on as any state does."""
    world = bench.begun()
    sound = sound_snapshots(bench, world)
    rng = seeding.generator(bench.seed, 0x311D)
    wild = [*plant_each(rng, sound), *(plant(rng, sound) for _ in range(PLANTED))]
    for number, planted in enumerate(wild):
        harm = attempt(world, planted, number).harm
        if harm:
            bench.add("wild-snapshot", f"{planted.story}: {harm}", field=f"save/{planted.field}")
            raise Broken
        bench.attempt(lambda: world.load(sound[0]), "load")


def attempt(world: World, planted: Planted, seed: int) -> Outcome:
    """Loads a wild snapshot into a world that was reset, and plays it on if it is accepted.

    Args:
        world: its state is lost if the snapshot is accepted.
    """
    outputs, saved = copy_fields(world, world.timestep), world.save()
    try:
        world.load(planted.snapshot)
    except UserError as error:
        return Outcome(
            True, "the refusal is not one line" if "\n" in str(error) else _changed(world, outputs, saved)
        )
    except Exception as error:
        return Outcome(False, f"load raised {described(error)}")
    with np.errstate(all="ignore"):
        return Outcome(False, _taken_unseen(world, planted) or _play_on(world, seed))


def sound_snapshots(bench: Bench, world: World) -> list[Snapshot]:
    """Snapshots of one world at several moments."""
    players, taken = Players(world, bench.seed, range(world.num_worlds)), []
    for t in range(min(max(MOMENTS), bench.steps) + 1):
        if t in MOMENTS:
            taken.append(bench.attempt(world.save, "save", t))
        if world.timestep.over.all():
            bench.attempt(world.reset, "reset", t)
        action = players.act(world.timestep)
        bench.attempt(lambda action=action: world.step(action), "step", t)  # type: ignore[misc]
    return list(taken)


def _taken_unseen(world: World, planted: Planted) -> str:
    """A number that was accepted although the world's own ranges exclude it, in words, or ""."""
    if isinstance(world, ArrayWorld):
        for name, allowed in world.state_ranges().items():
            array = planted.snapshot.get(name)
            if array is not None and outside(array, allowed) is not None:
                return f"accepted, though {name} is outside {allowed}"
    return ""


def _play_on(world: World, seed: int) -> str:
    """Random steps, a reset and further steps; the harm they do, in words, or "".

    A step may be refused, since the mask itself may come from the snapshot.
    """
    players = Players(world, seed, range(world.num_worlds))
    for t in range(1, PLAYED + AFTER + 1):
        try:
            if t == PLAYED + 1:
                world.reset()
            world.step(players.act(world.timestep))
        except ValueError:
            world.reset()
        except Exception as error:
            return f"accepted, and step {t} raised {described(error)}"
        for name, field in read_fields(world, world.timestep, metrics=False).items():
            if field.array.dtype.kind == "f" and not np.isfinite(field.array).all():
                return f"accepted, and after step {t} {name} is not finite"
    return ""


def _changed(world: World, outputs: Mapping[str, Field], saved: Snapshot) -> str:
    """What a refusal changed, in words, or ""."""
    now = world.save()
    for name, array in saved.items():
        if array.tobytes() != now[name].tobytes():
            return f"refused, and {name} changed all the same"
    rows = range(world.num_worlds)
    try:
        at = first_difference(read_fields(world, world.timestep), outputs, rows, rows)
    except RuntimeError as error:
        return f"refused, and the time step is gone: {described(error)}"
    return "" if at is None else f"refused, and {at.field} changed all the same"
