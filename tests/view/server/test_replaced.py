"""Files replaced under their names while a viewer is open, by others of the same size and time: answers are of what is there now."""

from __future__ import annotations

import json
import os
import shutil
import urllib.parse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from interplay.core.policy import RandomPolicy
from interplay.core.replay import ReplayReader, WorldRecorder
from interplay.registry import make_world
from interplay.view.server import recorded_overlays
from interplay.view.server.guard import App
from interplay.view.server.networks import Checkpoints
from interplay.view.server.play import Cast
from interplay.view.server.recordings import Recordings
from interplay.view.server.refusals import Replaced
from interplay.view.server.sources import Sources
from interplay.view.server.stamps import recording_stamp, stamp_of
from tests.view.server.asking import Watcher, agent_at, app_of, ask, beneath, served
from tests.view.server.folders import make_run
from tests.view.server.test_renewal import write

STEPS = 12
Options = dict[str, Any]


def rename(path: Path, other: Path) -> None:
    os.replace(other, path)


def write_over(path: Path, other: Path) -> None:
    path.write_bytes(other.read_bytes())  # the same inode


def remove_and_copy(path: Path, other: Path) -> None:
    path.unlink()  # the system may give its inode to the next file
    shutil.copyfile(other, path)


HOW = (rename, write_over, remove_and_copy)


def replace(path: Path, other: Path, how: Callable[[Path, Path], None]) -> None:
    """Replaces a file by another one of its size, and gives it its times."""
    was = path.stat()
    assert other.stat().st_size == was.st_size
    how(path, other)
    os.utime(path, ns=(was.st_atime_ns, was.st_mtime_ns))
    assert path.stat().st_mtime_ns == was.st_mtime_ns


def played(path: Path, world_id: str, options: Options, seed: int, title: str) -> Path:
    """A recording of random play, of which the header has a title as its policy's name."""
    world, policy = make_world(world_id, **options), RandomPolicy()
    header = {"seed": 1, "policy": title, "options": options}
    with WorldRecorder(path, world, header=header, snapshot_every=4) as file:
        world.reset(seeds=1)
        policy.start(world, seed)
        file.begin()
        for _ in range(STEPS):
            action = policy.act(world.timestep)
            world.step(action)
            file.step(action)
    return path


def pair(folder: Path, world_id: str, options: Options, others: Options) -> tuple[Path, Path]:
    """Two recordings of one size, of other options and other play: ``a.replay``, and one in a folder that is not searched."""
    (folder / ".other").mkdir()
    files = folder / "a.replay", folder / ".other" / "b.replay"
    titles = ["x", "y"]
    for _ in range(2):
        made = zip(files, (options, others), (1, 2), titles, strict=True)
        sizes = [played(file, world_id, *more).stat().st_size for file, *more in made]
        titles = [title + "." * (max(sizes) - size) for title, size in zip(titles, sizes, strict=True)]
    assert sizes[0] == sizes[1]
    return files


def answers(app: App, tick: int) -> list[Any]:
    """What is answered about a recording by all routes."""
    asked = urllib.parse.urlencode({"tick": tick, "asked": json.dumps({"type": "overlay", "name": "visits"})})
    base = "/api/recordings/0"
    table = ask(app, base).json
    return [
        {key: value for key, value in table.items() if key != "key"},
        ask(app, "/api/sources").json,
        [ask(app, f"{base}/chunks/{number}").body for number in range(len(table["chunks"]))],
        ask(app, f"{base}/events").json,
        ask(app, f"{base}/file").body,
        agent_at(app, 1, tick).json,
        ask(app, f"{base}/overlays").json,
        ask(app, f"{base}/overlay", query=asked.encode()).json,
    ]


