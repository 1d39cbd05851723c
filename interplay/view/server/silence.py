"""Connections that say nothing are closed: a local program could hold all that there may be, and the page would get none."""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol

SILENCE = 20.0  # seconds for which a connection may be without a whole request


class Impatient(H11Protocol):
    """HTTP as uvicorn speaks it; who asks for nothing, or never ends his question, has to leave."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Somebody has come."""
        super().connection_made(transport)
        self._seen: object = None  # the request that was under way at the last look
        self._look_again()

    def _look_again(self) -> None:
        self._look = self.loop.call_later(SILENCE, self._leave_or_look)

    def _leave_or_look(self) -> None:
        if self.transport.is_closing() or self.transport.get_protocol() is not self:
            return  # gone, or a websocket by now
        answered = self.cycle is None or self.cycle.response_complete
        if answered and self.cycle is self._seen:
            self.transport.close()
            return
        self._seen = self.cycle
        self._look_again()

    def connection_lost(self, exc: Exception | None) -> None:
        """He has gone."""
        self._look.cancel()
        super().connection_lost(exc)
