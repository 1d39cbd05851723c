"""The routes (docs/specs/viewer.md 6)."""

from __future__ import annotations

import json
import math
import re
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import BaseRoute, Route, WebSocketRoute

from interplay import __version__
from interplay.core.errors import UserError
from interplay.core.files import os_errors_as_user_errors
from interplay.core.reading import MIB, opened
from interplay.evaluate.tournaments.match_recordings import MATCHES
from interplay.view.extras import present_extras
from interplay.view.run_log import one_line
from interplay.view.server.config import POINTS, PROTOCOL
from interplay.view.server.curves import CurveRequest, Logs
from interplay.view.server.guard import Guard
from interplay.view.server.live import serve_live
from interplay.view.server.messages import Overlay, read_message
from interplay.view.server.page import STATIC, Page
from interplay.view.server.ratings import ratings_of
from interplay.view.server.recorded_overlays import RecordedOverlays
from interplay.view.server.recordings import Recordings, Watching
from interplay.view.server.refusals import NotThere, status_of
from interplay.view.server.sessions import MakeCast, Sessions
from interplay.view.server.sources import Opened, Sources

_ANY_SIZE = 2**63
_WHOLE = re.compile(r"[0-9]{1,9}")


def make_app(
    opened: Opened,
    make: MakeCast | None,
    port: int,
    token: str,
    host: str = "127.0.0.1",
    seed: int = 0,
    static: Path = STATIC,
    ticket: str = "",
    trust: bool = False,
) -> Guard:
    """The server as an ASGI application behind its guard.

    Args:
        make: makes worlds with their players; None: recordings and curves alone (``--read-only``).
        port, token, host, ticket: see `Guard`.
        trust: see `Networks`.
    """
    sources = Sources(opened)
    routes = Routes(sources, Sessions(sources, make, seed), make is None, static, trust)
    return Guard(routes.app(), port, token, host, ticket)


