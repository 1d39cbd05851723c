"""Laws of seeds and reset: equal seeds give equal episodes, other seeds others, and a reset leaves no trace."""

from __future__ import annotations

import numpy as np

from interplay.checker.bench import Bench, Players
from interplay.checker.layout import overlap
from interplay.checker.outputs import (
    copy_fields,
    digest,
    first_difference,
    read_fields,
)
from interplay.core.world import Array, World

_EPISODE = 60  # steps played of each episode
_EPISODES = 3


def check_streams(bench: Bench) -> None:
    """Plays short episodes under equal and other seeds."""
    _check_construction_seed(bench)
    _check_seed_array(bench)
    _check_fresh_reset(bench)
    _check_seeds_matter(bench)
    _check_apart(bench)


def _check_construction_seed(bench: Bench) -> None:
    """make(n, seed) then reset() is make(n, other) then reset(seeds=seed)."""
    ours, theirs = bench.build(), bench.build(seed=bench.seed + 1)
    bench.attempt(ours.reset, "reset", 0)
    bench.attempt(lambda: theirs.reset(seeds=bench.seed), "reset", 0)
    _compare(
        bench, "seeds", "reset(seeds=seed) is not what a world made with that seed begins with", ours, theirs
    )


def _check_seed_array(bench: Bench) -> None:
    seeds = bench.seeds(range(bench.num_worlds))
    kept = seeds.copy()
    world = bench.begun(seeds=seeds)
    if not np.array_equal(seeds, kept):
        bench.add("seeds", "reset changed the caller's array of seeds", field="seeds")
    world.close()


def _check_fresh_reset(bench: Bench) -> None:
    """A world that has played, reset with a seed, is a new world with that seed."""
    seeds = bench.seeds(range(bench.num_worlds))
    used, fresh = bench.begun(seeds=seeds[::-1].copy()), bench.begun(seeds=seeds)
    _play(bench, used, 0, min(bench.steps, 2 * _EPISODE))
    bench.attempt(lambda: used.reset(seeds=seeds), "reset", 0)
    seen = "a world that had played begins otherwise than a new one with the same seed"
    if not _compare(bench, "reset-forgets", seen, used, fresh):
        return
    players = [Players(world, bench.seed, range(world.num_worlds)) for world in (used, fresh)]
    for t in range(1, min(bench.steps, _EPISODE) + 1):
        for world, player in zip((used, fresh), players, strict=True):
            action = player.act(world.timestep)
            bench.attempt(lambda world=world, action=action: world.step(action), "step", t)  # type: ignore[misc]
        if not _compare(bench, "reset-forgets", seen, used, fresh, t):
            return


def _compare(bench: Bench, law: str, seen: str, ours: World, theirs: World, t: int = 0) -> bool:
    rows = range(ours.num_worlds)
    at = first_difference(
        read_fields(ours, ours.timestep), read_fields(theirs, theirs.timestep), list(rows), list(rows)
    )
    if at is not None:
        bench.add_difference(law, seen, ours, at, at.row, t)
    return at is None


def _play(bench: Bench, world: World, key: int, steps: int) -> Array:
    """Plays every world of the batch with the same player; returns the digests of outputs, (steps + 1, W)."""
    players = Players(world, bench.seed, [key] * world.num_worlds)
    outputs = [digest(read_fields(world, world.timestep))]
    for t in range(1, steps + 1):
        action = players.act(world.timestep)
        bench.attempt(lambda action=action: world.step(action), "step", t)  # type: ignore[misc]
        outputs.append(digest(read_fields(world, world.timestep)))
    return np.stack(outputs)


def _check_seeds_matter(bench: Bench) -> None:
    """Worlds with other seeds and the same actions differ, and so do a world's episodes: both or neither.

    A world without randomness shows neither; one with draws shows both.
    """
    world = bench.begun(max(bench.num_worlds, 3))
    episodes = []
    for e in range(_EPISODES):
        if e:
            bench.attempt(world.reset, "reset", 0)
        episodes.append(_play(bench, world, 0, _EPISODE))
    outputs = np.stack(episodes)  # (episode, step, world)
    by_seed = bool((outputs != outputs[..., :1]).any())
    by_episode = bool((outputs != outputs[:1]).any())
    if by_episode and not by_seed:
        bench.add("seeds", "episodes differ, yet worlds with other seeds are all alike", field="seeds")
    if by_seed and not by_episode:
        bench.add(
            "seeds", "reset() begins the same episode again instead of the stream's next", field="episode"
        )


def _check_apart(bench: Bench) -> None:
    """Two batches share no memory: playing one leaves the other alone."""
    ours = bench.begun()
    _play(bench, ours, 0, 3)
    before = copy_fields(ours, ours.timestep) | bench.saved(ours)
    theirs = bench.begun(seeds=bench.seeds(range(2 * bench.num_worlds))[bench.num_worlds :])
    other = read_fields(theirs, theirs.timestep, metrics=False)
    for name, (array, _) in read_fields(ours, ours.timestep, metrics=False).items():
        if array.flags.writeable and any(overlap(array, part.array) for part in other.values()):
            bench.add("shared-buffers", "two batches share this memory", field=name)
    _play(bench, theirs, 1, 5)
    rows = list(range(ours.num_worlds))
    at = first_difference(read_fields(ours, ours.timestep) | bench.saved(ours), before, rows, rows)
    if at is not None:
        seen = "playing another batch of this world changed this one"
        bench.add_difference("shared-buffers", seen, ours, at, at.row, 3)
