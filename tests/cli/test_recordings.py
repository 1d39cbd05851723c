"""`interplay record` writes recordings and draws them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import interplay
from interplay.core.replay import ReplayReader
from interplay.view.picture import render
from interplay.view.video import draw_replay
from tests.cli.command import MARSH, refusal, typed

pytest.importorskip("pygame")
WORLD = "simulation/multi-corridor"


@pytest.fixture
def match(tmp_path, capsys) -> Path:
    """A recording of two episodes."""
    out = tmp_path / "match.replay"
    code, said, _ = typed(
        capsys, "record", "random", "end=6", "--world", WORLD, "--out", out, "--episodes", 2, "--seed", 3
    )
    assert (code, said) == (0, f"all: random\nwritten: {out}\n")
    return out


def pixels(path: Path) -> np.ndarray:
    import pygame

    return pygame.surfarray.array3d(pygame.image.load(path))


def test_a_recording_shows_what_the_play_would(match, tmp_path, capsys):
    with ReplayReader(match) as reader:
        assert (reader.header.world, reader.header.options, reader.header.seed) == (WORLD, {"end": 6}, 3)
        assert (reader.header.policy, reader.header.exact) == ("random", True)
        assert reader.header.started
        assert [frame.first for frame in reader.frames()].count(True) == 2
    asked = ("--step", 4, "--size", "90x60")
    play = ("record", "random", "end=6", "--world", WORLD, "--episodes", 2, "--seed", 3)
    for name, words in (("of the play.png", play), ("of the recording.png", ("record", match))):
        assert typed(capsys, *words, "--out", tmp_path / name, *asked)[0] == 0
    drawn = pixels(tmp_path / "of the recording.png")
    assert drawn.shape == (90, 60, 3)
    np.testing.assert_array_equal(drawn, pixels(tmp_path / "of the play.png"))


def test_a_recording_becomes_a_video_without_its_world(match, tmp_path, monkeypatch):
    av = pytest.importorskip("av")
    with ReplayReader(match) as reader:
        ends = [frame.tick for frame in reader.frames() if frame.last]
    monkeypatch.setattr("interplay.registry.make_world", None)
    media = interplay.record(match, tmp_path / "a.gif", every=2, frames=3, size=64)
    with av.open(str(media.path)) as container:
        count = sum(1 for _ in container.decode(video=0))
    shown = [tick for tick in range(ends[0] + 1) if tick % 2 == 0 or tick == ends[0]]
    again = [tick for tick in range(ends[1] - ends[0]) if tick % 2 == 0 or tick == ends[1] - ends[0] - 1]
    assert count == 3 * len(shown + again) + 2 * 19


def test_what_is_damaged_is_told_and_the_rest_is_drawn(tmp_path, capsys):
    out = tmp_path / "long.replay"
    words = ("record", "random", "--world", WORLD, "--episodes", 9, "--out", out)
    assert typed(capsys, *words)[0] == 0
    data = bytearray(out.read_bytes())
    with ReplayReader(out) as reader:
        assert reader.ticks > 100
        chunk = next(chunk for chunk in reader.chunks if chunk.tag == b"SCNE")
    data[chunk.offset + 50] ^= 1
    out.write_bytes(data)
    code, _, told = typed(capsys, "record", out, "--out", tmp_path / "a.png")
    assert code == 0
    assert "SCNE of ticks 0..99 are damaged" in told
    out.write_bytes(data[:300])
    assert "header is cut or damaged" in refusal(capsys, "record", out, "--out", tmp_path / "a.png")


def test_recordings_keep_to_max_steps(tmp_path, capsys):
    out = tmp_path / "a.replay"
    words = ("record", "random", "endless=true", "--world", MARSH, "--out", out)
    assert "--max-steps" in refusal(capsys, *words)
    assert not out.exists()
    assert typed(capsys, *words, "--max-steps", 3)[0] == 0
    with ReplayReader(out) as reader:
        frames = list(reader.frames())
    assert len(frames) <= 4
    assert frames[-1].last


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("--world", WORLD), "world"),
        (("end=3",), "options"),
        (("--episodes", "2"), "episodes"),
        (("--max-steps", "2"), "max_steps"),
        (("--reveal",), "reveal"),
        (("--roles", "a=random"), "roles"),
        (("--greedy",), "greedy"),
        (("--seed", "2"), "seed"),
        (("--trust",), "trust"),
    ],
)
def test_what_was_played_is_not_played_otherwise(match, tmp_path, capsys, words, named):
    told = refusal(capsys, "record", match, "--out", tmp_path / "a.png", *words)
    assert f"{named} is for playing, and this was played already" in told


@pytest.mark.parametrize("words", [("--size", "64"), ("--every", "2"), ("--frames", "2"), ("--step", "2")])
def test_a_recording_has_no_looks(tmp_path, capsys, words):
    told = refusal(capsys, "record", "random", "--world", WORLD, "--out", tmp_path / "a.replay", *words)
    assert told.startswith(f"interplay: {words[0][2:]} = ")
    assert "draw the recording with it later" in told


def test_other_mistakes_are_one_line(match, tmp_path, capsys):
    for out, words in (("a.replay", "unknown kind of file"), ("no/a.png", "make it first")):
        assert words in refusal(capsys, "record", match, "--out", tmp_path / out)
    assert "reading" in refusal(capsys, "record", tmp_path / "none.replay", "--out", tmp_path / "a.png")
    assert "the episode has" in refusal(capsys, "record", match, "--out", tmp_path / "a.png", "--step", 999)
    with pytest.raises(interplay.UserError, match="every = 0"):
        draw_replay(match, tmp_path / "a.png", every=0)
    empty = match.read_bytes()
    with ReplayReader(match) as reader:
        empty = empty[: reader.chunks[0].offset]
    match.write_bytes(empty)
    assert "match.replay" in refusal(capsys, "record", match, "--out", tmp_path / "a.png")


def test_pictures_of_decoded_scenes_are_those_of_the_world(match):
    with ReplayReader(match) as reader:
        world = reader.world_at(3)
        from interplay.view.picture import render_world

        apart = render(reader.frame(3).scene, 128).astype(int) - render_world(world, size=128)
    assert np.abs(apart).mean() < 0.1
