"""Protocols of uvicorn that close idle connections and websockets with too many control frames or a bad handshake.

Otherwise a local program could occupy all connections, and the page would get none. Connections without a token, as of any
program of this machine, have few places and little time; a new one takes the place of the oldest, so the page gets in, which sends its request at once.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from interplay.view.server.config import VIOLATED
from interplay.view.server.guard import KNOWN, RateLimiter

SILENCE = 20.0  # seconds for which a connection may be idle
STRANGE_SILENCE = 5.0  # the same of one that has not shown the token
STRANGERS = 128  # connections that have not shown the token
# Connections that are accepted in one turn of the loop. A request that comes with its connection is read two turns later, so
# fewer than `STRANGERS` come between.
ACCEPTED = 32


class IdleTimeoutHttp(H11Protocol):
    """uvicorn's HTTP; closes connections without a request, with an incomplete one, or that do not read the answer."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Starts the timer."""
        super().connection_made(transport)
        self._seen: object = None  # the request at the last look
        self._unread = 0  # unread bytes at the last look
        self._known = False  # whether a request before the present one had the token
        self._began = self.loop.time()
        self._look_again()
        self._make_room()

    @property
    def is_stranger(self) -> bool:
        """Whether no request so far had the token; websockets without it are refused at once."""
        return not (self._known or (self.scope is not None and KNOWN in self.scope))

    def on_response_complete(self) -> None:
        """Keeps whether the request had the token."""
        self._known = not self.is_stranger
        super().on_response_complete()

    def _make_room(self) -> None:
        """Closes the oldest connection without the token if there are too many."""
        every = [one for one in self.connections if isinstance(one, IdleTimeoutHttp)]
        strangers = [one for one in every if one.is_stranger and not one.transport.is_closing()]
        if len(strangers) > STRANGERS:
            min(strangers, key=lambda one: one._began).transport.abort()

    def _look_again(self) -> None:
        silence = min(STRANGE_SILENCE, SILENCE) if self.is_stranger else SILENCE
        self._look = self.loop.call_later(silence, self._leave_or_look)

    def _leave_or_look(self) -> None:
        if self.transport.is_closing() or self.transport.get_protocol() is not self:
            return  # closed, or a websocket now
        answered = self.cycle is None or self.cycle.response_complete
        unread = self.transport.get_write_buffer_size()
        idle = unread == self._unread if unread else answered
        if self.cycle is self._seen and idle:
            self.transport.abort()
            return
        self._seen, self._unread = self.cycle, unread
        self._look_again()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stops the timer."""
        self._look.cancel()
        super().connection_lost(exc)


class RateLimitedWebSocket(WebSocketsSansIOProtocol):
    """uvicorn's websockets; limits pings, pongs and fragments, which no endpoint sees, like messages.

    Answers to pings would fill the memory if the peer does not read, and fragments may be empty.
    """

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._limiter = RateLimiter()

    def data_received(self, data: bytes) -> None:
        """Closes after a bad handshake, for which uvicorn would wait for ever."""
        super().data_received(data)
        if self.conn.handshake_exc is not None and not self.transport.is_closing():
            self.transport.close()

    def handle_ping(self) -> None:
        """Answers, or closes the connection."""
        if self._goes_on():
            super().handle_ping()

    def handle_pong(self, event: Any) -> None:
        """Accepts, or closes the connection."""
        if self._goes_on():
            super().handle_pong(event)

    def handle_cont(self, event: Any) -> None:
        """Accepts a fragment, or closes the connection."""
        if self._goes_on():
            super().handle_cont(event)

    def _goes_on(self) -> bool:
        if self.close_sent:
            return False
        if not self._limiter.allows():
            self.conn.fail(VIOLATED, "too many pings in a second")
            self.handle_parser_exception()
            return False
        return True
