"""Overlays of recordings: they say of any tick what a play that was looked on from the beginning says."""

from __future__ import annotations

import base64
import json
import urllib.parse

import numpy as np
import pytest

from interplay.core.policy import RandomPolicy
from interplay.core.replay import ReplayReader, WorldRecorder
from interplay.evaluate.lifetimes.mmo.overlays.recorders import visits
from interplay.evaluate.lifetimes.places import PlaceRecorder, read_places
from interplay.evaluate.lifetimes.tick import tick_reader
from interplay.registry import make_world
from interplay.view.server import recorded_overlays
from interplay.view.server.overlay_frames import HEAD
from interplay.view.server.recorded_overlays import Counting
from interplay.view.server.stamps import recording_stamp
from tests.view.server.asking import app_of, ask, beneath
from tests.view.server.folders import record

TICKS = 90
WORLDS = {
    "survival": ("survival/2v2-all-low", {"max_steps": 40}),
    "mmo": ("mmo/combat", {"interior": 24, "slots": 16, "npop": 2, "maps": 1}),
}


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    """A folder of recordings, and what recorders have seen at every tick: name -> (H, L) of each tick."""
    root = tmp_path_factory.mktemp("played")
    counts = {}
    for name, (world_id, options) in WORLDS.items():
        world, policy = make_world(world_id, **options), RandomPolicy()
        recorder, read = (PlaceRecorder(), read_places) if name == "survival" else (None, None)
        counts[name] = []
        header = {"seed": 5, "policy": "random", "options": options}
        with WorldRecorder(root / f"{name}.replay", world, header=header, snapshot_every=8) as file:
            world.reset(seeds=5)
            policy.start(world, 5)
            if recorder is None:
                recorder, read = visits(world), tick_reader(world)
            file.begin()
            recorder.add(read(world))
            counts[name].append(recorder.counts.copy())
            for _ in range(TICKS):
                if world.timestep.over[0]:
                    world.reset()
                    policy.forget(np.ones(1, bool))
                    file.begin()
                else:
                    action = policy.act(world.timestep)
                    world.step(action)
                    file.step(action, last=bool(world.timestep.over[0]))
                recorder.add(read(world))
                counts[name].append(recorder.counts.copy())
    return root, counts


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """Answers come whole however slow the machine is."""
    monkeypatch.setattr(recorded_overlays, "COUNTED_SECONDS", 600.0)


NUMBERS = {"mmo": 0, "survival": 1}  # of the files, by name


def shown(app, world: str, name: str, tick: int, **asked):
    """The description, and the cells."""
    query = urllib.parse.urlencode(
        {"tick": tick, "asked": json.dumps({"type": "overlay", "name": name, **asked})}
    )
    answer = ask(app, f"/api/recordings/{NUMBERS[world]}/overlay", query=query.encode())
    if answer.status != 200:
        return answer, None
    told = answer.json
    frame = base64.b64decode(told["frame"])
    _, _, width, height, _, at, *_ = HEAD.unpack(frame[: HEAD.size])
    return {**told, "tick": at}, np.frombuffer(frame, np.uint8, width * height, HEAD.size).reshape(
        height, width
    )


def encoded(counts: np.ndarray) -> np.ndarray:
    share = np.log1p(counts) / np.log1p(max(counts.max(), 1))
    return np.where(counts > 0, 1 + np.rint(254 * share), 0)


def test_visits_of_any_tick_are_those_of_a_play_that_was_looked_on(played):
    root, counts = played
    app = app_of(beneath(root))
    listed = ask(app, "/api/recordings/1/overlays").json
    assert [one["name"] for one in listed["overlays"]] == ["visits"]  # a recording expects nothing
    for tick in (0, 17, 18, 60, 9, 10, 9, 16, TICKS, 33):  # on and back, over states and the ends of episodes
        told, cells = shown(app, "survival", "visits", tick)
        expected = counts["survival"][tick].sum(axis=0)
        assert (told["tick"], told["since"], told["seen"][1]) == (tick, 0, expected.max())
        assert np.array_equal(cells, encoded(expected))
    told, cells = shown(app, "survival", "visits", 30, agent=2, options={"whose": "selected agent"})
    assert np.array_equal(cells, encoded(counts["survival"][30][2]))
    living = (counts["survival"][30][2]).sum()
    assert living == 31  # the ticks 0..30


def test_exploration_and_combat_of_a_persistent_world(played):
    root, counts = played
    app = app_of(beneath(root))
    told = [one["name"] for one in ask(app, "/api/recordings/0/overlays").json["overlays"]]
    assert told[:2] == ["exploration", "combat"]  # others may have been registered in this process
    for tick in (40, 8, TICKS):
        told, cells = shown(app, "mmo", "exploration", tick, population=1)
        assert told["tick"] == tick
        assert int((cells > 0).sum()) == int((counts["mmo"][tick][1] > 0).sum())
        assert told["seen"][1] == counts["mmo"][tick][1].max()
    assert shown(app, "mmo", "combat", 50)[0]["form"] == "window"


def test_what_takes_long_is_told_as_far_as_it_came(played, monkeypatch):
    root, counts = played
    monkeypatch.setattr(recorded_overlays, "COUNTED_SECONDS", 0.0)  # a tick for each answer
    app = app_of(beneath(root))
    for expected in (1, 2, 3, 3):
        told, cells = shown(app, "survival", "visits", 3)
        assert told["tick"] == expected
        assert np.array_equal(cells, encoded(counts["survival"][expected].sum(axis=0)))


def test_sums_are_few_and_near(played):
    root, _ = played
    with ReplayReader(root / "survival.replay") as reader:
        counting = Counting(reader, recording_stamp(reader.path))
        (overlay,) = counting.offered
        counting.count(reader, overlay, TICKS)
        assert [one.tick for one in counting._sums] == list(range(8, TICKS, 8))
        counting._sums = counting._sums[:1]
        steps = []
        step = type(counting.world).step
        counting.world.step = lambda action: (steps.append(1), step(counting.world, action))[1]
        counting.count(reader, overlay, 13)
        assert len(steps) == 5  # from the sum of tick 8


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"name": "values"}, "choose from visits"),
        ({"name": "visits", "agent": 4}, "slot 4"),
        ({"name": "visits", "options": {"whose": "mine"}}, "no choice"),
        ({"name": None}, "asked"),
        ({"name": "visits", "more": 1}, "asked"),
    ],
)
def test_what_there_is_not_is_refused(played, asked, words):
    answer, _ = shown(app_of(beneath(played[0])), "survival", tick=3, **asked)
    assert (answer.status, words in answer.json["error"]) == (404, True), answer


def test_ticks_behind_the_end_and_files_without_states(played, tmp_path):
    app = app_of(beneath(played[0]))
    answer, _ = shown(app, "survival", "visits", TICKS + 1)
    assert "ask for one of those" in answer.json["error"]
    record(tmp_path / "scenes.replay", 0, make_world("survival/2v2-all-low"), False)
    answer = ask(app_of(beneath(tmp_path)), "/api/recordings/0/overlays")
    assert answer.status == 404
    assert "scenes alone" in answer.json["error"]
    assert str(tmp_path) not in answer.json["error"]
