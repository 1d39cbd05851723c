"""Recordings over the routes: written data comes back, damage is reported and costs its own ticks."""

from __future__ import annotations

import threading
import zlib

import numpy as np
import pytest

from interplay.core.frames import Decoder, Schema, split_frames
from interplay.core.policy import RandomPolicy
from interplay.core.replay import ReplayReader, ReplayWriter, WorldRecorder
from interplay.core.replay.exact import write_actions, write_snapshot
from interplay.core.replay.layout import ACTIONS, CHUNK_HEAD, HUMAN, SCENES, SNAPSHOT
from interplay.core.replay.writer import SNAPSHOT_EVERY
from interplay.core.scene import scene_of
from interplay.registry import make_world
from interplay.view.replays import keep
from interplay.view.server.config import STEPPED
from interplay.view.server.keeping import GIVEN, TAKEN
from interplay.view.server.recordings import Recordings
from interplay.view.server.refusals import Busy, status_of
from interplay.view.server.sources import Sources
from interplay.view.stepping import stands
from tests.view.server.asking import agent_at, app_of, ask, beneath
from tests.view.server.folders import record


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """A folder with a recording of three episodes, and what was played."""
    root = tmp_path_factory.mktemp("played")
    world, policy = make_world("dilemma/fixed"), RandomPolicy()
    hashes = []

    def noted():
        for stand in stands(world, policy, 3, seed=5):
            hashes.append(int(world.hash()[0]))
            yield stand

    keep(world, 0, root / "match.replay", noted(), 5, policy, None, 3)
    return root, hashes


def test_the_page_can_decode_what_it_is_given(played):
    root, hashes = played
    app = app_of(beneath(root))
    told = ask(app, "/api/recordings/0").json
    assert (told["ticks"], told["complete"], told["problems"]) == (len(hashes), True, [])
    assert told["header"]["world"] == "dilemma/fixed"
    decoder, ticks = Decoder(Schema.model_validate(told["header"]["scene"])), []
    with ReplayReader(root / "match.replay") as reader:
        for number, chunk in enumerate(told["chunks"]):
            answer = ask(app, f"/api/recordings/0/chunks/{number}")
            assert answer.header(b"content-type") == b"application/octet-stream"
            assert len(answer.body) == chunk["stored"]
            raw = zlib.decompress(answer.body, -15)
            assert len(raw) == chunk["raw"]
            for frame in split_frames(raw):
                head = decoder.decode(frame)
                assert decoder.scene().layers == reader.frame(head.tick).scene.layers
                ticks.append(head.tick)
            assert ticks[-1] == chunk["first"] + chunk["ticks"] - 1
    assert ticks == list(range(len(hashes)))
    assert len(told["chunks"]) == 2


def test_events_and_the_file(played):
    root, _ = played
    app = app_of(beneath(root))
    events = ask(app, "/api/recordings/0/events").json["events"]
    assert [(one["tick"], one["kind"]) for one in events if one["kind"] == "end"] == [
        (50, "end"),
        (101, "end"),
        (152, "end"),
    ]
    later = ask(app, "/api/recordings/0/events", query=b"tick=101").json["events"]
    assert later == [one for one in events if one["tick"] >= 101]
    assert 0 < len(later) < len(events)
    answer = ask(app, "/api/recordings/0/file")
    assert answer.body == (root / "match.replay").read_bytes()
    assert answer.header(b"content-disposition") == b'attachment; filename="match.replay"'


def test_an_agent_is_looked_at_where_the_world_can_be_stepped_again(played):
    root, hashes = played
    app = app_of(beneath(root))
    for tick in (60, 7):
        with ReplayReader(root / "match.replay") as reader:
            world = reader.world_at(tick)
        assert int(world.hash()[0]) == hashes[tick]
        told = agent_at(app, 1, tick).json
        assert (told["slot"], told["tick"], told["name"], told["policy"]) == (1, tick, "agent_1", "random")
        assert told["reward"] == float(world.timestep.reward[0, 1])
        seen = {part["name"]: part["values"] for part in told["observation"]}
        assert seen == {name: np.ravel(a[0, 1]).tolist() for name, a in world.timestep.observation.items()}
        assert told["heads"][0]["legal"] == [True, True]


