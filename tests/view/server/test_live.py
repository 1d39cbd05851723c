"""Specification viewer 6.1 and 7: the websocket of a page, with a server on a port."""

from __future__ import annotations

import asyncio
import contextlib
import json
import shutil
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import websockets

from interplay.core.errors import UserError
from interplay.core.frames import Encoder
from interplay.core.policy import RandomPolicy
from interplay.core.scene import scene_of
from interplay.train.run.checkpoint import CheckpointWriter, read_checkpoint
from interplay.train.run.settings_file import settings_of
from interplay.verbs.viewing import Players
from interplay.view.server.config import EVENTS, MESSAGES, PAGES, SESSIONS
from interplay.view.server.eyes import FOG_OF_ROLES, SEES_ALL, WAIT_REVEALS
from interplay.view.server.guard import RateLimiter
from interplay.view.server.live import _listen
from interplay.view.server.messages import read_message
from interplay.view.server.play import Cast, Play, tick_seconds
from interplay.view.server.sessions import Sessions
from interplay.view.server.sources import Opened, Sources
from interplay.view.server.visitor import Visitor
from interplay.view.stepping import stands
from tests.cli.planting import make_run
from tests.core.drawings import check_alike
from tests.view.scenes import WalkWorld
from tests.view.server.asking import PATIENCE, Watcher, cast_of, no_root, served
from tests.view.server.folders import Clock
from tests.view.server.tables import BreakingWorld, GrowingWorld, TableWorld

WALK = "survival/1v1-heals-low"


@pytest.fixture(scope="module")
def address():
    """A server of registered worlds."""
    with served(no_root([WALK, "dilemma/fixed", "pong/2p"])) as address:
        yield address


def table(**options):
    """A server of a table of one's own."""
    return served(no_root(["table"]), cast_of(lambda: TableWorld(**options)))


def test_hello_says_everything_first():
    with served(no_root([WALK])) as own, Watcher(own) as page:
        hello = page.hear()
        assert hello["type"] == "hello"
        assert {key: hello[key] for key in ("protocol", "source", "world", "agents", "policy", "may_play", "turn_based", "alone")} == {
            "protocol": 2, "source": "world:0", "world": WALK, "agents": ["agent_0", "agent_1"], "policy": "random", "may_play": True,
            "turn_based": False, "alone": True,
        }  # fmt: skip
        own_time = (pytest.approx(30), pytest.approx(1 / 30))
        assert (hello["running"], hello["speed"], hello["tick_seconds"], hello["holders"]) == (
            True,
            *own_time,
            {},
        )
        assert all(head["kind"] == "discrete" for head in hello["heads"])
        assert page.hear()["type"] == "status"
        assert page.until("frame")["head"].key  # by then it may prepare its first step already
        with Watcher(own) as other:
            assert not other.hear()["alone"]


@pytest.mark.parametrize(
    ("own", "frames", "expected"),
    [(None, 1, 0.1), (None, 45, 1.5), (0.6, 6, 0.6), (0.02, 45, 0.02), (1e9, 1, 10.0), (1e-9, 1, 0.001)],
)
def test_a_tick_lasts_as_long_as_the_world_says(own, frames, expected):
    """Specification viewer 4.1 and 7; within the speeds that there are."""
    assert tick_seconds(SimpleNamespace(tick_seconds=own, frames_per_step=frames)) == pytest.approx(expected)


def test_frames_are_the_worlds_scenes():
    """Every tick of two episodes, stepped one by one, against the same world stepped by hand."""
    world = WalkWorld(length=12)
    scenes = []
    for _ in stands(world, RandomPolicy(), episodes=2, seed=0):
        scenes.append(scene_of(world))
    with served(no_root(["walk"]), cast_of(lambda: WalkWorld(length=12))) as own, Watcher(own) as page:
        page.stand_still()
        page.say("reset", seed=0)
        frame = page.until("frame")
        start = frame["tick"]
        for number, scene in enumerate(scenes):
            if number:
                page.say("step", n=1)
                frame = page.until("frame", tick=start + number)
            assert page.decoder is not None
            check_alike(frame["scene"], scene, page.decoder.schema)
            assert frame["head"].first == (number in (0, 13))
            assert frame["head"].last == (number in (12, 25))


