"""Checks after every tick that a batch of persistent worlds keeps its laws; for tests and soaks, of any policy."""

from __future__ import annotations

import numpy as np

from bench.mmo_laws import LAWS, Memory, Moment, ended_kills, full_grown
from bench.mmo_sights import wrong_sight
from interplay.core.world import TimeStep
from interplay.worlds.mmo.state import CUT, MELEE
from interplay.worlds.mmo.world import MmoWorld

OBSERVERS = 128  # whose views are looked at after a tick, at most


class Violation(Exception):
    """A law is broken, in one line.

    Attributes:
        world: number in the batch.
        tick: of that world.
        slot: which, or None where the law is about the whole world.
        law: which.
    """

    def __init__(self, name: str, world: int, tick: int, slot: int | None, law: str) -> None:
        self.world, self.tick, self.slot, self.law = world, tick, slot, law
        where = f"world {world}, tick {tick}" + ("" if slot is None else f", slot {slot}")
        super().__init__(f"{name}: {where}: {law}")


class Invariants:
    """The laws of one batch.

    Every law is asked of every world after every tick; views are looked at in one world per tick, in turn.

    Args:
        world: after its reset.

    Example:
        >>> import numpy as np
        >>> from interplay import make_world
        >>> world = make_world("mmo/forage", num_worlds=2)
        >>> step = world.reset()
        >>> watch = Invariants(world)
        >>> watch.check(world.step(np.zeros((2, 128, 2), int)))
        >>> watch.checked
        2
    """

    def __init__(self, world: MmoWorld) -> None:
        self.world = world
        self.checked = 0  # agent-steps: living agents of all ticks checked, before the tick
        self._memory = _memory(world)
        self.begin(np.ones(world.num_worlds, bool))

    def begin(self, which: np.ndarray) -> None:
        """To be called after a reset of the worlds in the (W,) mask `which`."""
        for old, new in zip(self._memory, _memory(self.world), strict=True):
            old[which] = new[which]
        self._look(self.world.timestep)

    def check(self, timestep: TimeStep) -> None:
        """Asks all laws after a step.

        Raises:
            Violation: naming the first law that is broken, and where.
        """
        moment = Moment(self.world.settings, self.world.state, self._memory)
        for law, question in LAWS.items():
            wrong = question(moment)
            if wrong.any():
                at = np.argwhere(wrong)[0]
                self._complain(int(at[0]), int(at[1]) if len(at) > 1 else None, law)
        self._look(timestep)
        self.checked += int(self._memory.alive.sum())
        self._memory.survived[:] += moment.survived.sum(axis=1)
        self._memory.kills[:] += ended_kills(moment)
        self._remember(moment)

    def _remember(self, moment: Moment) -> None:
        memory, room = self._memory, moment.room
        memory.tick[:], memory.births[:], memory.causes[:] = room["tick"], room["births"], moment.state.causes
        memory.alive[:] = moment.alive
        for name in ("life_id", "life", "population"):
            getattr(memory, name)[:] = moment.agent(name)

    def _look(self, timestep: TimeStep) -> None:
        tick = int(self.world.state.room["tick"].max())
        number, turn = tick % self.world.num_worlds, tick // self.world.num_worlds
        slots = np.arange(self.world.settings.slots)
        if len(slots) > OBSERVERS:
            slots = slots[turn % (len(slots) // OBSERVERS) :: len(slots) // OBSERVERS][:OBSERVERS]
        found = wrong_sight(self.world.settings, self.world.state, timestep, number, slots)
        if found is not None:
            self._complain(number, *found)

    def _complain(self, number: int, slot: int | None, law: str) -> None:
        raise Violation(self.world.id, number, int(self.world.state.room["tick"][number]), slot, law)


def _memory(world: MmoWorld) -> Memory:
    """What a world that was just reset, or loaded, is held against from now on."""
    agent, room, causes = world.state.agent, world.state.room, world.state.causes
    alive = np.array(agent["alive"])
    return Memory(
        tick=room["tick"].copy(),
        births=room["births"].copy(),
        causes=causes.copy(),
        alive=alive,
        life_id=agent["life_id"].copy(),
        life=agent["life"].copy(),
        population=agent["population"].copy(),
        survived=room["life_ticks"] + np.where(alive, agent["life"], 0).sum(axis=1),
        kills=causes[:, MELEE:CUT].sum(axis=1) - np.where(alive, agent["kills"], 0).sum(axis=1),
        ground=full_grown(world.state.tiles),
    )
