"""Specification viewer 11: hostile requests are refused, whatever they ask for; the page's own are not."""

from __future__ import annotations

import string
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interplay.view.server.guard import Guard, host_names
from tests.view.server.asking import BEARER, HOST, OWN, PORT, TOKEN, app_of, ask, beneath
from tests.view.server.folders import record

ORIGIN = (b"origin", b"http://" + HOST)
SOCKET = ("interplay.2", f"token.{TOKEN}")
SEALS = {
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"no-referrer",
    b"cross-origin-resource-policy": b"same-origin",
    b"cross-origin-opener-policy": b"same-origin",
    b"cache-control": b"no-store",
}
HOSTS = [
    b"evil.example:8123", b"127.0.0.1", b"127.0.0.1:8124", b"localhost:8123.evil.example", b"LOCALHOST:8123", b"0.0.0.0:8123",
    b"127.0.0.1:8123 ", b"user@127.0.0.1:8123", b"127.1:8123", b"2130706433:8123", b"[::ffff:127.0.0.1]:8123", b"", b"\xff:8123",
]  # fmt: skip
ORIGINS = [
    b"null", b"http://evil.example", b"https://127.0.0.1:8123", b"http://127.0.0.1", b"http://127.0.0.1:8124", b"http://localhost:8123",
    b"http://127.0.0.1:8123/", b"http://127.0.0.1:8123.evil.example", b"", b"file://", b"HTTP://127.0.0.1:8123",
]  # fmt: skip
PATHS = [
    "/api/recordings/../secret", "/api/recordings/..%2f..%2fsecret", "/api/recordings/%2e%2e/secret", "/api/recordings/0/../../secret",
    "/api/recordings/0/chunks/../../../secret", "/api/recordings//etc/passwd", "/api/recordings/C:\\secret", "/api/recordings/..\\secret",
    "/api/recordings/secret.txt", "/api/recordings/-1", "/api/recordings/1e9", "/api/recordings/0x0", "/api/recordings/٠",
    "/api/recordings/0\0", "/api/recordings/ 0", "/api/recordings/0 ", "/api/recordings/+0", "/api/recordings/00000000000000000000",
    "/api/recordings/99999999999999999999999999", "/api/recordings/7", "/api/recordings/0/chunks/-1", "/api/recordings/0/chunks/9999999",
    "/api/recordings/0/chunks/1e1", "/api/recordings/0/chunks/99999999999999999999999", "/api/recordings/0/agent/-1",
    "/api/recordings/0/agent/..", "/api/recordings/1/file", "/api/recordings/../../file", "/api/runs/../curves", "/api/runs/0/curves",
    "/api/runs/-1/ratings", "/api/runs/secret/ratings", "/api/../secret", "/api", "/api/", "/api//about", "/API/about", "//api/about",
    "/static/../secret", "/static/..%2fsecret", "/static/%2e%2e%2fsecret", "/static//etc/passwd", "/static/", "/static/a/../../secret",
    "/static/secret.txt", "/secret.txt", "/.git/config", "/etc/passwd", "/index.html", "/..", "/%00", "/static/.\0",
]  # fmt: skip
SECRET = b"the contents of a file that nobody may have"


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Guard:
    """A server of one recording, with secrets around it."""
    root = tmp_path_factory.mktemp("root")
    shown = root / "shown"
    shown.mkdir()
    for place in (root, shown, shown.parent / "static"):
        place.mkdir(exist_ok=True)
        for name in ("secret", "secret.txt"):
            (place / name).write_bytes(SECRET)
    record(shown / "match.replay", 1)
    made = app_of(beneath(shown), static=root / "static" / "none")
    assert isinstance(made, Guard)
    return made


def test_the_page_itself_is_answered_and_sealed(app):
    answer = ask(app, "/api/about", (*OWN, ORIGIN, (b"sec-fetch-site", b"same-origin")))
    assert (answer.status, answer.json["protocol"]) == (200, 2)
    assert SEALS.items() <= dict(answer.headers).items()
    policy = (answer.header(b"content-security-policy") or b"").decode()
    assert policy == (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
        f"connect-src 'self' ws://127.0.0.1:{PORT} ws://localhost:{PORT}; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'; require-trusted-types-for 'script'"
    )
    assert answer.header(b"server") is None
    assert not [name for name, _ in answer.headers if name.startswith(b"access-control")]


