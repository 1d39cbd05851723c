"""The websocket of a page: passes its messages to the session and sends what is queued (docs/specs/viewer.md 6.1)."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Callable

from starlette.concurrency import run_in_threadpool
from starlette.websockets import WebSocket, WebSocketDisconnect

from interplay.core.errors import UserError
from interplay.view.server.config import MESSAGE_BYTES, MESSAGES, SUBPROTOCOL, VIOLATED
from interplay.view.server.guard import RateLimiter
from interplay.view.server.messages import Shown, read_message
from interplay.view.server.session import Session
from interplay.view.server.sessions import Sessions
from interplay.view.server.visitor import Visitor

DONE, NO_TEXT, TOO_LARGE = 1000, 1003, 1009  # codes of a close


async def serve_live(sessions: Sessions, words: Callable[[Exception], str], socket: WebSocket) -> None:
    """The endpoint ``/api/live?source=&key=``: serves one page until it disconnects; for `words` see `Sources`."""
    await socket.accept(SUBPROTOCOL)
    loop, waiting = asyncio.get_running_loop(), asyncio.Event()

    def wake() -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(waiting.set)

    visitor = Visitor(wake)
    try:
        asked = socket.query_params
        session = await run_in_threadpool(
            sessions.join, asked.get("source", ""), visitor, asked.get("key", "")
        )
    except UserError as error:
        await _say_bye(socket, words(error))
        return
    tasks = [
        asyncio.create_task(_listen(socket, session, visitor)),
        asyncio.create_task(_send(socket, words, visitor, waiting)),
    ]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            with contextlib.suppress(WebSocketDisconnect, RuntimeError):  # disconnected during a send
                task.result()
    finally:
        for task in tasks:
            task.cancel()
        sessions.leave(visitor)


async def _listen(socket: WebSocket, session: Session, visitor: Visitor) -> None:
    """Passes messages on until the page disconnects or sends an invalid one."""
    limiter = RateLimiter()
    while True:
        event = await socket.receive()
        if event["type"] != "websocket.receive":
            return
        text = event.get("text")
        if text is None:
            await socket.close(NO_TEXT, "messages are text")
            return
        if len(text.encode()) > MESSAGE_BYTES:
            await socket.close(TOO_LARGE, f"messages have {MESSAGE_BYTES:,} bytes at most")
            return
        try:
            message = read_message(text)
        except ValueError:
            await socket.close(VIOLATED, "no message of this protocol")
            return
        # Acknowledgements do not count: there is at most one per frame.
        answers = isinstance(message, Shown) and visitor.shown(message.tick)
        if not (answers or limiter.allows()):
            await socket.close(VIOLATED, f"more than {MESSAGES} messages in a second")
            return
        session.receive(visitor, message)


async def _send(
    socket: WebSocket, words: Callable[[Exception], str], visitor: Visitor, waiting: asyncio.Event
) -> None:
    """Sends what is queued, in its order; a slow socket delays only its own page."""
    while True:
        await waiting.wait()
        waiting.clear()
        try:
            messages, frame = visitor.fetch()
        except UserError as error:
            await _say_bye(socket, words(error), again=True)
            return
        for message in messages:
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