def test_steps_and_the_end_of_an_episode_are_told(address):
    with Watcher(address, "world:1") as page:
        page.stand_still()
        page.say("reset", seed=4)
        at = page.until("frame")["tick"]
        page.say("step", n=50)
        assert page.until("frame", tick=at + 50)["head"].last
        ends = [event for event in page.events if event["kind"] == "end"]
        assert ends[-1] == {"tick": at + 50, "kind": "end", "slots": []}


def test_a_reset_ends_the_episode_once(address):
    """In the middle of one at the tick before; at its end, which was announced, no second time."""
    with Watcher(address, "world:1") as page:
        page.stand_still()
        page.say("reset", seed=4)
        at = page.until("frame")["tick"]
        page.say("step", n=7)
        page.until("frame", tick=at + 7)
        page.events.clear()
        page.say("reset", seed=4)
        page.until("frame", tick=at + 8)
        page.say("step", n=50)
        page.until("frame", tick=at + 58)
        page.say("reset", seed=4)
        page.until("frame", tick=at + 59)
        assert page.events == [{"tick": tick, "kind": "end", "slots": []} for tick in (at + 7, at + 58)]


def test_a_page_that_draws_nothing_costs_no_details_of_an_agent():
    with served(no_root([WALK])) as own, Watcher(own) as drawn, Watcher(own, shows=False) as hidden:
        hidden.say("select", slot=0)
        while len(hidden.ticks) < 2:
            hidden.hear()
        last = hidden.ticks[1]
        while drawn.until("frame")["tick"] < last + 30:
            pass
        hidden.say("shown", tick=last)
        while (tick := hidden.until("agent")["tick"]) <= last:
            pass
        assert tick >= last + 30


def test_a_slow_page_gets_two_frames_and_slows_nobody():
    with served(no_root([WALK])) as own, Watcher(own) as quick, Watcher(own, shows=False) as slow:
        quick.say("speed", ticks_per_second=200)
        quick.until("status", speed=200.0)
        while len(slow.ticks) < 2:
            slow.hear()
        began, first = time.monotonic(), quick.until("frame")["tick"]
        while time.monotonic() - began < 1.5:
            quick.hear()
        seconds = time.monotonic() - began
        assert quick.ticks[-1] - first > 0.5 * 200 * seconds
        slow.until_silence(0.3)
        assert len(slow.ticks) == 2
        behind = slow.ticks[-1]
        slow.say("shown", tick=slow.ticks[0])
        frame = slow.until("frame")  # relative to the last one that was sent, or the decoder would refuse it
        assert not frame["head"].key
        assert frame["tick"] > behind + 50
        assert len(slow.ticks) == 3


def test_a_frame_that_was_sent_meanwhile_takes_its_room():
    """The session asks for room, the server sends, the session offers: the third frame has to wait."""
    play = Play(cast_of(TableWorld)("world", "table"))
    visitor = Visitor(lambda: None)
    visitor.welcome({"type": "hello"}, Encoder(play.moment().scene, recording=False))
    for _ in range(2):
        assert visitor.wants(play.tick)
        visitor.offer(play.moment())
        play.step()
        asked = visitor.wants(play.tick)
        assert asked
        assert visitor.fetch()[1] is not None
    visitor.offer(play.moment())
    assert visitor.fetch()[1] is None
    assert visitor.shown(0)
    visitor.offer(play.moment())
    assert visitor.fetch()[1] is not None
    assert not visitor.shown(0)


