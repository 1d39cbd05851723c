"""Pending connections: callers that have not shown the token yet, several side by side.

Any process on the machine can connect, stay silent, or send a byte a second. So callers are served side by side: one that shows the
token is admitted at once, each other one has a time limit, and above `MOST` the oldest one is rejected.
"""

from __future__ import annotations

import contextlib
import selectors
import socket
import time
from typing import Any

from interplay.sim.remote.messages import check_token
from interplay.sim.remote.wire import LARGEST, Connection, Fault, one_line

MOST = 32  # pending callers


class Lobby:
    """The callers of a listening socket.

    Args:
        listener: closed by its owner.
        token: that a caller's hello has to show.
        timeout: seconds for a caller's whole hello, however slowly its bytes arrive.
        largest: bytes of a hello's JSON.

    Attributes:
        refusal: the fault of the last rejected caller; None: no caller was rejected.
    """

    def __init__(self, listener: socket.socket, token: str, timeout: float, largest: int = LARGEST) -> None:
        self.refusal: Fault | None = None
        self._listener, self._token = listener, token
        self._timeout, self._largest = timeout, largest
        self._waiting: dict[Connection, float] = {}  # until when, in the order of their calls
        self._selector = selectors.DefaultSelector()
        listener.setblocking(False)
        self._selector.register(listener, selectors.EVENT_READ)

    def __enter__(self) -> Lobby:
        return self

    def __exit__(self, *_: object) -> None:
        """Closes all pending connections."""
        for caller in list(self._waiting):
            self._dismiss(caller).close()
        self._selector.close()

    def admit(self, seconds: float | None = None) -> tuple[Connection, dict[str, Any]] | None:
        """Waits for a caller that shows the token.

        Args:
            seconds: the time limit; None = for ever.

        Returns:
            Its connection and its hello; None if none came in time.
        """
        until = None if seconds is None else time.monotonic() + seconds
        while True:
            self._turn_away_the_late()
            ends = [*self._waiting.values(), *([] if until is None else [until])]
            for key, _ in self._selector.select(max(0.0, min(ends) - time.monotonic()) if ends else None):
                caller: Connection | None = self._let_in() if key.fileobj is self._listener else key.data
                hello = None if caller is None else self._hear(caller)
                if caller is not None and hello is not None:
                    return self._dismiss(caller), hello
            if until is not None and time.monotonic() >= until:
                return None

    def silence(self) -> Fault | None:
        """The fault of the first silent caller; None: no caller is pending."""
        return next(iter(self._waiting)).silence(self._timeout) if self._waiting else None

    def _let_in(self) -> Connection | None:
        try:
            caller = Connection(self._listener.accept()[0])
        except OSError:  # it has gone already
            return None
        self._waiting[caller] = time.monotonic() + self._timeout
        self._selector.register(caller, selectors.EVENT_READ, caller)
        if len(self._waiting) > MOST:
            first = next(iter(self._waiting))
            self._turn_away(first, Fault("was one of too many pending callers", "show the token at once"))
        return caller

    def _hear(self, caller: Connection) -> dict[str, Any] | None:
        """A caller's hello, if all of it has arrived and shows the token."""
        if caller not in self._waiting:
            return None
        try:
            hello = caller.take_arrived(self._largest)
            if hello is not None:
                check_token(hello, self._token)
            return hello
        except Fault as fault:
            self._turn_away(caller, fault)
            return None

    def _turn_away_the_late(self) -> None:
        now = time.monotonic()
        for caller in [one for one, until in self._waiting.items() if until <= now]:
            self._turn_away(caller, caller.silence(self._timeout))

    def _turn_away(self, caller: Connection, fault: Fault) -> None:
        self.refusal = fault
        with contextlib.suppress(Fault):  # it may have gone; no time to wait for it
            self._dismiss(caller).send({"type": "error", "message": one_line(fault)}, 0)
        caller.close()

    def _dismiss(self, caller: Connection) -> Connection:
        del self._waiting[caller]
        self._selector.unregister(caller)
        return caller
