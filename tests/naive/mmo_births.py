"""Births of the naive persistent world: caps, quotas, places (specification 5)."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING

from .mmo_things import Agent

if TYPE_CHECKING:
    from .mmo import MmoTwin

TRIES = 64  # for a free tile, where a tile holds one


def draw_cap(world: MmoTwin) -> int:
    s = world.settings
    if s.cap_draw == "fixed":
        return s.most
    drawn = 1 + world.stream.below(s.most)
    return drawn if s.cap_draw == "uniform" else ceil(drawn / s.npop) * s.npop


def quotas(world: MmoTwin) -> tuple[int, ...]:
    s = world.settings
    return s.quotas or (ceil(world.cap / s.npop),) * s.npop


def births(world: MmoTwin, most: int) -> None:
    """At most `most` births, until the cap is reached or no place was found."""
    for _ in range(most):
        if not birth(world):
            return


def birth(world: MmoTwin) -> bool:
    """One newcomer in the lowest free slot, if there is room."""
    s = world.settings
    living = world.living()
    size = [sum(agent.population == p for agent in living) for p in range(s.npop)]
    below = [p for p, quota in enumerate(quotas(world)) if size[p] < quota]
    if len(living) >= world.cap or not below:
        return False
    place = free_place(world)
    if place is None:
        return False
    population = below[world.stream.below(len(below))]
    slot = world.agents.index(None)
    world.agents[slot] = Agent(slot, world.next_life, population, *place, s.health, s.food, s.water)
    world.next_life += 1
    world.visited.add((population, *place))
    return True


def free_place(world: MmoTwin) -> tuple[int, int] | None:
    """A drawn place; after `TRIES` occupied ones the first free one behind the last."""
    ring, count = world.settings.spawn_where == "ring", 4 * (world.settings.interior - 1)
    for _ in range(TRIES):
        place = ring_place(world, world.stream.below(count)) if ring else scattered_place(world)
        if not world.settings.one_per_tile or not world.heads(*place):
            return place
    places = [ring_place(world, n) for n in range(count)] if ring else reachable(world)
    last = places.index(place)
    return next((one for one in places[last + 1 :] + places[:last] if not world.heads(*one)), None)


def ring_place(world: MmoTwin, number: int) -> tuple[int, int]:
    """Clockwise from the corner at the top left."""
    first, last = world.settings.border, world.settings.border + world.settings.interior - 1
    side = last - first
    edge, along = divmod(number, side)
    corners = (
        (first, first + along),
        (first + along, last),
        (last, last - along),
        (last - along, first),
    )
    return corners[edge]


def scattered_place(world: MmoTwin) -> tuple[int, int]:
    """Uniform over the tiles that the ring leads to."""
    s = world.settings
    while True:
        row = s.border + world.stream.below(s.interior)
        col = s.border + world.stream.below(s.interior)
        if world.reachable[row, col]:
            return row, col


def reachable(world: MmoTwin) -> list[tuple[int, int]]:
    """The tiles that the ring leads to, row by row."""
    return [(int(row), int(col)) for row, col in zip(*world.reachable.nonzero(), strict=True)]
