"""A session: a world played in a thread of its own, for all pages that watch it or play in it.

All its state belongs to that thread. Messages of pages go through a queue, which is emptied between two ticks.
"""

from __future__ import annotations

import math
import queue
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from interplay import __version__
from interplay.core.errors import UserError
from interplay.core.frames import Encoder
from interplay.core.replay import Mark
from interplay.core.world import Array
from interplay.view.run_log import one_line
from interplay.view.server import messages
from interplay.view.server.config import (
    AGENT_SECONDS,
    CLOSING_SECONDS,
    END_SECONDS,
    LATE_SECONDS,
    PROTOCOL,
    RENEW_SECONDS,
    TICK_SECONDS,
)
from interplay.view.server.counting import names_of_populations
from interplay.view.server.eyes import FOG, HIDDEN_OVERLAYS, NO_OVERLAYS, STANDS, WAIT_REVEALS, Eyes
from interplay.view.server.overlays import Overlays
from interplay.view.server.play import Cast, Play, tick_seconds
from interplay.view.server.refusals import Replaced
from interplay.view.server.visitor import NEVER, Visitor

# A page with its message or one of the strings below; None for the page: an overlay is ready.
Job = tuple[Visitor | None, messages.AnyMessage | str]
_COME, _GONE, _LOOK = "come", "gone", "look"


