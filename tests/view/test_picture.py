"""Pictures: the right colours at the right places."""

from __future__ import annotations

import time

import numpy as np
import pytest

from interplay.core.scene import Canvas, Scene
from interplay.view import palette
from interplay.view.legend import entries
from interplay.view.pen import text_width
from interplay.view.picture import fitting_size, render, render_world, save_png
from tests.view.scenes import TextWorld, WalkWorld, pixels

PAGE = palette.rgb(palette.PAGE)
RED = (200, 0, 0)


def square(up: str = "south") -> Canvas:
    return Canvas(bounds=(0, 0, 10, 10), up=up)


def at(picture: np.ndarray, x: float, y: float, up: str = "south", side: float = 10.0) -> tuple[int, ...]:
    """The colour where the world's point (x, y) lies in a square picture without caption."""
    size = picture.shape[0]
    margin = 0.015 * size
    scale = (size - 2 * margin) / side
    row = margin + scale * (y if up == "south" else side - y)
    return tuple(int(part) for part in picture[int(row), int(margin + scale * x)])


def painted(picture: np.ndarray, colour: tuple[int, int, int]) -> int:
    return int((picture == colour).all(axis=2).sum())


@pytest.mark.parametrize("up", ["south", "north"])
def test_shapes_lie_where_they_were_drawn(up):
    c = square(up)
    c.circles("disc", [2.0], [3.0], radius=1.0, colour="#c80000")
    c.boxes("box", [7.0], [8.0], 1.5, 0.5, angle=0.0, colour="#00c800")
    c.segments("line", [1.0], [6.0], [4.0], [6.0], colour="#0000c8", width=0.4)
    c.polygons("area", [6.0, 9.0, 6.0], [1.0, 1.0, 4.0], colour="#00c8c8")
    picture = render(c.scene(), 256)
    assert at(picture, 2, 3, up) == RED
    assert at(picture, 3.3, 3, up) == PAGE
    assert at(picture, 8.3, 8.3, up) == (0, 200, 0)
    assert at(picture, 7, 8.8, up) == PAGE
    assert at(picture, 2.5, 6, up) == (0, 0, 200)
    assert at(picture, 2.5, 6.4, up) == PAGE
    assert at(picture, 6.5, 1.5, up) == (0, 200, 200)
    assert at(picture, 8.5, 3.5, up) == PAGE


def test_bars_that_a_world_draws_itself_are_numbers_alone():
    def drawn(**more: object) -> Scene:
        c = square()
        c.circles("agents", [5.0], [5.0], 1.0, legend="fox", **more)  # type: ignore[arg-type]
        return c.scene()

    bars = {"health": (np.array([3.0]), 9)}
    told, bare = drawn(bars=bars, show_bars=False), drawn()
    assert (render(told, 128, legend=True) == render(bare, 128, legend=True)).all()
    assert (render(told, 128) != render(drawn(bars=bars), 128)).any()
    assert entries(told) == entries(bare)
    assert told.layer("agents").columns["bar.health"].tolist() == [3]


@pytest.mark.parametrize("opacity", [1.0, 0.7])
@pytest.mark.parametrize("width", [0.0, 0.1, 0.3])
def test_lines_are_told_apart_without_their_colours(width, opacity):
    """Along a line: how many pieces there are, and which share of it is painted, however wide or clear it is."""
    found = []
    for dashed in (False, True, "dots"):
        c = square()
        c.segments("line", [0.2], [5.0], [9.8], [5.0], "#c80000", dashed=dashed, width=width, opacity=opacity)
        red = (render(c.scene(), 256)[:, :, 1] < 170).any(axis=0)
        found.append((int((red[1:] & ~red[:-1]).sum()), red.sum() / np.ptp(np.flatnonzero(red))))
    (solid, all_of_it), (dashes, more), (dots, less) = found
    assert (solid, all_of_it > 0.99) == (1, True)
    assert 10 < dashes < dots / 1.5
    assert max(less, more) < 0.75


