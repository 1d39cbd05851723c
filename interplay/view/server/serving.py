"""Serves the page on a port until Ctrl-C."""

from __future__ import annotations

import errno
import os
import secrets
import socket
import sys
import webbrowser
from collections.abc import Callable
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import NamedTuple

from interplay.core.errors import UserError
from interplay.view.server.config import MESSAGE_BYTES, PONG_SECONDS, TOKEN_BYTES
from interplay.view.server.guard import TICKETS, App

HOME = "127.0.0.1"
GRACE = 2  # seconds for requests to end
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_WAITING = 2_048  # connections that the system keeps until they are accepted


class Address(NamedTuple):
    """Address of the page.

    Attributes:
        host: in the spelling of browsers.
        token: of this start, 192 random bits.
        ticket: of this start, for one request.
    """

    host: str
    port: int
    token: str
    ticket: str = ""

    @property
    def once(self) -> str:
        """Address for starting a browser; it works once, as every local user can read a process's command line."""
        return self.url.partition("#")[0] + TICKETS[1:] + self.ticket

    @property
    def url(self) -> str:
        """Address with the token, after ``#``, so that it is neither sent nor logged."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}/#token={self.token}"

    @property
    def is_far(self) -> bool:
        """Whether other machines may connect."""
        return self.host not in _LOOPBACK

    def ssh(self) -> str:
        """The command that shows the page on another machine."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"ssh -L {self.port}:{host}:{self.port} {socket.gethostname()}"


def bind(host: str = HOME, port: int = 0) -> tuple[socket.socket, Address]:
    """Binds a port, any free one for 0, and draws the token."""
    if not 0 <= port < 2**16:
        raise UserError(f"--port {port}: ports are 0 (any free one) to 65535; give one of those")
    if _is_unspecified(host):
        raise UserError(
            f"--host {host or repr(host)}: it means all addresses of this machine, and the page answers under one; "
            "give the address or name by which others reach this machine"
        )
    host = as_browsers_spell(host)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With the protocol named, asyncio sets TCP_NODELAY; without it, a frame after a short message was 40 ms late.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if os.name == "posix":  # on Windows it would let two processes bind one port
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen()
    except OSError as error:
        listening.close()
        if error.errno == errno.EADDRINUSE:
            raise UserError(
                f"--port {port}: another program serves it; leave --port out for any free one"
            ) from None
        reason = (error.strerror or str(error)).lower()
        raise UserError(
            f"--host {host} --port {port}: {reason}; leave both out for {HOME} and any free port"
        ) from None
    token, ticket = secrets.token_urlsafe(TOKEN_BYTES), secrets.token_urlsafe(TOKEN_BYTES)
    return listening, Address(host, listening.getsockname()[1], token, ticket)


def _numbers(host: str) -> list[IPv4Address | IPv6Address]:
    """The addresses of a numeric host; empty for a name."""
    numeric = socket.AI_NUMERICHOST | socket.AI_PASSIVE
    try:
        found = socket.getaddrinfo(host or None, 0, type=socket.SOCK_STREAM, flags=numeric)
    except (OSError, UnicodeError):
        return []
    return [ip_address(place[0]) for *_, place in found]


def _is_unspecified(host: str) -> bool:
    """Whether a host means all addresses of a machine, in any spelling."""
    return any((getattr(one, "ipv4_mapped", None) or one).is_unspecified for one in _numbers(host))


def as_browsers_spell(host: str) -> str:
    """A host in the spelling of browsers, since the guard compares strings."""
    numbers = _numbers(host)
    if numbers:
        return str(numbers[0])
    try:
        return host.encode("idna").decode().lower()
    except UnicodeError:  # no valid name; binding reports it
        return host.lower()


def serve(
    app: App,
    listening: socket.socket,
    begun: Callable[[Callable[[], None]], object],
    compress: bool = False,
) -> None:
    """Serves until Ctrl-C or SIGTERM.

    Args:
        listening: from `bind`; closed at the end.
        begun: called when the port answers, with a function that stops the server from any thread; its errors end the server.
        compress: deflates messages of websockets, for slow lines.
    """
    import uvicorn

    from interplay.view.server.protocols import ACCEPTED, IdleTimeoutHttp, RateLimitedWebSocket

    config = uvicorn.Config(
        app,
        http=IdleTimeoutHttp,
        ws=RateLimitedWebSocket,
        ws_max_size=MESSAGE_BYTES,
        ws_ping_timeout=PONG_SECONDS,
        ws_per_message_deflate=compress,
        log_level="error",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        lifespan="on",
        backlog=ACCEPTED,
        timeout_graceful_shutdown=GRACE,
    )

    class Server(uvicorn.Server):
        failed: Exception | None = None

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            listening.listen(_WAITING)  # asyncio has one number for both
            try:
                begun(self.leave)
            except Exception as error:  # raised when the loop has ended in order
                self.failed, self.should_exit = error, True

        def leave(self) -> None:
            self.should_exit = True

    server = Server(config)
    try:
        server.run([listening])
    except KeyboardInterrupt:
        pass  # uvicorn has shut down and raises the signal again
    finally:
        listening.close()
    if server.failed is not None:
        raise server.failed


def open_browser(url: str) -> bool:
    """Opens the page if there is a display; returns whether it did."""
    if sys.platform.startswith("linux") and not (
        os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    ):
        return False
    try:
        return webbrowser.open(url)
    except webbrowser.Error:
        return False