class Session:
    """One world, many pages.

    Args:
        source: its name for pages.
        make: makes the world with its players; called in the session's thread.
        words: the text of an error for pages, see `Sources.words`.
        deal: draws a secret seed, for games with hidden information.
    """

    def __init__(
        self,
        source: str,
        make: Callable[[], Cast],
        seed: int = 0,
        clock: Callable[[], float] = time.monotonic,
        words: Callable[[Exception], str] = str,
        deal: Callable[[], int] = lambda: secrets.randbits(63),
    ) -> None:
        self.source, self._make, self._seed, self._clock = source, make, seed, clock
        self._words, self._deal = words, deal
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._visitors: list[Visitor] = []
        self._holders: dict[int, Visitor] = {}
        self._left = False  # whether a seat of a game with hidden roles was given back
        self._chosen: dict[int, Mapping[str, Array]] = {}
        self._running, self._steps, self._speed = True, 0, 1 / TICK_SECONDS
        self._prepared = self._stands = False
        self._waits: bool | None = None  # for people at every tick; None: by the controls of the first player
        self._due = self._renew_due = clock()
        self._status: dict[Visitor, dict[str, Any]] = {}
        self._problem: str | None = None
        self._begins_anew = False  # for its pages, in a world made anew
        self._again: tuple[Visitor, messages.Reset] | None = None
        self._play: Play
        self._eyes: Eyes
        self._overlays: Overlays
        self._end: tuple[str, bool] | None = None
        self._thread = threading.Thread(target=self._live, name=f"session {source}", daemon=True)

    # -- any thread ---------------------------------------------------------------------------------------------------

    @property
    def ended(self) -> bool:
        """Whether it has ended."""
        return self._end is not None

    @property
    def alive(self) -> bool:
        """Whether its thread runs."""
        return self._thread.is_alive()

    def start(self) -> None:
        """Starts the thread; time begins with the first page."""
        self._thread.start()

    def join(self, visitor: Visitor) -> None:
        """Adds a page."""
        self._jobs.put((visitor, _COME))
        if self._end is not None:  # the queue may not be read any more
            visitor.dismiss(*self._end)

    def leave(self, visitor: Visitor) -> None:
        """Removes a page; its slots are given back."""
        self._jobs.put((visitor, _GONE))

    def receive(self, visitor: Visitor, message: messages.AnyMessage) -> None:
        """Queues a message of a page."""
        if isinstance(message, messages.Key):
            visitor.ask_key()
        seen = isinstance(message, messages.Shown | messages.Key)
        self._jobs.put((visitor, _LOOK if seen else message))

    def stop(self, wait: float = 1.0) -> None:
        """Ends the session and notifies all pages."""
        self._jobs.put(None)
        if self._thread.is_alive():
            keeper = self._play.cast.keeper if hasattr(self, "_play") else None
            self._thread.join(CLOSING_SECONDS if keeper is not None and keeper.open else wait)

    # -- the session's thread -----------------------------------------------------------------------------------------

    def _live(self) -> None:
        reason, again = "the viewer ends; start it again with `interplay view`", True
        try:
            self._play = _begin(self._make(), self._seed)
            self._eyes = Eyes(self._play, self._holders)
            self._overlays = Overlays(
                self._play, self._clock, lambda: self._jobs.put((None, _LOOK)), self._words
            )
            self._speed = 1 / tick_seconds(self._play.world)
            self._stands = self._play.cast.for_people
            self._running = self._running and not self._stands
            while self._read_jobs():
                self._begin_again()
                if self._is_due():
                    self._step()
                self._show()
        except UserError as error:
            reason, again = self._words(error), self._begins_anew
        except Exception as error:  # of a user-defined world or policy; the server goes on
            words = " ".join(self._words(error).split())[:200]
            reason, again = f"{self.source} raised {type(error).__name__}: {words}; fix it and reload", False
        finally:
            if (trouble := self._complete()) is not None:
                reason, again = trouble, False
            self._end = (reason, again)
            self._part(reason, again)

    def _complete(self) -> str | None:
        """Completes the recording while pages are connected; returns the reason of a failure."""
        try:
            if hasattr(self, "_play"):
                self._play.complete()
        except Exception as error:  # pages must be notified of the end in any case
            return self._words(error)
        return None

    def _part(self, reason: str, again: bool) -> None:
        while True:
            try:
                job = self._jobs.get_nowait()
            except queue.Empty:
                break
            if job is not None and job[0] is not None and job[1] == _COME:
                self._visitors.append(job[0])
        for visitor in self._visitors:
            visitor.dismiss(reason, again)
        if hasattr(self, "_play"):
            self._play.close()

    def _read_jobs(self) -> bool:
        """Waits until something is due, then handles all queued jobs; False: the session ends."""
        try:
            wait = self._wait()
            job = self._jobs.get(timeout=wait) if wait is None or wait > 0 else self._jobs.get_nowait()
            while True:
                if job is None:
                    return False
                self._handle(*job)
                job = self._jobs.get_nowait()
        except queue.Empty:
            return True

    def _wait(self) -> float | None:
        """Seconds until something is due; None: until a message comes."""
        now = self._clock()
        waits = [self._overlays.wait(), *(self._details_due(visitor) - now for visitor in self._visitors)]
        if self._goes_on():
            waits.append(self._due - now)
        wait = min(waits)
        return None if wait == math.inf else max(wait, 0.0)

    def _goes_on(self) -> bool:
        """Whether the next tick comes without a message."""
        return bool(self._visitors) and (self._running or self._steps > 0) and self._awaited() is None

    def _is_due(self) -> bool:
        return self._goes_on() and self._clock() >= self._due

    @property
    def _wait_reveals(self) -> bool:
        """Whether the time of a tick would reveal to other pages which roles act at night."""
        return self._play.has_secrets and len(self._visitors) > 1

    def _awaited(self) -> int | None:
        """The slot of the person the world waits for, or None."""
        if self._wait_reveals:
            return None
        turns = sorted(self._holders) if self._waits else [self._play.turn()]
        open_ = (slot for slot in turns if slot in self._holders and slot not in self._chosen)
        return next((slot for slot in open_ if slot is not None and self._play.acts(slot)), None)

    def _step(self) -> None:
        play, now = self._play, self._clock()
        if not self._prepared:  # the first step compiles kernels and networks
            self._post_status(preparing=True)
            self._prepared = True
        self._renew(now)
        people = {slot: self._chosen.get(slot) for slot in self._holders}
        self._chosen = {}
        self._announce(play.step(people))
        self._left = self._left and not play.begins
        self._overlays.note()
        self._steps = max(self._steps - 1, 0)
        if self._steps or not self._speed:
            self._due = now
        else:
            late = now - self._due > LATE_SECONDS
            self._due = (now if late else self._due) + 1 / self._speed
        if play.over and self._speed and not self._steps:
            self._due = max(self._due, now + END_SECONDS)

    def _renew(self, now: float) -> None:
        if now < self._renew_due:
            return
        self._renew_due = now + RENEW_SECONDS
        try:
            if self._play.renew():
                self._problem = None
        except Replaced:
            self._begins_anew = True
            raise
        except UserError as error:
            self._problem = self._words(error)

    def _show(self) -> None:
        """Offers the new tick to pages that have room for it."""
        self._post_status()
        tick, now = self._play.tick, self._clock()
        # Before a frame takes the room by which a page is known to draw.
        due = [visitor for visitor in self._visitors if now >= self._details_due(visitor)]
        for visitor in self._visitors:
            if visitor.wants(tick):
                visitor.offer(self._eyes.moment(visitor))
        self._overlays.show()
        accounts: dict[int, dict[str, Any]] = {}
        for visitor in due:
            slot = visitor.selected
            assert slot is not None
            if slot not in accounts:
                under_fog = self._eyes.of(visitor) is not None  # the page holds the slot then
                play, held = self._play, slot in self._holders
                details = play.agent_under_fog(slot) if under_fog else play.agent(slot, held)
                accounts[slot] = {"type": "agent", **details}
            visitor.post(accounts[slot])
            visitor.last_details = (tick, slot, now)

    def _details_due(self, visitor: Visitor) -> float:
        """Time of a page's next details of an agent; infinite if it has those of this tick, or draws nothing."""
        tick, slot, when = visitor.last_details
        if (
            visitor.selected is None
            or (tick, slot) == (self._play.tick, visitor.selected)
            or not visitor.draws()
        ):
            return math.inf
        return when + AGENT_SECONDS

    def _announce(self, marks: list[Mark]) -> None:
        for mark in marks:
            for visitor in self._visitors:
                if (event := self._eyes.event(visitor, mark)) is not None:
                    visitor.note(event)

    def _post_status(self, preparing: bool = False) -> None:
        for visitor in self._visitors:
            status = {**self._status_for(visitor), "preparing": preparing}
            if status != self._status.get(visitor):
                self._status[visitor] = status
                visitor.post({**status, "tick": self._play.tick})

    def _status_for(self, visitor: Visitor) -> dict[str, Any]:
        awaited = self._awaited()
        if self._play.has_secrets and awaited is not None and self._holders[awaited] is not visitor:
            awaited = None  # a turn at night would reveal the role
        note = self._eyes.note(visitor)
        return {
            "type": "status",
            "running": self._running,
            "speed": self._speed,
            "holders": self._holders_for(visitor),
            "waiting": awaited,
            "waits": bool(self._waits) and not self._wait_reveals,
            "preparing": False,
            "policy": one_line(self._play.cast.words),
            "note": self._problem or (STANDS if self._stands and not self._running else note),
            "fog": note in FOG,
        }

    def _update_views(self) -> None:
        """Updates the views of all pages after a slot was taken or given back, under fog or with hidden information."""
        self._play.reveal(not self._holders)
        if not (self._play.cast.fog or self._play.has_secrets):
            return
        for visitor in self._visitors:
            visitor.veil()
            visitor.last_details = NEVER
            if not self._eyes.limited(visitor):
                continue
            if not self._is_own(visitor, visitor.selected):
                visitor.selected = None
            if self._overlays.leave(visitor):
                reason = NO_OVERLAYS if self._play.cast.fog else HIDDEN_OVERLAYS
                visitor.post({"type": "refused", "what": "overlay", "reason": reason})

    def _holders_for(self, visitor: Visitor) -> dict[str, str]:
        return {
            str(slot): "you" if holder is visitor else "somebody"
            for slot, holder in sorted(self._holders.items())
        }

    # -- messages -----------------------------------------------------------------------------------------------------

    def _handle(self, visitor: Visitor | None, job: messages.AnyMessage | str) -> None:
        if visitor is None:
            return
        if job == _COME:
            self._welcome(visitor)
        elif job == _GONE:
            self._visitors = [other for other in self._visitors if other is not visitor]
            self._status.pop(visitor, None)
            self._overlays.leave(visitor)
            for slot in [slot for slot, holder in self._holders.items() if holder is visitor]:
                self._give(slot)
        elif visitor in self._visitors and not isinstance(job, str):
            self._try(visitor, job, self._do)

    def _try(self, visitor: Visitor, job: Any, action: Callable[[Visitor, Any], object]) -> bool:
        try:
            action(visitor, job)
        except UserError as error:
            slot = {"slot": job.slot} if job.type == "select" else {}  # by then another one may be selected
            visitor.post({"type": "refused", "what": job.type, **slot, "reason": self._words(error)})
            return False
        return True

    def _begin_again(self) -> None:
        """Resets once for all requests since the last reset, which takes long in a large world."""
        if self._again is not None:
            (visitor, job), self._again = self._again, None
            # A secret seed also for requests from before the seat was taken: the next game of a stream is known, too.
            seed, self._left = self._deal() if self._eyes.concealing else job.seed, False
            over, tick = self._play.over, self._play.tick
            begun = self._try(visitor, job, lambda *_: self._play.reset(seed))
            if begun and not over:
                self._announce([Mark(tick, "end")])
            if not begun and self._eyes.concealing:  # pages have seen this game, so it must not be played
                for slot in list(self._holders):
                    self._give(slot)
            self._overlays.note()
            self._chosen, self._due = {}, self._clock()

    def _do(self, visitor: Visitor, job: messages.AnyMessage) -> None:
        match job:
            case messages.Run():
                self._running, self._steps, self._due = job.on, 0, self._clock()
            case messages.Step():
                self._running, self._steps, self._due = False, job.n, self._clock()
            case messages.Speed():
                self._speed, self._due = job.ticks_per_second, self._clock()
            case messages.Select():
                self._select(visitor, job.slot)
            case messages.Reset():
                self._eyes.check_seed(job.seed)
                self._again = (visitor, job)
            case messages.Take():
                self._take(visitor, job.slot)
            case messages.Give():
                self._held(visitor, job.slot)
                self._give(job.slot)
            case messages.Wait():
                self._waits, self._due = job.on, self._clock()
                self._status.pop(visitor, None)  # sends the status again, as the page shows its own request
                if job.on and self._wait_reveals:
                    raise UserError(WAIT_REVEALS)
            case messages.Act() | messages.Click():
                self._act(visitor, job)
            case messages.Overlay():
                self._lay_over(visitor, job)

    def _welcome(self, visitor: Visitor) -> None:
        play = self._play
        first = not self._visitors
        self._visitors.append(visitor)  # first, so that it is notified of errors
        if first:
            self._due = self._renew_due = self._clock()
            self._renew(self._due)  # it may have stood still for long
        world = play.world
        encoder = Encoder(self._eyes.moment(visitor).scene, recording=False)
        status = self._status_for(visitor)
        self._status[visitor] = status
        hello = {
            **{key: status[key] for key in ("running", "speed", "holders", "policy")},
            "type": "hello",
            "protocol": PROTOCOL,
            "interplay": __version__,
            "source": self.source,
            "world": one_line(world.id),
            "schema": encoder.schema.model_dump(mode="json"),
            "agents": [one_line(str(name)) for name in world.agents],
            "teams": None if world.teams is None else [list(map(int, team)) for team in world.teams],
            "tick": play.tick,
            "tick_seconds": tick_seconds(world),
            "alone": len(self._visitors) == 1,
            "may_play": True,
            "turn_based": play.turn_based,
            "controls": play.controls(0),
            "heads": play.heads(0),
            "overlays": self._overlays.describe(),
            "populations": names_of_populations(world),
        }
        visitor.welcome(hello, encoder)
        visitor.post({**status, "tick": play.tick})
        visitor.offer(self._eyes.moment(visitor))  # at once: a network's first step takes seconds

    def _select(self, visitor: Visitor, slot: int | None) -> None:
        if slot is not None:
            self._check_slot(slot)
            self._eyes.check_look(visitor, slot)
        visitor.selected, visitor.last_details = slot, NEVER

    def _lay_over(self, visitor: Visitor, job: messages.Overlay) -> None:
        if job.name is not None:
            self._eyes.check_overlay(visitor, job.name)
        self._overlays.ask(visitor, job)

    def _take(self, visitor: Visitor, slot: int) -> None:
        self._check_slot(slot)
        if self._holders.get(slot, visitor) is not visitor:
            raise UserError(
                f"{one_line(self._play.world.agents[slot])}: another page plays it; take another slot"
            )
        self._eyes.check_take(visitor, slot, self._left)
        if self._holders.get(slot) is not visitor:
            self._play.take(slot)
        first = not self._holders
        self._holders[slot] = visitor
        if first and self._eyes.concealing:
            self._again = (visitor, messages.Reset(type="reset", seed=None))
        if self._stands:
            self._stands, self._running = False, True
        self._update_views()
        play = self._play
        taken = {"slot": slot, "heads": play.heads(slot), "controls": play.controls(slot)}
        if self._waits is None:
            self._waits = taken["controls"] is None  # a form is too slow for ten ticks a second
        visitor.post({"type": "taken", **taken, "clicks": play.clicks})

    def _act(self, visitor: Visitor, job: messages.Act | messages.Click) -> None:
        self._held(visitor, job.slot)
        play, now = self._play, self._play.tick
        if job.tick > now or (play.turn_based and job.tick != now):
            raise UserError(f"tick {job.tick}: the world is at {now}; choose again")
        if isinstance(job, messages.Act):
            self._chosen[job.slot] = play.read(job.slot, job.action)
        elif (clicked := play.click(job.slot, job.x, job.y)) is not None:
            self._chosen[job.slot] = clicked
        if (play.turn_based or self._waits) and not self._wait_reveals:
            self._due = min(self._due, self._clock())

    def _held(self, visitor: Visitor, slot: int) -> None:
        self._check_slot(slot)
        if self._holders.get(slot) is not visitor:
            raise UserError(f"{one_line(self._play.world.agents[slot])}: you do not play it; take it first")

    def _give(self, slot: int) -> None:
        if self._holders.pop(slot, None) is not None:
            self._play.give(slot)
            self._left = self._eyes.concealing
        self._chosen.pop(slot, None)
        self._update_views()

    def _is_own(self, visitor: Visitor, slot: int | None) -> bool:
        return slot is not None and self._holders.get(slot) is visitor

    def _check_slot(self, slot: int) -> None:
        if slot >= len(self._play.world.agents):
            raise UserError(f"slot {slot}: the world has {len(self._play.world.agents)}; choose one of those")


def _begin(cast: Cast, seed: int) -> Play:
    """Begins to play; closes the world on an error."""
    try:
        return Play(cast, seed)
    except BaseException:
        cast.world.close()
        raise
