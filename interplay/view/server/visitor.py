"""What waits to be sent to one page: written by the session's thread, fetched by the server's.

A page says when it has drawn a frame. Two frames may be on their way; until one of them was drawn, ticks are left out for this page, and
the next frame is relative to the last one that was sent. So a slow page is late by two frames at most, and nobody waits for it.
"""

from __future__ import annotations

import math
import threading
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

from interplay.core.frames import Encoder
from interplay.view.server.config import EVENTS, UNSHOWN
from interplay.view.server.play import Moment

NEVER: tuple[int, int | None, float] = (-1, None, -math.inf)
_LATEST = ("status", "agent")  # of which only the newest is worth sending


class Visitor:
    """One page that is connected.

    Args:
        wake: called, from any thread, when something waits here; once until it was fetched.

    Attributes:
        selected: the slot that it looks at.
        told: tick, slot and time of the last account of an agent.
    """

    def __init__(self, wake: Callable[[], None]) -> None:
        self._wake, self._lock = wake, threading.Lock()
        self._latest: dict[str, Mapping[str, Any]] = {}
        self._waiting: deque[Mapping[str, Any]] = deque(maxlen=EVENTS)
        self._hello: list[Mapping[str, Any]] = []
        self._bye: Mapping[str, Any] | None = None
        self._moment: Moment | None = None
        self._overlay: tuple[Mapping[str, Any], bytes] | None = None
        self._encoder: Encoder | None = None
        self._unshown: deque[int] = deque()
        self._offered = -1
        self._episode: int | None = None  # that was sent last
        self._key, self._woken = True, False
        self.selected: int | None = None
        self.told = NEVER

    # -- the session's thread -----------------------------------------------------------------------------------------

    def welcome(self, hello: Mapping[str, Any], encoder: Encoder) -> None:
        """Says first what the source is; `encoder` makes its frames from now on."""
        with self._lock:
            self._hello, self._encoder = [hello], encoder
        self._call()

    def post(self, message: Mapping[str, Any]) -> None:
        """Something to say; of status and agent only the newest is kept."""
        with self._lock:
            if message["type"] in _LATEST:
                self._latest[message["type"]] = message
            else:
                self._waiting.append(message)
        self._call()

    def wants(self, tick: int) -> bool:
        """Whether the frame of a tick should be offered."""
        with self._lock:
            return self._has_room() and (self._key or tick != self._offered)

    def offer(self, moment: Moment) -> None:
        """The frame to be sent next; it takes the place of one that was not sent yet."""
        with self._lock:
            if not self._has_room():
                return  # the one before was sent since it was asked
            self._moment, self._offered = moment, moment.tick
        self._call()

    def overlay(self, told: Mapping[str, Any], frame: bytes) -> None:
        """What lies over the world, and what it means; it takes the place of one that was not sent yet. From any thread."""
        with self._lock:
            self._overlay = (told, frame)
        self._call()

    def draws(self) -> bool:
        """Whether the page draws what it is sent: one that is hidden does not."""
        with self._lock:
            return self._has_room()

    def dismiss(self, reason: str, again: bool) -> None:
        """Says why this is the end, and whether it is worth coming back."""
        with self._lock:
            self._bye = {"type": "bye", "reason": reason, "again": again}
        self._call()

    # -- the server's thread ------------------------------------------------------------------------------------------

    def shown(self, tick: int) -> bool:
        """The page has drawn the frame of a tick, and so those before it; whether one was on its way."""
        with self._lock:
            before = len(self._unshown)
            while self._unshown and self._unshown[0] <= tick:
                self._unshown.popleft()
            return len(self._unshown) < before

    def ask_key(self) -> None:
        """The page has lost its place: what is on its way to it does not count, and what waits is not sent any more.

        What waits may show more than the page may see now, and would come behind the status that tells of the fog.
        """
        with self._lock:
            self._key, self._offered, self._moment = True, -1, None
            self._unshown.clear()

    def veil(self) -> None:
        """It may see something else from now on: nothing that waits and tells of the world is sent any more."""
        self.ask_key()
        with self._lock:
            self._latest.pop("agent", None)
            self._overlay = None

    def fetch(self) -> tuple[list[Mapping[str, Any]], bytes | None]:
        """Messages to be sent, a `bye` last, and a frame behind them.

        Raises:
            UserError: if the scene changed so much that no frame tells it; the page has to come back.
        """
        with self._lock:
            said = [
                *self._hello,
                *self._waiting,
                *(self._latest[key] for key in _LATEST if key in self._latest),
            ]
            self._hello, self._latest = [], {}
            self._waiting.clear()
            if self._bye is not None:
                said.append(self._bye)
            moment, key, encoder = self._moment, self._key, self._encoder
            self._moment, self._woken = None, False
            if moment is None or encoder is None:
                return said, None
            self._key = False
            self._unshown.append(moment.tick)
            # An episode's first frame may have been left out, so the first that is sent of it says that it began.
            first = moment.first or self._episode not in (None, moment.episode)
            self._episode = moment.episode
        return said, encoder.encode(moment.scene, moment.tick, key=key, first=first, last=moment.last)

    def fetch_overlay(self) -> tuple[Mapping[str, Any], bytes] | None:
        """What lies over the world and has not been sent yet."""
        with self._lock:
            found, self._overlay = self._overlay, None
        return found

    def _has_room(self) -> bool:
        return len(self._unshown) < UNSHOWN

    def _call(self) -> None:
        with self._lock:
            woken, self._woken = self._woken, True
        if not woken:
            self._wake()
