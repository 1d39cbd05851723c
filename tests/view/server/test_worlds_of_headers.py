"""Worlds that fail while they are rebuilt from a recording's header, or while they are stepped: a refusal in one line, never a 500."""

from __future__ import annotations

import json
import shutil
import urllib.parse
from pathlib import Path
from typing import Any

import pytest

from interplay import registry
from interplay.core.errors import UserError
from interplay.core.policy import RandomPolicy
from interplay.core.replay import ReplayReader
from interplay.registry import make_world
from interplay.view.server.play import Cast
from tests.view.server.asking import Watcher, app_of, ask, beneath, served
from tests.view.server.folders import record
from tests.view.server.test_replaced import played

ROUTES = ("agent/0", "overlays", "overlay")
HUGE = (2**31, 2**63, 2**64 + 1, 10**30)


def answers(root: Path) -> list[Any]:
    """What is answered by all routes that step a recording's world."""
    app = app_of(beneath(root))
    asked = json.dumps({"type": "overlay", "name": "visits"})
    query = urllib.parse.urlencode({"tick": 3, "asked": asked}).encode()
    return [ask(app, f"/api/recordings/0/{route}", query=query) for route in ROUTES]


def check_refused(answer: Any, root: Path) -> None:
    line = answer.json["error"]
    assert 400 <= answer.status < 500
    assert line.startswith(("a.replay: ", "overlay visits ")) or "not allowed" in line, line
    assert "\n" not in line
    assert str(root) not in line


@pytest.mark.parametrize("number", HUGE)
@pytest.mark.parametrize(
    ("world", "option"),
    [
        ("survival/1v1-heals-low", "health"),
        ("survival/1v1-heals-low", "box_health"),
        ("werewolf/10", "max_days"),
    ],
)
def test_options_beyond_what_arrays_hold_are_refused(tmp_path, world, option, number):
    record(tmp_path / "a.replay", 0, make_world(world), options={option: number})
    app = app_of(beneath(tmp_path))
    told = ask(app, "/api/recordings/0").json
    assert told["header"]["options"] == {option: number}  # watching works
    answer = ask(app, "/api/recordings/0/agent/0", query=b"tick=0")
    if answer.status != 200:  # a world may count its days in Python's numbers
        check_refused(answer, tmp_path)
        with ReplayReader(tmp_path / "a.replay") as reader, pytest.raises(UserError, match=world):
            reader.world_at(0)


@pytest.fixture(scope="module")
def match(tmp_path_factory) -> Path:
    """A recording of a world with an overlay, all of which is to be stepped."""
    return played(tmp_path_factory.mktemp("match") / "a.replay", "survival/2v2-all-low", {}, 1, "random")


@pytest.mark.parametrize("error", [OverflowError("too\nlarge"), MemoryError(), ValueError("odd")])
@pytest.mark.parametrize(
    ("where", "refused"),
    [
        ("make", ROUTES),
        ("reset", ROUTES),
        ("load", ROUTES),
        ("hash", ROUTES),
        ("step", ("agent/0", "overlay")),
        ("by_kind", ("agent/0",)),
    ],
)
def test_whatever_a_rebuilt_world_raises_is_one_line(tmp_path, match, monkeypatch, where, refused, error):
    shutil.copy(match, tmp_path)
    made, closed = registry.make_world, []

    def fail(*_: Any, **__: Any) -> Any:
        raise error

    def make(*given: Any, **options: Any) -> Any:
        if where == "make":
            fail()
        world = made(*given, **options)
        setattr(world, where, fail)
        world.close = lambda: closed.append(1)
        return world

    monkeypatch.setattr(registry, "make_world", make)
    told = dict(zip(ROUTES, answers(tmp_path), strict=True))
    assert tuple(route for route in ROUTES if told[route].status != 200) == refused
    for route in refused:
        check_refused(told[route], tmp_path)
    if where in ("reset", "load", "hash"):
        assert len(closed) == len(ROUTES)


def test_a_page_that_would_play_on_is_told(tmp_path):
    record(tmp_path / "a.replay", 0, make_world("survival/1v1-heals-low"), options={"health": 2**64})

    def cast(kind: str, name: str, continued: Any) -> Cast:
        return Cast(continued.world, RandomPolicy(), "random", under_way=continued.under_way)

    with served(beneath(tmp_path), cast) as address, Watcher(address, "recording:0@0") as page:
        told = page.until("bye")
    assert told["again"] is False
    assert "survival/1v1-heals-low" in told["reason"]


def test_errors_of_a_world_that_the_caller_made_are_the_callers(tmp_path):
    record(tmp_path / "a.replay", 4)
    world = make_world("dilemma/fixed")

    def fail(*_: Any) -> Any:
        raise ZeroDivisionError

    world.step = fail  # type: ignore[method-assign]
    with ReplayReader(tmp_path / "a.replay") as reader, pytest.raises(ZeroDivisionError):
        reader.world_at(2, world)