def test_the_next_tick_costs_one_step_and_is_what_a_fresh_look_finds(played, tmp_path, monkeypatch):
    world, steps = type(make_world("dilemma/fixed")), [0]
    step = world.step

    def counted(self, action):
        steps[0] += 1
        return step(self, action)

    monkeypatch.setattr(world, "step", counted)
    path = tmp_path / "match.replay"
    path.write_bytes((played[0] / "match.replay").read_bytes())
    recordings, costs = Recordings(Sources(beneath(tmp_path))), []
    for tick in (95, 96, 96, 99, 103, 20, 30):  # tick 102 is a reset
        before = steps[0]
        found = recordings.agent(0, 1, tick)
        costs.append(steps[0] - before)
        assert found == Recordings(Sources(beneath(tmp_path))).agent(0, 1, tick)
    assert costs == [94, 1, 0, 3, 3, 20, 10]
    record(tmp_path / "other", 300).rename(path)  # of the same world, which must not be played on
    assert recordings.agent(0, 1, 31) == Recordings(Sources(beneath(tmp_path))).agent(0, 1, 31)
    before = steps[0]
    recordings.agent(0, 1, 200), recordings.agent(0, 1, 260)
    assert steps[0] - before == 200 - 31 + 260 - SNAPSHOT_EVERY  # from the recorded state


def test_who_played_is_a_person_from_taking_over_to_giving_back(tmp_path):
    world, policy = make_world("dilemma/fixed"), RandomPolicy()
    header = {"seed": 5, "policy": "random and people", "players": ("random", HUMAN)}
    with WorldRecorder(tmp_path / "mine.replay", world, header=header) as recorder:
        world.reset(seeds=5)
        policy.start(world, 5)
        recorder.add_mark(TAKEN, 1)
        recorder.begin()
        for tick in range(1, 9):
            action = policy.act(world.timestep)
            world.step(action)
            if tick == 4:
                recorder.add_mark(GIVEN, 1)
            recorder.step(action, last=False)
    app = app_of(beneath(tmp_path))
    asked = ((1, 0), (1, 3), (1, 6), (0, 3))
    told = [agent_at(app, slot, tick).json["policy"] for slot, tick in asked]
    assert told == ["a person", "a person", "random", "random"]


@pytest.mark.parametrize(
    ("path", "query", "said"),
    [("agent/2", "tick=1", "the world has 2"), ("agent/0", "tick=999", "cannot be played on"), ("agent/0", "", "no whole number")],
)  # fmt: skip
def test_agents_that_there_are_not(played, path, query, said):
    answer = ask(app_of(beneath(played[0])), f"/api/recordings/0/{path}", query=query.encode())
    assert (answer.status, said in answer.json["error"]) == (404, True), answer


def test_a_few_bytes_do_not_make_a_world_play_for_hours(tmp_path):
    """Chunks may claim millions of ticks: resets of those are a few kB."""
    world, ticks = make_world("dilemma/fixed"), STEPPED + 1
    world.reset(seeds=1)
    header = {"world": world.id, "world_version": world.version, "agents": world.agents, "exact": True}
    for last, claimed in ((ticks, ticks), (1, ticks), (1, 1)):
        with ReplayWriter(tmp_path / "a.replay", scene_of(world, 0), header) as writer:
            writer.add(SNAPSHOT, 0, 1, write_snapshot(world, 0))
            writer.add(ACTIONS, 1, claimed, write_actions([None] * ticks))
            writer.add(SCENES, 0, ticks + 1, b"")
        answer = agent_at(app_of(beneath(tmp_path)), 0, last)
        said = answer.json["error"]
        assert answer.status == 404
        assert ("4,097" in said and "at most" in said) if claimed > 1 else "no actions of" in said


def test_who_looks_at_an_agent_does_not_wait_for_ever(played, monkeypatch):
    """Otherwise forty looks at one slow world would hold every thread of the server."""
    sources = Sources(beneath(played[0]))
    recordings = Recordings(sources)
    monkeypatch.setattr("interplay.view.server.recordings.STEPPING_SECONDS", 0.05)
    began, go = threading.Event(), threading.Event()
    world_at = ReplayReader.world_at

    def slow(*args, **more):
        began.set()
        go.wait(20)
        return world_at(*args, **more)

    monkeypatch.setattr(ReplayReader, "world_at", slow)
    thread = threading.Thread(target=recordings.agent, args=(0, 0, 1))
    thread.start()
    assert began.wait(20)
    with pytest.raises(Busy, match="agents") as busy:
        recordings.agent(0, 0, 1)
    assert status_of(busy.value) == 503
    go.set()
    thread.join(20)
    assert recordings.agent(0, 1, 1)["slot"] == 1


def test_without_states_no_agent_can_be_looked_at(tmp_path):
    world = make_world("dilemma/fixed")
    with WorldRecorder(tmp_path / "a.replay", world, exact=False) as recorder:
        world.reset(seeds=1)
        recorder.begin()
    answer = agent_at(app_of(beneath(tmp_path)), 0, 0)
    assert (answer.status, answer.json["error"]) == (
        404,
        "a.replay: tick 0 cannot be played on, it holds scenes alone; watching works",
    )


