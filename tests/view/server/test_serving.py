"""The verbs `view` and `play`, the port, and the page that was or was not built."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import socket
import subprocess
import sys
import time
import tomllib
import urllib.error
import urllib.request
from pathlib import Path
from types import SimpleNamespace

import pytest

from interplay.core.errors import UserError
from interplay.evaluate.lifetimes.overlays import registry
from interplay.verbs.viewing import Players
from interplay.view.extras import EXTRAS
from interplay.view.server.page import MISSING, Page
from interplay.view.server.play import Play
from interplay.view.server.serving import Address, as_browsers_spell, bind, open_browser
from tests.cli.command import ROOT, refusal
from tests.view.server.asking import HOST, TOKEN, app_of, ask, no_root, served
from tests.view.server.folders import make_run, record

OPEN = [(b"host", HOST)]


def test_without_a_built_page_it_says_how_to_build_it(tmp_path):
    answer = ask(app_of(no_root([]), static=tmp_path / "none"), "/", OPEN)
    assert answer.status == 503
    assert b"make page" in answer.body


def test_a_built_page_is_served_by_the_names_of_its_files(tmp_path):
    (tmp_path / "index.html").write_text("<!doctype html>")
    (tmp_path / "main-1a2b.js").write_text("go()")
    (tmp_path.parent / "secret.js").write_text("secret")
    (tmp_path / "link.js").symlink_to(tmp_path.parent / "secret.js")
    app = app_of(no_root([]), static=tmp_path)
    index = ask(app, "/", OPEN)
    assert (index.status, index.body, index.header(b"cache-control")) == (
        200,
        b"<!doctype html>",
        b"no-cache",
    )
    script = ask(app, "/static/main-1a2b.js", OPEN)
    assert (script.status, script.body, script.header(b"content-type")) == (
        200,
        b"go()",
        b"text/javascript; charset=utf-8",
    )
    assert script.header(b"cache-control") == b"public, max-age=31536000, immutable"
    (tmp_path / "manifest.json").write_text("{}")
    for name in ("index.html", "manifest.json"):  # without a hash, so the next version has the same name
        assert ask(app, f"/static/{name}", OPEN).header(b"cache-control") == b"no-cache"
    for name in ("link.js", "..", "../secret.js", "%2e%2e%2fsecret.js", "none.js"):
        assert ask(app, f"/static/{name}", OPEN).status == 404


def test_over_a_real_port(tmp_path):
    with served(no_root(["dilemma/fixed"]), static=tmp_path) as address:
        base = f"http://127.0.0.1:{address.port}"
        request = urllib.request.Request(
            f"{base}/api/about", headers={"Authorization": f"Bearer {address.token}"}
        )
        with urllib.request.urlopen(request, timeout=10) as answer:
            assert answer.status == 200
            assert "server" not in answer.headers
            assert answer.headers["Content-Security-Policy"].startswith("default-src 'none'")
        for path, status in (("/api/about", 401), ("/", 503)):
            with pytest.raises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(base + path, timeout=10)
            assert refused.value.code == status
        for raw, status in ((b"GET /api/about HTTP/1.1\r\n\r\n", b"400"), (b"GET / HTTP/1.0\r\n\r\n", b"403"), (b"\0\1\2\r\n\r\n", b"400"),
                            (b"GET /" + b"a" * 90_000, b"400")):  # fmt: skip
            with socket.create_connection(("127.0.0.1", address.port), 10) as line:
                line.sendall(raw)
                assert line.recv(100).split()[1] == status
        assert urllib.request.urlopen(request, timeout=10).status == 200


def test_what_a_browser_is_started_with_opens_the_page_once():
    """Command lines can be read by every user of the machine; the token is in none."""
    address = Address("::1", 80, "secret", "ticket")
    assert address.once == "http://[::1]:80/open/ticket"
    app = app_of(no_root(["pong/2p"]), ticket="ticket")
    host = [(b"host", HOST)]
    for path in ("/open/", "/open/ticke", "/open/ticket2", "/open/\xff"):
        assert ask(app, path, host).status == 404
    assert ask(app, "/open/ticket", host, method="HEAD").status == 404
    assert ask(app, "/open/ticket", [*host, (b"sec-fetch-site", b"cross-site")]).status == 403
    found = ask(app, "/open/ticket", host)
    assert (found.status, found.header(b"location")) == (303, b"/#token=" + TOKEN.encode())
    assert found.header(b"cache-control") == b"no-store"
    again = ask(app, "/open/ticket", host)
    assert (again.status, again.header(b"location")) == (404, None)
    assert ask(app_of(no_root(["pong/2p"])), "/open/", host).status == 404


def test_a_ticket_ends_after_a_minute(monkeypatch):
    app = app_of(no_root(["pong/2p"]), ticket="ticket")
    late = time.monotonic() + 61
    monkeypatch.setattr("interplay.view.server.guard.time", SimpleNamespace(monotonic=lambda: late))
    assert ask(app, "/open/ticket", [(b"host", HOST)]).status == 404


def test_every_start_has_a_token_of_its_own():
    found = set()
    for _ in range(3):
        listening, address = bind()
        listening.close()
        found.add(address.token)
        assert len(address.token) == 32
        assert address.url == f"http://127.0.0.1:{address.port}/#token={address.token}"
    assert len(found) == 3


def test_a_port_in_use_is_one_line(capsys):
    listening, address = bind()
    try:
        line = refusal(capsys, "view", "dilemma/fixed", "--port", str(address.port), "--no-browser")
        assert (
            line
            == f"interplay: --port {address.port}: another program serves it; leave --port out for any free one"
        )
    finally:
        listening.close()


def test_what_is_sent_does_not_wait_for_more():
    listening, address = bind()

    async def accepted() -> int:
        line: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        server = await asyncio.start_server(
            lambda _, writer: line.set_result(
                writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
            ),
            sock=listening,
        )
        async with server:
            _, writer = await asyncio.open_connection("127.0.0.1", address.port)
            found = await line
            writer.close()
            return found

    # A frame behind a short message would be kept until the page has told that this came, which takes 40 ms.
    assert asyncio.run(accepted()) != 0


def test_addresses():
    assert Address("::1", 80, "t").url == "http://[::1]:80/#token=t"
    assert not Address("localhost", 80, "t").is_far
    assert Address("192.0.2.7", 80, "t").is_far
    assert Address("127.0.0.1", 81, "t").ssh().startswith("ssh -L 81:127.0.0.1:81 ")
    with pytest.raises(UserError, match=r"--host 192\.0\.2\.7 --port 0: "):
        bind("192.0.2.7")


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "0", "0x0", "0:0::0", "::ffff:0.0.0.0", ""])
def test_a_host_that_stands_for_all_addresses_is_refused(host):
    """The page would be announced under an address at which no browser may ask for it."""
    with pytest.raises(UserError, match=f"^--host {re.escape(host or repr(host))}: "):
        bind(host)[0].close()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LOCALHOST"])
def test_a_host_of_this_machine_is_taken(host):
    listening, address = bind(host)
    listening.close()
    assert address.url.startswith(f"http://{host.lower()}:")


@pytest.mark.parametrize(
    ("typed", "spelt"),
    [
        ("LocalHost", "localhost"),
        ("127.1", "127.0.0.1"),
        ("0x7f000001", "127.0.0.1"),
        ("0:0:0:0:0:0:0:1", "::1"),
        ("FE80::0ABC", "fe80::abc"),
        ("Lab-PC", "lab-pc"),
    ],
)
def test_a_host_is_known_as_browsers_spell_it(typed, spelt):
    """They ask for the page under that spelling, whatever was typed, and the guard refuses every other one."""
    assert as_browsers_spell(typed) == spelt


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("view", "surviva"), "surviva"), (("play", "surviva"), "surviva"),
        (("view", "none.replay"), "none.replay"), (("view", "damaged.replay"), "damaged.replay"),
        (("view", "text.txt"), "text.txt"), (("view", "--port", "70000"), "70000"),
        (("play",), "WORLD"), (("view", "--option", "x"), "x"),
        (("view", "runs/none"), "runs/none"),
        (("play", "./run"), "--opponent"),
        (("view", "dilemma/fixed", "--policy", "defekt"), "defekt"),
        (("view", "run", "--read-only", "--option", "rounds=3", "--seed", "2"), "--option, --seed"),
        (("view", "run", "--policy", "defect"), "--policy defect"),
        (("play", "dilemma/fixed", "--opponent", "runs/none"), "runs/none"),
        (("play", "dilemma/fixed", "--option", "round=3"), "round"), (("play", "json:nothing"), "nothing"),
    ],
)  # fmt: skip
def test_what_cannot_be_opened_is_one_line(capsys, tmp_path, monkeypatch, arguments, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "run").mkdir()
    (tmp_path / "text.txt").write_text("text")
    (tmp_path / "damaged.replay").write_bytes(b"damaged")
    assert said in refusal(capsys, *arguments)


def test_the_command_prints_the_address_and_ends_in_order(tmp_path):
    make_run(tmp_path / "run")
    record(tmp_path / "a.replay")
    command = [sys.executable, "-m", "interplay.cli", "view", str(tmp_path), "--no-browser"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        url, ssh = process.stdout.readline().strip(), process.stdout.readline()
        base, token = url.split("/#token=")
        request = urllib.request.Request(f"{base}/api/sources", headers={"Authorization": f"Bearer {token}"})
        assert b"a.replay" in urllib.request.urlopen(request, timeout=10).read()
        assert ssh.startswith("from another machine: ssh -L ")
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
        assert (process.returncode, errors) == (0, "" if Page().built else f"interplay: {MISSING}\n")


def test_a_page_that_was_not_built_is_told_before_it_is_loaded(tmp_path):
    (tmp_path / "index.html").write_text("<!doctype html>")
    assert Page(tmp_path).built
    assert not Page(tmp_path / "nothing").built
    assert "make page" in MISSING


def test_other_machines_are_warned_about(monkeypatch, capsys):
    from interplay.cli.main import run

    address = Address("192.0.2.7", 8123, "secret", "ticket")
    monkeypatch.setattr("interplay.verbs.viewing.bind", lambda host, port: (socket.socket(), address))
    monkeypatch.setattr(
        "interplay.verbs.viewing.serve", lambda app, listening, begun, compress: begun(lambda: None)
    )
    opened: list[str] = []
    monkeypatch.setattr("interplay.verbs.viewing.open_browser", opened.append)
    assert run(["view", "dilemma/fixed", "--host", "192.0.2.7"]) == 0
    captured = capsys.readouterr()
    assert "other machines can reach this page" in captured.err
    assert captured.out.startswith("http://192.0.2.7:8123/#token=secret\n")
    assert opened == [address.once]
    assert run(["play", "dilemma/fixed", "--no-browser"]) == 0
    assert len(opened) == 1


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems always have a display")
def test_without_a_display_no_browser_is_opened(monkeypatch):
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("webbrowser.open", lambda url: pytest.fail("it was opened"))
    assert not open_browser("http://127.0.0.1:1/")
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr("webbrowser.open", lambda url: True)
    assert open_browser("http://127.0.0.1:1/")


def test_the_server_loads_no_trainer():
    code = "import interplay.view.server.app, interplay.verbs.viewing as v; v.find_opened('')"
    assert not imported(code, "jax", "torch", "matplotlib", "numba")


def imported(code: str, *names: str) -> list[str]:
    """Which modules a program imports."""
    program = f"import sys; {code}; print(*(name for name in {names} if name in sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=True
    )
    return done.stdout.split()


def test_the_page_is_told_which_extras_are_there(monkeypatch):
    extras = {"whole": ("json", "tomllib"), "half": ("json", "no_such_module"), "taken_out": ("wave",)}
    monkeypatch.setattr("interplay.view.extras.EXTRAS", extras)
    monkeypatch.setitem(sys.modules, "wave", None)
    assert ask(app_of(no_root([])), "/api/about").json["extras"] == ["whole"]


def test_looking_for_extras_imports_none():
    code = "from interplay.view.extras import present_extras; assert 'train' in present_extras()"
    assert not imported(code, *(name for names in EXTRAS.values() for name in names))


def test_the_extras_are_those_of_the_package():
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    of_developers = {"site", "oracle", "dev", "all"}
    counts = {extra: len(needs) for extra, needs in declared.items() if extra not in of_developers}
    assert {extra: len(modules) for extra, modules in EXTRAS.items()} == counts


def test_the_package_of_pictures_loads_no_server():
    assert not imported("import interplay.view", "starlette", "uvicorn", "numpy")
    assert not (Path(ROOT) / "interplay" / "view" / "__init__.py").read_text().count("import ")


def test_who_plays_a_world_without_a_run():
    cast = Players("defect", {"rounds": 3}, seed=4).cast("world", "dilemma/fixed")
    assert (cast.words, cast.policy.name, cast.renew, cast.world.num_worlds) == ("defect", "defect", None, 1)
    play = Play(cast, 4)
    for _ in range(3):
        play.step()
    assert play.over


def test_overlays_of_ones_own_are_offered_by_name(monkeypatch, tmp_path):
    (tmp_path / "meetings.py").write_text(
        "from interplay.evaluate.lifetimes.overlays import Live, Overlay\n"
        "CROWDS = Overlay('crowds', 'where agents meet', None, live=Live(None))\n"
        "PAPER = Overlay('paper', 'on paper alone', None)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(registry._OVERLAYS, "added", {})
    Players(overlays=("meetings:CROWDS",)).register_overlays()
    assert registry.find_overlay("crowds").meaning == "where agents meet"
    with pytest.raises(UserError, match="not for worlds in play"):
        Players(overlays=("meetings:PAPER",)).register_overlays()
