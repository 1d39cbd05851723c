"""Asks an ASGI application: over no network where headers have to be odd, and on a port where sockets have to be real."""

from __future__ import annotations

import asyncio
import json
import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import websockets
import websockets.sync.client
from websockets.sync.client import ClientConnection

from interplay.core.frames import Decoder, Schema
from interplay.core.policy import RandomPolicy
from interplay.core.world import World
from interplay.registry import make_world
from interplay.view.server.app import make_app
from interplay.view.server.guard import App
from interplay.view.server.overlay_frames import HEAD, OVERLAY
from interplay.view.server.play import Cast
from interplay.view.server.serving import Address, bind, serve
from interplay.view.server.sources import Opened

PATIENCE = 90.0  # seconds for which a page waits for a message: the first one may wait for compiled kernels
PORT, TOKEN = 8123, "a-token-of-this-start"
HOST = b"127.0.0.1:8123"
BEARER = (b"authorization", b"Bearer " + TOKEN.encode())
OWN = ((b"host", HOST), BEARER)
Header = tuple[bytes, bytes]


class Answer(NamedTuple):
    """What came back; a websocket that was refused has its close code as status."""

    status: int
    headers: list[Header]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    def header(self, name: bytes) -> bytes | None:
        return dict(self.headers).get(name)


def ask(
    app: App,
    path: str,
    headers: Sequence[Header] = OWN,
    method: str = "GET",
    query: bytes = b"",
    kind: str = "http",
    subprotocols: Sequence[str] = (),
) -> Answer:
    """One request, its headers as they are."""
    scope = {
        "type": kind,
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": kind,
        "path": path,
        "raw_path": path.encode("latin-1", "replace"),
        "query_string": query,
        "root_path": "",
        "headers": list(headers),
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", PORT),
        "subprotocols": list(subprotocols),
        "state": {},
    }
    if kind == "websocket":
        del scope["method"]
    sent: list[dict[str, Any]] = []
    gone = asyncio.Event()

    async def talk() -> None:
        first = [
            {"type": "websocket.connect"} if kind == "websocket" else {"type": "http.request", "body": b""}
        ]

        async def receive() -> dict[str, Any]:
            if first:
                return first.pop()
            await gone.wait()
            return {"type": f"{kind}.disconnect", "code": 1000}

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)
            if message["type"] in ("websocket.accept", "websocket.close"):
                gone.set()

        await app(scope, receive, send)

    asyncio.run(talk())
    if kind == "websocket":
        return Answer(sent[0].get("code", 101) if sent[0]["type"] == "websocket.close" else 101, [], b"")
    body = b"".join(message.get("body", b"") for message in sent[1:])
    return Answer(sent[0]["status"], list(sent[0]["headers"]), body)


def agent_at(app: App, slot: int, tick: int, number: int = 0) -> Answer:
    """What is answered about an agent of a recording."""
    return ask(app, f"/api/recordings/{number}/agent/{slot}", query=f"tick={tick}".encode())


def cast_of(make: Callable[[], World], words: str = "random") -> Callable[[str, str], Cast]:
    """A cast for any source: random play in a given world."""
    return lambda kind, name: Cast(make(), RandomPolicy(), words)


def by_name(kind: str, name: str) -> Cast:
    """Random play of registered worlds."""
    return Cast(make_world(name), RandomPolicy(), "random")


def app_of(opened: Opened, cast: Any = by_name, **more: Any) -> App:
    """The server, without a port."""
    return make_app(opened, cast, PORT, TOKEN, **more)


@contextmanager
def served(opened: Opened, cast: Any = by_name, compress: bool = False, **more: Any) -> Iterator[Address]:
    """The server on a port of its own, in a thread."""
    listening, address = bind()
    app = make_app(opened, cast, address.port, address.token, ticket=address.ticket, **more)
    begun: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
    thread = threading.Thread(target=serve, args=(app, listening, begun.put, compress), daemon=True)
    thread.start()
    leave = begun.get(timeout=30)
    try:
        yield address
    finally:
        leave()
        thread.join(20)
        assert not thread.is_alive()


class Watcher:
    """A page without a picture: it decodes what it is sent, and says so."""

    def __init__(self, address: Address, source: str = "world:0", shows: bool = True) -> None:
        base = f"127.0.0.1:{address.port}"
        self.socket: ClientConnection = websockets.sync.client.connect(
            f"ws://{base}/api/live?source={source}",
            origin=f"http://{base}",  # type: ignore[arg-type]
            subprotocols=["interplay.2", f"token.{address.token}"],  # type: ignore[list-item]
            max_size=None,
        )
        self.shows, self.said, self.ticks, self.events = shows, [], [], []  # type: ignore[var-annotated]
        self.decoder: Decoder | None = None

    def say(self, type: str, **more: Any) -> None:
        self.socket.send(json.dumps({"type": type, **more}))

    def hear(self, timeout: float = PATIENCE) -> dict[str, Any]:
        """The next message; of a frame its tick and what it leads to."""
        data = self.socket.recv(timeout)
        if isinstance(data, str):
            message = json.loads(data)
            if message["type"] == "hello":
                self.decoder = Decoder(Schema.model_validate(message["schema"]))
            self.said.append(message)
            self.events += message["events"] if message["type"] == "events" else []
            return message
        if data[0] == OVERLAY:
            _, number, width, height, zero, tick, lowest, highest = HEAD.unpack(data[: HEAD.size])
            assert (zero, len(data) % 4) == (0, 0)
            cells = np.frombuffer(data, np.uint8, width * height, HEAD.size).reshape(height, width)
            return {
                "type": "cells",
                "id": number,
                "tick": tick,
                "lowest": lowest,
                "highest": highest,
                "cells": cells,
            }
        assert self.decoder is not None, "a frame before hello"
        head = self.decoder.decode(data)
        self.ticks.append(head.tick)
        if self.shows:
            with suppress(websockets.ConnectionClosed):  # its last words are still to be read
                self.say("shown", tick=head.tick)
        return {"type": "frame", "tick": head.tick, "head": head, "scene": self.decoder.scene()}

    def until(self, type: str, **expected: Any) -> dict[str, Any]:
        """The next message of a type in which these values stand."""
        began = time.monotonic()
        while time.monotonic() - began < PATIENCE:
            message = self.hear()
            if message["type"] == type and all(message.get(key) == value for key, value in expected.items()):
                return message
        raise AssertionError(f"no {type} with {expected}")

    def until_silence(self, seconds: float) -> None:
        """Hears all until nothing was said for so long."""
        for _ in range(10_000):
            try:
                self.hear(seconds)
            except TimeoutError:
                return
        raise AssertionError("there is no end")

    def until_closed(self) -> int:
        """Hears all until the server ends the connection; the code with which it does."""
        for _ in range(10_000):
            try:
                self.hear()
            except websockets.ConnectionClosed as closed:
                return closed.rcvd.code if closed.rcvd is not None else 0
        raise AssertionError("it goes on")

    def stand_still(self) -> int:
        """Stops time; the tick at which it stands, after its frame."""
        self.say("run", on=False)
        tick = self.until("status", running=False)["tick"]
        while self.ticks[-1:] != [tick]:
            self.hear()
        return tick

    def __enter__(self) -> Watcher:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()


def no_root(worlds: Sequence[str]) -> Opened:
    """Worlds alone."""
    return Opened("test", None, worlds=tuple(worlds))


def beneath(root: Path) -> Opened:
    """A folder alone."""
    return Opened("test", root)
