"""A session: a world that is played in a thread of its own, for all pages that watch it and the people who play in it.

Everything of it belongs to that thread. Pages leave what they say in a queue, which is emptied between two ticks.
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
from interplay.core.world import Array
from interplay.view.run_log import one_line
from interplay.view.server import messages as said
from interplay.view.server.config import (
    AGENT_SECONDS,
    CLOSING_SECONDS,
    END_SECONDS,
    LATE_SECONDS,
    PROTOCOL,
    RENEW_SECONDS,
    TICK_SECONDS,
    WORDS,
)
from interplay.view.server.counting import names_of_populations
from interplay.view.server.eyes import FOG, HIDDEN_OVERLAYS, NO_OVERLAYS, STANDS, TELLS, Eyes
from interplay.view.server.overlays import Overlays
from interplay.view.server.play import Cast, Play, tick_seconds
from interplay.view.server.visitor import NEVER, Visitor

Job = tuple[
    Visitor | None, said.Said | str
]  # of a string: it has come, or gone; of nobody: something is ready
_COME, _GONE, _LOOK = "come", "gone", "look"


class Session:
    """One world, many pages.

    Args:
        source: what the page calls it.
        make: makes the world and who plays it; called in the session's thread.
        seed: of world and policies.
        clock: seconds.
        plain: a line with files as the page calls them, see `Sources.plain`.
        deal: a seed that nobody knows, of games in which something is hidden from people.
    """

    def __init__(
        self,
        source: str,
        make: Callable[[], Cast],
        seed: int = 0,
        clock: Callable[[], float] = time.monotonic,
        plain: Callable[[str], str] = str,
        deal: Callable[[], int] = lambda: secrets.randbits(63),
    ) -> None:
        self.source, self._make, self._seed, self._clock = source, make, seed, clock
        self._plain, self._deal = plain, deal
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._visitors: list[Visitor] = []
        self._holders: dict[int, Visitor] = {}
        self._left = False  # whether somebody has given back a seat of a game whose roles are hidden
        self._chosen: dict[int, Mapping[str, Array]] = {}
        self._running, self._steps, self._speed = True, 0, 1 / TICK_SECONDS
        self._prepared = self._stands = False
        self._waits: bool | None = None  # for people at every tick; None: as suits who takes a slot first
        self._due = self._renew_due = clock()
        self._status: dict[Visitor, dict[str, Any]] = {}
        self._problem: str | None = None
        self._again: tuple[Visitor, said.Reset] | None = None
        self._play: Play
        self._eyes: Eyes
        self._overlays: Overlays
        self._end: tuple[str, bool] | None = None
        self._thread = threading.Thread(target=self._live, name=f"session {source}", daemon=True)

    # -- any thread ---------------------------------------------------------------------------------------------------

    @property
    def ended(self) -> bool:
        """Whether it is over, so that another one has to take its place."""
        return self._end is not None

    @property
    def alive(self) -> bool:
        """Whether its thread holds a world, or makes one."""
        return self._thread.is_alive()

    def start(self) -> None:
        """Begins to play as soon as somebody watches."""
        self._thread.start()

    def join(self, visitor: Visitor) -> None:
        """Shows the world to a page."""
        self._jobs.put((visitor, _COME))
        if self._end is not None:  # it may have looked into the queue for the last time
            visitor.dismiss(*self._end)

    def leave(self, visitor: Visitor) -> None:
        """A page has gone; the policy plays its slots."""
        self._jobs.put((visitor, _GONE))

    def tell(self, visitor: Visitor, message: said.Said) -> None:
        """What a page says."""
        if isinstance(message, said.Key):
            visitor.ask_key()
        self._jobs.put((visitor, _LOOK if isinstance(message, said.Shown | said.Key) else message))

    def stop(self, wait: float = 1.0) -> None:
        """Ends the session and says so to all pages."""
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
            while self._hear():
                self._begin_again()
                if self._is_due():
                    self._step()
                self._show()
        except UserError as error:
            reason, again = self._words(error), False
        except Exception as error:  # of a world or policy of somebody's own; the server lives on
            words = " ".join(self._words(error).split())[:200]
            reason, again = (
                f"{self.source} broke: {type(error).__name__}: {words}; mend it and come back",
                False,
            )
        finally:
            if (trouble := self._complete()) is not None:
                reason, again = trouble, False
            self._end = (reason, again)
            self._part(reason, again)

    def _complete(self) -> str | None:
        """Completes the recording while pages can still be told why that fails."""
        try:
            if hasattr(self, "_play"):
                self._play.complete()
        except Exception as error:  # pages have to be told of the end whatever happens
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

    def _words(self, error: Exception) -> str:
        return one_line(self._plain(str(error)))[:WORDS]

    def _hear(self) -> bool:
        """Waits until something is to be done and takes in what was said; False: it is over."""
        try:
            wait = self._wait()
            job = self._jobs.get(timeout=wait) if wait is None or wait > 0 else self._jobs.get_nowait()
            while True:
                if job is None:
                    return False
                self._take_in(*job)
                job = self._jobs.get_nowait()
        except queue.Empty:
            return True

    def _wait(self) -> float | None:
        """Seconds until something is due; None: until somebody says something."""
        now = self._clock()
        waits = [self._due - now] if self._goes_on() else []
        if (until := self._overlays.wait()) < math.inf:
            waits.append(until)
        for visitor in self._visitors:
            tick, slot, when = visitor.told
            if visitor.selected is not None and (tick, slot) != (self._play.tick, visitor.selected):
                waits.append(when + AGENT_SECONDS - now)
        return max(min(waits), 0.0) if waits else None

    def _goes_on(self) -> bool:
        """Whether there will be a next tick without a word from anybody."""
        return bool(self._visitors) and (self._running or self._steps > 0) and self._awaited() is None

    def _is_due(self) -> bool:
        return self._goes_on() and self._clock() >= self._due

    @property
    def _tells(self) -> bool:
        """Whether a world that stands still, or goes on sooner, would tell other pages who has something to do by night."""
        return self._play.has_secrets and len(self._visitors) > 1

    def _awaited(self) -> int | None:
        """The slot whose person is waited for."""
        if self._tells:
            return None
        turns = sorted(self._holders) if self._waits else [self._play.turn()]
        open_ = (slot for slot in turns if slot in self._holders and slot not in self._chosen)
        return next((slot for slot in open_ if slot is not None and self._play.acts(slot)), None)

    def _step(self) -> None:
        play, now = self._play, self._clock()
        if not self._prepared:  # kernels and networks are compiled by their first step
            self._tell_status(preparing=True)
            self._prepared = True
        self._renew(now)
        people = {slot: self._chosen.get(slot) for slot in self._holders}
        self._chosen = {}
        marks = play.step(people)
        self._left = self._left and not play.begins
        for mark in marks:
            for visitor in self._visitors:
                if (event := self._eyes.event(visitor, mark)) is not None:
                    visitor.post(event)
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
        except UserError as error:
            self._problem = self._words(error)

    def _show(self) -> None:
        """Offers what is new to those who have room for it."""
        self._tell_status()
        tick = self._play.tick
        for visitor in self._visitors:
            if visitor.wants(tick):
                visitor.offer(self._eyes.moment(visitor))
        self._overlays.show()
        now = self._clock()
        accounts: dict[int, dict[str, Any]] = {}
        for visitor in self._visitors:
            slot = visitor.selected
            if slot is None or visitor.told[:2] == (tick, slot) or now < visitor.told[2] + AGENT_SECONDS:
                continue
            if slot not in accounts:
                under_fog = self._eyes.of(visitor) is not None  # who looks at a slot then holds it
                play, held = self._play, slot in self._holders
                told = play.agent_under_fog(slot) if under_fog else play.agent(slot, held)
                accounts[slot] = {"type": "agent", **told}
            visitor.post(accounts[slot])
            visitor.told = (tick, slot, now)

    def _tell_status(self, preparing: bool = False) -> None:
        for visitor in self._visitors:
            status = {**self._status_for(visitor), "preparing": preparing}
            if status != self._status.get(visitor):
                self._status[visitor] = status
                visitor.post({**status, "tick": self._play.tick})

    def _status_for(self, visitor: Visitor) -> dict[str, Any]:
        awaited = self._awaited()
        if self._play.has_secrets and awaited is not None and self._holders[awaited] is not visitor:
            awaited = None  # whose turn it is at night tells the role
        note = self._eyes.note(visitor)
        return {
            "type": "status",
            "running": self._running,
            "speed": self._speed,
            "holders": self._holders_for(visitor),
            "waiting": awaited,
            "waits": bool(self._waits) and not self._tells,
            "preparing": False,
            "policy": one_line(self._play.cast.words),
            "note": self._problem or (STANDS if self._stands and not self._running else note),
            "fog": note in FOG,
        }

    def _look_anew(self) -> None:
        """Somebody plays, or plays no more: under fog, or where something is hidden, all see something else now."""
        self._play.reveal(not self._holders)
        if not (self._play.cast.fog or self._play.has_secrets):
            return
        for visitor in self._visitors:
            visitor.veil()
            visitor.told = NEVER
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

    # -- what pages say -----------------------------------------------------------------------------------------------

    def _take_in(self, visitor: Visitor | None, job: said.Said | str) -> None:
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

    def _try(self, visitor: Visitor, job: Any, deed: Callable[[Visitor, Any], object]) -> bool:
        try:
            deed(visitor, job)
        except UserError as error:
            whom = {"slot": job.slot} if job.type == "select" else {}  # by then another one may be selected
            visitor.post({"type": "refused", "what": job.type, **whom, "reason": self._words(error)})
            return False
        return True

    def _begin_again(self) -> None:
        """Resets as the last of those asked who came since: they can ask faster than a large world begins."""
        if self._again is not None:
            (visitor, job), self._again = self._again, None
            # Also of who asked before somebody began to play: where a stream of games goes on is known, too.
            seed, self._left = self._deal() if self._eyes.concealing else job.seed, False
            begun = self._try(visitor, job, lambda *_: self._play.reset(seed))
            if not begun and self._eyes.concealing:  # nobody plays a game that pages have seen
                for slot in list(self._holders):
                    self._give(slot)
            self._overlays.note()
            self._chosen, self._due = {}, self._clock()

    def _do(self, visitor: Visitor, job: said.Said) -> None:
        match job:
            case said.Run():
                self._running, self._steps, self._due = job.on, 0, self._clock()
            case said.Step():
                self._running, self._steps, self._due = False, job.n, self._clock()
            case said.Speed():
                self._speed, self._due = job.ticks_per_second, self._clock()
            case said.Select():
                self._select(visitor, job.slot)
            case said.Reset():
                self._eyes.check_seed(job.seed)
                self._again = (visitor, job)
            case said.Take():
                self._take(visitor, job.slot)
            case said.Give():
                self._held(visitor, job.slot)
                self._give(job.slot)
            case said.Wait():
                self._waits, self._due = job.on, self._clock()
                self._status.pop(
                    visitor, None
                )  # the page shows what it asked for, and is told what came of it
                if job.on and self._tells:
                    raise UserError(TELLS)
            case said.Act() | said.Click():
                self._act(visitor, job)
            case said.Overlay():
                self._lay_over(visitor, job)

    def _welcome(self, visitor: Visitor) -> None:
        play = self._play
        world = play.world
        encoder = Encoder(self._eyes.moment(visitor).scene, recording=False)
        if not self._visitors:
            self._due = self._clock()
        self._visitors.append(visitor)
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
        visitor.selected, visitor.told = slot, NEVER

    def _lay_over(self, visitor: Visitor, job: said.Overlay) -> None:
        if job.name is not None:
            self._eyes.check_overlay(visitor, job.name)
        self._overlays.ask(visitor, job)

    def _take(self, visitor: Visitor, slot: int) -> None:
        self._check_slot(slot)
        if self._holders.get(slot, visitor) is not visitor:
            raise UserError(
                f"{one_line(self._play.world.agents[slot])}: somebody plays it already; take another slot"
            )
        self._eyes.check_take(visitor, slot, self._left)
        if self._holders.get(slot) is not visitor:
            self._play.take(slot)
        first = not self._holders
        self._holders[slot] = visitor
        if first and self._eyes.concealing:
            self._again = (visitor, said.Reset(type="reset", seed=None))
        if self._stands:
            self._stands, self._running = False, True
        self._look_anew()
        play = self._play
        taken = {"slot": slot, "heads": play.heads(slot), "controls": play.controls(slot)}
        if self._waits is None:
            self._waits = taken["controls"] is None  # nobody fills in a form ten times a second
        visitor.post({"type": "taken", **taken, "clicks": play.clicks})

    def _act(self, visitor: Visitor, job: said.Act | said.Click) -> None:
        self._held(visitor, job.slot)
        play, now = self._play, self._play.tick
        if job.tick > now or (play.turn_based and job.tick != now):
            raise UserError(f"tick {job.tick}: the world is at {now}; choose again")
        if isinstance(job, said.Act):
            self._chosen[job.slot] = play.read(job.slot, job.action)
        elif (clicked := play.click(job.slot, job.x, job.y)) is not None:
            self._chosen[job.slot] = clicked
        if (play.turn_based or self._waits) and not self._tells:
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
        self._look_anew()

    def _is_own(self, visitor: Visitor, slot: int | None) -> bool:
        return slot is not None and self._holders.get(slot) is visitor

    def _check_slot(self, slot: int) -> None:
        if slot >= len(self._play.world.agents):
            raise UserError(f"slot {slot}: the world has {len(self._play.world.agents)}; choose one of those")


def _begin(cast: Cast, seed: int) -> Play:
    """Plays; a world that does not begin is freed."""
    try:
        return Play(cast, seed)
    except BaseException:
        cast.world.close()
        raise
