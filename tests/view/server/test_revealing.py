"""Specification viewer 7 and 8: hidden roles are shown until a seat is taken, and to no page then."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from interplay.core.errors import UserError
from interplay.core.frames import Encoder, Schema
from interplay.core.frames.encoder import FRAME_HEAD
from interplay.core.policy import RandomPolicy
from interplay.core.replay import ReplayReader
from interplay.core.scene import scene_of
from interplay.interfaces.world import InterfacedWorld
from interplay.registry import make_world
from interplay.verbs.playing import record
from interplay.verbs.viewing import Players
from interplay.view.server import messages as said
from interplay.view.server.config import WORDS
from interplay.view.server.eyes import ALL_REVEALED, DEALT_ANEW, FOG_OF_ROLES, HIDDEN_OVERLAYS, Eyes
from interplay.view.server.play import Cast, Play
from interplay.view.server.session import Session
from interplay.view.server.sources import Sources
from interplay.view.server.visitor import Visitor
from tests.view.server.asking import no_root

WORLD, OPTIONS = "werewolf/aiwolf13", {"signal_length": 1}
DEALT = 2**62 + 5  # the seed of the game that is dealt to who plays
STEPS = 12


class Page:
    """A page of a session that is driven in this thread: all that would be sent to it, as bytes."""

    def __init__(self, session: Session) -> None:
        self.session, self.visitor = session, Visitor(lambda: None)
        self.sent: list[dict[str, Any]] = []
        self.frames: list[bytes] = []
        session.join(self.visitor)

    def say(self, type: str, **more: Any) -> None:
        self.session.receive(self.visitor, said.read_message(json.dumps({"type": type, **more})))

    def fetch(self) -> None:
        """Takes what waits, and says that it was drawn."""
        messages, frame = self.visitor.fetch()
        self.sent += map(dict, messages)
        if frame is not None:
            self.frames.append(frame)
            self.visitor.shown(2**31)
        if (overlay := self.visitor.fetch_overlay()) is not None:
            self.frames.append(overlay[1])

    def last(self, type: str) -> dict[str, Any]:
        return next(one for one in reversed(self.sent) if one["type"] == type)

    def forget(self) -> None:
        self.sent.clear()
        self.frames.clear()


class Table:
    """A session without a thread, so that nothing depends on how fast anybody is, and two pages."""

    def __init__(self, reveals: bool = True, seed: int = 0, **options: Any) -> None:
        world = make_world(WORLD, **OPTIONS, seed=seed, **options)
        self.now = 0.0
        cast = Cast(world, RandomPolicy(), "random", reveals=reveals)
        self.session = Session("world:0", lambda: cast, seed, lambda: self.now, deal=lambda: DEALT)
        begin(self.session, cast, seed)
        self.pages = Page(self.session), Page(self.session)
        self.go()

    @property
    def world(self) -> Any:
        return self.session._play.world

    def go(self) -> None:
        """Everything that was said happens, a tick if one is due, and the pages get what there is."""
        session = self.session
        session._running = False
        self.now += 1.0
        session._jobs.put((None, "look"))  # so that it does not wait
        assert session._read_jobs()
        session._begin_again()
        if session._is_due():
            session._step()
        session._show()
        for page in self.pages:
            page.fetch()

    def step(self, ticks: int) -> None:
        for _ in range(ticks):
            self.pages[0].say("step", n=1)
            self.go()


def begin(session: Session, cast: Cast, seed: int) -> None:
    """What the session's thread does first."""
    from interplay.view.server.overlays import Overlays

    session._play = Play(cast, seed)
    session._eyes = Eyes(session._play, session._holders)
    session._overlays = Overlays(session._play, session._clock, lambda: None, str)


@contextmanager
def seated(**options: Any) -> Iterator[tuple[Table, Page, Page]]:
    table = Table(**options)
    try:
        yield table, *table.pages
    finally:
        table.world.close()


def roles_seen(page: Page) -> bool:
    """Whether any letter of a role stands in the newest scene of a page; roles are dealt to all seats at once."""
    return page.session._play.moment().scene.layer("roles").text[0] != ""


def test_roles_are_shown_while_nobody_plays_and_to_no_page_while_somebody_does():
    with seated() as (table, player, other):
        assert roles_seen(other)
        assert other.last("status")["note"] == ALL_REVEALED
        assert other.last("status")["fog"] is False
        table.step(3)
        player.say("take", slot=4)
        table.go()
        assert not roles_seen(other)
        for page in (player, other):
            status = page.last("status")
            assert (status["note"], status["fog"], status["tick"]) == (DEALT_ANEW, True, 4)
            assert page.frames[-1][0] == 1  # a key frame: nothing from before is needed to read it
        other.say("take", slot=5)
        table.go()
        player.say("give", slot=4)
        table.go()
        assert not roles_seen(player)  # the other one still plays
        assert player.last("status")["fog"]
        other.session.leave(other.visitor)
        table.go()
        assert roles_seen(player)
        assert player.last("status")["note"] == ALL_REVEALED


