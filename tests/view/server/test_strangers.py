"""Specification viewer 13: hostile clients of a running server, over real sockets, get nothing and do not disturb pages."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from bisect import bisect_right
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from threading import Event

import pytest
import websockets
from hypothesis import given, settings
from starlette.routing import Route

from interplay.view.server.app import Routes
from interplay.view.server.guard import TICKETS
from interplay.view.server.serving import Address
from interplay.view.server.sessions import Sessions
from interplay.view.server.sources import Opened, Sources
from tests.cli.command import ROOT
from tests.view.server.asking import HOST, Watcher, no_root, served
from tests.view.server.folders import make_run, record
from tests.view.server.test_guard import REQUESTS, Request

COUNT = 500
TOGETHER = 10  # requests that are under way at once
FEWEST = 10  # frames of a page in any second
ROUNDS = 5  # a machine that does something else may spoil one; what stalls the server spoils each
CLOSED = 999  # for the status of who was sent away without a word
HANDSHAKE = (
    (b"Connection", b"Upgrade"),
    (b"Upgrade", b"websocket"),
    (b"Sec-WebSocket-Version", b"13"),
    (b"Sec-WebSocket-Key", b"AAAAAAAAAAAAAAAAAAAAAA=="),
)


@contextmanager
def viewed(*arguments: str) -> Iterator[Address]:
    """`interplay view` in a process of its own, which nothing that is done here holds up."""
    command = [sys.executable, "-m", "interplay.cli", "view", *arguments, "--no-browser"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
    ) as process:
        try:
            assert process.stdout is not None
            base, token = process.stdout.readline().strip().split("/#token=")
            yield Address("127.0.0.1", int(base.rpartition(":")[2]), token)
        finally:
            process.terminate()


def generated(count: int) -> list[Request]:
    """So many of the requests with which the guard is tried."""
    found: list[Request] = []

    @settings(max_examples=count)
    @given(REQUESTS)
    def collect(one: Request) -> None:
        found.append(one)

    collect()
    return found


def raw(request: Request, port: int) -> bytes:
    """A request as it is sent; where it names the page's own host, this server's, so that other rules have to refuse it."""
    own = b"127.0.0.1:%d" % port
    headers = [(name, value.replace(HOST, own)) for name, value in request.headers]
    if request.socket:
        headers += HANDSHAKE
        headers += [(b"Sec-WebSocket-Protocol", name.encode()) for name in request.subprotocols]
    first = b" ".join([request.method.encode(), request.path.encode(), b"HTTP/1.1"])
    return b"\r\n".join([first, *(b": ".join(header) for header in headers), b"\r\n"])


def statuses(port: int, requests: list[Request]) -> list[int]:
    """What is answered to requests that are under way together."""
    lines = [socket.create_connection(("127.0.0.1", port), 30) for _ in requests]
    for line, request in zip(lines, requests, strict=True):
        line.sendall(raw(request, port))
    found = []
    for line in lines:
        with line:
            answer = line.recv(4_096)
            found.append(int(answer.split()[1]) if answer else CLOSED)
    return found


def fewest(times: list[float], began: float, ended: float) -> int:
    """The least number of frames in any second of a stretch of time.

    Args:
        times: at which they came, ascending.
        began, ended: of the stretch.
    """
    starts = [start for start in [began, *times, ended - 1] if began <= start <= ended - 1]
    return min((bisect_right(times, at + 1) - bisect_right(times, at) for at in starts), default=FEWEST)


def listen(page: Watcher, times: list[float], done: Event) -> None:
    """Notes when frames come."""
    while not done.is_set():
        with suppress(TimeoutError):
            if page.hear(0.5)["type"] == "frame":
                times.append(time.monotonic())


def frames_under_fire(page: Watcher, port: int, requests: list[Request]) -> int:
    """The fewest frames of a page in a second in which strangers send these requests; it ends when these are too few."""
    times: list[float] = []
    done, began = Event(), time.monotonic()
    with ThreadPoolExecutor(1) as pool:
        heard = pool.submit(listen, page, times, done)
        try:
            sent = 0
            while sent < len(requests) or time.monotonic() - began < 2:
                part = [requests[(sent + i) % len(requests)] for i in range(TOGETHER)]
                for request, status in zip(part, statuses(port, part), strict=True):
                    assert status >= 400 or request.path.partition("?")[0] == "/", request
                sent += len(part)
                if (found := fewest(times, began, time.monotonic())) < FEWEST:
                    break
        finally:
            done.set()
            heard.result()
    return found


def data_paths() -> list[str]:
    """Everything that is data, and no websocket, as the server itself lists it."""
    sources = Sources(no_root([]))
    routes = Routes(sources, Sessions(sources, None, 0), read_only=True).app().routes
    paths = [route.path for route in routes if isinstance(route, Route)]
    return [path.format(id=0, chunk=0, slot=0) for path in paths if path.startswith("/api/")]


def status_of(address: Address, path: str, token: str, method: str = "GET") -> int:
    """The answer of a server to a request with the token."""
    request = urllib.request.Request(
        f"http://127.0.0.1:{address.port}{path}", method=method, headers={"Authorization": f"Bearer {token}"}
    )
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as refused:
        return refused.code


def test_the_token_of_one_server_opens_nothing_at_another(tmp_path):
    record(tmp_path / "a.replay")
    make_run(tmp_path / "run")
    opened = Opened("both", tmp_path, worlds=("dilemma/fixed",))
    with served(opened) as here, served(opened) as there:
        assert len(here.token) == len(there.token)
        paths = data_paths()
        assert {"/api/about", "/api/recordings/0/chunks/0", "/api/runs/0/curves"} < set(paths)
        for path in [*paths, "/api/none"]:
            assert [status_of(here, path, there.token, method) for method in ("GET", "HEAD")] == [401, 401]
            assert status_of(here, path, here.token) not in (401, 403), path
        for source in ("world:0", "run:0", "none"):
            with pytest.raises(websockets.InvalidStatus) as refused:
                Watcher(here._replace(token=there.token), source)
            assert refused.value.response.status_code == 403
        assert status_of(here, f"{TICKETS}{there.ticket}", "") == 404
        assert status_of(here, f"{TICKETS}{here.ticket}", "") != 404  # the page, or how it is built
        for address in (here, there):
            with Watcher(address) as page:
                assert page.hear()["type"] == "hello"


@pytest.mark.parametrize("value", [b"\x08", b"a" * 9_000])
def test_a_handshake_that_is_none_is_ended_at_once(value):
    """It would be one of the connections that there may be, until the server ends."""
    with served(no_root([])) as address:
        asked = Request([(b"host", HOST), (b"cookie", value)], True, [], "/api/live", "GET")
        assert statuses(address.port, [asked]) == [CLOSED]


def test_seconds_with_few_frames_are_found():
    even = [i / 20 for i in range(1, 60)]
    assert fewest(even, 0.0, 2.9) == 20
    assert fewest([time for time in even if not 0.5 < time < 1.2], 0.0, 2.9) == 7
    assert fewest([time for time in even if time > 0.7], 0.0, 2.9) == 6
    assert fewest([time for time in even if time < 2.0], 0.0, 2.9) == 1
    assert fewest([], 0.0, 0.9) == FEWEST


def test_a_page_keeps_its_pace_while_strangers_ask_for_everything():
    requests = generated(COUNT)
    assert len(requests) == COUNT
    with viewed("dilemma/fixed", "--option", "rounds=1000000") as address, Watcher(address) as page:
        page.say("speed", ticks_per_second=20)
        page.until("status", speed=20.0)
        found: list[int] = []
        while not found or (found[-1] < FEWEST and len(found) < ROUNDS):
            found.append(frames_under_fire(page, address.port, requests))
        assert found[-1] >= FEWEST, found
