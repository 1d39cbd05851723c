"""The agents of a PettingZoo environment: names of slots, or of the lives in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from interplay.connect.readers import KindReader
from interplay.core.errors import UserError
from interplay.core.world import World

PREFIX = "life_"


class AgentNames:
    """Maps names to the slots of a world, and lists the agents that are present.

    A slot keeps its name. With `renames` each life in it has a name of its own, ``life_0``, ``life_1``, ...: by order of birth
    since `begin`, those of one step by slot.

    Args:
        world: a batch of one.
        kinds: readers of its kinds; their members follow the names.
        renames: agents are lives.

    Attributes:
        of_slot: the name of each slot.
        listed: whether the slot's agent is present.
    """

    def __init__(self, world: World, kinds: Sequence[KindReader], renames: bool) -> None:
        self.renames = renames
        self.of_slot = [""] * len(world.agents) if renames else list(world.agents)
        self.listed = [False] * len(world.agents)
        self._id, self._kinds, self._slots = world.id, kinds, [kind.slots for kind in world.kinds]
        self._kind_of = {slot: number for number, slots in enumerate(self._slots) for slot in slots}
        self._kind_of_life = bytearray()
        self._slot_of = {} if renames else {name: slot for slot, name in enumerate(world.agents)}

    @property
    def births(self) -> int:
        """How many lives have begun since `begin`."""
        return len(self._kind_of_life)

    def begin(self, acting: Sequence[bool]) -> None:
        """Lists the agents of a new episode: all slots, or the lives in the acting ones."""
        self.listed = [not self.renames] * len(self.listed)
        self._kind_of_life.clear()
        if self.renames:
            self.bear(acting)

    def bear(self, acting: Sequence[bool]) -> list[str]:
        """Names and lists a new life in each acting slot without one; returns the names."""
        born = [slot for slot, acts in enumerate(acting) if acts and not self.listed[slot]]
        for slot in born:
            self.of_slot[slot] = f"{PREFIX}{self.births}"
            self.listed[slot] = True
            self._kind_of_life.append(self._kind_of[slot])
        if born:
            for kind, slots in zip(self._kinds, self._slots, strict=True):
                kind.members = [(slot, self.of_slot[slot]) for slot in slots]
        return [self.of_slot[slot] for slot in born]

    def present(self) -> list[str]:
        """The names of the listed agents, by slot."""
        return [name for name, listed in zip(self.of_slot, self.listed, strict=True) if listed]

    def named(self, values: Sequence[Any]) -> dict[str, Any]:
        """Slot values by the names of the listed agents."""
        if False not in self.listed:
            return dict(zip(self.of_slot, values, strict=True))
        rows = zip(self.of_slot, self.listed, values, strict=True)
        return {name: value for name, listed, value in rows if listed}

    def slots(self) -> dict[str, int]:
        """Name -> slot of every agent that may have an action: all slots, or the present lives."""
        return self.named(range(len(self.of_slot))) if self.renames else self._slot_of

    def reader(self, name: str) -> KindReader:
        """The reader of an agent's kind; of lives of a single kind also for those to come."""
        life = name.removeprefix(PREFIX)
        if name in self._slot_of:
            return self._kinds[self._kind_of[self._slot_of[name]]]
        if self.renames and name != life and life.isdecimal():
            if len(self._kinds) == 1:
                return self._kinds[0]
            if int(life) < self.births:
                return self._kinds[self._kind_of_life[int(life)]]
        raise UserError(f"{self._id}: unknown agent {name!r}; agents are named as in env.agents")