@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize(
    ("world", "options", "others"),
    [
        ("dilemma/fixed", {"temptation": 5.0}, {"temptation": 7.0}),
        ("survival/2v2-all-low", {"max_steps": 40}, {"max_steps": 50}),
    ],
)
def test_another_recording_is_answered_as_by_a_new_viewer(tmp_path, monkeypatch, how, world, options, others):
    monkeypatch.setattr(recorded_overlays, "COUNTED_SECONDS", 600.0)
    path, other = pair(tmp_path, world, options, others)
    app = app_of(beneath(tmp_path))
    before = answers(app, STEPS)
    replace(path, other, how)
    now = answers(app, STEPS)
    assert now == answers(app_of(beneath(tmp_path)), STEPS)
    assert now[0]["header"]["options"] == others
    differs = [one != two for one, two in zip(before, now, strict=True)]
    offers_visits = world.startswith("survival")
    assert differs == [True, True, True, False, True, True, False, offers_visits]


@pytest.fixture(scope="module")
def equals(tmp_path_factory) -> tuple[Path, Path]:
    """Two recordings of equal headers and sizes, of other play."""
    root, sizes = tmp_path_factory.mktemp("equals"), {}
    for seed in range(1_000):
        path = played(root / f"{seed}.replay", "survival/2v2-all-low", {"max_steps": 40}, seed, "x")
        first = sizes.setdefault(path.stat().st_size, path)
        if first is not path:
            return first, path
    raise AssertionError("all sizes are different")


@pytest.mark.parametrize("how", HOW)
def test_another_play_under_an_equal_header_is_not_taken_for_the_first(tmp_path, equals, monkeypatch, how):
    monkeypatch.setattr(recorded_overlays, "COUNTED_SECONDS", 600.0)
    path, other = (
        Path(shutil.copyfile(one, tmp_path / name))
        for one, name in zip(equals, ("a.replay", ".other"), strict=True)
    )
    assert recording_stamp(path).header == recording_stamp(other).header
    app = app_of(beneath(tmp_path))
    before = answers(app, STEPS)
    replace(path, other, how)
    now = answers(app, STEPS)
    assert now == answers(app_of(beneath(tmp_path)), STEPS)
    assert [now[n] != before[n] for n in (2, 5, 7)] == [True] * 3  # scenes, an agent, an overlay


def test_a_reward_is_that_of_the_present_options(tmp_path):
    """Worked by hand: who defects against who cooperates gets the temptation."""
    files = []
    for name, temptation in (("a.replay", 5.0), (".other", 7.0)):
        world = make_world("dilemma/fixed", temptation=temptation)
        files.append(tmp_path / name)
        with WorldRecorder(files[-1], world, header={"options": {"temptation": temptation}}) as file:
            world.reset(seeds=1)
            file.begin()
            world.step([[0, 1]])
            file.step([[0, 1]], last=True)
    app = app_of(beneath(tmp_path))
    assert agent_at(app, 1, 1).json["reward"] == 5.0
    write_over(*files)
    assert agent_at(app, 1, 1).json["reward"] == 7.0


@pytest.mark.parametrize("how", HOW)
def test_an_open_page_is_told_that_its_recording_was_replaced(tmp_path, how):
    path, other = pair(tmp_path, "dilemma/fixed", {"temptation": 5.0}, {"temptation": 7.0})
    opened, again = beneath(tmp_path), RandomPolicy()

    def cast(kind: str, name: str, continued: Any) -> Cast:
        return Cast(continued.world, again, "random", under_way=continued.under_way)

    with served(opened, cast) as address:
        app = app_of(opened)
        key = ask(app, "/api/recordings/0").json["key"]
        paths = ("chunks/0", "events", "agent/0", "overlays", "overlay")
        asked = json.dumps({"type": "overlay", "name": "visits"})
        query = urllib.parse.urlencode({"tick": 3, "asked": asked, "key": key}).encode()
        with Watcher(address, f"recording:0@3&key={key}") as page:
            assert page.until("hello")["tick"] == 3
        assert [ask(app, f"/api/recordings/0/{one}", query=query).status for one in paths[:3]] == [200] * 3
        replace(path, other, how)
        assert [ask(app, f"/api/recordings/0/{one}", query=query).status for one in paths] == [409] * 5
        with Watcher(address, f"recording:0@3&key={key}") as page:
            assert page.until("bye")["again"] is False
        with Watcher(address, "recording:0@3") as page:
            assert page.until("hello")["tick"] == 3


