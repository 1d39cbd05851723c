"""Authenticates requests before all other code, and limits the rate of messages (docs/specs/viewer.md 11).

A local port is open to every page in the browser and to every local user, so a request must name this host, come from
this page and carry the token of this start.
"""

from __future__ import annotations

import hmac
import json
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from typing import Any

from interplay.view.server.config import MESSAGES, SUBPROTOCOL, TARGET_BYTES, TICKET_SECONDS, VIOLATED

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
App = Callable[[Any, Receive, Send], Awaitable[None]]
Refusal = tuple[int, str]

TICKETS = "/open/"
KNOWN = "interplay.known"  # key of the scope of a request that had the token
_OWN_SITE = (b"same-origin", b"none")


def host_names(port: int, host: str = "127.0.0.1") -> frozenset[str]:
    """Valid values of the header Host.

    Example:
        >>> sorted(host_names(8000))
        ['127.0.0.1:8000', '[::1]:8000', 'localhost:8000']
    """
    names = {"127.0.0.1", "localhost", "[::1]", _in_address(host)}
    return frozenset(f"{name}:{port}" for name in names) | (names if port == 80 else frozenset())


class Guard:
    """An ASGI application that passes only authenticated requests on to `app`.

    Args:
        ticket: opens the page once, within a minute; empty: none. A browser gets it instead of the token, because every
            local user can read the browser's command line.
    """

    def __init__(self, app: App, port: int, token: str, host: str = "127.0.0.1", ticket: str = "") -> None:
        self._app, self._token, self._hosts = app, token.encode(), host_names(port, host)
        self._ticket, self._until = ticket.encode(), time.monotonic() + TICKET_SECONDS
        own = {f"ws://{name}:{port}": None for name in ("127.0.0.1", "localhost", _in_address(host))}
        policy = (
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
            f"connect-src 'self' {' '.join(own)}; base-uri 'none'; form-action 'none'; "
            "frame-ancestors 'none'; require-trusted-types-for 'script'"
        )
        self._headers = [
            (b"content-security-policy", policy.encode()),
            (b"x-content-type-options", b"nosniff"),
            (b"referrer-policy", b"no-referrer"),
            (b"cross-origin-resource-policy", b"same-origin"),
            (b"cross-origin-opener-policy", b"same-origin"),
        ]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers, or calls the application."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        refusal = self._refusal(scope)
        if refusal is None and not _is_public(scope):
            scope[KNOWN] = True
        if scope["type"] == "websocket":
            if refusal is None:
                await self._app(scope, receive, send)
            else:
                await receive()
                await send({"type": "websocket.close", "code": VIOLATED})
            return

        async def sealed(message: Any) -> None:
            if message["type"] == "http.response.start":
                kept = [(name, value) for name, value in message["headers"] if name.lower() != b"server"]
                message = {**message, "headers": [*_with_caching(kept), *self._headers]}
            await send(message)

        if refusal is None and scope["path"].startswith(TICKETS):
            status, headers = self._admit(scope)
            await _answer(sealed, status, "ticket: used, or too late; open the printed address", headers)
        elif refusal is None:
            await self._app(scope, receive, sealed)
        else:
            await _answer(sealed, *refusal)

    def _refusal(self, scope: Scope) -> Refusal | None:
        """Status and reason for which a request is refused; None for a valid one."""
        headers: dict[bytes, list[bytes]] = defaultdict(list)
        for name, value in scope["headers"]:
            headers[name.lower()].append(value)
        socket = scope["type"] == "websocket"
        if len(headers[b"host"]) != 1 or headers[b"host"][0].decode("latin-1") not in self._hosts:
            return 403, "Host: another one than this server's; open the address that it printed"
        origins, own = headers[b"origin"], b"http://" + headers[b"host"][0]
        if any(origin != own for origin in origins) or (socket and len(origins) != 1):
            return 403, "Origin: another page than this server's; open the address that it printed"
        if any(site not in _OWN_SITE for site in headers[b"sec-fetch-site"]):
            return 403, "Sec-Fetch-Site: another site than this server's; type the address that it printed"
        if len(scope.get("raw_path") or b"") + len(scope.get("query_string") or b"") > TARGET_BYTES:
            return 414, f"address: longer than {TARGET_BYTES} bytes; ask for less"
        if not socket and scope["method"] not in ("GET", "HEAD"):
            return 405, f"{scope['method'][:20]}: nothing can be changed here; use GET"
        if _is_public(scope):
            return None
        if not self._knows_token(scope, headers, socket):
            return 401, "token: missing or of another start; open the address that the server printed"
        return None

    def _admit(self, scope: Scope) -> tuple[int, list[tuple[bytes, bytes]]]:
        """Redirects the holder of the ticket to the page with the token; a ticket is valid once."""
        given, ticket = scope["path"][len(TICKETS) :].encode(), self._ticket
        known = bool(ticket) and time.monotonic() < self._until and hmac.compare_digest(given, ticket)
        if not known or scope["method"] != "GET":
            return 404, []
        self._ticket = b""
        return 303, [(b"location", b"/#token=" + self._token)]

    def _knows_token(self, scope: Scope, headers: Mapping[bytes, list[bytes]], socket: bool) -> bool:
        if socket:
            asked = list(scope.get("subprotocols", ()))
            tokens = [name[6:].encode() for name in asked if name.startswith("token.")]
            if asked.count(SUBPROTOCOL) != 1:
                return False
        else:
            values = headers[b"authorization"]
            tokens = [value[7:] for value in values if value.startswith(b"Bearer ")]
            if len(values) != 1:
                return False
        return len(tokens) == 1 and hmac.compare_digest(tokens[0], self._token)


class RateLimiter:
    """A token bucket: `MESSAGES` per second, and in a burst."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._left, self._then = float(MESSAGES), clock()

    def allows(self) -> bool:
        """Counts a message; returns whether it is within the limit."""
        now = self._clock()
        self._left = min(self._left + (now - self._then) * MESSAGES, float(MESSAGES))
        self._then = now
        self._left -= 1
        return self._left >= 0


def _is_public(scope: Scope) -> bool:
    """Whether a request needs no token: the page, and the ticket."""
    public = scope["path"] == "/" or scope["path"].startswith(("/static/", TICKETS))
    return public and scope["type"] != "websocket"


def _in_address(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _with_caching(headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Adds ``cache-control: no-store`` unless the header is set: answers change and are private."""
    given = any(name.lower() == b"cache-control" for name, _ in headers)
    return headers if given else [*headers, (b"cache-control", b"no-store")]


async def _answer(send: Send, status: int, error: str, more: Iterable[tuple[bytes, bytes]] = ()) -> None:
    body = json.dumps({"error": error}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode()), *more]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
