"""Legends say what the things of a picture are, where a world names them."""

from __future__ import annotations

import numpy as np
import pytest

from interplay.core.errors import UserError
from interplay.core.scene import Canvas, Scene, scene_of
from interplay.registry import make_world
from interplay.view import palette
from interplay.view.legend import Legend, entries
from interplay.view.pen import text_width
from interplay.view.picture import fitting_size, render
from interplay.view.tables import Caption
from interplay.worlds.battle.render import SHOTS


def scene(populations: int = 3, legend: bool = True) -> Scene:
    c = Canvas((0, 0, 10, 10))
    c.tiles("ground", np.full((10, 10), 2), legend=("lava", "water") if legend else ())
    zeros, numbers = np.zeros(populations), np.arange(populations)
    c.circles(
        "agents",
        zeros,
        zeros,
        colour=numbers,
        glyph="team",
        bars={"health": (zeros, 10), "food": (zeros, 10)},
        marks={"frozen": zeros > 0},
        legend=[f"population {k}" for k in range(populations)] if legend else "",
    )
    c.segments("range", [0.0], [0.0], [1.0], [1.0], "#14701f", dashed=True, legend="arrow" if legend else "")
    c.circles("prey", zeros, zeros, colour=numbers, glyph="plus", legend="hare" if legend else "")
    c.circles("unnamed", zeros, zeros, colour="#c80000")
    return c.scene()


def test_it_tells_grounds_kinds_bars_marks_and_lines():
    told = entries(scene())
    assert [(entry.kind, entry.words) for entry in told] == [
        ("tile", "lava"),
        ("tile", "water"),
        ("disc", "population 0"),
        ("disc", "population 1"),
        ("disc", "population 2"),
        ("bar", "health"),
        ("bar", "food"),
        ("ring", "frozen"),
        ("line", "arrow"),
        ("disc", "hare"),
    ]
    assert [told[at].colour for at in (1, 4, 5, 6, 8)] == [
        palette.TERRAIN[1],
        2,
        *palette.BARS[:2],
        "#14701f",
    ]
    assert told[8].dashed
    assert len(entries(scene(populations=60))) < 20


def test_colours_of_their_own_and_a_bar_that_says_by_its_colour_how_full_it_is():
    c = Canvas((0, 0, 10, 10))
    rgb = np.array([[200, 0, 0], [0, 0, 200]], np.uint8)
    red, blue = {"red": "#c80000"}, {"blue": "#0000c8"}
    c.circles("agents", [1, 2], [1, 2], colour=rgb, bars={"shield": ([1, 2], 3)}, legend=red | blue)
    c.boxes("floor", [5], [5], 1, 1, colour=rgb[:1], legend={"hot": "#c80000"})
    assert [entry[:3] for entry in entries(c.scene())] == [
        ("disc", "#c80000", "red"),
        ("disc", "#0000c8", "blue"),
        ("bar", palette.BAR_GOOD, "shield"),
        ("bar", palette.BAR_LOW, "shield, half or less"),
        ("tile", "#c80000", "hot"),
    ]
    c.segments("blows", [1, 2], [1, 2], [3, 4], [3, 4], rgb, dashed=True, width=0.2, legend=red | blue)
    assert entries(c.scene())[-2:] == [
        ("line", "#c80000", "red", "", True, 2.5),
        ("line", "#0000c8", "blue", "", True, 2.5),
    ]
    with pytest.raises(UserError, match="is no colour; pass"):
        c.circles("others", [1], [1], legend={"red": "javascript:1"})


@pytest.mark.parametrize("world_id", ["survival/1v1-heals-low", "battle/2s3z", "pommerman/ffa"])
def test_worlds_whose_colours_mean_something_say_what(world_id: str):
    world = make_world(world_id, num_worlds=1)
    world.reset()
    told = entries(scene_of(world))
    world.close()
    assert {"disc", "tile"} <= {entry.kind for entry in told}
    assert len({entry.words for entry in told}) == len(told) > 6


def test_lines_of_a_legend_have_colours_that_are_drawn():
    """Battles draw attacks in the colours of the sides, by row; black is none of them."""
    world = make_world("battle/2s3z", num_worlds=1)
    world.reset()
    lines = [entry for entry in entries(scene_of(world)) if entry.kind == "line"]
    world.close()
    assert [entry.words for entry in lines] == [
        f"{side}: {what}" for what in ("attack to come", "attack") for side in ("red", "blue")
    ]
    assert [entry.colour for entry in lines] == [*SHOTS, *SHOTS]
    assert [entry.dashed for entry in lines] == [True, True, False, False]


def test_styles_of_attack_differ_without_their_colours_too():
    """Specification viewer 10."""
    world = make_world("mmo/combat", interior=24, slots=16)
    world.reset()
    lines = [entry for entry in entries(scene_of(world)) if entry.kind == "line"]
    world.close()
    assert [(entry.words, entry.dashed) for entry in lines] == [
        ("melee", False),
        ("range", True),
        ("mage", "dots"),
    ]


