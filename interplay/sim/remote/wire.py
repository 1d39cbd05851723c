"""Messages on a socket: four bytes of length, then a JSON object in UTF-8.

Each fault of the other side becomes a `Fault` with its cure; the connection's owner adds the other side's name.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import time
import weakref
from typing import Any

from interplay.core.errors import UserError
from interplay.core.reading import parse_json

PROTOCOL = 1  # goes up when an older program would misunderstand a newer one
LARGEST = 1 << 20  # bytes of a message's JSON
HEADER = 4  # bytes of the length, most significant first
HOST = "127.0.0.1"  # loopback: only this machine can connect
PORT_VARIABLE = "INTERPLAY_REMOTE_PORT"
TOKEN_VARIABLE = "INTERPLAY_REMOTE_TOKEN"

_CHUNK = 1 << 16
_SHOWN = 200  # characters of a foreign text that an error repeats


class RemoteSimulationError(UserError):
    """An external simulator failed: one line with the program, its fault, and the cure."""


class Fault(Exception):
    """A fault of the other side.

    Args:
        deed: a phrase that follows its name: "sent 7 bytes that are no JSON".
        cure: what to do about it.
    """

    def __init__(self, deed: str, cure: str) -> None:
        super().__init__(f"{deed}; {cure}")
        self.deed = deed
        self.cure = cure


class Gone(Fault):
    """The other side has closed the connection."""


class Late(Fault):
    """The other side took too long."""


def one_line(text: object) -> str:
    """A foreign text, safe to print: one line, no control characters, not long.

    Example:
        >>> one_line("first\\nsecond")
        'first second'
    """
    line = " ".join(str(text)[: 2 * _SHOWN].split())
    line = "".join(letter if letter.isprintable() else "?" for letter in line)
    return line if len(line) <= _SHOWN else line[:_SHOWN] + "..."


def encode(message: dict[str, Any]) -> bytes:
    """A message as it goes over the socket.

    Raises:
        ValueError: for NaN or infinity, or a message that is too large.
        TypeError: for what JSON cannot hold.

    Example:
        >>> encode({"type": "close"})
        b'\\x00\\x00\\x00\\x10{"type":"close"}'
    """
    data = _ENCODER.encode(message).encode()
    if len(data) > LARGEST:
        raise ValueError(f"a message of {len(data):,} bytes; {LARGEST:,} is the most")
    return len(data).to_bytes(HEADER, "big") + data


def decode(data: bytes) -> dict[str, Any]:
    """The JSON part of a message.

    Raises:
        Fault: if it is no JSON object with a ``type``, see `interplay.core.reading.parse_json`.

    Example:
        >>> decode(b'{"type":"close"}')
        {'type': 'close'}
    """
    try:
        message = parse_json(data)
    except ValueError as error:
        raise Fault(
            f"sent {len(data):,} bytes that are no JSON in UTF-8: {one_line(error)}",
            "send one JSON object a message",
        ) from None
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        raise Fault(f"sent {one_line(message)!r}, which has no type", 'send an object with a "type"')
    return message


# Made once: to make one for each message takes longer than to use it.
_ENCODER = json.JSONEncoder(allow_nan=False, separators=(",", ":"))


class Connection:
    """Both directions of a socket.

    Args:
        sock: connected.
    """

    def __init__(self, sock: socket.socket) -> None:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket = sock
        self._unread = bytearray()
        _open.add(self)

    @property
    def has_unread(self) -> bool:
        """Whether unread bytes have arrived."""
        return bool(self._unread)

    def send(self, message: dict[str, Any], seconds: float | None = None) -> None:
        """Sends a message.

        Raises:
            Fault: if the other side has gone, or accepts nothing for `seconds`.
            ValueError: see `encode`.
            TypeError: see `encode`.
        """
        data = encode(message)
        try:
            self._socket.settimeout(seconds)
            self._socket.sendall(data)
        except TimeoutError:
            raise _late(f"took no message for {seconds:g} s") from None
        except OSError:
            raise _gone() from None

    def receive(self, seconds: float | None = None) -> dict[str, Any]:
        """Waits for a message.

        Args:
            seconds: for the whole message, however slowly its bytes arrive; None = for ever.

        Raises:
            Fault: for everything that is no message, or none in time.
        """
        until = None if seconds is None else time.monotonic() + seconds
        while (message := self._take(LARGEST)) is None:
            self._wait(until, seconds)
        return message

    def take_arrived(self, largest: int = LARGEST) -> dict[str, Any] | None:
        """A message, if all of it has arrived; None otherwise, without waiting.

        Args:
            largest: bytes of its JSON.

        Raises:
            Fault: for everything that is no message.
        """
        with contextlib.suppress(TimeoutError):
            self._read(0)
        return self._take(largest)

    def silence(self, seconds: float) -> Late:
        """The fault of a side without a whole message for `seconds`."""
        part = " but a part of a message" if self._unread else ""
        return _late(f"said nothing{part} for {seconds:g} s")

    def fileno(self) -> int:
        """Of the socket."""
        return self._socket.fileno()

    def close(self) -> None:
        """Closes the socket."""
        self._socket.close()

    def _take(self, largest: int) -> dict[str, Any] | None:
        """The first message among the arrived bytes, if it is whole."""
        if len(self._unread) < HEADER:
            return None
        length = int.from_bytes(self._unread[:HEADER], "big")
        if not 0 < length <= largest:
            raise Fault(
                f"announced a message of {length:,} bytes",
                f"send 1 to {largest:,} bytes of JSON after their length in {HEADER} bytes, most significant first",
            )
        end = HEADER + length
        if len(self._unread) < end:
            return None
        taken = bytes(self._unread[HEADER:end])
        del self._unread[:end]
        return decode(taken)

    def _wait(self, until: float | None, seconds: float | None) -> None:
        left = None if until is None else until - time.monotonic()
        try:
            if left is not None and left <= 0:
                raise TimeoutError
            self._read(left)
        except TimeoutError:
            raise self.silence(seconds or 0.0) from None

    def _read(self, seconds: float | None) -> None:
        """Reads bytes that arrive within `seconds`; 0: those that have arrived.

        Raises:
            TimeoutError: if none do.
            Gone: if the other side has closed the connection.
        """
        try:
            self._socket.settimeout(seconds)
            arrived = self._socket.recv(_CHUNK)
        except (TimeoutError, BlockingIOError):
            raise TimeoutError from None
        except OSError:
            arrived = b""
        if not arrived:
            raise _gone(" in the middle of a message" if self._unread else "")
        self._unread += arrived


def _gone(where: str = "") -> Gone:
    return Gone(f"closed the connection{where}", "see what it printed, or run it by hand")


def _late(deed: str) -> Late:
    return Late(deed, "mend it, or give it more time in limits=Limits(...)")


_open: weakref.WeakSet[Connection] = weakref.WeakSet()


def _hang_up_in_fork() -> None:
    # A forked worker that outlives its parent would hold the socket open, and the program would wait for ever.
    for connection in list(_open):
        connection.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_hang_up_in_fork)
