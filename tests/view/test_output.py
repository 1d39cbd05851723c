"""Files appear whole or not at all; what is missing is said in one sentence."""

from __future__ import annotations

import errno
import sys

import pytest

from interplay.core.errors import UserError
from interplay.view.extras import load, load_pygame
from interplay.view.output import writing
from interplay.view.window import Window


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "a.png"
    path.write_bytes(b"old")

    def fill_the_disk() -> None:
        with writing(path, (".png",)) as temporary:
            temporary.write_bytes(b"ne")
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(UserError, match=r"a\.png.*disk is full"):
        fill_the_disk()
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_whole_write_replaces_the_old_file(tmp_path):
    path = tmp_path / "a.PNG"
    path.write_bytes(b"old")
    with writing(path, (".png",)) as temporary:
        assert temporary.suffix == ".png"
        assert temporary.parent == tmp_path
        temporary.write_bytes(b"new")
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("module", "extra"), [("av", "video"), ("matplotlib.figure", "plot"), ("pygame", "render")]
)
def test_missing_extras_say_what_to_install(monkeypatch, module, extra):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(UserError, match=rf"interplay\[{extra}\]"):
        load_pygame() if module == "pygame" else load(module, extra, "videos")


@pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="only Linux names its display in the environment"
)
def test_a_window_without_a_display_says_what_to_do(monkeypatch):
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(UserError, match="rgb_array"):
        Window("test", 64, 64)


def test_a_window_shows_the_picture_and_closes(monkeypatch):
    import numpy as np
    import pygame

    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    window = Window("test", 64, 48, frames_per_second=0)
    picture = np.random.default_rng(0).integers(0, 256, (48, 64, 3), dtype=np.uint8)
    window.show(picture)
    shown = pygame.surfarray.array3d(pygame.display.get_surface()).swapaxes(0, 1)
    np.testing.assert_array_equal(shown, picture)
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    window.show(picture)
    assert not window.open
    window.show(picture)
    window.close()
