"""Specification viewer 7: play by keys, clicks and names; worlds that wait; views limited to the agent's."""

from __future__ import annotations

import errno
import json
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from interplay.core import files
from interplay.core.controls import Controls
from interplay.core.errors import UserError
from interplay.core.guides import Guide
from interplay.core.policy import RandomPolicy
from interplay.core.replay import ReplayReader
from interplay.core.replay.layout import HUMAN
from interplay.core.scene import Canvas
from interplay.registry import make_world
from interplay.view.server.eyes import CANNOT_SAY, NO_EYES, OTHER_EYES, OWN_EYES, STANDS
from interplay.view.server.keeping import Keeper, check_target
from interplay.view.server.play import Cast, Play
from tests.view.server.asking import Watcher, cast_of, no_root, served
from tests.view.server.tables import TableWorld, TwoKinds


class Street(TableWorld):
    """Everybody stands at a place of its own and sees its own; odd seats may not choose the first thing."""

    action_names: ClassVar[Any] = {"way": ("left", "stay", "right")}
    says = True

    def draw(self, canvas: Canvas, world: int) -> None:
        last = self.state.last[world]
        canvas.show(0, 0, len(last), 1)
        canvas.circles("agents", np.arange(len(last)) + 0.5, last + 1.0, colour=(last + 1).astype(np.uint8))
        super().draw(canvas, world)

    def controls(self, slot: int) -> Controls:
        return Controls({"ArrowRight": {"way": "right"}, "a": {"way": "left"}}, {"way": "stay"})

    def click(self, world: int, slot: int, x: float, y: float) -> dict[str, str] | None:
        return {"way": "right" if x > slot + 1 else "left"} if y < 1 else None

    def visible(self, world: int, slot: int) -> Any:
        return {"agents": np.arange(len(self.agents)) == slot} if self.says else None


def street(seats: int = 2, **fields: Any) -> Any:
    """A server of a street without an end; `fields` of the cast, a keeper is made by a function."""

    def cast(kind: str, name: str) -> Cast:
        made = {key: value() if callable(value) else value for key, value in fields.items()}
        return Cast(Street(seats=seats, length=10_000), RandomPolicy(), "random", **made)

    return served(no_root(["street"]), cast)


def kept(path: Path, options: Mapping[str, Any] | None = None, **more: Any) -> Any:
    """A street that is recorded."""
    return street(keeper=lambda: Keeper(path, options, 3, **more))


def test_names_keys_and_clicks_reach_the_page_when_it_takes_a_slot():
    with street() as own, Watcher(own) as page:
        hello = page.hear()
        assert hello["heads"][0]["name"] == "way"
        assert hello["heads"][0]["labels"] == ["left", "stay", "right"]
        assert hello["controls"] == {
            "keys": {"ArrowRight": [{"head": 0, "choice": 2}], "a": [{"head": 0, "choice": 0}]}
        }
        tick = page.stand_still()
        page.say("take", slot=1)
        taken = page.until("taken")
        assert (taken["slot"], taken["clicks"], taken["controls"]) == (1, True, hello["controls"])
        page.say("select", slot=1)
        page.say("step", n=1)
        # Of that tick: at the one before it, chance may have chosen the same.
        page.until("agent", tick=tick + 1, chosen={"way": 1})  # without a word: what the world says
        page.say("click", slot=1, tick=tick + 1, x=2.5, y=0.5)
        page.say("step", n=1)
        page.until("agent", tick=tick + 2, chosen={"way": 2})
        page.say("click", slot=1, tick=page.ticks[-1], x=0.5, y=0.5)
        assert page.until("refused")["reason"] == "way = left is not legal now; choose another one"
        page.say("click", slot=1, tick=page.ticks[-1], x=0.5, y=2.5)  # means nothing
        page.say("step", n=1)
        page.until("agent", tick=tick + 3, chosen={"way": 1})


def test_a_world_in_which_all_act_at_once_waits_where_it_is_asked_to():
    with street() as own, Watcher(own) as page:
        page.stand_still()
        page.say("take", slot=0)
        assert page.until("status", holders={"0": "you"})["waits"] is False  # keys keep up with time
        page.say("wait", on=True)
        page.say("run", on=True)
        page.until("status", waiting=0, waits=True)
        page.until_silence(0.4)
        tick = page.ticks[-1]
        page.say("act", slot=0, tick=tick, action={})
        while page.ticks[-1] == tick:
            page.hear()
        page.until_silence(0.4)
        assert page.ticks[-1] == tick + 1
        page.say("wait", on=False)
        page.until("status", waiting=None, waits=False)
        while page.ticks[-1] < tick + 4:
            page.hear()


