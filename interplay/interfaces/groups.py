"""Groups of slots that share an interface, outside as separate slots or as teams of one slot each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from gymnasium import spaces

from interplay.core.errors import UserError
from interplay.core.loading import did_you_mean
from interplay.core.world import Kind, World
from interplay.interfaces.interface import Interface
from interplay.interfaces.nests import Layout, Nest


class Seats(NamedTuple):
    """One member of every unit of a group, in the arrays of one kind.

    Attributes:
        kind: the kind's name.
        columns: column of each unit's member: a slice if they are consecutive.
        size: number of slots of the kind.
        action_space, observation_space: of the kind.
        layout: of its observations.
    """

    kind: str
    columns: Any
    size: int
    observation_space: spaces.Space
    action_space: spaces.Space
    layout: Layout


class Group(NamedTuple):
    """Slots that share an interface.

    Attributes:
        name: of the group, and of its kind outside.
        units: for each slot outside the slots inside: one, or the members of a team.
        joint: whether units are teams, with tuples of observations and actions.
        seats: for each place of a unit the columns of its members.
        stack: the interface; None changes nothing.
    """

    name: str
    units: tuple[tuple[int, ...], ...]
    joint: bool
    seats: tuple[Seats, ...]
    stack: Interface | None

    @property
    def raw_spaces(self) -> tuple[spaces.Space, spaces.Space]:
        """What one unit observes and does inside."""
        pairs = [(seat.observation_space, seat.action_space) for seat in self.seats]
        if not self.joint:
            return pairs[0]
        return spaces.Tuple([seen for seen, _ in pairs]), spaces.Tuple([done for _, done in pairs])

    def seen(self, by_kind: Mapping[str, Nest]) -> Nest:
        """(W * units, ...) of what the kinds observe, (W, A_kind, ...)."""
        parts = [_rows(seat.layout, by_kind[seat.kind], seat.columns) for seat in self.seats]
        return tuple(parts) if self.joint else parts[0]

    def each(self, nest: Nest) -> Iterator[tuple[Seats, Nest]]:
        """Each place of a unit with its part of an action or a mask."""
        return zip(self.seats, nest if self.joint else (nest,), strict=True)


def make_groups(
    world: World, interfaces: Mapping[str, Any], groups: Mapping[str, Sequence[int]] | None, teams: bool
) -> list[Group]:
    """The named groups, and one for the remaining slots of each kind."""
    taken: dict[int, str] = {}
    found = []
    for name, stack in interfaces.items():
        slots = slots_named(world, name, groups)
        for slot in slots:
            if slot in taken:
                raise UserError(
                    f"{world.id}: {world.agents[slot]} is in {taken[slot]} and in {name}; each slot has one interface"
                )
            taken[slot] = name
        found.append(
            _group(
                world,
                name,
                _units(world, name, slots) if teams else [(slot,) for slot in slots],
                teams,
                stack,
            )
        )
    for kind in world.kinds:
        left = [slot for slot in kind.slots if slot not in taken]
        if left:
            name = kind.name if kind.name not in interfaces else f"{kind.name}-others"
            found.append(_group(world, name, [(slot,) for slot in left], False, None))
    return found


def slots_named(
    world: World, name: str, groups: Mapping[str, Sequence[int]] | None = None
) -> tuple[int, ...]:
    """The slots of a user-defined group, a kind, a team (``team0``, ...) or one agent, ascending."""
    known: dict[str, tuple[int, ...]] = {agent: (slot,) for slot, agent in enumerate(world.agents)}
    known |= {f"team{number}": tuple(team) for number, team in enumerate(world.teams or ())}
    known |= {kind.name: kind.slots for kind in world.kinds}
    known |= {key: tuple(slots) for key, slots in (groups or {}).items()}
    if name not in known:
        cure = did_you_mean(
            name,
            known,
            f"name a kind ({', '.join(k.name for k in world.kinds)}), a team, an agent, or give groups",
        )
        if name in (world.population_names or ()):
            cure = "it is a population, which moves from slot to slot; name slots that stay"
        raise UserError(f"{world.id}: no slots are called {name!r}; {cure}")
    slots = tuple(sorted(known[name]))
    if not slots or len(set(slots)) < len(slots) or not 0 <= slots[0] <= slots[-1] < len(world.agents):
        raise UserError(
            f"{world.id}: group {name} = {list(slots)}; name slots of 0..{len(world.agents) - 1}, each once"
        )
    return slots


def _units(world: World, name: str, slots: Sequence[int]) -> list[tuple[int, ...]]:
    if world.respawns:
        raise UserError(
            f"{world.id}: its slots are lived in by one after another, so no team of them is one slot; leave teams off"
        )
    if world.teams is None:
        return [tuple(slots)]
    units = []
    for team in world.teams:
        inside = [slot for slot in team if slot in slots]
        if inside and len(inside) < len(team):
            raise UserError(
                f"{world.id}: group {name} has {len(inside)} of a team of {len(team)}; name whole teams"
            )
        if inside:
            units.append(tuple(team))
    if not units:
        raise UserError(f"{world.id}: group {name} is in none of its teams; leave teams off")
    return units


def _group(
    world: World, name: str, units: Sequence[tuple[int, ...]], joint: bool, stack: Interface | None
) -> Group:
    sizes = {len(unit) for unit in units}
    if len(sizes) > 1:
        raise UserError(
            f"{world.id}: the teams of {name} have {sorted(sizes)} members; give each size a group of its own"
        )
    if joint and stack is None:
        stack = Interface()  # a world has no tuples, an interface makes mappings of them
    seats = tuple(_seats(world, name, [unit[place] for unit in units]) for place in range(sizes.pop()))
    return Group(name, tuple(units), joint, seats, stack)


def _seats(world: World, name: str, slots: Sequence[int]) -> Seats:
    kinds: list[Kind] = [kind for kind in world.kinds if set(slots) & set(kind.slots)]
    if len(kinds) > 1:
        raise UserError(
            f"{world.id}: group {name} has slots of the kinds {', '.join(k.name for k in kinds)}; give each kind its own"
        )
    kind = kinds[0]
    columns = np.array([kind.slots.index(slot) for slot in slots])
    in_a_row = (np.diff(columns) == 1).all()
    at = slice(int(columns[0]), int(columns[-1]) + 1) if in_a_row else columns
    return Seats(
        kind.name,
        at,
        len(kind.slots),
        kind.observation_space,
        kind.action_space,
        Layout(kind.observation_space),
    )


def _rows(layout: Layout, tree: Nest, columns: Any) -> Nest:
    """Some slots' columns of (W, A, ...) arrays, world after world as rows."""
    return layout.nest([array[:, columns].reshape(-1, *array.shape[2:]) for array in layout.flat(tree)])