def opened(app, headers, asked=SOCKET) -> int:
    """The status of a websocket: 101 where it is accepted, else the code with which it is closed."""
    return ask(app, "/api/live", headers, kind="websocket", subprotocols=asked).status


@pytest.mark.parametrize("host", sorted(host_names(PORT)))
def test_every_name_of_this_machine_is_well(app, host):
    own = [(b"host", host.encode()), BEARER, (b"origin", f"http://{host}".encode())]
    assert ask(app, "/api/about", own).status == 200
    assert opened(app, own[::2]) == 101


@pytest.mark.parametrize("host", HOSTS)
@pytest.mark.parametrize("path", ["/", "/api/about", "/static/a.js"])
def test_other_hosts_are_refused(app, host, path):
    answer = ask(app, path, [(b"host", host), BEARER])
    assert answer.status == 403
    assert answer.json["error"].startswith("Host: ")
    assert SEALS.items() <= dict(answer.headers).items()
    origin = (b"origin", b"http://" + host)
    assert opened(app, [(b"host", host), origin]) == 1008


def test_two_hosts_or_none_are_refused(app):
    assert ask(app, "/api/about", [BEARER]).status == 403
    assert ask(app, "/api/about", [(b"host", HOST), (b"Host", HOST), BEARER]).status == 403


@pytest.mark.parametrize("origin", ORIGINS)
def test_other_origins_are_refused(app, origin):
    assert ask(app, "/api/about", (*OWN, (b"origin", origin))).status == 403
    assert ask(app, "/", (*OWN, (b"origin", origin))).status == 403
    headers = [(b"host", HOST), (b"origin", origin)]
    assert opened(app, headers) == 1008


def test_a_websocket_says_where_it_comes_from_once(app):
    host = (b"host", HOST)
    for headers in ([host], [host, ORIGIN, ORIGIN]):
        assert opened(app, headers) == 1008
    assert opened(app, [host, ORIGIN]) == 101


@pytest.mark.parametrize("site", [b"cross-site", b"same-site", b"", b"Same-Origin"])
def test_other_sites_are_refused(app, site):
    assert ask(app, "/", (*OWN, (b"sec-fetch-site", site))).status == 403
    headers = [(b"host", HOST), ORIGIN, (b"sec-fetch-site", site)]
    assert opened(app, headers) == 1008


@pytest.mark.parametrize(
    "said",
    [[], [b"Bearer "], [b"Bearer wrong"], [b"bearer " + TOKEN.encode()], [TOKEN.encode()], [b"Bearer  " + TOKEN.encode()],
     [b"Bearer " + TOKEN.encode() + b" "], [b"Bearer " + TOKEN[:-1].encode()], [b"Bearer " + TOKEN.encode()] * 2, [b"Bearer \xff"]],
)  # fmt: skip
def test_without_the_token_there_is_no_data(app, said):
    headers = [(b"host", HOST), *((b"authorization", value) for value in said)]
    for path in ("/api/about", "/api/sources", "/api/recordings/0", "/api/recordings/0/file", "/nothing"):
        assert ask(app, path, headers).status == 401


@pytest.mark.parametrize(
    "asked",
    [(), ("interplay.2",), (f"token.{TOKEN}",), ("interplay.2", "token."), ("interplay.2", "token.wrong"), ("interplay.1", f"token.{TOKEN}"),
     ("interplay.2", "interplay.2", f"token.{TOKEN}"), (*SOCKET, "token.wrong"), (*SOCKET, f"token.{TOKEN}"), ("interplay.2", TOKEN)],
)  # fmt: skip
def test_a_websocket_without_the_token_is_not_accepted(app, asked):
    assert opened(app, [(b"host", HOST), ORIGIN], asked) == 1008


def test_the_token_in_the_address_is_none(app):
    host = [(b"host", HOST)]
    assert ask(app, "/api/about", host, query=f"token={TOKEN}".encode()).status == 401
    assert ask(app, "/api/about", [*host, (b"cookie", f"token={TOKEN}".encode())]).status == 401


