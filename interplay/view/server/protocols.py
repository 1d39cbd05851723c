"""Protocols of uvicorn that close idle connections and websockets with too many control frames or a bad handshake.

Otherwise a local program could occupy all connections, and the page would get none.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from interplay.view.server.config import VIOLATED
from interplay.view.server.guard import RateLimiter

SILENCE = 20.0  # seconds for which a connection may be idle


class IdleTimeoutHttp(H11Protocol):
    """uvicorn's HTTP; closes connections without a request, with an incomplete one, or that do not read the answer."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Starts the timer."""
        super().connection_made(transport)
        self._seen: object = None  # the request at the last look
        self._unread = 0  # unread bytes at the last look
        self._look_again()

    def _look_again(self) -> None:
        self._look = self.loop.call_later(SILENCE, self._leave_or_look)

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