def test_events_of_ticks_that_are_left_out_go_with_the_next_frame():
    """One message before a frame, however many ticks lie between: else a slow page falls behind for ever."""
    woken: list[int] = []
    play = Play(cast_of(TableWorld)("world", "table"))
    visitor = Visitor(lambda: woken.append(1))
    visitor.welcome({"type": "hello"}, Encoder(play.moment().scene, recording=False))
    visitor.fetch()
    woken.clear()
    events = [{"tick": tick, "kind": "birth", "slots": [0]} for tick in range(EVENTS + 3)]
    for event in events:
        visitor.note(event)
    assert not woken
    assert visitor.fetch() == ([], None)
    visitor.offer(play.moment())
    said, frame = visitor.fetch()
    assert said == [{"type": "events", "events": events[3:]}]
    assert frame is not None
    visitor.offer(play.moment())
    assert visitor.fetch()[0] == []


def test_what_is_queued_for_a_page_that_takes_nothing_does_not_grow():
    visitor = Visitor(lambda: None)
    refusals = [{"type": "refused", "what": "act", "slot": slot} for slot in range(EVENTS + 3)]
    for refusal in refusals:
        visitor.post(refusal)
    assert visitor.fetch()[0] == refusals[3:]


def test_what_waits_is_not_sent_to_who_asked_for_a_key_frame():
    """The queued frame may show the whole world although fog was just announced."""
    visitor, play = Visitor(lambda: None), Play(cast_of(TableWorld)("world", "table"))
    visitor.welcome({"type": "hello"}, Encoder(play.moment().scene, recording=False))
    visitor.offer(play.moment())
    visitor.ask_key()
    visitor.post({"type": "status", "fog": True})
    said, frame = visitor.fetch()
    assert [message["type"] for message in said] == ["hello", "status"]
    assert frame is None
    assert visitor.wants(play.tick)
    visitor.offer(play.moment())
    _, frame = visitor.fetch()
    assert frame is not None
    assert frame[0] == 1  # a key frame


def test_time_can_be_stopped_and_its_speed_chosen(address):
    with Watcher(address) as page:
        tick = page.stand_still()
        with pytest.raises(TimeoutError):
            page.hear(timeout=0.4)
        page.say("speed", ticks_per_second=0)
        page.say("run", on=True)
        began = time.monotonic()
        while page.until("frame")["tick"] < tick + 100:
            assert time.monotonic() - began < 10
        page.say("speed", ticks_per_second=10)


def test_a_key_frame_can_be_asked_for(address):
    with Watcher(address) as page:
        tick = page.stand_still()
        page.say("key")
        frame = page.until("frame")
        assert (frame["tick"], frame["head"].key) == (tick, True)


def test_a_selected_agent_is_told_ten_times_a_second_at_most(address):
    with Watcher(address) as page:
        page.say("run", on=True)
        page.say("speed", ticks_per_second=100)
        page.say("select", slot=1)
        page.until("agent", slot=1)
        began = time.monotonic()
        while time.monotonic() - began < 1.0:
            page.hear()
        count = sum(message["type"] == "agent" for message in page.said)
        assert 3 <= count <= 13
        page.say("select", slot=None)
        page.say("speed", ticks_per_second=10)
        tick = page.stand_still()
        page.say("select", slot=0)
        assert page.until("agent")["tick"] == tick
        page.say("select", slot=2)
        assert page.until("refused") == {
            "type": "refused",
            "what": "select",
            "slot": 2,
            "reason": "slot 2: the world has 2; choose one of those",
        }