def test_a_choice_leaves_with_its_player():
    """Slot 1 is given back with a choice that was not played yet; its next player chooses nothing."""
    with street() as own, Watcher(own) as page:
        tick = page.stand_still()
        page.say("take", slot=1)
        page.say("select", slot=1)
        page.say("act", slot=1, tick=tick, action={"way": 2})
        page.say("give", slot=1)
        page.say("take", slot=1)
        page.say("step", n=1)
        page.until("agent", tick=tick + 1, chosen={"way": 1})


def test_time_begins_when_the_first_person_takes_an_agent():
    with street(for_people=True) as own, Watcher(own) as page:
        assert page.until("status", running=False)["note"] == STANDS
        page.until_silence(0.4)
        assert page.ticks == [0]
        page.say("take", slot=0)
        assert page.until("status", running=True)["note"] != STANDS
        while page.ticks[-1] < 3:
            page.hear()
        page.say("run", on=False)  # afterwards whoever stops it has stopped it
        page.until("status", running=False)
        tick = page.ticks[-1]
        page.say("take", slot=1)
        page.until("status", holders={"0": "you", "1": "you"})
        page.until_silence(0.4)
        assert page.ticks[-1] == tick


def test_the_first_step_says_that_it_may_take_long():
    class Slow(Street):
        def _advance(self, action: Any) -> None:
            time.sleep(0.3 * (self.state.steps[0] == 0))
            super()._advance(action)

    make = cast_of(lambda: Slow(length=10_000))
    with served(no_root(["street"]), make) as own, Watcher(own) as page:
        page.until("status", preparing=True)
        page.until("status", preparing=False)


def hidden(page: Watcher) -> list[bool]:
    """The agents that the next scene of a page leaves out."""
    found: list[bool] = page.until("frame")["scene"].layer("agents").columns["absent"].tolist()
    return found


def test_under_fog_nobody_is_sent_more_than_the_one_who_plays_may_see():
    with street(fog=True, seats=3) as own, Watcher(own) as player, Watcher(own) as other:
        player.stand_still()
        other.until_silence(0.3)
        player.say("select", slot=2)
        player.until("agent", slot=2)
        player.say("take", slot=0)
        told = player.until("status", holders={"0": "you"})
        assert (told["note"], told["fog"]) == (OWN_EYES, True)  # pages look back on nothing from before
        told = other.until("status", holders={"0": "somebody"})
        assert (told["note"], told["fog"]) == (OTHER_EYES, True)
        for page in (player, other):
            page.until_silence(0.4)
            page.say("select", slot=2)
            assert "under fog" in page.until("refused")["reason"]
        player.say("select", slot=0)
        told = len(other.said)
        for _ in range(2):
            player.say("step", n=1)
            for page in (player, other):
                scene = page.until("frame")["scene"]
                agents = scene.layer("agents")
                assert agents.columns["absent"].tolist() == [False, True, True]
                assert agents.columns["colour"][1:].tolist() == [0, 0]
                assert scene.layer("table").text == ()
        account = player.until("agent", slot=0)
        assert account["metrics"] == {}
        assert not [message for message in other.said[told:] if message["type"] == "agent"]
        with Watcher(own) as third:  # who comes now
            assert hidden(third) == [False, True, True]
            third.say("take", slot=1)
            assert third.until("status", holders={"0": "somebody", "1": "you"})["note"] == OWN_EYES
            assert hidden(third) == [True, False, True]
            third.say("take", slot=2)
            assert "one slot at a time" in third.until("refused")["reason"]
            assert other.until("status", holders={"0": "somebody", "1": "somebody"})["note"] == NO_EYES
            assert all(hidden(other))
        player.say("give", slot=0)
        other.until("status", holders={}, note=None)
        assert not any(hidden(other))


def test_a_world_that_cannot_say_what_is_seen_says_that(monkeypatch):
    monkeypatch.setattr(Street, "says", False)
    with street(fog=True) as own, Watcher(own) as page:
        page.stand_still()
        page.say("take", slot=0)
        assert page.until("status", holders={"0": "you"})["note"] == CANNOT_SAY
        assert not any(hidden(page))


def test_kinds_have_names_of_their_own():
    world = TwoKinds()
    world.action_names = {"jumper": {"jump": ("no", "yes"), "kick": ("no", "left", "right")}}
    play = Play(Cast(world, RandomPolicy(), "random"))
    assert [head["labels"] for head in play.heads(0)] == [None]
    assert [(head["name"], head["labels"][-1]) for head in play.heads(1)] == [
        ("jump", "yes"),
        ("kick", "right"),
    ]
    assert json.dumps(play.controls(0)) == "null"


