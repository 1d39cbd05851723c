"""Recordings: what was played comes back, from whole, cut, growing and damaged files; states and actions lead on."""

from __future__ import annotations

import os
import random
import struct
import time
import tracemalloc
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import interplay
from bench import recordings
from bench.trust_damaged_files import damage, edit_number, grown
from interplay.core.errors import CannotSave, UserError
from interplay.core.policy import RandomPolicy
from interplay.core.replay import Mark, ReplayReader, ReplayWriter, WorldRecorder
from interplay.core.replay.exact import load_snapshot, read_actions, write_actions
from interplay.core.replay.layout import (
    ACTIONS,
    CHUNK_HEAD,
    INDEX_ENTRY,
    MAGIC,
    MARKS,
    MAX_MARKS,
    MAX_RAW,
    PRELUDE,
    SCENES,
    SNAPSHOT,
    TRAILER,
    read_chunk,
    write_chunk,
)
from interplay.core.replay.marks import Marks
from interplay.core.scene import Canvas, Scene, scene_of
from interplay.core.world import World
from tests.core.drawings import KINDS, check_alike, draw
from tests.machines.write_points import failing
from tests.view.scenes import WalkWorld


def played(
    path: Path, world: World, steps: int = 30, seed: int = 4, index: int = 0, **more: Any
) -> tuple[list[Scene], list[int]]:
    """Records episodes of random play; the scenes and hashes of every tick."""
    policy = RandomPolicy()
    scenes, hashes = [], []
    header = {"seed": seed, **more.pop("header", {})}
    with WorldRecorder(path, world, index, header=header, **more) as recorder:
        world.reset(seeds=seed)
        policy.start(world, seed)
        recorder.begin()
        for _ in range(steps):
            scenes.append(scene_of(world, index))
            hashes.append(int(world.hash()[index]))
            if world.timestep.over[index]:
                world.reset()
                recorder.begin()
                continue
            action = policy.act(world.timestep)
            world.step(action)
            recorder.step(action, last=bool(world.timestep.over[index]))
        scenes.append(scene_of(world, index))
        hashes.append(int(world.hash()[index]))
    return scenes, hashes


def still(tick: int) -> Scene:
    """A small scene that says its tick."""
    canvas = Canvas((0, 0, 100, 100))
    canvas.circles("agents", [tick % 100], [3.0])
    return canvas.scene()


def goals(tick: int) -> list[Mark]:
    return [] if tick % 20 else [Mark(tick, "goal", (0,))]


def small(path: Path, ticks: int, **more: Any) -> Path:
    """A recording of `still`."""
    with ReplayWriter(path, still(0), {"world": "still", "agents": ("a",)}, **more) as writer:
        for tick in range(ticks):
            writer.add_scene(still(tick), tick, tick == 0, tick == ticks - 1, goals(tick))
    return path


