"""The queue of one page, filled by the session's thread and emptied by the server's.

A page acknowledges each drawn frame. With two frames unacknowledged, ticks are left out for this page, and the next frame is
relative to the last one that was sent. So a slow page is at most two frames late, and delays no other one. Events go with the
next frame: a page that draws one tick in a thousand does not handle those of each.
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
_LATEST = ("status", "agent")  # messages of which only the newest is sent


class Visitor:
    """A connected page.

    Args:
        wake: called from any thread, once for each fetch, when something is queued.

    Attributes:
        last_details: tick, slot and time of the last details of an agent.
    """

    def __init__(self, wake: Callable[[], None]) -> None:
        self._wake, self._lock = wake, threading.Lock()
        self._latest: dict[str, Mapping[str, Any]] = {}
        self._waiting, self._events = (deque[Mapping[str, Any]](maxlen=EVENTS) for _ in range(2))
        self._hello: list[Mapping[str, Any]] = []
        self._bye: Mapping[str, Any] | None = None
        self._moment: Moment | None = None
        self._overlay: tuple[Mapping[str, Any], bytes] | None = None
        self._encoder: Encoder | None = None
        self._unshown: deque[int] = deque()
        self._offered = -1
        self._episode: int | None = None  # of the last frame
        self._key, self._woken = True, False
        self.selected: int | None = None
        self.last_details = NEVER

    # -- the session's thread -----------------------------------------------------------------------------------------

    def welcome(self, hello: Mapping[str, Any], encoder: Encoder) -> None:
        """Sets the first message and the encoder of frames."""
        with self._lock:
            self._hello, self._encoder = [hello], encoder
        self._call()

    def post(self, message: Mapping[str, Any]) -> None:
        """Queues a message; of status and agent only the newest is kept."""
        with self._lock:
            if message["type"] in _LATEST:
                self._latest[message["type"]] = message
            else:
                self._waiting.append(message)
        self._call()

    def note(self, event: Mapping[str, Any]) -> None:
        """Queues an event, which is sent before the next frame."""
        with self._lock:
            self._events.append(event)

    def wants(self, tick: int) -> bool:
        """Whether the frame of a tick should be offered."""
        with self._lock:
            return self._has_room() and (self._key or tick != self._offered)

    def offer(self, moment: Moment) -> None:
        """Sets the next frame, in place of one that was not sent yet."""
        with self._lock:
            if not self._has_room():
                return  # the frame before was sent meanwhile
            self._moment, self._offered = moment, moment.tick
        self._call()

    def overlay(self, message: Mapping[str, Any], frame: bytes) -> None:
        """Sets the next overlay and its description, in place of an unsent one. From any thread."""
        with self._lock:
            self._overlay = (message, frame)
        self._call()

    def draws(self) -> bool:
        """Whether the page draws frames; a hidden one does not."""
        with self._lock:
            return self._has_room()

    def dismiss(self, reason: str, again: bool) -> None:
        """Queues the last message: the reason, and whether the page should reconnect."""
        with self._lock:
            self._bye = {"type": "bye", "reason": reason, "again": again}
        self._call()

    # -- the server's thread ------------------------------------------------------------------------------------------

    def shown(self, tick: int) -> bool:
        """Acknowledges the frames up to a tick; returns whether one was unacknowledged."""
        with self._lock:
            before = len(self._unshown)
            while self._unshown and self._unshown[0] <= tick:
                self._unshown.popleft()
            return len(self._unshown) < before

    def ask_key(self) -> None:
        """Requests a key frame and drops the queued one, which may show more than the page may see now."""
        with self._lock:
            self._key, self._offered, self._moment = True, -1, None
            self._unshown.clear()

    def veil(self) -> None:
        """Drops all queued views of the world, since the page may see something else now."""
        self.ask_key()
        with self._lock:
            self._latest.pop("agent", None)
            self._overlay = None

    def fetch(self) -> tuple[list[Mapping[str, Any]], bytes | None]:
        """Queued messages, with a `bye` last, and a frame to be sent after them."""
        with self._lock:
            messages = [
                *self._hello,
                *self._waiting,
                *(self._latest[key] for key in _LATEST if key in self._latest),
            ]
            self._hello, self._latest = [], {}
            self._waiting.clear()
            if self._bye is not None:
                messages.append(self._bye)
            moment, key, encoder = self._moment, self._key, self._encoder
            self._moment, self._woken = None, False
            if moment is None or encoder is None:
                return messages, None
            if self._events:
                messages.append({"type": "events", "events": list(self._events)})
                self._events.clear()
            self._key = False
            self._unshown.append(moment.tick)
            # An episode's first frame may have been left out, so the first one sent is marked as the beginning.
            first = moment.first or self._episode not in (None, moment.episode)
            self._episode = moment.episode
        return messages, encoder.encode(moment.scene, moment.tick, key=key, first=first, last=moment.last)

    def fetch_overlay(self) -> tuple[Mapping[str, Any], bytes] | None:
        """The overlay that was not sent yet."""
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
