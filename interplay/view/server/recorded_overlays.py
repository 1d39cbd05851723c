"""Overlays of recordings, which count from the recording's beginning to the tick in view (docs/specs/viewer.md 8).

A recorded world is replayed for the counters. Sums are kept at recorded states, so that going back is cheap. An answer
takes about a second: it contains the tick that it reached, and the next one continues there.
"""

from __future__ import annotations

import base64
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NamedTuple

from interplay.core.errors import UserError
from interplay.core.replay import ReplayReader
from interplay.core.replay.layout import SNAPSHOT
from interplay.core.world import World
from interplay.evaluate.lifetimes.overlays import Overlay, Study
from interplay.view.server import messages
from interplay.view.server.config import COUNTED, COUNTED_SECONDS, STEPPED, SUMS
from interplay.view.server.counting import (
    Counter,
    describe_overlays,
    encode_overlay,
    find_asked,
    fitting,
    key_of,
    names_of_populations,
    running,
)
from interplay.view.server.recordings import replayed
from interplay.view.server.sources import Sources
from interplay.view.server.stamps import Stamp


class Sum(NamedTuple):
    """Copies of recorders at a tick."""

    tick: int
    since: int | None
    recorders: dict[str, Any]


class Counting:
    """A recorded world, its overlays, and the counter of one of them.

    Attributes:
        stamp: of the recording at the last look, when it was `closed` or still grew.
    """

    def __init__(self, reader: ReplayReader, stamp: Stamp) -> None:
        self.stamp, self.closed = stamp, reader.closed
        states = reader.of(SNAPSHOT)
        self._first = states[0].first if states else 0
        self.world: World = reader.world_at(self._first, most=STEPPED)
        self.offered = tuple(one for one in fitting(self.world) if not one.asks_values)
        self.tick = self._first
        self._counter: Counter | None = None
        self._sums: list[Sum] = []
        self._apart = 1  # recorded states between two sums

    def count(self, reader: ReplayReader, overlay: Overlay, tick: int) -> Counter:
        """Counts up to a tick, or for `COUNTED_SECONDS`; `self.tick` is the tick that was reached.

        Args:
            reader: of the recording, which may have grown.
        """
        until = time.monotonic() + COUNTED_SECONDS
        counter = self._go_back(reader, overlay, tick)
        states = {chunk.first: place for place, chunk in enumerate(reader.of(SNAPSHOT))}
        if self.tick < tick:
            for now, begins in reader.play_on(self.world, self.tick, STEPPED):
                self.tick = now
                counter.note(self.world, self.tick, begins)
                if self.tick in states and states[self.tick] % self._apart == 0:
                    self._keep(counter, states)
                if self.tick == tick or time.monotonic() >= until:
                    break
        return counter

    def follows(self, stamp: Stamp) -> bool:
        """Whether its recording is the same, or has grown."""
        return stamp == self.stamp or (not self.closed and stamp.continues(self.stamp))

    def _go_back(self, reader: ReplayReader, overlay: Overlay, tick: int) -> Counter:
        """The counter at the last known tick up to the requested one."""
        counter = self._counter
        if counter is None or counter.overlay is not overlay:
            self._sums, self._apart, counter = [], 1, None
        if (
            counter is not None
            and self.tick <= tick
            and not any(self.tick < one.tick <= tick for one in self._sums)
        ):
            return counter
        self._counter = None  # until it is complete
        known = [one for one in self._sums if one.tick <= tick]
        self.tick = known[-1].tick if known else self._first
        reader.world_at(self.tick, self.world, most=STEPPED)
        if counter is None or not known:
            counter = Counter(overlay, self.world, self.tick)
        else:
            counter.since, counter.recorders = known[-1].since, known[-1].recorders
            counter.recorders = counter.copied()
        self._counter = counter
        return counter

    def _keep(self, counter: Counter, states: dict[int, int]) -> None:
        if any(one.tick == self.tick for one in self._sums):
            return
        self._sums.append(Sum(self.tick, counter.since, counter.copied()))
        if len(self._sums) > SUMS:
            self._apart *= 2
            self._sums = [one for one in self._sums if states[one.tick] % self._apart == 0]


class RecordedOverlays:
    """The overlays of a folder's recordings."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._lock = threading.Lock()  # of everything below
        self._open: OrderedDict[tuple[tuple[int, int, int], str], Counting] = OrderedDict()

    def listed(self, number: int, key: str = "") -> dict[str, Any]:
        """The overlays of a recording, for the page; `key` and errors as of `show`."""

        def describe(reader: ReplayReader, found: Counting) -> dict[str, Any]:
            return {
                "overlays": describe_overlays(found.offered),
                "populations": names_of_populations(found.world),
            }

        return self._with(number, "", describe, key)

    def show(self, number: int, job: messages.Overlay, tick: int, key: str = "") -> dict[str, Any]:
        """An overlay up to a tick: its description, and the frame (`overlay_frames`) in base64 with the tick it reached.

        Args:
            key: see `Recordings`.

        Raises:
            NotThere: for a recording without states, or an invalid request.
            Busy: while another one is counted.
        """

        def answer(reader: ReplayReader, found: Counting) -> dict[str, Any]:
            overlay = find_asked(found.offered, found.world, job)
            if not 0 <= tick < reader.ticks:
                raise UserError(f"tick {tick}: the recording has 0..{reader.ticks - 1}; ask for one of those")
            place = found.offered.index(overlay)
            with running(overlay.name):
                counter = found.count(reader, overlay, tick)
                assert overlay.live is not None
                ticks = 0 if counter.since is None else found.tick - counter.since
                study = Study(found.world, job.population, 0, ticks, counter.recorders, agent=job.agent)
                layer = overlay.live.show(study, job.options)
                message, frame = encode_overlay(place, key_of(job), counter.since, found.tick, layer)
            return {**message, "frame": base64.b64encode(frame).decode()}

        return self._with(number, job.name or "", answer, key)

    def _with(
        self, number: int, name: str, ask: Callable[[ReplayReader, Counting], dict[str, Any]], key: str
    ) -> dict[str, Any]:
        with replayed(self._sources, number, self._lock, "overlays", key) as (reader, stamp):
            found = self._kept(stamp, name) or self._kept(stamp, "") or Counting(reader, stamp)
            try:
                answer = ask(reader, found)
            except BaseException:
                found.world.close()
                raise
            found.stamp, found.closed = stamp, reader.closed
            self._open[stamp.file, name] = found
            while len(self._open) > COUNTED:
                self._open.popitem(last=False)[1].world.close()
            return answer

    def _kept(self, stamp: Stamp, name: str) -> Counting | None:
        """Takes out the counting of a recording; None if there is none of this stamp."""
        found = self._open.pop((stamp.file, name), None)
        if found is None or found.follows(stamp):
            return found
        found.world.close()
        return None