def test_who_takes_a_seat_first_gets_a_game_that_nobody_has_seen():
    with seated() as (table, player, other):
        table.step(2)
        seen = table.world.state.role.copy()
        player.say("reset", seed=9)  # asked before, carried out after
        player.say("take", slot=4)
        table.go()
        fresh = make_world(WORLD, **OPTIONS)
        fresh.reset(seeds=DEALT)
        assert np.array_equal(table.world.state.role, fresh.state.role)
        assert not np.array_equal(table.world.state.role, seen)
        begun = table.session._play.tick
        other.say("take", slot=5)  # of a game whose roles no page has seen
        table.go()
        assert table.session._play.tick == begun
        other.say("reset", seed=9)
        table.go()
        assert "seed 9" in other.last("refused")["reason"]
        assert table.session._play.tick == begun
        other.say("reset", seed=None)
        table.go()
        assert np.array_equal(
            table.world.state.role, fresh.state.role
        )  # another seed of nobody's choice: here the same
        player.say("give", slot=4)
        other.say("give", slot=5)
        other.say("reset", seed=9)
        table.go()
        fresh.reset(seeds=9)
        assert np.array_equal(table.world.state.role, fresh.state.role)


def test_nobody_learns_roles_by_taking_one_seat_after_the_other():
    with seated() as (table, player, other):
        player.say("take", slot=4)
        table.go()
        player.say("take", slot=5)
        table.go()
        assert "one plays one seat at a time" in player.last("refused")["reason"]
        other.say("take", slot=5)
        table.go()
        other.say("give", slot=5)
        for page in (other, player):
            page.say("take", slot=6)
            table.go()
        assert "given back" in other.last("refused")["reason"]
        assert list(table.session._holders) == [4]
        other.say("reset", seed=None)
        table.go()
        other.say("take", slot=6)  # of another game
        table.go()
        assert sorted(table.session._holders) == [4, 6]


def test_a_game_that_cannot_be_dealt_leaves_nobody_in_the_one_that_was_seen(monkeypatch):
    def broken(seed: int | None = None) -> None:
        raise UserError("no game today")

    with seated() as (table, player, _):
        monkeypatch.setattr(table.session._play, "reset", broken)
        player.say("take", slot=4)
        table.go()
        assert player.last("refused")["reason"] == "no game today"
        assert not table.session._holders
        assert roles_seen(player)


def test_an_episode_whose_first_frame_was_left_out_begins_with_the_next_one():
    with seated() as (table, player, _):
        heads = []
        for tick in range(40):
            player.session.receive(player.visitor, said.read_message(json.dumps({"type": "step", "n": 1})))
            before = len(player.frames)
            if tick % 3:  # the page is busy
                player.visitor._unshown.extend([2**40, 2**40])
            else:
                player.visitor._unshown.clear()
            table.go()
            player.visitor._unshown.clear()
            heads += [(head_of(frame), table.session._play._episode) for frame in player.frames[before:]]
        episodes = [episode for _, episode in heads]
        assert len(set(episodes)) > 2
        began = [first for first, _ in heads]
        assert began[1:] == [now != then for then, now in pairwise(episodes)]


def head_of(frame: bytes) -> bool:
    """Whether an episode begins with a frame."""
    return bool(FRAME_HEAD.unpack_from(frame)[1] & 1)


def test_refusals_are_short_whatever_a_file_calls_itself():
    assert len(Sources(no_root([])).words(UserError("dilemma" * 100_000))) == WORDS


def test_seeds_of_games_for_people_are_drawn_anew():
    drawn = {Session("world:0", lambda: None)._deal() for _ in range(20)}  # type: ignore[arg-type, return-value]
    assert len(drawn) == 20
    assert min(drawn) >= 0
    assert max(drawn) < 2**63


