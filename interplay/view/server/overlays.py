"""Overlays of a world in play: requests of pages, counters, and the thread that computes (docs/specs/viewer.md 8).

All but `_compute` runs in the session's thread. A second thread computes one overlay at a time from copies of the world
and the counters, and then pauses as long as that took, so slow overlays are rare and the world keeps its speed.
"""

from __future__ import annotations

import copy
import math
import threading
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from interplay.core.errors import UserError
from interplay.core.world import World
from interplay.evaluate.lifetimes.overlays import Layer, Overlay, Study
from interplay.view.run_log import one_line
from interplay.view.server import messages
from interplay.view.server.config import COUNTING_SECONDS, OVERLAY_SECONDS
from interplay.view.server.counting import (
    Counter,
    Request,
    describe_overlays,
    encode_overlay,
    find_asked,
    fitting,
    key_of,
    running,
)
from interplay.view.server.play import Play
from interplay.view.server.visitor import Visitor


class Job(NamedTuple):
    """One computation with its inputs.

    Attributes:
        number: of the overlay in the list.
        request: see `key_of`.
        agent: the slot, or None.
        snapshot: of the world, if a copy is needed.
        memory: of the agent's network.
        recorders: copies.
        since: the tick at which they began; None without recorders.
    """

    overlay: Overlay
    number: int
    request: Request
    tick: int
    agent: int | None
    snapshot: Any
    memory: Any
    recorders: dict[str, Any]
    since: int | None