@pytest.mark.parametrize(
    "method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "get", "X" * 999]
)
def test_nothing_can_be_changed(app, method):
    assert ask(app, "/api/about", method=method).status == 405


@pytest.mark.parametrize("path", PATHS)
def test_no_spelling_of_a_path_leads_anywhere(app, path):
    answer = ask(app, path)
    assert 400 <= answer.status < 500, answer
    assert SECRET not in answer.body
    assert not answer.body.startswith(b"{") or answer.json["error"].count("\n") == 0


def test_endless_addresses_are_refused(app):
    assert ask(app, "/api/" + "a" * 5_000).status == 414
    assert ask(app, "/api/about", query=b"a" * 5_000).status == 414


ODD = st.one_of(
    st.sampled_from([*HOSTS, *ORIGINS, HOST, ORIGIN[1], BEARER[1], b"same-origin", b"cross-site"]),
    st.binary(max_size=40),
)
NAMES = st.sampled_from(
    [
        b"host",
        b"Host",
        b"origin",
        b"authorization",
        b"Authorization",
        b"sec-fetch-site",
        b"cookie",
        b"x-forwarded-host",
    ]
)
TARGETS = st.one_of(
    st.sampled_from(PATHS),
    st.text(alphabet=string.printable + "./%\\\0é", max_size=60).map(lambda rest: f"/api/recordings/{rest}"),
    st.text(max_size=60).map(lambda rest: f"/{rest}"),
)


def is_own(headers, socket, subprotocols):
    """The rules once more, as plainly as can be."""
    found = {}
    for name, value in headers:
        found.setdefault(name.lower(), []).append(value)
    hosts = found.get(b"host", [])
    if len(hosts) != 1 or hosts[0] not in [name.encode() for name in host_names(PORT)]:
        return False
    own = b"http://" + hosts[0]
    origins = found.get(b"origin", [])
    if set(origins) - {own} or (socket and origins != [own]):
        return False
    if set(found.get(b"sec-fetch-site", [])) - {b"same-origin", b"none"}:
        return False
    if socket:
        tokens = [name for name in subprotocols if name.startswith("token.")]
        return tokens == [SOCKET[1]] and list(subprotocols).count(SOCKET[0]) == 1
    return found.get(b"authorization", []) == [BEARER[1]]


class Request(NamedTuple):
    """Something that anybody may send."""

    headers: list[tuple[bytes, bytes]]
    socket: bool
    subprotocols: list[str]
    path: str
    method: str


REQUESTS = st.builds(
    Request,
    st.builds(
        lambda usual, odd: [*usual, *odd],
        st.sampled_from([(), OWN, (*OWN, ORIGIN)]),
        st.lists(st.tuples(NAMES, ODD), max_size=4),
    ),
    st.booleans(),
    st.lists(st.sampled_from([*SOCKET, "token.", "token.wrong", "interplay.1"]), max_size=3),
    TARGETS,
    st.sampled_from(["GET", "HEAD", "POST"]),
)


@settings(max_examples=500)
@given(REQUESTS)
def test_generated_requests_are_let_through_by_the_rules_alone(asked):
    headers, socket, subprotocols, path, method = asked
    reached = []

    async def behind(scope, receive, send):
        reached.append(scope["path"])
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1000})
            return
        await send({"type": "http.response.start", "status": 204, "headers": []})
        await send({"type": "http.response.body"})

    guarded = Guard(behind, PORT, TOKEN)
    kind = "websocket" if socket else "http"
    answer = ask(guarded, path, headers, method=method, kind=kind, subprotocols=subprotocols)
    open_to_all = path == "/" or path.startswith("/static/")
    if is_own(headers, socket, subprotocols):
        assert bool(reached) == (socket or method != "POST")
    elif not (open_to_all and not socket):
        assert reached == []
        assert answer.status in (401, 403, 405, 1008)
    if reached:
        (host,) = [value for name, value in headers if name.lower() == b"host"]
        assert host.decode() in host_names(PORT)