def test_a_legend_from_outside_without_its_colours_is_still_words():
    c = Canvas((0, 0, 10, 10))
    c.segments("blows", [1], [1], [3], [3], legend=("red", "blue"))
    assert [entry.words for entry in entries(c.scene())] == ["red, blue"]


def test_grid_worlds_say_who_has_which_colour():
    told = {}
    for name in ("pacman", "team-battle", "maze"):
        world = make_world(f"gridworld/{name}", num_worlds=1)
        world.reset()
        told[name] = [entry.words for entry in entries(scene_of(world))]
        world.close()
    assert set(told["pacman"]) == {"pacman", "baddie", "food", "wall"}
    assert told["team-battle"] == [f"battle, encoding {number}" for number in (1, 2, 3, 4)]
    assert len(set(told["maze"])) == 3


def test_a_legend_that_changes_is_that_of_the_first_frame():
    def drawn(legend: str) -> Scene:
        c = Canvas((0, 0, 9, 9))
        c.polygons("agents", [[1, 2, 3]], [[1, 2, 1]], legend={legend: "#c80000"})
        return c.scene()

    drawn("hare").check_follows(drawn("fox"))
    assert entries(drawn("fox"))[0].words == "fox"


def test_it_stands_below_the_world_and_only_where_it_has_room():
    size = fitting_size(scene(), legend=True)
    height = Legend(scene(), 512).height
    assert size == (512, 512 + height)
    with_it, without = (
        render(scene(), size, legend=True),
        render(scene(legend=False), (512, 512), legend=True),
    )
    assert (with_it[: 512 - 20] == without[: 512 - 20]).mean() > 0.99
    strip = with_it[-height:]
    for colour in (palette.TERRAIN[1], palette.BARS[0], "#14701f"):
        assert (strip == palette.rgb(colour)).all(axis=2).sum() > 10, colour
    assert Legend(scene(legend=False), 512).height == 0
    assert Legend(scene(), 64, 64).height == 0
    assert Legend(scene(), 256).height > height
    assert render(scene(), (64, 64), legend=True).shape == (64, 64, 3)


def test_it_says_the_same_in_every_frame_of_a_world():
    world = make_world("mmo/combat", interior=24, slots=16)
    world.reset()
    told = entries(scene_of(world))
    assert [entry.words for entry in told if entry.words.startswith("population")] == [
        f"population {number}" for number in range(8)
    ]
    for _ in range(3):
        world.step(np.zeros((1, 16, 2), np.int64))
    assert entries(scene_of(world)) == told


@pytest.mark.parametrize("side", [256, 512, 1024, 2048])
@pytest.mark.parametrize("world_id", ["survival/2v2-all-low", "battle/2s3z"])
def test_legends_and_captions_grow_with_the_picture_and_nothing_is_cut(world_id: str, side: int):
    world = make_world(world_id, num_worlds=1)
    world.reset()
    drawn = scene_of(world)
    world.close()
    legend = Legend(drawn, side, side)
    assert legend.size == pytest.approx(max(12.0, 0.027 * side))
    for line in legend.lines:
        ends = [x + 1.7 * legend.size + text_width(entry.words, legend.size) for x, entry in line]
        assert max(ends) <= side
        assert all(end <= x for end, (x, _) in zip(ends, line[1:], strict=False))
    (layer,) = [layer for layer in drawn.layers if layer.kind == "table" and layer.options["caption"]]
    caption = Caption(layer, side, side)
    assert caption.size >= 11
    assert max(text_width(line, caption.size) for line in caption.lines) <= side
    assert caption.height < 0.15 * side
    assert [word for line in caption.lines for word in line.split("   ·   ")] == Caption(
        layer, 4096, 4096
    ).lines[0].split("   ·   ")


def test_the_legend_and_the_caption_lie_below_the_scene():
    c = Canvas((0, 0, 10, 10))
    c.boxes("floor", [5], [5], 5, 5, colour="#c80000", legend="floor")
    c.table("status", ["step"], [[12]], caption=True)
    for side in (256, 512, 1024, 2048):
        picture = render(c.scene(), side, legend=True)
        legend = Legend(c.scene(), side, side)
        caption = Caption(c.scene().layers[1], side, side)
        floor = np.flatnonzero((picture == (200, 0, 0)).all(axis=2).sum(axis=1) > side / 2)
        assert floor.max() < side - legend.height - caption.height


def test_a_line_of_a_legend_that_is_wider_than_the_picture_has_smaller_letters():
    c = Canvas((0, 0, 10, 10))
    c.circles(
        "agents",
        [1],
        [1],
        legend="a thing whose name is longer than other names, at least here",
    )
    legend = Legend(c.scene(), 256, 256)
    assert 8 <= legend.size < 12
    assert (
        legend.lines[0][0][0] + 1.7 * legend.size + text_width(entries(c.scene())[0].words, legend.size)
        <= 256
    )