class Overlays:
    """The overlays of one session.

    Args:
        wake: called, from any thread, when a computation has ended.
        words: text of an error for the page.
    """

    def __init__(
        self,
        play: Play,
        clock: Callable[[], float],
        wake: Callable[[], None],
        words: Callable[[Exception], str],
    ) -> None:
        self._play, self._clock, self._wake, self._words = play, clock, wake, words
        self._offered = fitting(play.world)
        self._requests: dict[Visitor, Request] = {}
        self._counters: dict[str, Counter] = {}  # by the overlay's name
        self._last_asked: dict[str, float] = {}  # overlay -> time of the last request
        self._done: dict[Request, tuple[int, float]] = {}  # tick and time of the last one begun
        self._twin: World | None = None
        self._values: Any = None
        self._due = self._rest = -math.inf  # nothing begins before both
        self._busy = threading.Event()

    # -- the session's thread -----------------------------------------------------------------------------------------

    def describe(self) -> list[dict[str, Any]]:
        """The offered overlays, for the page."""
        return describe_overlays(self._offered)

    def ask(self, visitor: Visitor, job: messages.Overlay) -> None:
        """Sets the overlay of a page, or none."""
        self._requests.pop(visitor, None)
        if job.name is None:
            return
        overlay = find_asked(self._offered, self._play.world, job)
        if overlay.asks_values and self._play.cast.values is None:
            raise UserError(
                f"{overlay.name}: {one_line(self._play.cast.words)} has no value function; watch a run with trained networks"
            )
        if overlay.name not in self._counters:
            with running(overlay.name):
                self._counters[overlay.name] = Counter(overlay, self._play.world, self._play.tick)
        self._requests[visitor] = key_of(job)
        self._done.pop(key_of(job), None)  # this page has not got it yet
        self._rest = -math.inf  # a new request does not wait

    def leave(self, visitor: Visitor) -> bool:
        """Removes the overlay of a page; returns whether it had one."""
        return self._requests.pop(visitor, None) is not None

    def note(self) -> None:
        """Adds the current tick to all counters, and ends those that no page has requested for a while."""
        self._end_counting()
        for name, counter in list(self._counters.items()):
            try:
                with running(name):
                    counter.note(self._play.world, self._play.tick, self._play.begins)
            except UserError as error:
                del self._counters[name]
                for request in {request for request in self._requests.values() if request[0] == name}:
                    self._refuse(request, error)

    def wait(self) -> float:
        """Seconds until a computation can begin; infinite if none is pending."""
        if self._busy.is_set() or not any(self._news()):
            return math.inf
        return max(max(self._due, self._rest) - self._clock(), 0.0)

    def show(self) -> None:
        """Begins a computation if one is due and none is running."""
        now = self._clock()
        if self._busy.is_set() or now < max(self._due, self._rest):
            return
        news = list(self._news())
        if not news:
            return
        request = min(news, key=lambda one: self._done.get(one, (0, -math.inf))[1])  # in turn
        self._done = {key: self._done[key] for key in self._done if key in self._requests.values()}
        self._done[request] = (self._play.tick, now)
        self._due = now + OVERLAY_SECONDS
        try:
            job = self._glance(request)
        except UserError as error:
            self._refuse(request, error)
            return
        self._busy.set()
        threading.Thread(target=self._compute, args=(job,), name="overlay", daemon=True).start()

    def _news(self) -> Iterator[Request]:
        """Requests of drawing pages that were not computed at this tick."""
        tick = self._play.tick
        for visitor, request in self._requests.items():
            if visitor.draws() and self._done.get(request, (-1, 0.0))[0] != tick:
                yield request

    def _end_counting(self) -> None:
        """Drops counters without a request for `COUNTING_SECONDS`."""
        now = self._clock()
        self._last_asked |= dict.fromkeys((request[0] for request in self._requests.values()), now)
        for name in [
            one for one in self._counters if now - self._last_asked.get(one, now) > COUNTING_SECONDS
        ]:
            del self._counters[name]

    def _glance(self, request: Request) -> Job:
        """Copies the inputs of a computation."""
        number, overlay = next((n, one) for n, one in enumerate(self._offered) if one.name == request[0])
        snapshot = None
        if overlay.live is not None and overlay.live.copies:
            if self._twin is None:
                self._twin = copy.deepcopy(self._play.world)
            snapshot = self._play.world.save()
        if overlay.asks_values and self._values is None:
            make = self._play.cast.values
            self._values = None if make is None else make()
        agent, memory = request[2], None
        if overlay.live is not None and overlay.live.of_one:
            agent = self._play.somebody() if agent is None else agent
            memory = self._play.memory_of(agent)
        counter = self._counters[overlay.name]
        recorders, tick = counter.copied(), self._play.tick
        return Job(overlay, number, request, tick, agent, snapshot, memory, recorders, counter.since)

    # -- the thread beside it -----------------------------------------------------------------------------------------

    def _compute(self, job: Job) -> None:
        began = self._clock()
        try:
            with running(job.overlay.name):
                found = encode_overlay(job.number, job.request, job.since, job.tick, self._panel(job))
            for visitor, request in list(self._requests.items()):
                if request == job.request:
                    visitor.overlay(*found)
        except UserError as error:
            self._refuse(job.request, error)
        finally:
            now = self._clock()
            self._rest = now + (now - began)  # leaves the processor to the world
            self._busy.clear()
            self._wake()

    def _panel(self, job: Job) -> Layer:
        _, population, _, options = job.request
        world, agent, expects = self._play.world, job.agent, None
        assert job.overlay.live is not None
        if job.snapshot is not None and self._twin is not None:
            world = self._twin
            world.load(job.snapshot)
        values = self._values(world) if job.overlay.asks_values else None
        if job.overlay.asks_values and job.overlay.live.of_one:
            assert agent is not None
            self._check_learner(agent)
            expects = self._values.of_agent(world, agent, job.memory)
        ticks = 0 if job.since is None else job.tick - job.since
        study = Study(world, population, 0, ticks, job.recorders, values, agent=agent, expects=expects)
        return job.overlay.live.show(study, dict(options))

    def _check_learner(self, slot: int) -> None:
        """Checks that the network with the values plays an agent."""
        policy, words = self._play.cast.player(slot)
        if self._play.cast.of is not None and policy is not self._values.playing:
            name = one_line(str(self._play.world.agents[slot]))
            raise UserError(
                f"{name}: it is played by {one_line(words)}, which has no values; choose another agent"
            )

    def _refuse(self, request: Request, error: UserError) -> None:
        for visitor, own in list(self._requests.items()):
            if own == request:
                self._requests.pop(visitor, None)
                visitor.post({"type": "refused", "what": "overlay", "reason": self._words(error)})
