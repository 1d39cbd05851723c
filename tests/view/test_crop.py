"""Pictures from near: around a place, or around an agent that is followed."""

from __future__ import annotations

import numpy as np
import pytest

from interplay.core.policy import RandomPolicy
from interplay.core.scene import Canvas, Scene
from interplay.view.crop import Crop
from interplay.view.picture import render
from interplay.view.video import record
from tests.view.scenes import SIZE, WalkWorld, pixels
from tests.view.test_picture import PAGE, RED, painted


def scene(x: float = 50.0, absent: bool = False) -> Scene:
    c = Canvas((0, 0, 100, 80))
    c.tiles("ground", np.full((80, 100), 2))
    c.circles("agents", [x, 10.0], [40.0, 10.0], 0.9, colour="#c80000", absent=[absent, False], outline=False)
    c.labels("names", [x, 10.0], [40.0, 10.0], ["here", "there"])
    return c.scene()


def test_an_agent_is_followed_to_the_edge_and_waited_for_where_it_was():
    crop = Crop(0, 16)
    assert crop(scene(50)).bounds == (40, 32, 60, 48)
    assert crop(scene(52)).bounds == (42, 32, 62, 48)
    assert crop(scene(7, absent=True)).bounds == (42, 32, 62, 48)
    assert crop(scene(99)).bounds == (80, 32, 100, 48)
    assert Crop(1, 16)(scene()).bounds == (0, 2, 20, 18)


def test_a_place_and_the_middle():
    assert Crop((30, 20.5), 8)(scene()).bounds == (25, 16.5, 35, 24.5)
    assert Crop(None, 40)(scene()).bounds == (25, 20, 75, 60)
    assert Crop((50, 40))(scene()).bounds == (35, 28, 65, 52)  # 24 of 80 tiles
    assert Crop((50, 40), 500)(scene()).bounds == (0, 0, 100, 80)
    whole = scene()
    assert Crop()(whole) is whole


class LateWorld(WalkWorld):
    """Of its two walkers the second is there from step `born` to step `gone` alone, in a corner."""

    def __init__(self, born: int, gone: int) -> None:
        super().__init__(length=10)
        self.born, self.gone = born, gone

    def draw(self, canvas: Canvas, world: int) -> None:
        canvas.show(0, 0, SIZE, SIZE)
        there = self.born <= self.state.steps[world] < self.gone
        colour = np.array([[0, 0, 200], [200, 0, 0]], np.uint8)
        canvas.circles("agents", [5.0, 1.0], [5.0, 1.0], 0.6, colour=colour, absent=[False, not there])
        canvas.boxes("corner", [1.0], [1.0], 0.9, 0.9, colour="#00c800")


@pytest.mark.parametrize(
    ("born", "gone", "name", "step", "told"),
    [
        (99, 99, "never.png", None, True),
        (99, 99, "never.gif", None, True),
        (7, 99, "later.png", 3, True),  # than what is shown
        (7, 99, "later.gif", None, False),
        (2, 3, "before.png", 6, False),  # it is waited for where it was
        (2, 99, "there.png", 6, False),
    ],
)
def test_an_agent_that_was_never_there_is_told_and_the_middle_is_shown(
    tmp_path, capsys, born, gone, name, step, told
):
    if name.endswith(".gif"):
        pytest.importorskip("av")
    written = record(LateWorld(born, gone), RandomPolicy(), tmp_path / name, focus=1, zoom=3, step=step)
    _, said = capsys.readouterr()
    assert (said.count("\n"), said.startswith("focus = 1: ")) == (told, told)
    if name.endswith(".png"):
        assert (painted(pixels(written), (0, 200, 0)) > 99) != told
    record(LateWorld(born, gone), RandomPolicy(), tmp_path / name, focus=(5, 5))
    assert capsys.readouterr().err == ""


def test_nothing_is_drawn_beyond_what_is_shown():
    near = Crop((30, 40), 16)(scene(41.2))  # the agent stands just outside
    picture = render(near, (200, 160), within=True)
    assert painted(picture, RED) == 0
    assert (picture[:, -2:] == PAGE).all()
    seen = render(Crop(0, 16)(scene(50)), (200, 160), within=True)
    assert painted(seen, RED) > 3 * painted(render(scene(50), (200, 160)), RED)


def test_texts_of_what_is_not_shown_are_not_written():
    near = Crop((39.9, 40), 16)(scene())  # somebody stands just outside, at 50
    bare = near._replace(layers=tuple(layer for layer in near.layers if layer.name != "names"))
    assert near.bounds is not None
    assert near.bounds[2] < 50
    assert (render(near, (200, 160), within=True) == render(bare, (200, 160), within=True)).all()
    here = Crop(0, 16)(scene())
    bare = here._replace(layers=bare.layers)
    assert (render(here, (200, 160), within=True) != render(bare, (200, 160), within=True)).any()
