"""The checker's bench: builds copies of the world, plays them, and writes down what breaks."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from gymnasium import spaces

from interplay.checker.outputs import SAVED, Difference, Field
from interplay.checker.report import Finding, Report
from interplay.core import seeding
from interplay.core.errors import UserError
from interplay.core.policy import sample_legal
from interplay.core.spaces import sample_actions
from interplay.core.world import Array, TimeStep, World

MakeWorld = Callable[[int, int], World]
T = TypeVar("T")


class Broken(Exception):
    """The world broke so badly that this part of the check cannot continue; the finding is already recorded."""


def _first_line(error: Exception) -> str:
    """The first line of an exception's message, since a finding is one line."""
    return next(iter(str(error).splitlines()), "")


def described(error: Exception) -> str:
    """The type of an exception and the first line of its message."""
    return f"{type(error).__name__}: {_first_line(error)}"


class Bench:
    """Shared parts of the check.

    Args:
        make: ``make(num_worlds, seed)`` builds one more batch of the world.
        seed: names the run: world seeds and actions follow from it.
        num_worlds: W of the batch that is compared with the others.
        alive: the living agents, (W, A) bool, for worlds where the dead stay present.
    """

    def __init__(
        self,
        make: MakeWorld,
        steps: int,
        seed: int,
        num_worlds: int,
        report: Report,
        alive: Callable[[World], Array] | None = None,
    ) -> None:
        self.make, self.steps, self.seed, self.num_worlds = make, steps, seed, num_worlds
        self.report, self.alive = report, alive
        self.generators = GlobalGenerators()
        self.can_save = True

    def attempt(self, call: Callable[[], T], name: str, step: int | None = None) -> T:
        """Runs something that must succeed; an exception is a finding and ends this part of the check."""
        try:
            return call()
        except Broken:
            raise
        except Exception as error:
            cured = isinstance(error, UserError)  # its line ends with its own cure
            seen = _first_line(error) if cured else f"{name} raised {described(error)}"
            self.add("crash", seen, step=step, field=name, cured=cured)
            raise Broken from error

    def build(self, num_worlds: int | None = None, seed: int | None = None) -> World:
        """One more batch, by default as large as the reference and with its seed."""
        count, given = num_worlds or self.num_worlds, self.seed if seed is None else seed
        return self.attempt(lambda: self.make(count, given), "make")

    def begun(self, num_worlds: int | None = None, seeds: Array | None = None) -> World:
        """A batch after its first reset, its worlds seeded by `seeds` (default: the reference's)."""
        world = self.build(num_worlds)
        given = self.seeds(range(world.num_worlds)) if seeds is None else seeds
        self.attempt(lambda: world.reset(seeds=given), "reset", 0)
        return world

    def saved(self, world: World) -> dict[str, Field]:
        """The result of `save` as fields that can be compared; empty for worlds that cannot be saved."""
        if not self.can_save:
            return {}
        snapshot = self.attempt(world.save, "save")
        return {f"{SAVED}{name}": Field(np.asarray(array), None) for name, array in snapshot.items()}

    def seeds(self, keys: Sequence[int]) -> Array:
        """The world seeds that go with the keys 0, 1, 2, ..."""
        return seeding.world_seeds(self.seed, max(keys) + 1)[list(keys)]

    def add(self, law: str, seen: str, **place: Any) -> None:
        """Writes a finding down."""
        self.report.add(Finding(law, seen, **place))

    def add_difference(
        self, law: str, seen: str, world: World, at: Difference, row: int, step: int | None
    ) -> None:
        """Writes down where two worlds differ that should be equal."""
        agent = None if at.agent is None else world.agents[at.agent]
        self.add(
            law,
            f"{seen} ({at.theirs} there)",
            world=row,
            agent=agent,
            step=step,
            field=at.field,
            value=at.ours,
        )


class Players:
    """A random player for each world: its actions depend on its key and its world, not on the batch.

    Legal choices are uniform; Box actions lie on a bound one time in five, where rules tend to break.
    """

    def __init__(self, world: World, seed: int, keys: Sequence[int]) -> None:
        self.world = world
        self.rngs = [seeding.generator(seed, 0xC4EC, key) for key in keys]

    def act(self, step: TimeStep) -> Any:
        """Actions for every slot of the batch, legal if there is a mask."""
        masks = self.world.by_kind(step.action_mask)
        actions = {}
        for kind in self.world.kinds:
            shape = (len(kind.slots),)
            rows = []
            for w, rng in enumerate(self.rngs):
                mask = masks[kind.name]
                if mask is None:
                    rows.append(sample_actions(kind.action_space, rng, shape))
                else:
                    row = {name: part[w] for name, part in mask.items()}
                    rows.append(sample_legal(kind.action_space, row, rng, shape))
                rows[-1] = _at_bounds(kind.action_space, rows[-1], rng)
            actions[kind.name] = _stack(rows)
        return actions if len(self.world.kinds) > 1 else actions[self.world.kinds[0].name]


def _at_bounds(space: spaces.Space, action: Any, rng: np.random.Generator) -> Any:
    if isinstance(space, spaces.Dict):
        return {name: _at_bounds(part, action[name], rng) for name, part in space.spaces.items()}
    if not isinstance(space, spaces.Box):
        return action
    dice = rng.random()
    bound = space.high if dice < 0.1 else space.low if dice < 0.2 else action
    return np.where(np.isfinite(bound), bound, action).astype(space.dtype)


def _stack(rows: Sequence[Any]) -> Any:
    if isinstance(rows[0], dict):
        return {name: _stack([row[name] for row in rows]) for name in rows[0]}
    return np.stack(rows)


def map_tree(function: Callable[[Array], Any], tree: Any) -> Any:
    """Applies a function to every array of nested mappings."""
    if isinstance(tree, dict):
        return {name: map_tree(function, part) for name, part in tree.items()}
    return function(tree)


class GlobalGenerators:
    """Python's and NumPy's global generators: whether a world touched them since the check began."""

    def __init__(self) -> None:
        self.python, self.numpy = random.getstate(), np.random.get_state()  # noqa: NPY002

    def touched(self) -> list[str]:
        """The modules with a moved global generator."""
        now = zip(np.random.get_state(), self.numpy, strict=True)  # noqa: NPY002
        same = {
            "random": random.getstate() == self.python,
            "np.random": all(np.array_equal(a, b) for a, b in now),
        }
        return [name for name, still in same.items() if not still]

    def restore(self) -> None:
        """Sets both back to where they were."""
        random.setstate(self.python)
        np.random.set_state(self.numpy)  # noqa: NPY002