def test_a_damaged_chunk_is_refused_and_the_others_are_not(played, tmp_path):
    data = bytearray((played[0] / "match.replay").read_bytes())
    with ReplayReader(played[0] / "match.replay") as reader:
        first = next(chunk for chunk in reader.chunks if chunk.tag == SCENES)
    data[first.offset + CHUNK_HEAD.size + 5] ^= 255
    (tmp_path / "a.replay").write_bytes(data)
    app = app_of(beneath(tmp_path))
    answer = ask(app, "/api/recordings/0/chunks/0")
    assert answer.status == 422
    assert answer.json["error"].startswith("ticks 0..99 are damaged (")
    assert ask(app, "/api/recordings/0/chunks/1").status == 200
    assert len(ask(app, "/api/recordings/0").json["chunks"]) == 2


def test_a_chunk_that_claims_too_much_is_not_sent(played, tmp_path):
    data = bytearray((played[0] / "match.replay").read_bytes())
    with ReplayReader(played[0] / "match.replay") as reader:
        first = next(chunk for chunk in reader.chunks if chunk.tag == SCENES)
    tag, tick, ticks, _, stored, _ = CHUNK_HEAD.unpack_from(data, first.offset)
    body = bytes(data[first.offset + CHUNK_HEAD.size :][:stored])
    head = CHUNK_HEAD.pack(tag, tick, ticks, 2**31, stored, 0)[:-4]
    data[first.offset : first.offset + CHUNK_HEAD.size] = head + zlib.crc32(body, zlib.crc32(head)).to_bytes(
        4, "little"
    )
    (tmp_path / "a.replay").write_bytes(data)
    answer = ask(app_of(beneath(tmp_path)), "/api/recordings/0/chunks/0")
    assert (answer.status, "67,108,864 are read at most" in answer.json["error"]) == (422, True)


@pytest.mark.parametrize("cut", [0, 3, 15, 40, 300])
def test_files_that_were_cut(played, tmp_path, cut):
    (tmp_path / "a.replay").write_bytes((played[0] / "match.replay").read_bytes()[:cut])
    app = app_of(beneath(tmp_path))
    answer = ask(app, "/api/recordings/0")
    assert answer.status == 422
    assert answer.json["error"].startswith("a.replay")
    assert str(tmp_path) not in answer.json["error"]
    assert ask(app, "/api/sources").json["recordings"][0]["problem"] == answer.json["error"]


def test_a_file_that_grows_is_read_to_its_last_whole_chunk(tmp_path):
    world = make_world("dilemma/fixed")
    path = tmp_path / "a.replay"
    app = None
    with WorldRecorder(path, world, growing=True) as recorder:
        world.reset(seeds=1)
        recorder.begin()
        for step in range(320):
            if world.timestep.over[0]:
                world.reset()
                recorder.begin()
            else:
                world.step([[0, 1]])
                recorder.step([[0, 1]])
            if step == 150:
                app = app_of(beneath(tmp_path))
                assert ask(app, "/api/recordings/0").json["ticks"] == 100
        assert app is not None
        told = ask(app, "/api/recordings/0").json
        assert (told["ticks"], told["complete"], len(told["chunks"])) == (300, False, 3)
        assert ask(app, "/api/recordings/0/chunks/2").status == 200
    told = ask(app, "/api/recordings/0").json
    assert (told["ticks"], told["complete"], told["problems"]) == (321, True, [])


def test_a_file_that_claims_much_is_looked_through_by_and_by(tmp_path, monkeypatch):
    path = record(tmp_path / "a.replay", 250)
    path.write_bytes(path.read_bytes()[:-1])  # without its index
    monkeypatch.setattr("interplay.view.server.recordings.WALK_SECONDS", 0.0)
    app = app_of(beneath(tmp_path))
    told = ask(app, "/api/recordings/0").json
    assert told["ticks"] < 251
    assert any("takes long" in line for line in told["problems"])
    for _ in range(10):
        told = ask(app, "/api/recordings/0").json
    assert told["ticks"] == 251
    assert not any("takes long" in line for line in told["problems"])


def test_another_file_under_the_name_is_read_anew(tmp_path):
    record(tmp_path / "a.replay")
    app = app_of(beneath(tmp_path))
    assert ask(app, "/api/recordings/0").json["ticks"] == 4
    record(tmp_path / "b", 5).rename(tmp_path / "a.replay")
    assert ask(app, "/api/recordings/0").json["ticks"] == 6
    assert ask(app, "/api/sources").json["recordings"][0]["ticks"] == 6


def test_no_world_is_stepped_in_a_read_only_viewer(played):
    app = app_of(beneath(played[0]), None)
    answer = agent_at(app, 0, 1)
    assert answer.status == 404
    assert ask(app, "/api/about").json["read_only"] is True
