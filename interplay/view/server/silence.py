"""Connections that say nothing are closed: a local program could hold all that there may be, and the page would get none.

So are websockets that say too much beside their messages, and those that begin with what is no beginning.
"""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from interplay.view.server.config import VIOLATED
from interplay.view.server.pace import Pace

SILENCE = 20.0  # seconds for which a connection may be without a whole request


class Impatient(H11Protocol):
    """HTTP as uvicorn speaks it; who asks for nothing, never ends his question or takes no answer has to leave."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Somebody has come."""
        super().connection_made(transport)
        self._seen: object = None  # the request that was under way at the last look
        self._unread = 0  # bytes that he had not taken by then
        self._look_again()

    def _look_again(self) -> None:
        self._look = self.loop.call_later(SILENCE, self._leave_or_look)

    def _leave_or_look(self) -> None:
        if self.transport.is_closing() or self.transport.get_protocol() is not self:
            return  # gone, or a websocket by now
        answered = self.cycle is None or self.cycle.response_complete
        unread = self.transport.get_write_buffer_size()
        idle = unread == self._unread if unread else answered
        if self.cycle is self._seen and idle:
            self.transport.abort()
            return
        self._seen, self._unread = self.cycle, unread
        self._look_again()

    def connection_lost(self, exc: Exception | None) -> None:
        """He has gone."""
        self._look.cancel()
        super().connection_lost(exc)


class Paced(WebSocketsSansIOProtocol):
    """Websockets as uvicorn speaks them; pings, pongs and pieces of messages, which no endpoint sees, are as many as messages may be.

    Each ping is answered, and the answers wait in memory for who does not read; a message may have pieces without a letter in them.
    """

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._pace = Pace()

    def data_received(self, data: bytes) -> None:
        """Hears; uvicorn reads more loosely than websockets and would wait for ever for a handshake that these do not take."""
        super().data_received(data)
        if self.conn.handshake_exc is not None and not self.transport.is_closing():
            self.transport.close()

    def handle_ping(self) -> None:
        """Answers, or ends the connection."""
        if self._goes_on():
            super().handle_ping()

    def handle_pong(self, event: Any) -> None:
        """Takes note, or ends the connection."""
        if self._goes_on():
            super().handle_pong(event)

    def handle_cont(self, event: Any) -> None:
        """Takes a piece, or ends the connection."""
        if self._goes_on():
            super().handle_cont(event)

    def _goes_on(self) -> bool:
        if self.close_sent:
            return False
        if not self._pace.lets_through():
            self.conn.fail(VIOLATED, "too many pings in a second")
            self.handle_parser_exception()
            return False
        return True