def test_no_byte_differs_from_a_world_that_reveals_nothing_while_somebody_plays():
    """Of both pages: frames, events, accounts of agents, overlays; all but the sentence that tells why."""
    told = []
    for reveals in (True, False):
        with seated(reveals=reveals) as (table, player, other):
            other.say("select", slot=1)
            table.go()
            assert other.last("agent")["slot"] == 1
            other.say("overlay", name="visits")
            table.step(2)
            for page in (player, other):
                page.forget()
            player.say("take", slot=4)
            if not reveals:
                player.say("reset", seed=DEALT)
            table.go()
            for slot in (4, 1):
                player.say("select", slot=slot)
                other.say("select", slot=slot)
                table.step(1)
            other.say("overlay", name="visits")
            other.say("key")
            late = Page(table.session)  # comes while somebody plays
            table.pages = *table.pages, late
            table.step(STEPS)
            assert table.session._play.tick == 3 + 2 + STEPS
            assert other.last("refused")["reason"] == HIDDEN_OVERLAYS
            assert [one["slot"] for one in other.sent if one["type"] == "agent"] == []
            assert {one["slot"] for one in player.sent if one["type"] == "agent"} == {4}
            for page in table.pages:
                notes = {one.pop("note") for one in page.sent if one["type"] == "status"}
                assert notes == {DEALT_ANEW if reveals else FOG_OF_ROLES}
                assert {one.pop("fog") for one in page.sent if "fog" in one} == {reveals}
            told.append([(page.sent, page.frames) for page in table.pages])
    revealing, public = told
    for (ours, frames), (theirs, plain) in zip(revealing, public, strict=True):
        assert ours == theirs
        assert frames == plain
        assert len(frames) >= STEPS


def test_the_overlay_that_was_computed_before_is_not_sent_after():
    visitor = Visitor(lambda: None)
    visitor.post({"type": "agent", "slot": 1})
    visitor.post({"type": "status"})
    visitor.overlay({"type": "overlay"}, b"\x03")
    visitor.veil()
    assert visitor.fetch() == ([{"type": "status"}], None)
    assert visitor.fetch_overlay() is None


@pytest.mark.parametrize("reveals", [True, False])
def test_an_account_that_was_not_sent_is_given_again(reveals):
    with seated(reveals=reveals) as (table, player, _):
        player.say("take", slot=4)
        player.say("select", slot=4)
        table.go()
        player.say("give", slot=4)
        player.forget()
        table.go()
        assert player.last("agent")["slot"] == 4


def test_where_people_come_to_play_nothing_is_revealed():
    for players, revealed in (
        (Players(), True),
        (Players(for_people=True, fog=True), False),
        (Players(for_people=True), False),
    ):
        cast = players.cast("world", "werewolf/6")
        assert cast.reveals == revealed
        play = Play(cast)
        assert bool(cast.world.privileged_view) == revealed
        play.close()
    play = Play(Players().cast("world", "pong/2p"))
    assert play.world.privileged_view is None  # there is nothing to reveal
    play.close()


def test_interfaces_hand_on_what_is_revealed():
    inner = make_world("werewolf/6")
    world = InterfacedWorld(inner, {"agent": ["ConcatVec"]})
    assert world.privileged_view is False
    world.privileged_view = True
    world.reset(seeds=0)
    assert scene_of(world).layer("roles").text[0] != ""
    assert world.phase(0) == inner.phase(0) == "night"
    world.close()


@pytest.mark.parametrize("reveal", [True, False])
def test_a_recording_has_roles_from_its_beginning_where_it_was_asked_to_reveal_them(tmp_path, reveal):
    path = tmp_path / "game.replay"
    record("random", path, WORLD, OPTIONS, reveal=reveal)
    with ReplayReader(path) as reader:
        told = ["".join(frame.scene.layer("roles").text) != "" for frame in reader.frames()]
        phases = [mark.tick for mark in reader.marks() if mark.kind == "phase"]
    assert told[-1]  # the game is over
    assert all(one == reveal for one in told[:-1])
    assert len(phases) > 2


@pytest.mark.parametrize("world_id", ["werewolf/9-l1s9", "werewolf/multi-round", "werewolf/aiwolf13"])
def test_the_schema_is_the_same_with_and_without_the_privileged_view(world_id):
    """A session has one encoder per page, so frames of either view are read by whoever began with the other one."""
    world = make_world(world_id)
    policy, step = RandomPolicy(), world.reset(seeds=3)
    policy.start(world, 3)
    encoders: list[Encoder] = []
    ticks = 0
    while not step.over[0] and ticks < 20:
        scenes = []
        for shown in (True, False):
            world.privileged_view = shown
            scenes.append(scene_of(world))
        if not encoders:
            encoders = [Encoder(scene, recording=False) for scene in scenes]
            assert parts(encoders[0].schema) == parts(encoders[1].schema)
        for encoder in encoders:
            for scene in scenes:
                encoder.encode(scene, ticks, key=True)
        step, ticks = world.step(policy.act(step)), ticks + 1
    assert ticks > 5
    world.close()


def parts(schema: Schema) -> dict[str, Any]:
    return schema.model_dump(mode="json")
