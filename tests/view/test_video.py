"""Videos: as many frames as steps, the right pixels, whole files, and errors in one line."""

from __future__ import annotations

import contextlib
import errno
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from interplay.core.errors import UserError
from interplay.core.policy import RandomPolicy
from interplay.core.scene import Canvas, Scene, scene_of
from interplay.view import encode
from interplay.view.crop import Crop
from interplay.view.encode import Sink, choose_colours, nearest_colours, write_video
from interplay.view.legend import strip_of
from interplay.view.picture import fitting_size, render, save_png
from interplay.view.video import HOLD, Look, draw_replay, held, middle, play, record, shown_at
from tests.view.scenes import WalkWorld, pixels

LENGTH = 12
av = pytest.importorskip("av")


def decoded(path) -> list[np.ndarray]:
    with av.open(str(path)) as container:
        return [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]


@pytest.mark.parametrize("suffix", [".mp4", ".gif"])
def test_one_frame_per_step_and_the_end_is_held(tmp_path, suffix):
    seen: list[int] = []
    path = record(
        WalkWorld(length=LENGTH),
        RandomPolicy(),
        tmp_path / f"a{suffix}",
        size=128,
        seed=5,
        progress=seen.append,
        legend=False,
    )
    frames = decoded(path)
    assert len(frames) == LENGTH + HOLD
    assert seen == list(range(1, LENGTH + 2))
    assert [p.name for p in tmp_path.iterdir()] == [path.name]
    with av.open(str(path)) as container:
        seconds = container.duration / av.time_base
    assert abs(seconds - len(frames) / 30) < 0.05
    world = WalkWorld(length=LENGTH)
    world.reset(seeds=5)
    expected = render(scene_of(world), 128)
    assert np.abs(frames[0].astype(int) - expected).mean() < 3


def test_every_and_episodes_and_max_steps(tmp_path):
    world, policy = WalkWorld(length=LENGTH), RandomPolicy()
    steps = [int(scene.layer("status").text[0][0]) for scene, _, _ in play(world, policy, every=5)]
    assert steps == [0, 5, 10, 12]
    told = [(episode, last) for _, episode, last in play(world, policy, episodes=2, max_steps=2)]
    assert told == [(0, False), (0, False), (0, True), (1, False), (1, False), (1, True)]


def test_a_step_stays_in_view_as_long_as_it_was_asked_for(tmp_path):
    class Slow(WalkWorld):
        frames_per_step = 4

    for frames, each in ((None, 4), (7, 7)):
        path = record(Slow(length=3), RandomPolicy(), tmp_path / "a.gif", size=64, frames=frames)
        pictures = decoded(path)
        assert len(pictures) == 4 * each + HOLD - 1
        assert all((picture == pictures[-1]).all() for picture in pictures[-HOLD:])


def test_things_glide_between_two_steps_and_stand_where_nothing_moves():
    def scene(x: float, jump: bool = False) -> Scene:
        c = Canvas((0, 0, 10, 10))
        c.circles("agents", [x], [5.0], 0.6, colour="#c80000", jump=[jump])
        return c.scene()

    def column(picture: np.ndarray) -> float:
        return float(np.flatnonzero((picture == (200, 0, 0)).all(axis=2).any(axis=0)).mean())

    look = Look((128, 128), Crop(), True)
    scenes = [(scene(2), 0, False), (scene(6), 0, False), (scene(6), 0, False), (scene(2, True), 0, True)]
    pictures = list(held(scenes, look, frames=4))
    assert len(pictures) == 16 + HOLD - 1
    at = [column(picture) for picture in pictures[:13]]
    assert np.allclose(np.diff(at[:5]), (at[4] - at[0]) / 4, atol=1.1)
    assert at[4] - at[0] > 40
    assert len(set(at[4:12])) == 1  # a jump is seen when it is done
    assert at[12] == at[0]


def test_a_picture_of_a_step_is_of_the_last_episode(tmp_path):
    path = record(WalkWorld(length=4), RandomPolicy(), tmp_path / "a.png", episodes=2, step=4, legend=False)
    scenes = [scene for scene, _, _ in play(WalkWorld(length=4), RandomPolicy(), episodes=2)]
    save_png(render(scenes[-1]), tmp_path / "b.png")
    assert path.read_bytes() == (tmp_path / "b.png").read_bytes()
    with pytest.raises(UserError, match="has 4 steps"):
        record(WalkWorld(length=4), RandomPolicy(), tmp_path / "c.png", step=5)