@pytest.mark.parametrize("up", ["south", "north"])
def test_boxes_and_headings_turn_from_x_towards_y(up):
    c = square(up)
    c.boxes("box", [5.0], [5.0], 3.0, 0.3, angle=np.pi / 4, colour="#c80000")
    picture = render(c.scene(), 256)
    assert at(picture, 6.5, 6.5, up) == RED
    assert at(picture, 6.5, 3.5, up) == PAGE
    c = square(up)
    c.circles("agents", [5.0], [5.0], radius=2.0, angle=np.pi / 2, colour="#c80000")
    picture = render(c.scene(), 256)
    assert at(picture, 5, 6.4, up) == palette.rgb(palette.PAPER)
    assert at(picture, 5, 3.6, up) == RED


def test_absent_rows_are_not_drawn_and_later_layers_lie_above():
    c = square()
    c.circles("below", [5.0, 2.0], [5.0, 2.0], radius=1.0, colour="#0000c8", absent=np.array([False, True]))
    c.circles("above", [5.0], [5.0], radius=0.5, colour="#c80000")
    picture = render(c.scene(), 256)
    assert at(picture, 2, 2) == PAGE
    assert at(picture, 5, 5) == RED


def test_tiles_fill_their_cells():
    for up in ("south", "north"):
        c = Canvas(bounds=(0, 0, 2, 2), up=up)
        c.tiles("ground", [[0, 1], [2, 0]], palette=("#000000", "#c80000", "#00c800"))
        picture = render(c.scene(), 128)
        assert at(picture, 1.5, 0.5, up, 2.0) == RED
        assert at(picture, 0.5, 1.5, up, 2.0) == (0, 200, 0)
        assert at(picture, 0.5, 0.5, up, 2.0) == (0, 0, 0)


def test_of_a_ground_much_larger_than_the_picture_the_right_tiles_are_seen():
    for up in ("south", "north"):
        ids = np.zeros((900, 700), int)
        ids[500, 300], ids[501, 301] = 1, 2
        c = Canvas(bounds=(300, 500, 302, 502), up=up)
        c.tiles("ground", ids, palette=("#000000", "#c80000", "#00c800"))
        picture = render(c.scene(), 128)
        assert at(picture, 0.5, 0.5, up, 2.0) == RED
        assert at(picture, 1.5, 1.5, up, 2.0) == (0, 200, 0)
        assert at(picture, 0.5, 1.5, up, 2.0) == (0, 0, 0)
    c = Canvas(bounds=(1000, 0, 1002, 2))
    c.tiles("ground", ids)
    assert painted(render(c.scene(), 128), PAGE) == 128 * 128


def test_what_is_absurdly_far_or_large_is_drawn_at_once():
    start = time.process_time()
    c = square()
    c.segments("lines", [1e30], [5.0], [-1e30], [5.0], colour="#c80000", dashed=True)
    c.segments("wide lines", [1e30], [5.0], [-1e30], [5.0], colour="#c80000", width=1e20, opacity=0.5)
    c.circles(
        "discs", [1e35, 5.0], [1.0, 5.0], radius=[1.0, 1e33], bars={"a": ([1.0, 1e9], 0.5)}, labels=["a", "b"]
    )
    c.circles("rings", [5.0, 5.0], [5.0, 5.0], radius=[1e9, 1e-30], fill=False, dashed=True)
    c.boxes("boxes", [5.0], [5.0], [1e30], [1e-30], angle=[1.0])
    c.labels("labels", [-1e32], [1e32], ["far"], size=[1e30])
    picture = render(c.scene(), 128)
    assert picture.shape == (128, 128, 3)
    assert time.process_time() - start < 5


def test_a_bar_is_as_long_as_its_value_and_shows_what_exceeds_it():
    def lengths(health: float) -> tuple[int, int, int]:
        c = square()
        c.circles("agents", [5.0], [5.0], radius=1.0, bars={"health": ([health], 100)})
        picture = render(c.scene(), 256)
        good, low, more = (
            palette.rgb(name) for name in (palette.BAR_GOOD, palette.BAR_LOW, palette.BAR_MORE)
        )
        return painted(picture, good), painted(picture, low), painted(picture, more)

    full, three_quarters, quarter, above = lengths(100), lengths(75), lengths(25), lengths(150)
    assert 0.7 < three_quarters[0] / full[0] < 0.8
    assert quarter[0] == 0
    assert 0.2 < quarter[1] / full[0] < 0.3
    assert above[2] > 0
    assert full[2] == 0
    assert 0.9 < (above[0] + above[2]) / full[0] < 1.05