class Routes:
    """The handlers of all routes; `read_only` disables worlds in play."""

    def __init__(
        self,
        sources: Sources,
        sessions: Sessions,
        read_only: bool,
        static: Path = STATIC,
        trust: bool = False,
    ) -> None:
        self._sources, self._sessions, self._read_only = sources, sessions, read_only
        self._recordings, self._logs, self._page = (
            Recordings(sources, trust),
            Logs(words=sources.words),
            Page(static),
        )
        self._overlays, self._watching = RecordedOverlays(sources), Watching()

    def app(self) -> Starlette:
        """The application; handlers that read files run in threads."""
        of_recording, of_run = "/api/recordings/{id}", "/api/runs/{id}"
        answers: dict[str, Callable[[Request], dict[str, Any]]] = {
            "/api/about": self._about,
            "/api/sources": self._list,
            of_recording: self._recording,
            f"{of_recording}/events": self._events,
            f"{of_recording}/agent/{{slot}}": self._agent,
            f"{of_recording}/overlays": self._overlays_of,
            f"{of_recording}/overlay": self._overlay,
            f"{of_run}/curves": self._curves,
            f"{of_run}/ratings": self._ratings,
            f"{of_run}/matches": self._matches,
            f"{of_run}/players": self._players,
        }
        routes: list[BaseRoute] = [
            Route("/", self._page.index),
            Route("/static/{name}", self._page.file),
            Route(f"{of_recording}/chunks/{{chunk}}", self._chunk),
            Route(f"{of_recording}/file", self._file),
            *(Route(path, _as_json(handler)) for path, handler in answers.items()),
            WebSocketRoute("/api/live", partial(serve_live, self._sessions, self._sources.words)),
        ]
        handlers: dict[Any, Any] = {UserError: self._refused, HTTPException: _unknown}
        return Starlette(routes=routes, exception_handlers=handlers, lifespan=self._lifespan)

    @asynccontextmanager
    async def _lifespan(self, app: Starlette) -> AsyncIterator[None]:
        yield
        self._sessions.stop()

    def _about(self, request: Request) -> dict[str, Any]:
        return {
            "interplay": __version__,
            "protocol": PROTOCOL,
            "opened": one_line(self._sources.opened.name),
            "read_only": self._read_only,
            "extras": present_extras(),
        }

    def _list(self, request: Request) -> dict[str, Any]:
        return self._recordings.page(_number(request.query_params.get("page", "0"), "page"))

    def _recording(self, request: Request) -> dict[str, Any]:
        return self._recordings.table(_id(request))

    def _chunk(self, request: Request) -> Response:
        data = self._recordings.chunk(
            _id(request), _number(request.path_params["chunk"], "chunk"), _key(request)
        )
        return Response(data, media_type="application/octet-stream")

    def _events(self, request: Request) -> dict[str, Any]:
        start = _number(request.query_params.get("tick", "0"), "tick")
        return {"events": self._recordings.events(_id(request), _key(request), start)}

    def _agent(self, request: Request) -> dict[str, Any]:
        self._check_steps("agents")
        slot = _number(request.path_params["slot"], "slot")
        tick = _number(request.query_params.get("tick", ""), "tick")
        return self._recordings.agent(_id(request), slot, tick, _key(request))

    def _overlays_of(self, request: Request) -> dict[str, Any]:
        self._check_steps("overlays")
        return self._overlays.listed(_id(request), _key(request))

    def _overlay(self, request: Request) -> dict[str, Any]:
        self._check_steps("overlays")
        tick = _number(request.query_params.get("tick", ""), "tick")
        try:
            wanted = read_message(request.query_params.get("asked", ""))
        except ValueError:
            wanted = None
        if not isinstance(wanted, Overlay) or wanted.name is None:
            raise NotThere("asked: no overlay is named; /api/recordings/ID/overlays lists all")
        return self._overlays.show(_id(request), wanted, tick, _key(request))

    def _check_steps(self, what: str) -> None:
        if self._read_only:
            raise NotThere(f"{what}: worlds are not stepped with --read-only; open the viewer without")

    def _file(self, request: Request) -> Response:
        path = self._sources.recording(_id(request))
        name = re.sub(r"[^A-Za-z0-9._-]", "_", path.name)
        headers = {"content-disposition": f'attachment; filename="{name}"'}
        return StreamingResponse(_blocks(path), media_type="application/octet-stream", headers=headers)

    def _curves(self, request: Request) -> dict[str, Any]:
        given = request.query_params
        wanted = CurveRequest(
            tuple(name for name in given.get("names", "").split(",") if name),
            given.get("against") or "agent_steps",
            _place(given.get("from", ""), "from", -math.inf),
            _place(given.get("to", ""), "to", math.inf),
            _number(given.get("points", str(POINTS)), "points"),
        )
        return self._logs.curves(self._sources.run(_id(request)), wanted)

    def _ratings(self, request: Request) -> dict[str, Any]:
        number = _id(request)
        run = self._sources.run(number)
        files = {
            path.name: place for place, path in self._sources.matches(number) if path.parent == run / MATCHES
        }
        return ratings_of(run, lambda name: self._sessions.rosters.number(run, name), files)

    def _players(self, request: Request) -> dict[str, Any]:
        return {"players": self._sessions.rosters.players(_id(request))}

    def _matches(self, request: Request) -> dict[str, Any]:
        """The recordings of a run; as an open page requests them every few seconds, this notifies the trainer."""
        run = _id(request)
        if not self._read_only:
            self._watching.renew(self._sources.run(run))
        return self._recordings.matches(run)

    def _refused(self, request: Request, error: UserError) -> Response:
        return _json({"error": self._sources.words(error)}, status_of(error))


def _blocks(path: Path) -> Iterator[bytes]:
    with os_errors_as_user_errors("reading", path), opened(path, _ANY_SIZE, links=False) as file:
        yield from iter(lambda: file.read(MIB), b"")


def _id(request: Request) -> int:
    return _number(request.path_params["id"], "id")


def _key(request: Request) -> str:
    return str(request.query_params.get("key", ""))


def _number(text: str, what: str) -> int:
    if not _WHOLE.fullmatch(text):
        raise NotThere(f"{what} = {text[:40]!r}: no whole number; /api/sources lists all")
    return int(text)


def _place(text: str, what: str, otherwise: float) -> float:
    if not text:
        return otherwise
    try:
        return float(text)
    except ValueError:
        raise UserError(f"{what} = {text[:40]!r}: no number; give a place on the axis") from None


def _as_json(handler: Callable[[Request], Any]) -> Callable[[Request], Response]:
    return lambda request: _json(handler(request))


def _json(value: Any, status: int = 200) -> Response:
    return Response(json.dumps(value, allow_nan=False), status, media_type="application/json")


def _unknown(request: Request, error: HTTPException) -> Response:
    return _json(
        {"error": f"{request.url.path[:60]}: {error.detail.lower()}; see docs/watching.md"}, error.status_code
    )