MALFORMED = [
    "", "{", "[]", "null", "7", '"run"', "{}", '{"type": "rum", "on": true}', '{"type": "run"}', '{"type": "run", "on": 1}',
    '{"type": "run", "on": true, "more": 1}', '{"type": "run", "on": true, "on": false}', '{"type": "step", "n": 0}',
    '{"type": "step", "n": 1.0}', '{"type": "step", "n": true}', '{"type": "step", "n": 10001}', '{"type": "speed", "ticks_per_second": NaN}',
    '{"type": "speed", "ticks_per_second": 1e999}', '{"type": "speed", "ticks_per_second": -1}', '{"type": "speed", "ticks_per_second": 0.01}',
    '{"type": "speed", "ticks_per_second": 1001}', '{"type": "shown", "tick": -1}', '{"type": "shown", "tick": 4294967296}',
    '{"type": "select"}', '{"type": "select", "slot": "0"}', '{"type": "reset", "seed": -1}', '{"type": "take", "slot": null}',
    '{"type": "act", "slot": 0, "tick": 0, "action": {"action": true}}', '{"type": "act", "slot": 0, "tick": 0, "action": {"action": "0"}}',
    '{"type": "act", "slot": 0, "tick": 0, "action": {"action": 1.5}}', '{"type": "act", "slot": 0, "tick": 0, "action": [0]}',
    '{"type": "place", "slot": 0}', '{"type": "run", "on": ' + "[" * 40 + "]" * 40 + "}", "[" * 30_000, '{"a":' * 10_000,
    '{"type": "step", "n": ' + "9" * 5_000 + "}", '{"type": "key"}\n{"type": "key"}', '{"type": "\\ud800"}',
]  # fmt: skip


@pytest.mark.parametrize("text", MALFORMED, ids=range(len(MALFORMED)))
def test_malformed_messages_are_no_messages(text):
    with pytest.raises(ValueError, match=r".") as caught:
        read_message(text)
    assert not isinstance(caught.value, RecursionError)


@pytest.mark.parametrize(
    ("message", "code"),
    [('{"type": "rum"}', 1008), ("[" * 50_000, 1008), ("x" * 65_536, 1008), ("x" * 70_000, 1009), (b"\1\2", 1003)],
    ids=range(5),
)  # fmt: skip
def test_what_no_page_says_ends_its_connection_alone(address, message, code):
    with Watcher(address) as other, Watcher(address) as page:
        page.until("frame")
        page.socket.send(message)
        assert page.until_closed() == code
        other.until("frame")


FLOODS = {
    "messages": lambda page: [page.say("select", slot=None) for _ in range(5 * MESSAGES)],
    "pings": lambda page: [page.socket.ping() for _ in range(5 * MESSAGES)],
    "pongs": lambda page: [page.socket.pong() for _ in range(5 * MESSAGES)],
    "pieces": lambda page: page.socket.send("" for _ in range(5 * MESSAGES)),
}


@pytest.mark.parametrize("flood", FLOODS)
def test_a_flood_ends_its_connection_alone(address, flood):
    with Watcher(address) as other, Watcher(address, shows=False) as page:
        page.until("frame")
        with contextlib.suppress(websockets.ConnectionClosed):
            FLOODS[flood](page)
        assert page.until_closed() in (1008, 0)  # what it still sends may cost it the reason
        other.until("frame")