def test_a_picture_of_a_step_is_of_that_step_whatever_a_video_would_leave_out(tmp_path):
    paths = [tmp_path / f"{every}.png" for every in (1, 3)]
    for step in (3, 4):
        for path, every in zip(paths, (1, 3), strict=True):
            record(WalkWorld(length=4), RandomPolicy(), path, every=every, step=step)
        assert paths[0].read_bytes() == paths[1].read_bytes()
    with pytest.raises(UserError, match="step = 6: the episode has 4 steps"):
        record(WalkWorld(length=4), RandomPolicy(), tmp_path / "c.png", every=3, step=6)


def test_a_step_that_only_an_earlier_episode_had_is_not_shown():
    scene = scene_of(WalkWorld(length=4), 0)
    shorter = [(scene, episode, False) for episode in (0, 0, 0, 1, 1)]
    with pytest.raises(UserError, match="step = 2: the episode has 1 steps"):
        shown_at(shorter, 2)
    assert shown_at(shorter, 1) is scene


def test_a_policy_forgets_between_episodes():
    forgotten = []

    class Remembering(RandomPolicy):
        def forget(self, which):
            forgotten.append(which.tolist())

    list(play(WalkWorld(num_worlds=2, length=3), Remembering(), episodes=3))
    assert forgotten == [[True, True]] * 2


def test_one_world_of_a_batch_is_shown_to_its_end():
    world = WalkWorld(num_worlds=3, length=LENGTH)
    scenes = [scene for scene, _, _ in play(world, RandomPolicy(), seed=2, index=1)]
    np.testing.assert_array_equal(scenes[-1].layer("agents").columns["x"], np.float32(world.state.x[1]))


def test_every_frame_follows_the_first():
    first, *others = [scene for scene, _, _ in play(WalkWorld(length=LENGTH), RandomPolicy())]
    for scene in others:
        scene.check_follows(first)


def test_a_picture_is_from_the_middle_of_the_last_episode(tmp_path):
    world = WalkWorld(length=1200)
    shown = middle(play(world, RandomPolicy(), episodes=2))
    assert 500 < shown.layer("status").text[0][0] < 700
    assert record(WalkWorld(length=4), RandomPolicy(), tmp_path / "a.png").stat().st_size > 100


@pytest.mark.parametrize("suffix", [".mp4", ".gif", ".png"])
def test_the_same_seed_gives_the_same_file(tmp_path, suffix):
    files = [tmp_path / f"{name}{suffix}" for name in "abc"]
    for path, seed in zip(files, (1, 1, 2), strict=True):
        record(WalkWorld(length=4), RandomPolicy(), path, size=64, seed=seed)
    first, again, other = (path.read_bytes() for path in files)
    assert first == again
    assert first != other


def test_odd_sizes_are_made_even_for_mp4_and_kept_for_gif(tmp_path):
    for suffix, size in ((".mp4", (66, 52)), (".gif", (65, 51))):
        path = record(WalkWorld(length=2), RandomPolicy(), tmp_path / f"a{suffix}", size=(65, 51))
        assert decoded(path)[0].shape[1::-1] == size


def test_builds_without_h264_use_mpeg4(tmp_path, monkeypatch):
    monkeypatch.setattr(encode, "MP4_CODECS", {"no such codec": {}, "mpeg4": encode.MP4_CODECS["mpeg4"]})
    path = record(WalkWorld(length=2), RandomPolicy(), tmp_path / "a.mp4", size=64)
    with av.open(str(path)) as container:
        assert container.streams.video[0].codec_context.name == "mpeg4"
    monkeypatch.setattr(encode, "MP4_CODECS", {"no such codec": {}})
    with pytest.raises(UserError, match=r"\.gif"):
        record(WalkWorld(length=2), RandomPolicy(), tmp_path / "b.mp4", size=64)
    assert not (tmp_path / "b.mp4").exists()


