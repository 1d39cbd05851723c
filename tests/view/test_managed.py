"""Pictures of simulations: painted, drawn on a figure, returned as a text or as a picture; shown or saved."""

from __future__ import annotations

import os

import numpy as np
import pytest

from interplay.core.errors import UserError
from interplay.sim.managers import AllStepManager
from interplay.view.managed import SIDE, Artist, Stage, watching
from interplay.worlds.corridor.simulation import MultiCorridor


class Painted(MultiCorridor):
    """Has the optional hook `draw`."""

    def draw(self, canvas):
        canvas.show(0, 0, self.end, 1)
        at = [agent.position + 0.5 for agent in self.agents.values()]
        canvas.circles("agents", at, [0.5] * len(at), radius=0.4, colour="#ff0000")


class Written(MultiCorridor):
    """Has `render` alone, which gives a text."""

    draw = None


class OnFigure(Written):
    """Draws as the manual does."""

    def render(self, *args, fig=None, **kwargs):
        fig.clear()
        axes = fig.gca()
        axes.set(xlim=(-0.5, self.end), ylim=(-0.5, 0.5))
        axes.scatter(
            [agent.position for agent in self.agents.values()], [0] * len(self.agents), c="red", s=600
        )


class Pictured(Written):
    """Returns a picture and knows of no figure."""

    def render(self):
        return np.full((20, 30, 4), 7, np.uint8)


def started(sim) -> AllStepManager:
    manager = AllStepManager(sim)
    manager.reset(seed=1)
    return manager


@pytest.fixture
def no_display(monkeypatch):
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize("make", [Painted, OnFigure], ids=lambda make: make.__name__)
def test_agents_are_seen_where_they_are(make):
    pytest.importorskip("pygame", reason="pictures need the render extra")
    pytest.importorskip("matplotlib", reason="figures need the plot extra")
    artist, manager = Artist(), started(make(end=4, num_agents=1))
    middles = []
    for position in (0, 2):
        manager.agents["agent0"].position = position
        picture = artist.picture(manager).astype(int)
        assert picture.shape == (SIDE, SIDE, 3)
        red = (picture[..., 0] > 200) & (picture[..., 1] < 60)
        middles.append(np.nonzero(red)[1].mean())
    assert middles[1] - middles[0] > SIDE / 4


def test_texts_and_pictures_are_taken_at_their_word():
    pytest.importorskip("matplotlib", reason="figures need the plot extra")
    text = Artist().picture(started(Written(end=4, num_agents=2)))
    assert 0 < (text < 100).mean() < 0.05
    assert Artist().picture(started(Pictured())).shape == (20, 30, 3)


def test_figures_open_no_window_and_touch_no_backend(monkeypatch):
    """F27"""
    pytest.importorskip("matplotlib", reason="figures need the plot extra")
    import matplotlib
    from matplotlib import pyplot

    before = matplotlib.get_backend()
    Artist().picture(started(OnFigure(end=4, num_agents=1)))
    assert pyplot.get_fignums() == []
    assert matplotlib.get_backend() == before


def test_nothing_is_shown_where_there_is_no_display(no_display, capsys):
    """6.2, F27"""
    with pytest.raises(UserError, match=r"record_only=True \(--record-only"):
        Stage("x")
    with Stage("x", record=True) as stage:
        stage.look(started(Pictured()))
    with watching("x", False) as look:
        assert look is False
    with watching("x", True) as look:
        look(started(Pictured()))
    assert "no display" in capsys.readouterr().err


def test_pictures_are_shown_in_the_rhythm_that_is_asked_for(monkeypatch):
    pytest.importorskip("pygame", reason="windows need the render extra")
    monkeypatch.setitem(os.environ, "SDL_VIDEODRIVER", "dummy")
    import time

    manager = started(Pictured())
    with Stage("x", frame_delay=40) as stage:
        began = time.monotonic()
        for _ in range(4):
            stage.look(manager)
        assert time.monotonic() - began >= 0.12


def test_an_animation_keeps_its_delay(tmp_path, no_display):
    """6.1: --frame-delay in milliseconds."""
    pytest.importorskip("av", reason="animations need the video extra")
    image = pytest.importorskip("PIL.Image", reason="comes with matplotlib")
    manager = started(Pictured())
    with Stage("x", frame_delay=150, record=True) as stage:
        path = stage.save(tmp_path / "Episode_0.gif", [manager] * 3)
    with image.open(path) as picture:
        assert (picture.n_frames, picture.info["duration"]) == (3, 150)
