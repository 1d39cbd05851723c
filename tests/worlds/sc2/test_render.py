"""Pictures of full matches show the units that the players see."""

from __future__ import annotations

import numpy as np

from interplay.core.scene import Canvas, Scene
from interplay.worlds.sc2.render import draw_match
from interplay.worlds.sc2.view import View
from tests.worlds.sc2.messages import east, unit, view

FIRST = view(
    unit("own", "hatchery", 80.5, 10.5),
    unit("own", "drone", 78.0, 11.0),
    unit("enemy", "zergling", 70.0, 15.0),
    unit("neutral", "field", 85.0, 10.0),
    minerals=35,
)
SECOND = view(unit("own", "zergling", 70.0, 15.0), unit("own", "spawning_pool", 9.0, 50.0), minerals=5)


def drawn(*views: View) -> Scene:
    canvas = Canvas()
    draw_match(canvas, ("first", "second")[: len(views)], views, east(), loops=16 * 75)
    return canvas.scene()


def places(scene: Scene, layer: str) -> list[tuple[float, float, int]]:
    """x, y and team of each row."""
    columns = scene.layer(layer).columns
    return list(zip(*(np.asarray(columns[name]).tolist() for name in ("x", "y", "colour")), strict=True))


def test_two_players_show_their_own_units_once() -> None:
    scene = drawn(FIRST, SECOND)
    assert places(scene, "units") == [(78.0, 11.0, 0), (70.0, 15.0, 1)]
    assert places(scene, "buildings") == [(80.5, 10.5, 0), (9.0, 50.0, 1)]
    assert scene.layer("resources").columns["x"].tolist() == [85.0]
    rows = scene.layer("match").text
    assert [row[:3] for row in rows] == [("first", "1:15.0", 35), ("second", "1:15.0", 5)]


def test_of_the_games_own_player_what_the_other_sees_is_shown() -> None:
    assert places(drawn(FIRST), "units") == [(78.0, 11.0, 0), (70.0, 15.0, 1)]


def test_a_match_is_drawn_while_it_goes_on(make) -> None:
    world = make("sc2/zvz")
    world.reset()
    for _ in range(3):
        canvas = Canvas()
        world.draw(canvas, 0)
        own = [player.view.own.sum() for player in world._duels[0].players]
        scene = canvas.scene()
        assert scene.layer("units").rows + scene.layer("buildings").rows == sum(own) > 0
        world.step(np.zeros((1, 2), int))