def test_dimmed_agents_lose_colour_bars_and_label():
    def scene(dimmed: bool) -> Scene:
        c = square()
        c.circles(
            "agents",
            [5.0],
            [5.0],
            radius=1.0,
            colour="#c80000",
            dimmed=np.array([dimmed]),
            bars={"health": ([50.0], 100)},
            labels=["7"],
        )
        return c.scene()

    assert painted(render(scene(False), 256), RED) > 500
    assert painted(render(scene(True), 256), RED) == 0
    assert painted(render(scene(True), 256), palette.rgb(palette.BAR_LOW)) == 0


def test_several_bars_stand_on_each_other_in_their_own_colours_whatever_they_hold():
    c = square()
    bars = {
        name: (np.array([value]), 10.0) for name, value in (("health", 9.0), ("food", 4.0), ("water", 1.0))
    }
    c.circles("agents", [5.0], [5.0], radius=1.0, colour="#c80000", bars=bars)
    picture = render(c.scene(), 512)
    rows, widths = [], []
    for colour in palette.BARS[:3]:
        found = np.argwhere((picture == palette.rgb(colour)).all(axis=2))
        rows.append(found[:, 0].mean())
        widths.append(np.ptp(found[:, 1]))
    assert rows == sorted(rows)  # the first on top
    assert rows[2] - rows[0] < 60
    np.testing.assert_allclose(np.array(widths) / widths[0], [1, 4 / 9, 1 / 9], atol=0.03)
    for colour in (palette.BAR_GOOD, palette.BAR_LOW):
        assert painted(picture, palette.rgb(colour)) == 0


def test_a_cone_of_sight_is_faint_and_stays_inside_the_bounds():
    c = square()
    c.circles("agents", [9.0], [5.0], radius=0.5, angle=0.0, colour=0, sight=(5.0, 1.0))
    wide = render(c.scene(), (512, 256))
    assert (wide[:, 130:360] != PAGE).any()
    assert (wide[:, 384:] == PAGE).all()
    c = square()
    c.circles("agents", [2.0], [5.0], radius=0.5, angle=0.0, colour=0, sight=(5.0, 1.0))
    assert 5 < np.abs(np.subtract(at(render(c.scene(), 256), 5, 5), PAGE)).max() < 60


def test_a_caption_is_written_below_and_text_is_never_interpreted():
    c = square()
    c.table("status", ["step"], [[12]], caption=True)
    picture = render(c.scene(), 256)
    assert (picture[-14:] != PAGE).any()
    c = square()
    c.labels("names", [5.0], [5.0], ["<b>\x00\n</b>"])
    assert (render(c.scene(), 256) != PAGE).any()


def test_worlds_without_geometry_show_their_tables():
    world = TextWorld()
    world.reset(seeds=1)
    picture = render_world(world, size=(320, 200))
    assert picture.shape == (200, 320, 3)
    assert (picture != PAGE).any()


def test_the_same_scene_gives_the_same_picture():
    world = WalkWorld()
    world.reset(seeds=3)
    np.testing.assert_array_equal(render_world(world), render_world(world))


@pytest.mark.parametrize(
    ("width", "height", "expected"),
    [
        (3, 3, (512, 512)),
        (3, 2, (768, 512)),
        (2, 3, (512, 768)),
        (2, 1, (1024, 512)),
        (40, 1, (1024, 512)),  # twice as long at most
        (1, 40, (512, 1024)),
    ],
)
def test_a_picture_has_the_proportions_of_its_scene_up_to_two_to_one(width, height, expected):
    assert fitting_size(Canvas(bounds=(5, -7, 5 + width, -7 + height)).scene()) == expected


def test_worlds_of_the_batch_are_named_by_number():
    world = WalkWorld(num_worlds=2)
    world.reset(seeds=0)
    assert (render_world(world, 0) != render_world(world, 1)).any()


def test_png_holds_the_very_pixels(tmp_path):
    picture = np.random.default_rng(0).integers(0, 256, (40, 60, 3), dtype=np.uint8)
    path = save_png(picture, tmp_path / "a.png")
    np.testing.assert_array_equal(pixels(path), picture)
    assert [p.name for p in tmp_path.iterdir()] == ["a.png"]


def test_letters_survive_an_environment_that_ends_pygame():
    pygame = pytest.importorskip("pygame")
    before = text_width("a word", 20)
    pygame.quit()
    pygame.init()
    assert text_width("a word", 20) == before > 0
