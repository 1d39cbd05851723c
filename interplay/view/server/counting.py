"""Offers overlays, checks requests and counts, for worlds in play and recordings (docs/specs/viewer.md 8)."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from interplay.core.errors import UserError
from interplay.core.world import World
from interplay.evaluate.lifetimes.overlays import Layer, Overlay, list_overlays
from interplay.view.run_log import one_line
from interplay.view.server import messages
from interplay.view.server.config import MOST_OVERLAYS
from interplay.view.server.overlay_frames import cells_of, describe_cells, encode_cells

Request = tuple[str, int | None, int | None, tuple[tuple[str, str], ...]]  # name, population, agent, options


def key_of(job: messages.Overlay) -> Request:
    """A request as a hashable key."""
    return (job.name or "", job.population, job.agent, tuple(sorted(job.options.items())))


class Counter:
    """The recorders of one overlay, from the world's current tick on.

    Attributes:
        recorders: name -> recorder.
        since: the first tick that counts; None without recorders.
    """

    def __init__(self, overlay: Overlay, world: World, tick: int) -> None:
        assert overlay.live is not None
        self.overlay, self._live = overlay, overlay.live
        self._reader = overlay.reader(world)
        self.recorders: dict[str, Any] = {}
        self._begin(world, tick)

    def note(self, world: World, tick: int, begins: bool) -> None:
        """Adds the current tick; `begins`: it is the first one of an episode."""
        if begins and not self._live.goes_on:
            self._begin(world, tick)
        else:
            self._read(world)

    def copied(self) -> dict[str, Any]:
        """Copies of the recorders."""
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
    """The overlays that can be shown of a world in its current state."""
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
    """The offered overlays, for the page."""
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
    """Names of the populations, for the page."""
    return [one_line(str(name)) for name in world.population_names or range(world.num_populations)]


def find_asked(offered: Sequence[Overlay], world: World, job: messages.Overlay) -> Overlay:
    """The requested overlay."""
    overlay = next((one for one in offered if one.name == job.name), None)
    if overlay is None or overlay.live is None:
        names = ", ".join(one.name for one in offered) or "none"
        raise UserError(f"overlay {(job.name or '')[:60]!r}: unknown; choose from {names}")
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


def encode_overlay(
    number: int, request: Request, since: int | None, tick: int, layer: Layer
) -> tuple[dict[str, Any], bytes]:
    """The frame of an overlay's cells, and the message before it.

    Args:
        number: of the overlay among the offered ones.
        request: see `key_of`.
        since: the first tick that was counted; None if nothing is counted.
    """
    name, population, agent, options = request
    cells = cells_of(layer)
    message = {
        "type": "overlay",
        "id": number,
        "name": name,
        "population": population,
        "agent": agent,
        "options": dict(options),
        "since": since,
        **describe_cells(layer, cells),
    }
    return message, encode_cells(number, tick, cells)


@contextmanager
def running(name: str) -> Iterator[None]:
    """Turns errors of a user-defined overlay into refusals: the world plays on."""
    try:
        yield
    except UserError:
        raise
    except Exception as error:
        words = one_line(" ".join(str(error).split()))[:200]
        raise UserError(f"overlay {name} raised {type(error).__name__}: {words}; fix it") from error