def test_a_page_of_a_growing_recording_stays_with_it_until_it_is_whole(tmp_path):
    world, path = make_world("dilemma/fixed", rounds=1_000), tmp_path / "a.replay"
    recordings, keys = Recordings(Sources(beneath(tmp_path), lambda: 0.0)), []
    with WorldRecorder(path, world, growing=True) as file:
        world.reset(seeds=1)
        file.begin()
        for step in range(1, 350):
            world.step([[0, 1]])
            file.step([[0, 1]])
            if step == 150:
                recordings = Recordings(Sources(beneath(tmp_path)))
            if step in (150, 340):
                keys.append(recordings.table(0)["key"])
                assert recordings.events(0, keys[0]) == []
    keys.append(recordings.table(0)["key"])
    assert keys[0] == keys[1] != keys[2]
    assert recordings.chunk(0, 3, keys[0]) == recordings.chunk(0, 3, keys[2])
    with pytest.raises(Replaced):
        recordings.events(0, keys[2] + "0-")


def test_two_pages_go_on_from_what_each_has_open(tmp_path):
    """The first one's world lives on while the second one's begins."""
    path, other = pair(tmp_path, "dilemma/fixed", {"temptation": 5.0}, {"temptation": 7.0})
    worlds = []

    def cast(kind: str, name: str, continued: Any) -> Cast:
        worlds.append(continued.world)
        return Cast(continued.world, RandomPolicy(), "random", under_way=continued.under_way)

    with served(beneath(tmp_path), cast) as address, Watcher(address, "recording:0@3") as first:
        first.until("hello")
        replace(path, other, write_over)
        with Watcher(address, "recording:0@3") as second:
            second.until("hello")
            with Watcher(address, "recording:0@3") as third:
                third.until("hello")
    assert [world.settings.temptation for world in worlds] == [5.0, 7.0]


@pytest.mark.parametrize("how", HOW)
def test_curves_are_of_the_log_that_is_there(tmp_path, how):
    run = make_run(tmp_path / "run")
    log, other = run / "metrics.jsonl", tmp_path / "other"
    other.write_text(log.read_text().replace("1.5", "2.5"))
    app = app_of(beneath(tmp_path))

    def returns(app: App) -> list[float]:
        for _ in range(100):
            told = ask(app, "/api/runs/0/curves", query=b"names=episode_return").json
            if not told["loading"]:
                return told["curves"]["episode_return"]["mean"]
        raise AssertionError("still loading")

    assert returns(app) == [1.5]
    replace(log, other, how)
    assert returns(app) == [2.5]


@pytest.mark.parametrize("how", HOW)
def test_a_checkpoint_is_found_by_what_its_manifest_says_now(tmp_path, how):
    run = make_run(tmp_path / "run")
    checkpoint = write(run, 4, choice=1)
    write(tmp_path / ".elsewhere", 4, choice=2)
    other = tmp_path / ".elsewhere" / "checkpoints" / checkpoint.name
    keys = [json.loads((one / "manifest.json").read_text())["checksum"] for one in (checkpoint, other)]
    found = Checkpoints(Sources(beneath(tmp_path)))
    assert [found.find(key) and found.find(key).folder for key in keys] == [checkpoint, None]
    for name in ("manifest.json", "policy-pop0.safetensors", "record.json"):
        replace(checkpoint / name, other / name, how)
    assert [found.find(key) and found.find(key).folder for key in keys] == [None, checkpoint]


@pytest.mark.parametrize("how", HOW)
def test_stamps_differ_where_names_and_sizes_and_times_do_not(tmp_path, how):
    path, other = pair(tmp_path, "dilemma/fixed", {"temptation": 5.0}, {"temptation": 7.0})
    was = recording_stamp(path), stamp_of(path)
    replace(path, other, how)
    now = recording_stamp(path), stamp_of(path)
    for before, after in zip(was, now, strict=True):
        assert before != after
        assert before.header != after.header, "also where the system's clock is too coarse"
        assert not after.continues(before)
    with ReplayReader(path) as reader:
        assert reader.header.options == {"temptation": 7.0}
    assert was[0][3:5] == now[0][3:5]
