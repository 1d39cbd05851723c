"""What a folder shows: by number alone, growing, and never through a link."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from interplay.view.server.config import LISTED
from interplay.view.server.refusals import NotThere
from interplay.view.server.sources import Opened, Sources
from tests.view.server.asking import app_of, ask, beneath
from tests.view.server.folders import Clock, make_run, record


def listed(root: Path, page: int = 0) -> dict:
    return ask(app_of(beneath(root)), "/api/sources", query=f"page={page}".encode()).json


def test_runs_and_their_recordings_are_listed(tmp_path):
    make_run(tmp_path / "b", steps=5_000)
    make_run(tmp_path / "deep" / "a")
    record(tmp_path / "b" / "recordings" / "one.replay", policy="the hunter", started="2026-01-02T03:04:05")
    record(tmp_path / "alone.replay")
    (tmp_path / "c.replay").write_bytes(b"no recording")
    assert listed(tmp_path) == {
        "runs": [
            {"id": 0, "name": "b", "world": "dilemma/fixed", "agent_steps": 5_000, "checkpoint": True, "ratings": False},
            {"id": 1, "name": "deep/a", "world": "dilemma/fixed", "agent_steps": 0, "checkpoint": False, "ratings": False},
        ],
        "recordings": [
            {
                "id": 0, "run": None, "name": "alone.replay", "world": "dilemma/fixed", "ticks": 4, "policy": "", "date": None,
                "problem": None,
            },
            {
                "id": 1, "run": 0, "name": "b/recordings/one.replay", "world": "dilemma/fixed", "ticks": 4, "policy": "the hunter",
                "date": "2026-01-02T03:04:05", "problem": None,
            },
            {
                "id": 2, "run": None, "name": "c.replay", "world": "", "ticks": 0, "policy": "", "date": None,
                "problem": "c.replay is no recording of interplay; name a .replay file",
            },
        ],
        "worlds": [],
        "more": False,
    }  # fmt: skip


def test_a_run_may_be_opened_itself_and_a_file_and_worlds(tmp_path):
    run = make_run(tmp_path / "mine")
    assert [one["name"] for one in listed(run)["runs"]] == ["mine"]
    file = record(tmp_path / "x.replay")
    told = ask(app_of(Opened("x.replay", None, file=file)), "/api/sources").json
    assert ([one["name"] for one in told["recordings"]], told["runs"]) == (["x.replay"], [])
    told = ask(app_of(Opened("", None, worlds=("pong/2p", "dilemma/fixed"))), "/api/sources").json
    assert told["worlds"] == [{"id": 0, "name": "pong/2p"}, {"id": 1, "name": "dilemma/fixed"}]


def test_numbers_stay_while_the_list_grows(tmp_path):
    clock = Clock()
    record(tmp_path / "m.replay")
    sources = Sources(beneath(tmp_path), clock)
    assert sources.recording(0).name == "m.replay"
    record(tmp_path / "a.replay")
    sources.refresh()
    with pytest.raises(NotThere):
        sources.recording(1)  # a second has not passed
    clock.now += 1.5
    sources.refresh()
    assert [sources.recording(n).name for n in (0, 1)] == ["m.replay", "a.replay"]
    (tmp_path / "m.replay").unlink()
    clock.now += 1.5
    sources.refresh()
    with pytest.raises(NotThere, match="removed"):
        sources.recording(0)
    assert sources.recording(1).name == "a.replay"


def test_a_recording_keeps_its_number_when_its_folder_becomes_a_run(tmp_path):
    run, clock = make_run(tmp_path / "run"), Clock()
    log = (run / "metrics.jsonl").rename(tmp_path / "log")
    record(run / "recordings" / "a.replay")
    sources = Sources(beneath(tmp_path), clock)
    log.rename(run / "metrics.jsonl")
    clock.now += 1.5
    found = sources.page(0, lambda number, path: {})
    assert found["recordings"] == [{"id": 0, "run": 0, "name": "run/recordings/a.replay"}]


def test_long_lists_come_in_pages(tmp_path):
    for number in range(LISTED + 3):
        (tmp_path / f"{number:04d}.replay").write_bytes(b"")
    first, second = listed(tmp_path), listed(tmp_path, 1)
    assert (len(first["recordings"]), first["more"]) == (LISTED, True)
    assert ([one["id"] for one in second["recordings"]], second["more"]) == ([200, 201, 202], False)


def test_links_out_of_the_folder_are_not_followed(tmp_path):
    outside, shown = tmp_path / "outside", tmp_path / "shown"
    record(outside / "secret.replay")
    make_run(outside / "run")
    record(shown / "own.replay")
    (shown / "file.replay").symlink_to(outside / "secret.replay")
    (shown / "folder").symlink_to(outside)
    (shown / "hard").mkdir()
    (shown / "hard" / "up").symlink_to("../../outside")
    told = listed(shown)
    assert ([one["name"] for one in told["recordings"]], told["runs"]) == (["own.replay"], [])


def test_a_link_that_takes_the_place_of_a_file_or_folder_is_not_followed(tmp_path):
    outside, shown = tmp_path / "outside", tmp_path / "shown"
    record(outside / "own.replay", policy="secret")
    record(shown / "a" / "own.replay")
    record(shown / "b.replay")
    make_run(shown / "run")
    app = app_of(beneath(shown))
    assert ask(app, "/api/recordings/0").status == 200
    os.rename(shown / "a", shown / "was")
    (shown / "a").symlink_to(outside)
    (shown / "b.replay").unlink()
    (shown / "b.replay").symlink_to(outside / "own.replay")
    os.rename(shown / "run", shown / "ran")
    (shown / "run").symlink_to(shown / "ran")
    for path in (
        "recordings/0",
        "recordings/0/chunks/0",
        "recordings/0/file",
        "recordings/1",
        "recordings/1/events",
        "runs/0/curves",
    ):
        answer = ask(app, f"/api/{path}")
        assert (answer.status, b"secret" in answer.body) == (404, False), path
        assert "it is a link now" in answer.json["error"]


def test_links_inside_a_run_are_not_read(tmp_path):
    run = make_run(tmp_path / "shown" / "run")
    (tmp_path / "metrics.jsonl").write_text('{"agent_steps": 10, "secret": 1.5}\n')
    (run / "metrics.jsonl").unlink()
    (run / "metrics.jsonl").symlink_to(tmp_path / "metrics.jsonl")
    (run / "checkpoints").mkdir()
    answer = ask(app_of(beneath(tmp_path / "shown")), "/api/runs/0/curves", query=b"names=secret")
    assert (answer.status, b"secret" in answer.body) == (400, False)
    assert "is a link" in answer.json["error"]


def test_what_the_user_names_may_be_a_link(tmp_path):
    file = record(tmp_path / "real" / "a.replay")
    (tmp_path / "link.replay").symlink_to(file)
    (tmp_path / "folder").symlink_to(tmp_path / "real")
    assert (
        ask(app_of(Opened("link.replay", None, file=tmp_path / "link.replay")), "/api/recordings/0").status
        == 200
    )
    assert ask(app_of(beneath(tmp_path / "folder")), "/api/recordings/0").status == 200


def test_the_search_ends(tmp_path, monkeypatch):
    deep = tmp_path
    for number in range(8):
        deep = deep / str(number)
    make_run(deep)
    record(tmp_path / "0" / "1" / "2" / "3" / "at.replay")
    record(tmp_path / ".hidden" / "no.replay")
    told = listed(tmp_path)
    assert ([one["name"] for one in told["recordings"]], told["runs"]) == (["0/1/2/3/at.replay"], [])


def test_names_are_one_line_of_text(tmp_path):
    make_run(tmp_path / "a\nb\x1b[31m")
    assert listed(tmp_path)["runs"][0]["name"] == "a b [31m"


def test_a_tournament_is_listed_for_its_ratings(tmp_path):
    cup = tmp_path / "cup"
    cup.mkdir()
    (cup / "tournament.toml").write_text('world = "pong/2p"\n')
    (cup / "ratings.json").write_text(json.dumps({}))
    (run,) = listed(tmp_path)["runs"]
    assert (run["name"], run["world"], run["checkpoint"], run["ratings"]) == ("cup", "pong/2p", False, True)


def test_damaged_settings_do_not_end_the_list(tmp_path):
    make_run(tmp_path / "a")
    (make_run(tmp_path / "b") / "settings.toml").write_text("[[[")
    assert [(run["name"], run["world"]) for run in listed(tmp_path)["runs"]] == [
        ("a", "dilemma/fixed"),
        ("b", ""),
    ]