def test_a_few_pings_are_answered(address):
    with Watcher(address) as page:
        for _ in range(MESSAGES // 2):
            assert page.socket.ping().wait(10)
        page.until("frame")


def test_the_pace():
    clock = Clock()
    limiter = RateLimiter(clock)
    assert [limiter.allows() for _ in range(61)] == [True] * 60 + [False]
    clock.now += 0.5
    assert [limiter.allows() for _ in range(31)].count(True) <= 30


def test_a_slot_is_taken_played_and_given_back():
    with table() as own, Watcher(own) as page:
        tick = page.stand_still()
        page.say("act", slot=0, tick=0, action={"action": 1})
        assert page.until("refused")["reason"] == "seat_0: you do not play it; take it first"
        page.say("take", slot=0)
        told = page.until("status", holders={"0": "you"})
        assert (told["note"], told["waits"], told["waiting"]) == (SEES_ALL, True, 0)  # a form takes its time
        page.say("wait", on=False)
        page.say("select", slot=0)
        for choice in (2, 1, 2):
            page.say("act", slot=0, tick=tick, action={"action": choice})
            page.say("step", n=1)
            tick += 1
            told = page.until("agent", tick=tick, chosen={"action": choice})
            assert (told["policy"], told["reward"]) == ("a person", choice)
        page.say("step", n=1)
        # Without a word: the first legal choice.
        page.until("agent", tick=tick + 1, chosen={"action": 0}, reward=0.0)
        page.say("take", slot=1)
        page.say("act", slot=1, tick=0, action={"action": 0})
        assert page.until("refused") == {
            "type": "refused",
            "what": "act",
            "reason": "action = 0 is not legal now; choose another one",
        }
        page.say("act", slot=0, tick=10_000, action={"action": 1})
        assert "choose again" in page.until("refused")["reason"]
        page.say("give", slot=0)
        page.say("give", slot=1)
        assert page.until("status", holders={})["note"] is None
        page.say("give", slot=1)
        assert page.until("refused")["what"] == "give"
        page.say("take", slot=1)
        assert page.until("status", holders={"1": "you"})["waits"] is False  # as it was said


def test_two_people_cannot_hold_one_slot():
    with table() as own, Watcher(own) as first:
        first.say("take", slot=1)
        first.until("status", holders={"1": "you"})
        with Watcher(own) as second:
            assert second.hear()["holders"] == {"1": "somebody"}
            second.say("take", slot=1)
            assert second.until("refused") == {
                "type": "refused", "what": "take", "reason": "seat_1: another page plays it; take another slot",
            }  # fmt: skip
            second.say("give", slot=1)
            assert second.until("refused")["what"] == "give"
            second.say("take", slot=0)
            first.until("status", holders={"0": "somebody", "1": "you"})
        first.until("status", holders={"1": "you"})  # who goes gives back


def test_a_world_of_turns_waits_for_the_person():
    with table(seats=2, turns=True) as own, Watcher(own) as page:
        assert page.hear()["turn_based"] is True
        page.say("take", slot=0)
        page.say("reset", seed=1)
        page.until("status", waiting=0)
        page.say("speed", ticks_per_second=1000)
        page.until_silence(0.5)
        tick = page.ticks[-1]
        page.say("act", slot=0, tick=tick - 1, action={"action": 1})
        assert "choose again" in page.until("refused")["reason"]
        page.say("act", slot=0, tick=tick, action={"action": 1})
        while page.hear().get("tick") != tick + 2:
            pass  # the other seat moved at once, and it waits again
        page.until_silence(0.4)
        assert page.ticks[-1] == tick + 2
        page.say("give", slot=0)
        page.until("status", waiting=None)
        while page.until("frame")["tick"] < tick + 5:
            pass


def test_who_plays_where_roles_are_hidden_looks_at_nobody_else():
    with table(seats=3, hides=True) as own, Watcher(own) as page:
        page.stand_still()
        page.say("select", slot=2)
        page.until("agent", slot=2)
        page.say("take", slot=1)
        assert page.until("status", holders={"1": "you"})["note"] == FOG_OF_ROLES
        told = len(page.said)
        page.say("step", n=3)
        page.until_silence(0.4)  # whoever is selected is told of by then
        page.say("select", slot=0)
        assert "roles are hidden" in page.until("refused")["reason"]
        page.say("select", slot=1)
        page.until("agent", slot=1)
        others = [m for m in page.said[told:] if m["type"] == "agent" and m["slot"] != 1]
        assert others == []
        assert "52.0" not in json.dumps(page.said[told:])
        page.say("give", slot=1)
        page.say("select", slot=0)
        page.until("agent", slot=0)


def test_a_world_that_breaks_is_told_and_the_server_lives():
    with served(no_root(["table"]), cast_of(BreakingWorld)) as own:
        for _ in range(2):
            with Watcher(own) as page:
                bye = page.until("bye")
                assert bye["reason"].startswith("world:0 raised ZeroDivisionError: somebody's own mistake")
                assert bye["again"] is False


def test_a_source_that_cannot_be_opened_is_told():
    def refused(kind, name):
        raise UserError(f"{kind} {name}: refused; mend it")

    with served(no_root(["table"]), refused) as own:
        with Watcher(own) as page:
            assert page.hear() == {"type": "bye", "reason": "world table: refused; mend it", "again": False}
        with Watcher(own, "world:1") as page:
            assert "world 1" in page.hear()["reason"]


def test_a_scene_of_another_kind_sends_the_page_round_again():
    with served(no_root(["table"]), cast_of(GrowingWorld)) as own:
        with Watcher(own) as page:
            page.stand_still()
            page.say("reset", seed=None)
            bye = page.until("bye")
            assert (bye["again"], "bounds" in bye["reason"]) == (True, True)
        with Watcher(own) as page:
            assert page.hear()["schema"]["bounds"][2] == 12.0
            page.until("frame")


def test_pages_and_sessions_are_counted():
    worlds = [f"table {n}" for n in range(SESSIONS + 1)]
    with served(no_root(worlds), cast_of(TableWorld)) as own:
        pages = [Watcher(own, f"world:{n % SESSIONS}") for n in range(PAGES)]
        for page in pages:
            page.until("frame")
        with Watcher(own) as page:
            assert page.hear()["reason"] == f"{PAGES} pages watch already; close one of them"
        for page in pages[SESSIONS:]:
            page.socket.close()
        with Watcher(own, f"world:{SESSIONS}") as page:
            assert (
                page.hear()["reason"] == f"{SESSIONS} worlds are played already; close a page of one of them"
            )
        pages[0].socket.close()
        time.sleep(0.3)
        with Watcher(own, f"world:{SESSIONS}") as page:  # takes the place of the one that nobody watches
            page.until("frame")
        for page in pages:
            page.socket.close()


def test_worlds_that_are_left_are_counted_until_their_threads_end():
    """A page that changes between worlds makes no more of them at a time than the server allows."""
    go = threading.Event()

    def make(kind: str, name: str) -> Cast:
        assert go.wait(PATIENCE)
        return Cast(TableWorld(), RandomPolicy(), "random")

    sessions = Sessions(Sources(no_root([f"table {n}" for n in range(3 * SESSIONS)])), make)
    for n in range(2 * SESSIONS):
        visitor = Visitor(lambda: None)
        sessions.join(f"world:{n}", visitor)
        sessions.leave(visitor)
    with pytest.raises(UserError, match="still being left; come back in a moment"):
        sessions.join(f"world:{2 * SESSIONS}", Visitor(lambda: None))
    go.set()
    began = time.monotonic()
    while time.monotonic() - began < PATIENCE:
        try:
            sessions.join(f"world:{2 * SESSIONS}", Visitor(lambda: None))
            break
        except UserError:
            time.sleep(0.05)
    else:
        raise AssertionError("they are never left")
    sessions.stop()


def test_many_resets_are_one():
    begins = []

    class Slow(TableWorld):
        def _begin(self, which: np.ndarray, seeds: np.ndarray | None) -> None:
            begins.append(seeds)
            time.sleep(0.1)
            super()._begin(which, seeds)

    with served(no_root(["table"]), cast_of(Slow)) as own, Watcher(own) as page:
        page.stand_still()
        before = len(begins)
        for seed in range(30):
            page.say("reset", seed=seed)
        page.say("speed", ticks_per_second=2)
        page.until("status", speed=2.0)
        page.until_silence(0.5)
        assert 0 < len(begins) - before < 10
    last = begins[-1]
    Slow().reset(seeds=29)
    assert last.tolist() == begins[-1].tolist()


def test_where_roles_are_hidden_time_stands_still_for_nobody_whom_others_see():
    """At night only some roles act, so a world that waits would reveal them."""
    with table(turns=True, hides=True, length=100_000) as own, Watcher(own) as first:
        assert first.hear()["turn_based"] is False
        first.say("speed", ticks_per_second=100)
        first.say("take", slot=0)
        first.say("wait", on=True)
        first.until("status", waiting=0)
        first.until_silence(0.4)
        stood = first.ticks[-1]
        with Watcher(own) as second:
            first.until("status", waiting=None, waits=False)
            while second.hear()["type"] != "frame" or second.ticks[-1] < stood + 5:
                pass  # it goes on
            told = [message for message in second.said if message["type"] == "status"]
            assert told[-1]["holders"] == {"0": "somebody"}
            assert {(message["waiting"], message["waits"]) for message in told} == {(None, False)}
            first.say("wait", on=True)
            assert first.until("refused")["reason"] == WAIT_REVEALS
            first.until("status", waits=False)
            second.say("select", slot=1)
            refused = second.until("refused", what="select")
            assert refused["slot"] == 1
            assert "roles are hidden" in refused["reason"]
        first.until("status", waiting=0)  # alone again


def test_where_roles_are_hidden_a_choice_hastens_no_tick_that_others_see():
    with table(hides=True, length=100_000) as own, Watcher(own) as first, Watcher(own):
        first.say("speed", ticks_per_second=1)
        first.say("take", slot=0)
        first.until("status", holders={"0": "you"}, waits=False)
        first.until("frame")  # of a tick that has just begun
        began = time.monotonic()
        first.say("act", slot=0, tick=first.ticks[-1], action={"action": 1})
        first.until("frame")
        assert time.monotonic() - began > 0.2  # at once: a few hundredths


def test_time_stands_still_while_nobody_watches():
    with table(length=10_000) as own:
        with Watcher(own) as page:
            page.say("speed", ticks_per_second=1000)
            page.until("status", speed=1000.0)
            tick = page.stand_still()
            page.say("run", on=True)
            page.until("status", running=True)
        time.sleep(1.5)
        with Watcher(own) as page:
            assert page.hear()["tick"] < tick + 1_000


def test_a_run_is_played_by_its_newest_checkpoint(tmp_path: Path):
    """What the network says of an agent, a damaged checkpoint, and a sound newer one that takes over in the middle of an episode."""
    run = make_run(tmp_path / "run")
    (first,) = (run / "checkpoints").iterdir()
    steps = int(first.name)
    with served(Opened("run", run), Players().cast) as own, Watcher(own, "run:0") as page:
        assert page.hear()["policy"] == f"run at {steps:,}, sampled"
        page.say("select", slot=0)
        told = page.until("agent", acting=True)
        chances = told["heads"][0]["probabilities"]
        assert sum(chances) == pytest.approx(1.0, abs=1e-4)
        assert isinstance(told["value"], float)
        shutil.copytree(first, first.with_name(f"{steps + 4:012d}"))
        status = page.until("status")
        while status["note"] is None:
            status = page.until("status")
        assert ("is damaged" in status["note"], status["policy"]) == (True, f"run at {steps:,}, sampled")
        found = read_checkpoint(first)
        with CheckpointWriter(run, steps + 8) as writer:
            for stem, arrays in found.arrays.items():
                writer.write(stem, {name: np.zeros_like(array) for name, array in arrays.items()})
            writer.commit(found.record, settings=settings_of(first))
        assert page.until("status", policy=f"run at {steps + 8:,}, sampled")["note"] is None
        told = page.until("agent", acting=True, policy=f"run at {steps + 8:,}, sampled")
        assert told["heads"][0]["probabilities"] == pytest.approx([1 / 3] * 3)
        assert told["value"] == 0.0


def test_the_code_of_a_close_says_why(monkeypatch):
    """Of each reason by itself: beside a flood, a lost connection may take the place of the code."""
    monkeypatch.setattr("interplay.view.server.live.RateLimiter", lambda: RateLimiter(lambda: 0.0))
    many = ['{"type": "select", "slot": null}'] * (2 * MESSAGES)
    for texts, code in ((many, 1008), (["{"], 1008), (["x" * 70_000], 1009), ([None], 1003)):
        left, closes = list(texts), []

        async def receive(left: list = left) -> dict:
            return {"type": "websocket.receive", "text": left.pop(0)}

        async def close(code: int, reason: str, closes: list = closes) -> None:
            closes.append((code, type(reason)))

        heard: list = []
        socket = SimpleNamespace(receive=receive, close=close)
        session = SimpleNamespace(receive=lambda visitor, message, heard=heard: heard.append(message))
        asyncio.run(_listen(socket, session, SimpleNamespace(shown=lambda tick: True)))
        assert closes == [(code, str)]
        assert len(heard) == (MESSAGES if texts is many else 0)
