"""Connections without a token: whatever they say or leave out, and however many there are, the owner's page gets in."""

from __future__ import annotations

import resource
import socket
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from http.client import HTTPConnection

import pytest

from interplay.view.server import protocols
from interplay.view.server.serving import Address
from tests.view.server.asking import Watcher, no_root, served

MANY = 520
WAIT = 10.0  # seconds of the owner's patience, less than a silent connection had before
START = b"GET /api/about HTTP/1.1\r\nHost: 127.0.0.1\r\n"
SAYINGS = {
    "nothing": b"",
    "half a header": START[:40],
    "headers without an end": START,
    "a body that does not come": b"POST /api/about HTTP/1.1\r\nContent-Length: 1000000\r\n\r\n",
    "half a handshake": START + b"Connection: Upgrade\r\nUpgrade: websocket\r\n",
}


@pytest.fixture(autouse=True)
def files() -> Iterator[None]:
    """Both ends of the connections are in this process."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4_096), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def connect(address: Address) -> socket.socket:
    return socket.create_connection(("127.0.0.1", address.port), WAIT)


def ask(line: HTTPConnection, headers: dict[str, str]) -> int:
    """The answer to a request on an open connection."""
    line.request("GET", "/api/about", headers=headers)
    answer = line.getresponse()
    answer.read()
    return answer.status


def about(address: Address) -> int:
    """The answer to the owner."""
    request = urllib.request.Request(
        f"http://127.0.0.1:{address.port}/api/about", headers={"Authorization": f"Bearer {address.token}"}
    )
    with urllib.request.urlopen(request, timeout=WAIT) as answer:
        return int(answer.status)


def is_open(line: socket.socket) -> bool:
    """Whether the server has not closed a connection."""
    line.setblocking(False)
    try:
        while line.recv(4_096):
            pass
        return False
    except BlockingIOError:
        return True
    except ConnectionError:
        return False


@pytest.mark.parametrize("saying", SAYINGS)
def test_the_owner_gets_in_beside_many_strangers(saying):
    with served(no_root(["dilemma/fixed"])) as address, ExitStack() as stack:
        lines = [stack.enter_context(connect(address)) for _ in range(MANY)]
        for line in lines:
            with suppress(ConnectionError):
                line.sendall(SAYINGS[saying])
        assert about(address) == 200
        with Watcher(address) as page:
            assert page.until("hello")["source"] == "world:0"
            lines += [stack.enter_context(connect(address)) for _ in range(MANY)]
            assert about(address) == 200
            page.stand_still()  # who has shown the token gives no place to others


def test_the_oldest_strangers_give_way_and_the_owner_does_not(monkeypatch):
    monkeypatch.setattr(protocols, "STRANGERS", 5)
    with served(no_root(["dilemma/fixed"])) as address, ExitStack() as stack:
        own = HTTPConnection("127.0.0.1", address.port, timeout=WAIT)
        stack.callback(own.close)
        assert ask(own, {"Authorization": f"Bearer {address.token}"}) == 200
        assert ask(own, {}) == 401  # it stays known, whatever it asks
        kept = own.sock
        lines = []
        for _ in range(8):
            lines.append(stack.enter_context(connect(address)))
            assert about(address) == 200  # so that it was accepted
        # Until its request is read, the owner's own connection is one of the five.
        assert [is_open(line) for line in lines] == [False] * 4 + [True] * 4
        assert ask(own, {}) == 401
        assert own.sock is kept


def test_strangers_have_less_time_than_the_owner(monkeypatch):
    monkeypatch.setattr(protocols, "STRANGE_SILENCE", 0.3)
    with served(no_root(["dilemma/fixed"])) as address, ExitStack() as stack:
        lines = {saying: stack.enter_context(connect(address)) for saying in SAYINGS}
        own = stack.enter_context(connect(address))
        head = f"GET /api/about HTTP/1.1\r\nHost: 127.0.0.1:{address.port}\r\n"
        own.sendall(f"{head}Authorization: Bearer {address.token}\r\n\r\n".encode())
        for saying, line in lines.items():
            line.sendall(SAYINGS[saying])
        until = time.monotonic() + 1.2
        while time.monotonic() < until:  # bytes alone are no request
            for line in (lines["half a header"], lines["a body that does not come"]):
                with suppress(ConnectionError):
                    line.sendall(b"x")
            time.sleep(0.05)
        assert {saying: is_open(line) for saying, line in lines.items()} == dict.fromkeys(SAYINGS, False)
        assert is_open(own)


def test_the_owner_gets_in_while_strangers_come_and_come():
    """A new connection is not the oldest one before its request was read."""
    done = threading.Event()

    def flood(address: Address) -> None:
        held: list[socket.socket] = []
        while not done.is_set():
            with suppress(OSError):
                held.append(connect(address))
            for line in held[:-300]:
                line.close()
            held = held[-300:]
        for line in held:
            line.close()

    with served(no_root(["dilemma/fixed"])) as address:
        threads = [threading.Thread(target=flood, args=(address,)) for _ in range(2)]
        for thread in threads:
            thread.start()
        try:
            assert [about(address) for _ in range(20)] == [200] * 20
        finally:
            done.set()
            for thread in threads:
                thread.join()