def stopped(path: Path) -> None:
    """A recording whose world fails."""
    world = WalkWorld()
    with WorldRecorder(path, world) as recorder:
        world.reset()
        recorder.begin()
        recorder.step(1 // 0)


def told(path: Path) -> list[tuple[int, int]]:
    """Ticks and what their scenes say, of what can be read."""
    with ReplayReader(path) as reader:
        return [
            (frame.tick, round(float(frame.scene.layers[0].columns["x"][0]))) for frame in reader.frames()
        ]


def test_scenes_marks_and_header_come_back(tmp_path):
    world = WalkWorld(length=12)
    scenes, _ = played(tmp_path / "a.replay", world, header={"options": {"length": 12}, "policy": "random"})
    with ReplayReader(tmp_path / "a.replay") as reader:
        assert reader.closed
        assert reader.ticks == len(scenes) == 31
        assert (reader.header.world, reader.header.agents) == ("WalkWorld", ("a", "b"))
        assert (reader.header.seed, reader.header.options, reader.header.exact) == (4, {"length": 12}, True)
        frames = list(reader.frames())
        for frame, scene in zip(frames, scenes, strict=True):
            check_alike(frame.scene, scene, reader.header.scene)
        assert [frame.tick for frame in frames] == list(range(31))
        assert [frame.tick for frame in frames if frame.first] == [0, 13, 26]
        assert [frame.tick for frame in frames if frame.last] == [12, 25]
        assert reader.marks() == [Mark(12, "end"), Mark(25, "end")]
        assert reader.frame(17).tick == 17
        assert [frame.tick for frame in reader.frames(5, 8)] == [5, 6, 7]
        with pytest.raises(UserError, match=r"tick 31 is missing or damaged; choose 0..30"):
            reader.frame(31)
        assert not reader.troubles


def test_the_same_play_is_the_same_file(tmp_path):
    for name in "ab":
        played(tmp_path / name, WalkWorld())
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_long_and_large_recordings_are_cut_into_chunks(tmp_path):
    with ReplayReader(small(tmp_path / "a.replay", 250)) as reader:
        scenes = [(chunk.first, chunk.ticks) for chunk in reader.chunks if chunk.tag == SCENES]
        assert scenes == [(0, 100), (100, 100), (200, 50)]
    noise = np.random.default_rng(0).integers(0, 256, (1100, 1100), dtype=np.uint8)

    def large(tick: int) -> Scene:
        canvas = Canvas((0, 0, 9, 9))
        canvas.tiles("ground", np.roll(noise, tick))
        return canvas.scene()

    with ReplayWriter(tmp_path / "b", large(0), {"world": "large"}, level=1) as writer:
        for tick in range(9):
            writer.add_scene(large(tick), tick)
    with ReplayReader(tmp_path / "b") as reader:
        assert [(chunk.first, chunk.ticks) for chunk in reader.chunks] == [(0, 4), (4, 4), (8, 1)]
        np.testing.assert_array_equal(
            reader.frame(6).scene.layers[0].columns["tile"], large(6).layers[0].columns["tile"]
        )


@pytest.mark.parametrize("options", [{"num_worlds": 1}, {"num_worlds": 3}])
@pytest.mark.parametrize("world_id", ["dilemma/fixed", "simulation/multi-corridor-turns"])
def test_playing_on_is_playing(tmp_path, world_id, options):
    world = interplay.make_world(world_id, seed=9, **options)
    index = options["num_worlds"] - 1
    path = tmp_path / "a.replay"
    _, hashes = played(path, world, 150, index=index, snapshot_every=40)
    with ReplayReader(path) as reader:
        assert [chunk.first for chunk in reader.chunks if chunk.tag == SNAPSHOT] == [0, 40, 80, 120]
        for tick in (0, 1, 39, 40, 41, 119, 150):
            assert reader.world_at(tick).hash().tolist() == [hashes[tick]]
        again = reader.world_at(150, start=0)
    policy = RandomPolicy()
    policy.start(again, 3)
    for _ in range(20):
        if again.timestep.over[0]:
            again.reset()
            world.reset()
        else:
            action = policy.act(again.timestep)
            again.step(action)
            world.step(np.repeat(action, world.num_worlds, axis=0))
        assert again.hash()[0] == world.hash()[index]
    one = reader_at(path, 60, interplay.make_world(world_id, seed=1))
    assert one.hash().tolist() == [hashes[60]]


def reader_at(path: Path, tick: int, world: World, **more: Any) -> World:
    with ReplayReader(path) as reader:
        return reader.world_at(tick, world, **more)


def test_a_world_that_is_another_is_told(tmp_path):
    path = tmp_path / "a.replay"
    _, hashes = played(path, WalkWorld(length=12), 30, snapshot_every=8)

    class Faster(WalkWorld):
        id = "WalkWorld"

        def _step(self, action):
            return super()._step(action if self.state.steps[0] < 5 else np.asarray(action) * 0)

    class Newer(WalkWorld):
        id, version = "WalkWorld", 2

    assert reader_at(path, 20, WalkWorld(length=12), start=0).hash().tolist() == [hashes[20]]
    for world, words in (
        (Newer(), "made with WalkWorld, version 1; this is 1 of WalkWorld, version 2"),
        (Faster(length=12), "is in another state"),
        (WalkWorld(num_worlds=2), "this is 2 of WalkWorld"),
    ):
        with pytest.raises(UserError, match=words) as error:
            reader_at(path, 20, world, start=0)
        assert str(error.value).endswith("watching works")
        assert "\n" not in str(error.value)
    with pytest.raises(UserError, match=r"tick 31 cannot be played on, it has ticks 0..30"):
        reader_at(path, 31, WalkWorld())


def test_worlds_that_are_programs_are_made_by_the_caller(tmp_path):
    class Named(WalkWorld):
        id = "os:system"

    path = tmp_path / "a.replay"
    played(path, Named())
    with pytest.raises(UserError, match="'os:system', which may be a program"), ReplayReader(path) as reader:
        reader.world_at(3)
    world = interplay.make_world("dilemma/fixed")
    played(tmp_path / "b.replay", world, header={"options": {"rounds": [{"of": "os:system"}]}})
    with (
        pytest.raises(UserError, match="which may be a program"),
        ReplayReader(tmp_path / "b.replay") as reader,
    ):
        reader.world_at(3)
    assert reader_at(path, 3, Named()).timestep.acting.all()


def test_options_that_are_none_are_refused(tmp_path):
    world = interplay.make_world("dilemma/fixed")
    for options, words in (({"seed": 3}, "seed is no option of a world"), ({"rounds": "many"}, "rounds")):
        played(tmp_path / "a.replay", world, header={"options": options})
        with pytest.raises(UserError, match=words), ReplayReader(tmp_path / "a.replay") as reader:
            reader.world_at(3)
    with pytest.raises(UserError, match="its header cannot be kept"):
        played(tmp_path / "a.replay", world, header={"options": {"at": float("nan")}})


def test_damaged_states_and_actions_are_told_and_earlier_states_help(tmp_path):
    path = tmp_path / "a.replay"
    _, hashes = played(path, WalkWorld(length=99), 60, snapshot_every=20)
    data = path.read_bytes()
    with ReplayReader(path) as reader:
        chunks = {(chunk.tag, chunk.first): chunk for chunk in reader.chunks}

    def harm(*names: tuple[bytes, int]) -> None:
        harmed = bytearray(data)
        for name in names:
            harmed[chunks[name].offset + CHUNK_HEAD.size + 9] ^= 4
        path.write_bytes(harmed)

    harm((SNAPSHOT, 40))
    assert reader_at(path, 50, WalkWorld(length=99)).hash().tolist() == [hashes[50]]
    harm((ACTIONS, 41))
    assert reader_at(path, 40, WalkWorld(length=99)).hash().tolist() == [hashes[40]]
    with pytest.raises(UserError, match="actions of tick 41 are missing"):
        reader_at(path, 50, WalkWorld(length=99))
    harm((SNAPSHOT, 0), (SNAPSHOT, 20))
    with pytest.raises(UserError, match="its states are damaged"):
        reader_at(path, 30, WalkWorld(length=99))


def test_worlds_that_cannot_be_saved_are_recorded_as_scenes(tmp_path):
    class Unsaved(WalkWorld):
        def save(self):
            raise CannotSave("no")

        def hash(self):
            return np.zeros(self.num_worlds, np.uint64)

    path = tmp_path / "a.replay"
    played(path, Unsaved())
    with ReplayReader(path) as reader:
        assert not reader.header.exact
        assert {chunk.tag for chunk in reader.chunks} == {SCENES, b"EVNT"}
        with pytest.raises(UserError, match="holds scenes alone; watching works"):
            reader.world_at(1, Unsaved())


def test_a_cut_file_gives_exactly_its_whole_chunks(tmp_path):
    path = tmp_path / "a.replay"
    small(path, 120)
    whole = path.read_bytes()
    with ReplayReader(path) as reader:
        chunks = reader.chunks
    cut = tmp_path / "cut.replay"
    begins = chunks[0].offset
    for size in range(len(whole)):
        cut.write_bytes(whole[:size])
        if size < begins:
            with pytest.raises(UserError) as error, ReplayReader(cut):
                pass
            assert "\n" not in str(error.value)
            continue
        with ReplayReader(cut) as reader:
            assert not reader.closed
            assert reader.chunks == [chunk for chunk in chunks if chunk.end <= size]
            assert len(reader.troubles) == 1
    expected = [(tick, tick % 100) for tick in range(120)]
    cut.write_bytes(whole[: chunks[1].end + 7])
    assert told(cut) == expected[:100]
    assert told(path) == expected


def test_a_damaged_chunk_is_told_and_stepped_over(tmp_path):
    path = small(tmp_path / "a.replay", 300)
    data = bytearray(path.read_bytes())
    with ReplayReader(path) as reader:
        offset = next(chunk.offset for chunk in reader.chunks if chunk.first == 100)
    data[offset + 40] ^= 1
    for ending in (data, data[:-30]):  # with and without an index
        path.write_bytes(ending)
        with ReplayReader(path) as reader:
            ticks = [frame.tick for frame in reader.frames()]
            assert ticks == [*range(100), *range(200, 300)]
            assert any("SCNE of ticks 100..199 are damaged" in line for line in reader.troubles)
            with pytest.raises(UserError, match="tick 150 is missing or damaged"):
                reader.frame(150)


def test_a_chunk_in_another_s_place_is_told(tmp_path):
    path = small(tmp_path / "a.replay", 250)
    data = path.read_bytes()
    with ReplayReader(path) as reader:
        chunk = reader.chunks[0]
    raw = read_chunk(data[chunk.offset : chunk.end])
    moved = write_chunk(SCENES, 100, 100, raw)
    assert len(moved) == chunk.end - chunk.offset
    path.write_bytes(data[: chunk.offset] + moved + data[chunk.end :])
    with ReplayReader(path) as reader:
        assert [frame.tick for frame in reader.frames()] == list(range(100, 250))
        assert any("another chunk is there" in line for line in reader.troubles)


def test_a_growing_file_is_read_to_its_last_whole_chunk(tmp_path):
    path = tmp_path / "a.replay"
    with ReplayWriter(path, still(0), {"world": "still"}, growing=True) as writer:
        with ReplayReader(path) as reader:
            assert reader.ticks == 0
            for tick in range(150):
                writer.add_scene(still(tick), tick)
            assert reader.refresh() == 1
            assert reader.ticks == 100
            writer.flush()
            with path.open("ab") as file:
                file.write(b"SCNE torn")
            assert reader.refresh() == 1
            assert [frame.tick for frame in reader.frames(95)] == list(range(95, 150))
        with pytest.raises(UserError, match="writing"):
            ReplayWriter(path, still(0), {"world": "still"}, growing=True)


def test_a_growing_file_that_is_closed_is_closed(tmp_path):
    path = tmp_path / "a.replay"
    with ReplayWriter(path, still(0), {"world": "still"}, growing=True) as writer:
        reader = ReplayReader(path)
        writer.add_scene(still(0), 0)
    with reader:
        assert not reader.closed
        assert reader.refresh() == 1
        assert reader.closed
        assert reader.refresh() == 0
        assert reader.ticks == 1


def test_what_fails_leaves_no_file_and_what_stood_there(tmp_path):
    path = tmp_path / "a.replay"
    path.write_text("before")
    with pytest.raises(ZeroDivisionError):
        stopped(path)
    assert [one.name for one in tmp_path.iterdir()] == ["a.replay"]

    with pytest.raises(UserError, match="the disk is full"), failing("recording: appended"):
        small(path, 5)
    assert path.read_text() == "before"
    assert [one.name for one in tmp_path.iterdir()] == ["a.replay"]


def test_what_is_no_recording_of_this_format_is_refused(tmp_path):
    path = small(tmp_path / "a.replay", 3)
    data = path.read_bytes()
    magic, _, minor, length = PRELUDE.unpack_from(data)
    for harmed, words in (
        (b"", "is no recording"),
        (b"\x00" * 99, "is no recording"),
        (
            PRELUDE.pack(magic, 2, minor, length) + data[16:],
            "of format 2.0, this version reads format 1; open it",
        ),
        (PRELUDE.pack(magic, 1, minor, 2**31) + data[16:], "a header of 2,147,483,648 bytes"),
        (data.replace(b"still", b"stall", 1), "its header is cut or damaged"),
    ):
        path.write_bytes(harmed)
        with pytest.raises(UserError, match=words) as error, ReplayReader(path):
            pass
        assert "\n" not in str(error.value)


def test_a_later_minor_version_may_say_and_keep_more(tmp_path):
    path = small(tmp_path / "a.replay", 3)
    data = path.read_bytes()
    _, _, _, length = PRELUDE.unpack_from(data)
    header = data[16 : 16 + length].replace(b'{"world"', b'{"mood":"fine","world"', 1)
    beginning = PRELUDE.pack(data[:8], 1, 7, len(header)) + header
    rest = data[16 + length + 4 :]
    extra = write_chunk(b"LATE", 0, 3, b"something else")
    path.write_bytes(beginning + struct.pack("<I", zlib.crc32(beginning)) + extra + rest)
    assert told(path) == [(0, 0), (1, 1), (2, 2)]


def test_a_bomb_is_refused_before_it_is_inflated():
    for claimed in (MAX_RAW + 1, 2**32 - 1):
        bomb = zlib.compress(bytes(1000), wbits=-15)
        head = CHUNK_HEAD.pack(SCENES, 0, 1, claimed, len(bomb), 0)[:-4]
        data = head + struct.pack("<I", zlib.crc32(bomb, zlib.crc32(head))) + bomb
        with pytest.raises(ValueError, match="67,108,864 are read at most"):
            read_chunk(data)
    packed = zlib.compressobj(9, wbits=-15)
    bomb = packed.compress(bytes(200 * 2**20)) + packed.flush()
    head = CHUNK_HEAD.pack(SCENES, 0, 1, 4096, len(bomb), 0)[:-4]
    data = head + struct.pack("<I", zlib.crc32(bomb, zlib.crc32(head))) + bomb
    tracemalloc.start()
    with pytest.raises(ValueError, match="not as long as it says"):
        read_chunk(data)
    assert tracemalloc.get_traced_memory()[1] < 2**20
    tracemalloc.stop()
    with pytest.raises(UserError, match="draw less in a frame"):
        write_chunk(SCENES, 0, 1, bytes(MAX_RAW + 1))


def test_marks_that_inflate_to_gigabytes_are_left_out(tmp_path):
    path = tmp_path / "a.replay"
    line = b'{"tick":0,"kind":"birth","rows":[]}\n'
    with ReplayWriter(path, still(0), {"world": "still", "agents": ("a",)}) as writer:
        for first in range(3):
            writer.add(MARKS, first, 1, line)
        writer.add(MARKS, 3, 1, line * (MAX_MARKS // len(line)))
        writer.add(MARKS, 4, 1, line)
    assert path.stat().st_size < MAX_MARKS // 100
    with ReplayReader(path) as reader:
        assert [mark.kind for mark in reader.marks()] == ["birth"] * 3
        assert ["left out: over 16,777,216 bytes" in line for line in reader.troubles] == [True]


def test_no_more_chunks_are_held_than_a_recording_has(tmp_path, monkeypatch):
    data = small(tmp_path / "whole.replay", 350).read_bytes()
    with ReplayReader(tmp_path / "whole.replay") as reader:
        assert len(reader.chunks) == 8
    monkeypatch.setattr("interplay.core.replay.reader.MAX_CHUNKS", 3)
    monkeypatch.setattr("interplay.core.replay.reader.MAX_INDEX", 3 * INDEX_ENTRY.size)
    for cut in (0, 1):  # with its index, and without
        path = tmp_path / f"{cut}.replay"
        path.write_bytes(data[: len(data) - cut])
        with ReplayReader(path) as reader:
            assert (len(reader.chunks), reader.ticks, reader.closed) == (3, 200, False)
            assert "it has more than 3 chunks" in reader.troubles[0]


def test_who_has_little_patience_reads_on_where_it_left_off(tmp_path):
    path = small(tmp_path / "a.replay", 350)
    with ReplayReader(path) as reader:
        size = reader.chunks[-1].end
    os.truncate(path, size)  # without its index
    with ReplayReader(path) as whole, ReplayReader(path, patience=0) as reader:
        for count in range(1, 8):
            assert (reader.chunks, reader.left_off) == (whole.chunks[:count], True)
            left = [line for line in reader.troubles if "takes long" in line]
            assert len(left) == 1
            assert f"{reader.chunks[-1].end:,} of {size:,} bytes so far" in left[0]
            assert reader.refresh() == 1
        assert (reader.chunks, reader.left_off, len(reader.troubles)) == (whole.chunks, False, 1)
        assert reader.refresh() == 0


def test_what_is_closed_needs_no_patience(tmp_path):
    with ReplayReader(small(tmp_path / "a.replay", 350), patience=0) as reader:
        assert (len(reader.chunks), reader.closed, reader.left_off, reader.troubles) == (8, True, False, [])


def read_all(path: Path) -> tuple[Any, list[str]]:
    """Everything that a file says, and the troubles that were told."""
    with ReplayReader(path) as reader:
        frames = [
            (frame.tick, frame.first, frame.last, repr(frame.scene.layers)) for frame in reader.frames()
        ]
        found = (reader.header, frames, reader.marks())
        return found, reader.troubles


def hurt(folder: Path, count: int) -> None:
    """Damages a recording so often: refused, told, or the same."""
    path = folder / "a.replay"
    played(path, WalkWorld(length=12), 40, snapshot_every=16)
    sound, _ = read_all(path)
    data, chance = path.read_bytes(), random.Random(7)
    counts = {"refused": 0, "told": 0, "same": 0}
    before = grown()
    for number in range(count):
        path.write_bytes(damage(data, chance))
        start = time.process_time()
        try:
            found, troubles = read_all(path)
        except UserError as error:
            message = str(error)
            counts["refused"] += 1
            assert "\n" not in message, number
        else:
            counts["told" if troubles else "same"] += 1
            if not troubles:
                assert found == sound, number
            assert set(map(repr, found[1])) <= set(map(repr, sound[1])), number
        assert time.process_time() - start < 0.25, number  # 0.05 on a machine that does nothing else
    assert grown() - before < 256 * 2**20
    assert min(counts["refused"], counts["told"]) > count / 10, counts


def test_a_file_with_holes_is_not_read_into_the_memory(tmp_path):
    path = small(tmp_path / "a.replay", 3)
    with ReplayReader(path) as reader:
        end = reader.chunks[0].offset
    size = 2**32 - 1  # what a chunk may claim; the file has a hole of it
    with path.open("rb+") as file:
        file.truncate(end)
        file.seek(end)
        file.write(CHUNK_HEAD.pack(SCENES, 0, 3, 1000, size, 0))
        file.truncate(end + CHUNK_HEAD.size + size)
    tracemalloc.start()
    with ReplayReader(path) as reader:
        assert not reader.chunks
        assert "it was not closed" in reader.troubles[0]
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**22


def holed(path: Path, tag: bytes, chunks: int, ticks: int) -> Path:
    """A recording whose index names chunks of one tick, 64 MiB of nothing each; on the disk it takes a few kB."""
    with path.open("rb+") as file:
        file.seek(-TRAILER.size, 2)
        at, entries, _, _ = TRAILER.unpack(file.read())
        file.seek(at)
        index = file.read(entries * INDEX_ENTRY.size)
        for number in range(chunks):
            index += INDEX_ENTRY.pack(tag, ticks + number, 1, at, MAX_RAW)
            at += CHUNK_HEAD.size + MAX_RAW
        file.truncate(at)
        file.seek(at)
        file.write(index + TRAILER.pack(at, entries + chunks, zlib.crc32(index), MAGIC))
    return path


def test_chunks_that_are_holes_are_not_read_one_after_the_other(tmp_path, monkeypatch):
    marked = holed(small(tmp_path / "marks.replay", 3), MARKS, 50, 9)
    _, hashes = played(tmp_path / "states.replay", WalkWorld(length=99), 60, snapshot_every=50)
    states = holed(tmp_path / "states.replay", SNAPSHOT, 50, 51)
    read: list[bytes] = []
    inflated = ReplayReader.inflated
    monkeypatch.setattr(
        ReplayReader,
        "inflated",
        lambda self, chunk: (
            read.append(chunk.tag) or (inflated(self, chunk) if chunk.stored < MAX_RAW else None)
        ),
    )
    with ReplayReader(marked) as reader:
        assert reader.closed
        assert "left out: over" in (reader.marks(), reader.troubles[-1])[1]
        assert read.count(MARKS) <= 1
    with ReplayReader(states) as reader:
        assert len(reader.of(SNAPSHOT)) == 52
        with pytest.raises(UserError, match="its states are damaged"):
            reader.world_at(59, WalkWorld(length=99), most=100)
        assert read.count(SNAPSHOT) == 8
        assert reader.world_at(59, WalkWorld(length=99)).hash().tolist() == [
            hashes[59]
        ]  # who has time finds one


def test_an_index_out_of_order_is_not_believed(tmp_path):
    path = small(tmp_path / "a.replay", 350)
    data = path.read_bytes()
    offset, entries, _, _ = TRAILER.unpack(data[-TRAILER.size :])
    index = [list(one) for one in INDEX_ENTRY.iter_unpack(data[offset : offset + entries * INDEX_ENTRY.size])]
    scenes = [one for one in index if one[0] == SCENES]
    scenes[0][1], scenes[1][1] = scenes[1][1], scenes[0][1]
    forged = b"".join(INDEX_ENTRY.pack(*one) for one in index)
    trailer = TRAILER.pack(offset, entries, zlib.crc32(forged), MAGIC)
    path.write_bytes(data[:offset] + forged + trailer)
    with ReplayReader(path) as reader:
        assert not reader.closed
        assert reader.ticks == 350


def test_damaged_files_are_refused_or_told(tmp_path):
    hurt(tmp_path, 300)


def test_forged_files_end_in_one_line_or_in_scenes_that_a_canvas_takes(tmp_path):
    """Whoever makes the checksums fit may say what he likes, but breaks nothing."""
    rng, chance = np.random.default_rng(0), random.Random(5)
    scenes = [draw(KINDS[:-1], rng, 5) for _ in range(3)]
    path = tmp_path / "a.replay"
    with ReplayWriter(path, scenes[0], {"world": "x"}) as writer:
        for tick, scene in enumerate(scenes):
            writer.add_scene(scene, tick)
    data = path.read_bytes()
    with ReplayReader(path) as reader:
        chunk = reader.chunks[0]
    header, raw = data[16 : chunk.offset - 4], read_chunk(data[chunk.offset : chunk.end])
    counts = {"refused": 0, "told": 0, "drawn": 0}
    for number in range(400):
        header_now = edit_number(header, chance) if number % 2 else header
        raw_now = raw if number % 2 else damage(raw, chance)
        beginning = PRELUDE.pack(data[:8], 1, 0, len(header_now)) + header_now
        beginning += struct.pack("<I", zlib.crc32(beginning))
        path.write_bytes(beginning + write_chunk(SCENES, 0, 3, raw_now))
        try:
            with ReplayReader(path) as reader:
                drawn = len(list(reader.frames()))
                counts["drawn" if drawn == 3 else "told"] += 1
                assert drawn == 3 or len(reader.troubles) == 2
        except UserError as error:
            message = str(error)
            assert "\n" not in message
            counts["refused"] += 1
    assert min(counts.values()) > 10, counts


def test_ten_thousand_damaged_files_are_refused_or_told(tmp_path):
    hurt(tmp_path, 10_000)


def test_ten_thousand_ticks_of_128_agents_take_less_than_four_megabytes(tmp_path):
    assert recordings.record(128, 10_000, tmp_path) < 4_000_000


class Camp(WalkWorld):
    """A world whose time step the test says."""

    respawns = True

    def say(self, acting: str, ended: str = "", cut: str = "", over: bool = False) -> None:
        names = "abcd"

        def row(which: str) -> np.ndarray:
            return np.array([[name in which for name in names]])

        reward = np.zeros((1, 4), np.float32)
        self._last = self.timestep._replace(
            reward=reward,
            acting=row(acting),
            terminated=row(ended),
            truncated=row(cut),
            over=np.array([over]),
        )


def test_marks_say_who_is_born_and_dies():
    world = Camp()
    world.reset()
    world.agents = tuple("abcd")
    world.say("ab")
    marks = Marks(world)
    marks.begin()
    told = []
    for tick, said in enumerate(
        (("ab",), ("abc",), ("bc", "a"), ("bc", "b"), ("c", "", "b"), ("abc",), ("", "abc", "", True)), 1
    ):
        world.say(*said)
        told += marks.step(tick)
    assert told == [
        Mark(2, "birth", (2,)),
        Mark(3, "death", (0,)),
        Mark(4, "birth", (1,)),
        Mark(4, "death", (1,)),
        Mark(5, "cut", (1,)),
        Mark(6, "birth", (0, 1)),
        Mark(7, "end"),
    ]


def test_marks_of_worlds_where_the_dead_stay_and_the_winners_live():
    class Round(Camp):
        respawns, dead_stay = False, True
        alive = "abcd"

        @property
        def metrics(self):
            return {"alive": np.array([[name in self.alive for name in "abcd"]])}

    world = Round()
    world.reset()
    world.agents = tuple("abcd")
    marks = Marks(world)
    marks.begin()
    world.say("abd")
    assert marks.step(1) == [Mark(1, "death", (2,))]
    world.say("abd")
    assert marks.step(2) == []
    world.alive = "a"
    world.say("", "abcd", "", True)
    assert marks.step(3) == [Mark(3, "death", (1, 3)), Mark(3, "end")]


def test_slots_that_nobody_has_do_not_die():
    world = interplay.make_world("battle/mab", num_worlds=1, seed=3)
    world.reset()
    empty = ~world.state.unit["present"][0]
    assert empty.any()
    marks = Marks(world)
    marks.begin()
    policy = RandomPolicy()
    policy.start(world, 0)
    fallen = np.zeros(len(empty), bool)
    for tick in range(1, 400):
        world.step(policy.act(world.timestep))
        for mark in marks.step(tick):
            fallen[list(mark.rows)] |= mark.kind == "death"
        if world.timestep.over[0]:
            break
    assert (fallen == (world.state.unit["present"][0] & ~world.state.unit["alive"][0])).all()
    assert fallen.any()


def test_turns_are_no_births():
    class Turns(Camp):
        respawns = False

    world = Turns()
    world.reset()
    world.agents = tuple("abcd")
    world.say("a")
    marks = Marks(world)
    marks.begin()
    for tick, acts in enumerate("bcda"):
        world.say(acts)
        assert marks.step(tick) == []


def test_actions_of_kinds_and_groups_come_back():
    world = interplay.make_world("dilemma/fixed")
    world.reset()
    actions = [np.array([[0, 1]]), None, np.array([[1, 1]])]
    back = read_actions(world, write_actions(actions))
    assert [None if one is None else one.tolist() for one in back] == [[[0, 1]], None, [[1, 1]]]
    assert read_actions(world, write_actions([None, None])) == [None, None]
    for data in (b"", b"\xff" * 40, write_actions([])[:-1]):
        with pytest.raises(UserError):
            read_actions(world, data)
        with pytest.raises(UserError):
            load_snapshot(world, data)
