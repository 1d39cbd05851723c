"""A world under every deed of the protocol, held against worlds that are made anew and do the same.

The law: a world's state and what it says are a function of its seeds and of what was done since. So whatever stands between
(snapshots, copies, refused actions, other worlds' resets), a second world that is given the log alone says the same.
"""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule

from interplay.checker.outputs import copy_fields, first_difference
from interplay.core.errors import UserError
from interplay.core.policy import sample_legal
from interplay.core.spaces import sample_actions
from interplay.core.world import World
from interplay.registry import make_world
from tests.machines.counting import Counting

SEEDS = st.integers(0, 2**32)


class Family(NamedTuple):
    """A world to play with: registry id and options that make it cheap."""

    world: str
    options: Mapping[str, Any]


FAMILIES = {
    "simulation": Family("simulation/multi-corridor", {"end": 6, "num_agents": 3}),
    "gridworld": Family("gridworld/team-battle", {"num_agents": 6, "rows": 5, "cols": 5, "time_limit": 20}),
    "mmo": Family("mmo/combat", {"interior": 12, "slots": 8, "npop": 2, "vision": 2}),
    "werewolf": Family("werewolf/6", {}),
    "survival": Family("survival/1v1-heals-low", {"max_steps": 25}),
}


class Done(NamedTuple):
    """One deed: a reset (`which`, `seeds`) or a step (`action`)."""

    which: np.ndarray | None = None
    seeds: np.ndarray | None = None
    action: Any = None

    def do(self, world: World) -> None:
        """To a world."""
        if self.action is None:
            world.reset(self.which, self.seeds)
        else:
            world.step(copy.deepcopy(self.action))