def test_what_an_observation_holds_behind_its_mask_is_not_told_under_fog():
    world = make_world("survival/2v2-all-low", num_worlds=1, seed=4)
    play = Play(Cast(world, RandomPolicy(), "random", fog=True), seed=4)
    hidden = world.timestep.observation["heals_mask"][0, 0] > 0
    assert 0 < hidden.sum() < len(hidden)
    told = {part["name"]: part["values"] for part in play.agent_under_fog(0)["observation"]}
    assert [value is None for value in told["heals"]] == np.repeat(hidden, 2).tolist()
    play.close()


def test_pieces_of_a_field_that_are_no_table_hide_what_their_guide_hides(monkeypatch):
    world = make_world("survival/2v2-all-low", num_worlds=1, seed=4)
    play = Play(Cast(world, RandomPolicy(), "random", fog=True), seed=4)
    seen = world.timestep.observation
    hidden = seen["heals_mask"][0, 0] > 0
    guide = Guide(title="places", names=["x"] * len(hidden), hidden="heals_mask")
    monkeypatch.setattr(world, "observation_guides", lambda w, slot: {"heals": (guide, Guide(names=["y"]))})
    told = {part["name"]: part["values"] for part in play.agent_under_fog(0)["observation"]}
    assert [value is None for value in told["heals · places"]] == hidden.tolist()
    play.close()


def test_what_people_play_is_recorded_and_complete_at_the_end(tmp_path):
    path = tmp_path / "mine.replay"
    with kept(path, {"length": 10_000}) as own, Watcher(own) as page:
        page.stand_still()
        assert not path.exists()
        page.say("take", slot=1)
        page.until("taken")
        assert path.exists()  # what a full disk or a killed process leaves can be watched
        for choice in (2, 1):
            page.say("act", slot=1, tick=page.ticks[-1], action={"way": choice})
            page.say("step", n=1)
            page.until("frame")
        page.say("give", slot=1)
        page.say("step", n=1)
        page.until("frame")
        page.say("reset", seed=5)
        page.until("frame")
    with ReplayReader(path) as reader:
        assert reader.header.players == ("random", HUMAN)
        assert (reader.header.policy, reader.header.options, reader.header.seed) == (
            "random and people",
            {"length": 10_000},
            3,
        )
        assert reader.ticks == 5
        assert [(mark.tick, mark.kind, mark.rows) for mark in reader.marks() if mark.kind in ("taken", "given")] == [
            (0, "taken", (1,)), (3, "given", (1,)),
        ]  # fmt: skip
        tables = [frame.scene.layer("table").text[1][1] for frame in reader.frames()]
        assert tables[1:3] == [2, 1]
        assert reader.frame(4).first
    with pytest.raises(UserError, match="exists already"):
        check_target(path)
    with pytest.raises(UserError, match=r"end the name in \.replay"):
        check_target(tmp_path / "mine.mp4")
    with kept(path, {"length": 10_000}) as own, Watcher(own) as page:
        page.until("frame")
        page.say("take", slot=0)
        assert "exists already" in page.until("refused")["reason"]


def test_who_cannot_be_recorded_is_refused_and_the_world_plays_on(tmp_path):
    path = tmp_path / "mine.replay"
    with kept(path, {"rate": float("nan")}) as own, Watcher(own) as page:
        page.stand_still()
        for _ in range(2):
            page.say("take", slot=0)
            assert "its header cannot be kept" in page.until("refused")["reason"]
        at = page.ticks[-1]
        page.say("step", n=2)
        page.until("frame", tick=at + 2)
    assert not path.exists()


@pytest.mark.parametrize("at_the_end", [False, True])
def test_a_full_disk_ends_the_play_and_leaves_what_was_recorded(tmp_path, monkeypatch, at_the_end):
    path, full, warned = tmp_path / "mine.replay", False, []

    def fill(point: str) -> None:
        if full and point == "recording: appended":
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(files, "hooks", [fill])
    with kept(path, warn=warned.append) as own, Watcher(own) as page:
        page.stand_still()
        page.say("take", slot=0)
        page.until("taken")
        page.say("step", n=120)
        page.until("frame", tick=page.ticks[-1] + 120)
        full = True
        if not at_the_end:
            page.say("step", n=400)
            said = page.until("bye")["reason"]
            assert "mine.replay: the disk is full; what was played before can be watched" in said
    assert len(warned) == 1
    assert "mine.replay: the disk is full" in warned[0]
    with ReplayReader(path) as reader:
        assert (reader.closed, reader.ticks >= 100) == (False, True)


def test_what_stands_there_when_the_first_one_plays_is_not_written_over(tmp_path):
    path = tmp_path / "mine.replay"
    with kept(path) as own, Watcher(own) as page:
        page.stand_still()
        page.say("take", slot=0)
        page.until("taken")
        path.unlink()
        path.write_text("mine")
    assert path.read_text() == "mine"