def test_a_world_that_never_ends_is_shown_to_a_limit(tmp_path):
    world = WalkWorld(length=10**9)
    world.persistent = True
    record(world, RandomPolicy(), tmp_path / "a.gif", max_steps=3, size=64)


def test_a_policy_that_fails_leaves_no_file(tmp_path):
    class Broken(RandomPolicy):
        def act(self, timestep):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        record(WalkWorld(), Broken(), tmp_path / "a.mp4", size=64)
    assert list(tmp_path.iterdir()) == []


def test_even_areas_of_an_animation_keep_their_exact_colour():
    picture = np.zeros((20, 20, 3), np.uint8)
    picture[:10], picture[10:] = (248, 246, 241), (227, 213, 208)
    colours = choose_colours([picture])
    table = nearest_colours(colours)
    np.testing.assert_array_equal(colours[table[encode.cell_of(picture)]], picture)
    assert len(colours) <= 256


def test_an_animation_of_many_colours_uses_256_of_them():
    noise = np.random.default_rng(0).integers(0, 256, (200, 200, 3), dtype=np.uint8)
    colours = choose_colours([noise])
    assert len(colours) == 256
    back = colours[nearest_colours(colours)[encode.cell_of(noise)]]
    assert np.abs(back.astype(int) - noise).mean() < 40


def test_two_colours_of_one_cell_are_shown_as_the_more_frequent_one():
    """They differ in less than a cell; the colours of bars, which may come later, give way to what is seen."""
    seen = np.array([encode.rgb(name) for name in (encode.BAR_GOOD, encode.BAR_LOW)], np.uint8)
    picture = np.repeat((seen ^ 1)[:, None], 9, axis=1)
    colours = choose_colours([picture])
    np.testing.assert_array_equal(colours[nearest_colours(colours)[encode.cell_of(picture)]], picture)
    assert (encode.cell_of(picture[:, 0]) == encode.cell_of(seen)).all()


def test_what_the_system_takes_in_parts_is_written_whole():
    class Slow:
        taken = b""

        def write(self, data) -> int:
            part = bytes(data[:3])
            self.taken += part
            return len(part)

    file = Slow()
    assert Sink(file).write(b"eleven byte") == 11
    assert file.taken == b"eleven byte"


@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="only Linux has a device that is always full"
)
def test_a_failed_write_is_told_although_the_encoder_keeps_it_to_itself(monkeypatch):
    class Deaf:
        @staticmethod
        @contextlib.contextmanager
        def open(sink, *_, **__):
            with contextlib.suppress(OSError):
                sink.write(b"video")
            yield SimpleNamespace(mux=lambda packets: None)

    monkeypatch.setattr(encode, "load", lambda *_: Deaf)
    stream = SimpleNamespace(encode=lambda frame: ())
    monkeypatch.setattr(encode, "_begin_mp4", lambda *_: (stream, lambda picture, number: picture))
    with pytest.raises(OSError, match="space") as caught:
        write_video(Path("/dev/full"), iter([np.zeros((2, 2, 3), np.uint8)]))
    assert caught.value.errno == errno.ENOSPC


@pytest.mark.parametrize("size", [None, 200])
def test_the_players_stand_below_the_picture(tmp_path, size):
    """The scene is drawn in what is left of the height, and a recording's picture is the same."""
    own = {"episodes": 1, "seed": 2}
    record(WalkWorld(length=4), RandomPolicy(), tmp_path / "a.replay", **own)
    live = record(WalkWorld(length=4), RandomPolicy(), tmp_path / "a.png", size=size, **own)
    drawn, _ = draw_replay(tmp_path / "a.replay", tmp_path / "b.png", size=size)
    assert live.read_bytes() == drawn.read_bytes()
    picture = pixels(live)
    scenes = [scene for scene, _, _ in play(WalkWorld(length=4), RandomPolicy(), seed=2)]
    width, height = (200, 200) if size else fitting_size(scenes[2], True)
    strip = strip_of("all: random", width, height)
    assert len(strip) > 0
    assert picture.shape == (height + (0 if size else len(strip)), width, 3)
    assert (picture[-len(strip) :] == strip).all()
    above = picture[: -len(strip)]
    assert (above == render(scenes[2], (width, len(above)), legend=True)).all()
