"""The long run: one batch and its twins play side by side, and no output of a twin may differ.

The first batch is the reference and is checked by the laws of `layout` and `lives`. Each twin plays the same worlds
(equal seeds, equal actions) under one harmless change; the twin's name is the law that a difference breaks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from interplay.checker.bench import Bench, Broken, Players, map_tree
from interplay.checker.layout import check_layout
from interplay.checker.lives import Lives
from interplay.checker.outputs import (
    Difference,
    Field,
    copy_fields,
    first_difference,
    flatten,
    read_fields,
)
from interplay.core.spaces import sample_actions
from interplay.core.world import Array, World

_STANDING = 3  # steps between a world's end and its reset
_FORCED = 61  # steps between resets of world 0 in the middle of an episode
_HASHED = 50  # steps between comparisons of state hashes


class Run:
    """One batch in the long run.

    Args:
        law: broken by a difference from the reference.
        keys: the reference's world in each row; equal keys have equal seeds and equal actions.
        change: called before each step with (run, actions), returns the actions to play.
    """

    def __init__(
        self,
        bench: Bench,
        law: str,
        keys: Sequence[int],
        change: Callable[[Run, Any], Any] | None = None,
    ) -> None:
        self.bench, self.law, self.keys, self.change = bench, law, list(keys), change
        self.world: World = bench.begun(len(keys), bench.seeds(keys))
        self.rng = np.random.Generator(np.random.Philox(bench.seed))

    def play(self, which: Array, action: Any, t: int) -> None:
        """Resets and steps as the reference did, row by row."""
        rows = self.keys
        if which[rows].any():
            self.bench.attempt(lambda: self.world.reset(which=which[rows]), "reset", t)
        mine = map_tree(lambda array: array[rows], action)
        if self.change is not None:
            mine = self.change(self, mine)
        self.bench.attempt(lambda: self.world.step(mine), "step", t)


def run_in_step(bench: Bench) -> None:
    """Plays the reference and its twins for `bench.steps` steps and notes every law that breaks."""
    reference = Run(bench, "", range(bench.num_worlds))
    world = reference.world
    players = Players(world, bench.seed, reference.keys)
    lives, twins = Lives(bench, world), _twins(bench)
    stood = np.zeros(bench.num_worlds, np.int64)
    for t in range(1, bench.steps + 1):
        which = _due(stood, t)
        if which.any():
            _restart_reference(reference, which, t)
            lives.born(world.timestep, which, t)
        action = players.act(world.timestep)
        _step_reference(reference, action, t)
        stood = np.where(which, 0, stood) + world.timestep.over
        lives.stepped(world.timestep, t)
        twins = _followers(reference, twins, which, action, t)


def _followers(reference: Run, twins: list[Run], which: Array, action: Any, t: int) -> list[Run]:
    """Advances the twins; those that drift away (which is noted once) are left behind."""
    left, bench = [], reference.bench
    for twin in twins:
        if _follows(reference, twin, which, action, t):
            left.append(twin)
        elif twin.law == "determinism" or bench.generators.touched():
            return []  # other findings would repeat this fault
    return left


def _due(stood: Array, t: int) -> Array:
    """Which worlds to reset before step t: those that have been over for some steps, and now and then world 0 of several."""
    which = stood >= _STANDING
    which[0] |= len(stood) > 1 and t % _FORCED == 0
    return which


def _twins(bench: Bench) -> list[Run]:
    n = bench.num_worlds
    turned = list(reversed(range(n)))  # so that neighbours change too
    sizes = [[key % n for key in range(size)] for size in (1, 3, 7) if size != n]
    return [
        Run(bench, "determinism", range(n)),
        *([Run(bench, "position", turned)] if n > 1 else []),
        *(Run(bench, "batch-size", keys) for keys in sizes),
        Run(bench, "ignored-rows", range(n), scramble_ignored),
        Run(bench, "corruptible", range(n), scribble_on_observations),
    ]


def _restart_reference(run: Run, which: Array, t: int) -> None:
    """Resets some worlds and checks that the others did not change in any bit."""
    bench, world, others = run.bench, run.world, np.flatnonzero(~which)
    before = copy_fields(world, world.timestep) | bench.saved(world)
    bench.attempt(lambda: world.reset(which=which), "reset", t)
    check_layout(bench, world, world.timestep, t)
    after = read_fields(world, world.timestep) | bench.saved(world)
    at = first_difference(after, before, others, others)
    if at is not None:
        seen = f"reset of worlds {np.flatnonzero(which).tolist()} changed another"
        bench.add_difference("reset-untouched", seen, world, at, int(others[at.row]), t)


def _step_reference(run: Run, action: Any, t: int) -> None:
    bench, world = run.bench, run.world
    given = map_tree(np.copy, action)
    step = bench.attempt(lambda: world.step(given), "step", t)
    if any(not np.array_equal(a, b) for (_, a), (_, b) in _pairs(action, given)):
        bench.add("action-kept", "step changed the caller's action array", step=t, field="action")
    if step is not world.timestep:
        bench.add("crash", "world.timestep is not what step returned", step=t, field="timestep")
    check_layout(bench, world, step, t)


def _pairs(a: Any, b: Any) -> Any:
    return zip(flatten("", a), flatten("", b), strict=True)


def _follows(reference: Run, twin: Run, which: Array, action: Any, t: int) -> bool:
    """Advances a twin and compares."""
    try:
        twin.play(which, action, t)
    except Broken:
        return False
    at = _difference(reference, twin, t)
    if at is None:
        return True
    bench, row = reference.bench, twin.keys[at.row]
    if not bench.generators.touched():  # a law of its own
        bench.add_difference(twin.law, _SEEN[twin.law], reference.world, at, row, t)
    return False


_SEEN = {
    "determinism": "another batch with the same seeds and actions differs",
    "position": "the same world at another place in the batch differs",
    "batch-size": "the same world in a batch of another size differs",
    "ignored-rows": "action rows of agents that do not act have an effect",
    "corruptible": "a caller that wrote into the observation changed later outputs",
}


def _difference(reference: Run, twin: Run, t: int) -> Difference | None:
    mine = read_fields(reference.world, reference.world.timestep)
    other = read_fields(twin.world, twin.world.timestep)
    if twin.law == "corruptible":
        mine, other = (_only_read_rows(run.world, part) for run, part in ((reference, mine), (twin, other)))
    elif twin.law != "ignored-rows" and t % _HASHED == 0 and reference.bench.can_save:
        _compare_hashes(reference, twin, t)
    return first_difference(mine, other, twin.keys, range(len(twin.keys)))


def _compare_hashes(reference: Run, twin: Run, t: int) -> None:
    differs = reference.world.hash()[twin.keys] != twin.world.hash()
    if differs.any():
        w = twin.keys[int(np.flatnonzero(differs)[0])]
        seen = f"the state of a twin differs though its outputs do not ({twin.law})"
        reference.bench.add("hash", seen, world=w, step=t, field=f"hash, {twin.law}")


def _only_read_rows(world: World, fields: dict[str, Field]) -> dict[str, Field]:
    """Blanks observations that no policy reads: those of agents that neither act nor have just ended."""
    step = world.timestep
    read = step.acting | step.terminated | step.truncated
    blanked = {}
    for name, (array, slots) in fields.items():
        if name.startswith("observation") and slots is not None:
            rows = read[:, list(slots)]
            array = np.where(rows.reshape(*rows.shape, *[1] * (array.ndim - 2)), array, 0)
        blanked[name] = Field(array, slots)
    return blanked


def scramble_ignored(run: Run, action: Any) -> Any:
    """Other legal values in the action rows of agents that are not acting."""
    world, many = run.world, len(run.world.kinds) > 1
    scrambled = {}
    for kind in world.kinds:
        acting = world.timestep.acting[:, list(kind.slots)]
        noise = sample_actions(kind.action_space, run.rng, acting.shape)
        scrambled[kind.name] = _where(acting, action[kind.name] if many else action, noise)
    return scrambled if many else scrambled[world.kinds[0].name]


def _where(mask: Array, a: Any, b: Any) -> Any:
    if isinstance(a, dict):
        return {name: _where(mask, a[name], b[name]) for name in a}
    return np.where(mask.reshape(*mask.shape, *[1] * (a.ndim - 2)), a, b)


def scribble_on_observations(run: Run, action: Any) -> Any:
    """Writes into every writable observation array, as a caller might that scales in place.

    Worlds that are over are left alone: they need not write their rows again.
    """
    step = run.world.timestep
    for _, array in flatten("observation", step.observation):
        if array.flags.writeable:
            going = ~step.over
            array[going] = ~array[going] if array.dtype == bool else array[going] + 1
    return action
