"""What overlays are, asked for and count, of worlds in play and of recordings alike (docs/specs/viewer.md 8)."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from typing import Any

from interplay.core.errors import UserError
from interplay.core.world import World
from interplay.evaluate.lifetimes.overlays import Layer, Overlay, list_overlays
from interplay.view.run_log import one_line
from interplay.view.server import messages as said
from interplay.view.server.config import MOST_OVERLAYS
from interplay.view.server.overlay_frames import Cells, describe_cells

Asked = tuple[str, int | None, int | None, tuple[tuple[str, str], ...]]  # name, population, agent, options


def key_of(job: said.Overlay) -> Asked:
    """What a page asks for, as a key."""
    return (job.name or "", job.population, job.agent, tuple(sorted(job.options.items())))


class Counter:
    """The recorders of one overlay.

    Args:
        overlay: that they are of.
        world: a batch of one, at the first tick that counts.
        tick: its number.

    Attributes:
        overlay: as given.
        recorders: name -> recorder.
        since: the first tick that counts; None where nothing is counted.
    """

    def __init__(self, overlay: Overlay, world: World, tick: int) -> None:
        assert overlay.live is not None
        self.overlay, self._live = overlay, overlay.live
        self._reader = overlay.reader(world)
        self.recorders: dict[str, Any] = {}
        self._begin(world, tick)

    def note(self, world: World, tick: int, begins: bool) -> None:
        """The world has made a tick, of the old episode or the first one of a new one."""
        if begins and not self._live.goes_on:
            self._begin(world, tick)
        else:
            self._read(world)

    def copied(self) -> dict[str, Any]:
        """The recorders as they are now, for another thread or for later."""
        return copy.deepcopy(self.recorders)

    def _begin(self, world: World, tick: int) -> None:
        self.since = tick if self._live.needs else None
        self.recorders = {name: self.overlay.needs[name](world) for name in self._live.needs}
        self._read(world)

    def _read(self, world: World) -> None:
        if self.recorders:
            now = self._reader(world)
            for recorder in self.recorders.values():
                recorder.add(now)


def fitting(world: World) -> tuple[Overlay, ...]:
    """The overlays that can be shown of a world that stands somewhere."""
    return tuple(_fitting(world))[:MOST_OVERLAYS]


def _fitting(world: World) -> Iterator[Overlay]:
    for overlay in list_overlays(world):
        if overlay.live is None:
            continue
        try:
            overlay.reader(world)(world)
        except UserError:
            continue
        yield overlay


def describe_overlays(offered: Sequence[Overlay]) -> list[dict[str, Any]]:
    """What there is, for the page."""
    return [
        {
            "name": one_line(overlay.name),
            "meaning": one_line(overlay.meaning),
            "together": live.together,
            "by_agent": live.by_agent,
            "options": {name: list(choices) for name, choices in live.options.items()},
        }
        for overlay in offered
        if (live := overlay.live) is not None
    ]


def names_of_populations(world: World) -> list[str]:
    """What the page calls them."""
    return [one_line(str(name)) for name in world.population_names or range(world.num_populations)]


def find_asked(offered: Sequence[Overlay], world: World, job: said.Overlay) -> Overlay:
    """The overlay that a page asks for.

    Raises:
        UserError: for an unknown overlay, population, agent or option.
    """
    overlay = next((one for one in offered if one.name == job.name), None)
    if overlay is None or overlay.live is None:
        names = ", ".join(one.name for one in offered) or "none"
        raise UserError(
            f"overlay {(job.name or '')[:60]!r}: there is none of that name here; choose from {names}"
        )
    if job.population is not None and job.population >= world.num_populations:
        raise UserError(
            f"population {job.population}: the world has {world.num_populations}; choose one of those"
        )
    if job.agent is not None and job.agent >= len(world.agents):
        raise UserError(f"slot {job.agent}: the world has {len(world.agents)}; choose one of those")
    for name, choice in job.options.items():
        if choice not in overlay.live.options.get(name, ()):
            raise UserError(f"{overlay.name}: {name[:40]} = {choice[:40]!r} is no choice of it")
    return overlay


def tell_cells(number: int, asked: Asked, since: int | None, layer: Layer, cells: Cells) -> dict[str, Any]:
    """What a page is told of the cells that follow.

    Args:
        number: of the overlay among those that are offered.
        asked: by the page, see `key_of`.
        since: the first tick that was counted; None where nothing is.
        layer, cells: that were computed.
    """
    name, population, agent, options = asked
    return {
        "type": "overlay",
        "id": number,
        "name": name,
        "population": population,
        "agent": agent,
        "options": dict(options),
        "since": since,
        **describe_cells(layer, cells),
    }


def broken(name: str, error: Exception) -> UserError:
    """An overlay of somebody's own that raised."""
    words = one_line(" ".join(str(error).split()))[:200]
    return UserError(f"overlay {name} broke: {type(error).__name__}: {words}; mend it")