class WorldMachine(Counting):
    """A batch of one to three worlds, its twin that does the same, and snapshots; subclasses name a `family`."""

    family: Family

    @initialize(num_worlds=st.integers(1, 3), number=SEEDS)
    def begin(self, num_worlds: int, number: int) -> None:
        self.note("begin")
        self.made = (num_worlds, number)
        self.log: list[Done] = []
        self.kept: list[tuple[dict[str, np.ndarray], int]] = []  # snapshots, and the log's length then
        self.world, self.twin = self.make(), self.make()
        self.do(Done())

    def make(self) -> World:
        num_worlds, number = self.made
        return make_world(self.family.world, num_worlds, number, **self.family.options)

    def do(self, deed: Done) -> None:
        self.log.append(deed)
        deed.do(self.world)
        deed.do(self.twin)
        self.agree()

    def agree(self) -> None:
        """World and twin are the same, bit for bit."""
        rows = list(range(self.world.num_worlds))
        ours, theirs = (copy_fields(world, world.timestep) for world in (self.world, self.twin))
        assert first_difference(ours, theirs, rows, rows) is None
        assert (self.world.hash() == self.twin.hash()).all()

    def replayed(self, length: int) -> World:
        """A new world that was given the beginning of the log."""
        world = self.make()
        for deed in self.log[:length]:
            deed.do(world)
        return world

    # -- rules -----------------------------------------------------------------------------------

    @rule(number=SEEDS)
    def step(self, number: int) -> None:
        self.note("step")
        self.do(Done(action=self.drawn(number, True)))

    @rule(number=SEEDS)
    def step_without_a_look_at_the_mask(self, number: int) -> None:
        self.note("step, illegal choices too")
        self.do(Done(action=self.drawn(number, False)))

    @rule(number=SEEDS, steps=st.integers(2, 12))
    def several_steps(self, number: int, steps: int) -> None:
        self.note("several steps")
        for k in range(steps):
            self.do(Done(action=self.drawn(number + k, True)))

    @rule(number=st.none() | SEEDS)
    def reset(self, number: int | None) -> None:
        self.note("reset")
        worlds = self.world.num_worlds
        self.do(Done(seeds=None if number is None else np.arange(number, number + worlds, dtype=np.uint64)))

    @rule(bits=st.integers(1, 7), number=st.none() | SEEDS, by_index=st.booleans())
    def partial_reset(self, bits: int, number: int | None, by_index: bool) -> None:
        self.note("partial reset")
        worlds = self.world.num_worlds
        which = np.array([bool(bits >> w & 1) for w in range(worlds)])
        others, before = np.flatnonzero(~which), self.world.hash()
        seeds = None if number is None else np.arange(number, number + worlds, dtype=np.uint64)
        self.do(Done(np.flatnonzero(which) if by_index else which, seeds))
        assert (self.world.hash()[others] == before[others]).all()

    @rule()
    def reset_those_that_are_over(self) -> None:
        self.note("reset those that are over")
        self.do(Done(self.world.timestep.over.copy()))

    @rule()
    def save(self) -> None:
        self.note("save")
        self.kept.append((self.world.save(), len(self.log)))
        self.agree()

    @precondition(lambda self: self.kept)
    @rule(index=st.integers(0, 9), into_a_new_one=st.booleans())
    def load(self, index: int, into_a_new_one: bool) -> None:
        self.note("load")
        snapshot, length = self.kept[index % len(self.kept)]
        if into_a_new_one:
            self.world = self.make()
        given = copy.deepcopy(snapshot)
        self.world.load(given)
        for array in given.values():  # what the caller does with it afterwards is nobody's business
            array[...] = 0
        self.twin = self.replayed(length)
        self.log = self.log[:length]
        self.kept = [(one, at) for one, at in self.kept if at <= length]
        self.agree()

    @rule(way=st.sampled_from((copy.deepcopy, copy.copy, lambda world: pickle.loads(pickle.dumps(world)))))
    def copied(self, way: Callable[[World], World]) -> None:
        self.note("copy")
        original, self.world = self.world, way(self.world)
        self.agree()
        before = original.hash()
        self.do(Done(action=self.drawn(len(self.log), True)))
        assert (original.hash() == before).all(), "stepping the copy changed the original"

    @rule(fault=st.sampled_from(("shape", "dtype", "nan", "range", "none", "which", "seeds", "snapshot")))
    def refused(self, fault: str) -> None:
        self.note("refused")
        before = self.world.save()
        with pytest.raises((UserError, ValueError)):
            self.wrong(fault)
        after = self.world.save()
        assert before.keys() == after.keys()
        assert all(np.array_equal(before[name], after[name]) for name in before)
        self.agree()

    @rule()
    def replay(self) -> None:
        """A world that is made anew and given the whole log is where this one is."""
        self.note("replay")
        self.twin = self.replayed(len(self.log))
        self.agree()

    # -- parts ------------------------------------------------------------------------------------

    def drawn(self, number: int, legal: bool) -> Any:
        """Actions of all, from a seed; legal ones, or any that the space holds."""
        rng, world, found = np.random.default_rng(number), self.world, {}
        masks = world.by_kind(world.timestep.action_mask)
        for kind in world.kinds:
            shape, mask = (world.num_worlds, len(kind.slots)), masks[kind.name]
            if legal and mask is not None:
                found[kind.name] = sample_legal(kind.action_space, mask, rng, shape)
            else:
                found[kind.name] = sample_actions(kind.action_space, rng, shape)
        return found if len(world.kinds) > 1 else found[world.kinds[0].name]

    def wrong(self, fault: str) -> None:
        """Does what has to be refused."""
        world, worlds = self.world, self.world.num_worlds
        if fault == "which":
            world.reset(np.array([worlds]))
        elif fault == "seeds":
            world.reset(seeds=np.zeros(worlds + 1, np.uint64))
        elif fault == "snapshot":
            world.load({**world.save(), "nothing": np.zeros(worlds)})
        else:
            world.step(_spoilt(self.drawn(0, True), fault))


def _spoilt(action: Any, fault: str) -> Any:
    """Actions of which one is wrong, in the last field of a mapping."""
    if isinstance(action, dict):
        last = list(action)[-1]
        return {**action, last: _spoilt(action[last], fault)}
    array = np.array(action)
    if fault == "none":
        return None
    if fault == "shape":
        return array[:, :-1]
    if fault == "range":
        array.reshape(-1)[-1] = 30_000 if array.dtype.kind != "i" or array.dtype.itemsize > 1 else 127
        return array
    wrong = array.astype(np.float64)
    wrong.reshape(-1)[-1] = np.nan if fault == "nan" else 0.5
    return wrong.astype("U8") if fault == "dtype" else wrong


def machine_of(name: str) -> type[WorldMachine]:
    """The machine of one family."""
    return type(f"{name.title()}Machine", (WorldMachine,), {"family": FAMILIES[name]})
