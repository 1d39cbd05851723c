"""The websocket of a page: what it says is read strictly and goes to the session, what waits for it is sent (docs/specs/viewer.md 6.1)."""

from __future__ import annotations

import asyncio
import contextlib
import json

from starlette.concurrency import run_in_threadpool
from starlette.websockets import WebSocket, WebSocketDisconnect

from interplay.core.errors import UserError
from interplay.view.run_log import one_line
from interplay.view.server.config import MESSAGE_BYTES, MESSAGES, SUBPROTOCOL, VIOLATED
from interplay.view.server.messages import Shown, read_message
from interplay.view.server.pace import Pace
from interplay.view.server.session import Session
from interplay.view.server.sessions import Sessions
from interplay.view.server.visitor import Visitor

DONE, NO_TEXT, TOO_LARGE = 1000, 1003, 1009  # codes of a close


class Live:
    """The endpoint ``/api/live?source=``.

    Args:
        sessions: that are watched.
    """

    def __init__(self, sessions: Sessions) -> None:
        self._sessions = sessions

    async def serve(self, socket: WebSocket) -> None:
        """Serves one page until it goes."""
        await socket.accept(SUBPROTOCOL)
        loop, waiting = asyncio.get_running_loop(), asyncio.Event()

        def wake() -> None:
            with contextlib.suppress(RuntimeError):  # the loop has ended, and with it the page
                loop.call_soon_threadsafe(waiting.set)

        visitor = Visitor(wake)
        try:
            source = socket.query_params.get("source", "")
            session = await run_in_threadpool(self._sessions.join, source, visitor)
        except UserError as error:
            await _say_bye(socket, one_line(str(error)))
            return
        tasks = [
            asyncio.create_task(_listen(socket, session, visitor)),
            asyncio.create_task(_send(socket, visitor, waiting)),
        ]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                with contextlib.suppress(
                    WebSocketDisconnect, RuntimeError
                ):  # it went while something was sent
                    task.result()
        finally:
            for task in tasks:
                task.cancel()
            self._sessions.leave(visitor)


async def _listen(socket: WebSocket, session: Session, visitor: Visitor) -> None:
    """Hands on what the page says, until it goes or says what no page says."""
    pace = Pace()
    while True:
        message = await socket.receive()
        if message["type"] != "websocket.receive":
            return
        text = message.get("text")
        if text is None:
            await socket.close(NO_TEXT, "messages are text")
            return
        if len(text.encode()) > MESSAGE_BYTES:
            await socket.close(TOO_LARGE, f"messages have {MESSAGE_BYTES:,} bytes at most")
            return
        try:
            said = read_message(text)
        except ValueError:
            await socket.close(VIOLATED, "no message of this protocol")
            return
        # What answers a frame does not count: there are no more of those than frames.
        answers = isinstance(said, Shown) and visitor.shown(said.tick)
        if not (answers or pace.lets_through()):
            await socket.close(VIOLATED, f"more than {MESSAGES} messages in a second")
            return
        session.tell(visitor, said)


async def _send(socket: WebSocket, visitor: Visitor, waiting: asyncio.Event) -> None:
    """Sends what waits, in its order; the socket's own pace holds it back and nobody else."""
    while True:
        await waiting.wait()
        waiting.clear()
        try:
            said, frame = visitor.fetch()
        except UserError as error:
            await _say_bye(socket, one_line(str(error)), again=True)
            return
        for message in said:
            await socket.send_text(json.dumps(message, allow_nan=False))
            if message["type"] == "bye":
                await socket.close(DONE)
                return
        if frame is not None:
            await socket.send_bytes(frame)
        if (overlay := visitor.fetch_overlay()) is not None:
            await socket.send_text(json.dumps(overlay[0], allow_nan=False))
            await socket.send_bytes(overlay[1])


async def _say_bye(socket: WebSocket, reason: str, again: bool = False) -> None:
    with contextlib.suppress(WebSocketDisconnect, RuntimeError):
        await socket.send_text(json.dumps({"type": "bye", "reason": reason, "again": again}))
        await socket.close(DONE)
