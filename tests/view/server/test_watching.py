"""Runs in training: their recordings appear and grow, the trainer is notified, and nothing else is written."""

from __future__ import annotations

import os
import socket
import time
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from interplay.core.errors import UserError
from interplay.core.policy import RandomPolicy
from interplay.core.replay import WorldRecorder
from interplay.registry import make_world
from interplay.verbs.players import Player
from interplay.verbs.viewing import Players, find_opened
from interplay.view.server import curves, protocols
from interplay.view.server.config import GROWS_SECONDS, WORD_SECONDS
from interplay.view.server.play import Cast
from interplay.view.server.recordings import Recordings, Watching
from interplay.view.server.refusals import NotThere
from interplay.view.server.session import Session
from interplay.view.server.sources import Opened, Sources
from interplay.view.server.visitor import Visitor
from tests.view.server.asking import Watcher, app_of, ask, beneath, no_root, served
from tests.view.server.folders import Clock, make_run, record


def matches(app: Any, run: int = 0) -> list[dict[str, Any]]:
    return ask(app, f"/api/runs/{run}/matches").json["matches"]


def files(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_matches_appear_and_go_and_keep_their_numbers(tmp_path):
    run = make_run(tmp_path / "run")
    make_run(tmp_path / "other")
    app = app_of(beneath(tmp_path))
    assert matches(app, 1) == []
    for number in (1, 2, 3):
        record(run / "recordings" / f"00000{number}-{number * 100}.replay", policy=f"run at {number}")
        assert matches(app, 1)[-1]["name"] == f"run/recordings/00000{number}-{number * 100}.replay"
    assert [one["policy"] for one in matches(app, 1)] == ["run at 1", "run at 2", "run at 3"]
    (run / "recordings" / "000001-100.replay").unlink()
    assert [one["id"] for one in matches(app, 1)] == [1, 2]
    assert [one["id"] for one in ask(app, "/api/sources").json["recordings"]] == [1, 2]
    assert ask(app, "/api/recordings/1").json["ticks"] == 4
    assert matches(app, 0) == []
    assert ask(app, "/api/runs/7/matches").status == 404


def test_removed_recordings_leave_nothing_behind(tmp_path, monkeypatch):
    monkeypatch.setattr("interplay.view.server.recordings.FOUND", 3)
    run = make_run(tmp_path / "run")
    sources = Sources(beneath(tmp_path))
    recordings = Recordings(sources)
    for number in range(5):
        path = record(run / "recordings" / f"{number}.replay")
        assert [one["id"] for one in recordings.matches(0)["matches"]] == [number]
        path.unlink()
    assert recordings.matches(0)["matches"] == []
    assert sources._recordings == {}
    assert [path.name for path in recordings._described] == ["2.replay", "3.replay", "4.replay"]


def test_a_list_does_not_wait_for_files_that_take_long(tmp_path, monkeypatch):
    run = make_run(tmp_path / "run")
    for name in ("a", "b", "c"):
        record(run / "recordings" / f"{name}.replay")
    app, opened = app_of(beneath(tmp_path)), Recordings._opened

    def slow(self: Recordings, path: Path) -> Any:
        clock.now += 1.5
        return opened(self, path)

    clock = Clock()
    monkeypatch.setattr(Recordings, "_opened", slow)
    watch = SimpleNamespace(monotonic=clock, time=time.time)
    monkeypatch.setattr("interplay.view.server.recordings.time", watch)
    first = matches(app)
    assert [one["ticks"] > 0 for one in first] == [True, True, False]
    assert "not read yet" in first[2]["problem"]
    assert [one["ticks"] > 0 for one in matches(app)] == [True, True, True]


def test_what_is_still_written_is_no_damage(tmp_path):
    run, world = make_run(tmp_path / "run"), make_world("dilemma/fixed")
    (run / "recordings").mkdir()
    path = run / "recordings" / "000001-0.replay"
    app = app_of(beneath(tmp_path))
    with WorldRecorder(path, world, growing=True) as recorder:
        world.reset(seeds=1)
        recorder.begin()
        for _ in range(49):
            world.step([[0, 1]])
            recorder.step([[0, 1]])
        assert matches(app)[0]["ticks"] == 0
        told = ask(app, "/api/recordings/0").json
        assert (told["complete"], told["problems"]) == (False, [])
        os.utime(path, (1, time.time() - GROWS_SECONDS - 1))
        told = ask(app, "/api/recordings/0").json
        assert len(told["problems"]) == 1
    told = ask(app, "/api/recordings/0").json
    assert (told["complete"], told["problems"], told["ticks"]) == (True, [], 50)


def test_a_trainer_hears_that_somebody_watches(tmp_path):
    run = make_run(tmp_path / "run")
    before = files(tmp_path)
    app = app_of(beneath(tmp_path))
    matches(app)
    assert files(tmp_path) == before  # its trainer records nothing
    (run / "recordings").mkdir()
    app = app_of(beneath(tmp_path))
    matches(app)
    assert files(tmp_path).keys() - before.keys() == {"run/recordings/watching"}
    assert abs(float((run / "recordings" / "watching").read_text()) - time.time()) < 60


def test_the_word_is_renewed_and_not_too_often(tmp_path):
    run, clock = make_run(tmp_path / "run"), Clock()
    word = run / "recordings" / "watching"
    word.parent.mkdir()
    watching = Watching(clock)
    watching.renew(run)
    word.unlink()
    clock.now += WORD_SECONDS / 2
    watching.renew(run)
    assert not word.exists()
    clock.now += WORD_SECONDS
    watching.renew(run)
    assert word.exists()


def test_without_leave_nothing_is_written(tmp_path):
    run = make_run(tmp_path / "run")
    (run / "recordings").mkdir()
    before = files(tmp_path)
    app = app_of(beneath(tmp_path), None)  # --read-only
    assert matches(app) == []
    assert files(tmp_path) == before


@pytest.mark.parametrize("planted", ["folder", "file"])
def test_no_link_leads_the_word_anywhere(tmp_path, planted):
    run, outside = make_run(tmp_path / "runs" / "run"), tmp_path / "outside"
    outside.mkdir()
    (outside / "thesis.tex").write_text("mine")
    if planted == "folder":
        (run / "recordings").symlink_to(outside)
    else:
        (run / "recordings").mkdir()
        (run / "recordings" / "watching").symlink_to(outside / "thesis.tex")
    matches(app_of(beneath(tmp_path / "runs")))
    assert files(outside) == {"thesis.tex": b"mine"}
    assert not (run / "recordings" / "watching").is_symlink()


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path, monkeypatch):
    run = make_run(tmp_path / "run")
    (run / "recordings").mkdir()

    def refused(*_: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("interplay.view.server.recordings.replace_file", refused)
    assert matches(app_of(beneath(tmp_path))) == []


def test_what_is_said_of_files_begins_at_what_was_opened(tmp_path):
    make_run(tmp_path / "runs" / "first", steps=5)

    def cast(kind: str, name: str) -> Cast:
        raise UserError(f"{name}/settings.toml was changed; restore {name}, or not")

    with served(beneath(tmp_path / "runs"), cast) as address, Watcher(address, "run:0") as page:
        assert page.until("bye")["reason"] == "first/settings.toml was changed; restore first, or not"
    sources = Sources(Opened("first", tmp_path / "runs" / "first"))
    root = tmp_path / "runs" / "first"
    assert sources.plain(f"{root}/settings.toml of {root}") == "settings.toml of first"


def test_a_log_that_is_too_long_is_refused(tmp_path, monkeypatch):
    make_run(tmp_path / "run")
    monkeypatch.setattr(curves, "MOST_LOG", 10)
    answer = ask(app_of(beneath(tmp_path)), "/api/runs/0/curves")
    assert answer.json["error"].startswith("run: metrics.jsonl has more than 10 bytes")


def test_worlds_that_fail_are_freed(tmp_path):
    closed: list[str] = []

    class Counted(RandomPolicy):
        def start(self, world: Any, seed: int = 0) -> None:
            raise UserError("no seat for it")

    world = make_world("dilemma/fixed")
    world.close = lambda: closed.append("session")  # type: ignore[method-assign]
    session = Session("world:0", lambda: Cast(world, Counted(), "it"))
    session.join(Visitor(lambda: None))
    session.start()
    session._thread.join(30)
    assert closed == ["session"]
    record(tmp_path / "a.replay")
    record(tmp_path / "b.replay")
    recordings = Recordings(Sources(beneath(tmp_path)))
    recordings.agent(0, 0, 1)
    assert recordings._world is not None
    recordings._world[1].close = lambda: closed.append("looked at")  # type: ignore[method-assign]
    recordings.agent(0, 0, 2)
    assert closed == ["session"]
    recordings.agent(1, 0, 1)
    assert closed == ["session", "looked at"]
    recordings._world[1].close = lambda: closed.append("failed")  # type: ignore[method-assign]
    with pytest.raises(NotThere):
        recordings.agent(1, 0, 99)
    assert closed == ["session", "looked at", "failed"]


def test_who_says_nothing_has_to_leave(monkeypatch, tmp_path):
    monkeypatch.setattr(protocols, "SILENCE", 0.3)
    (tmp_path / "index.html").write_bytes(
        bytes(15 * 2**20)
    )  # more than the system keeps for who does not read
    with (
        served(no_root(["dilemma/fixed"]), static=tmp_path) as address,
        Watcher(address) as page,
        socket.create_connection(("127.0.0.1", address.port), 10) as silent,
        socket.create_connection(("127.0.0.1", address.port), 10) as slow,
        socket.create_connection(("127.0.0.1", address.port), 10) as deaf,
    ):
        slow.sendall(b"GET / HTTP/1.1\r\n")
        question = f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{address.port}\r\n\r\n".encode()
        deaf.sendall(question)  # and takes no answer
        assert silent.recv(10) == b""
        assert slow.recv(10) == b""
        page.until("hello")
        time.sleep(1.0)
        with suppress(ConnectionResetError, BrokenPipeError):
            deaf.sendall(question)
        time.sleep(0.3)
        with pytest.raises((ConnectionResetError, BrokenPipeError)):
            deaf.sendall(question)
        page.stand_still()  # a page that is connected may be silent


def test_messages_are_compressed_where_that_is_asked_for():
    with served(no_root(["dilemma/fixed"]), compress=True) as address, Watcher(address) as page:
        page.until("hello")
        assert [one.name for one in page.socket.protocol.extensions] == ["permessage-deflate"]
    with served(no_root(["dilemma/fixed"])) as address, Watcher(address) as page:
        page.until("hello")
        assert page.socket.protocol.extensions == []


def test_a_player_of_a_league_plays_the_world_of_its_run(tmp_path, monkeypatch):
    run = make_run(tmp_path / "league", steps=7)
    monkeypatch.setattr("interplay.train.play.policy.population_names", lambda _: ["main", "exploiter"])
    monkeypatch.setattr(
        "interplay.train.run.checkpoint.find_checkpoint", lambda *_: run / "checkpoints" / "000000000007"
    )
    asked: list[str] = []

    def find(name: str, *_: Any, **__: Any) -> Player:
        asked.append(name)
        return Player(RandomPolicy(), "dilemma/fixed", {})

    monkeypatch.setattr("interplay.verbs.players.find_player", find)
    opened = find_opened(f"{run}@exploiter")
    assert (opened.root, opened.player) == (run, "exploiter")
    cast = Players().cast("run", str(run), opened.player)
    assert asked == [f"{run}@exploiter"]
    assert cast.words == "league@exploiter at 7"
    with pytest.raises(UserError, match="no such player; did you mean 'exploiter'"):
        find_opened(f"{run}@exploitr")
