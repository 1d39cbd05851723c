"""Things glide from step to step as they do on the page."""

from __future__ import annotations

import numpy as np

from interplay.core.scene import Canvas, Scene
from interplay.view.gliding import glide, moves

NO_AGENT = np.zeros(4, bool)


def scene(x, angle=0.0, jump=NO_AGENT, absent=NO_AGENT, health=1.0) -> Scene:
    c = Canvas((0, 0, 10, 10))
    health = np.full(4, health)
    c.circles(
        "agents",
        x,
        np.ones(4),
        0.5,
        np.full(4, angle),
        jump=jump,
        absent=absent,
        bars={"health": (health, 9)},
    )
    c.segments("lines", x, np.ones(4), np.ones(4), x)
    c.polygons("areas", np.add.outer(x, [0.0, 1.0, 0.0]), np.add.outer(np.zeros(4), [0.0, 0.0, 1.0]))
    c.labels("words", x, np.ones(4), list("abcd"), jump=jump, absent=absent)
    c.table("status", ["health"], [[float(health[0])]])
    return c.scene()


def test_places_go_straight_and_rows_that_come_go_or_jump_stay():
    came, went, jumped = (np.arange(4) == row for row in (1, 2, 3))
    old = scene(np.zeros(4), absent=came)
    new = scene(np.full(4, 4.0), jump=jumped, absent=went, health=5.0)
    half = glide(old, new, 0.5)
    assert half.layer("agents").columns["x"].tolist() == [2, 0, 0, 0]
    assert half.layer("agents").columns["bar.health"].tolist() == [1, 0, 1, 1]  # of absent rows zeros
    assert half.layer("words").columns["x"].tolist() == [2, 0, 0, 0]
    assert half.layer("lines").columns["x0"].tolist() == [2, 2, 2, 2]
    assert half.layer("lines").columns["y1"].tolist() == [2, 2, 2, 2]
    assert half.layer("areas").columns["x"][0].tolist() == [2, 3, 2]
    assert half.layer("status").text == ((1.0,),)
    assert glide(old, new, 0.25).layer("agents").columns["x"][0] == 1


def test_angles_turn_the_shorter_way():
    for old, new, wanted in (
        (0.2, 6.2, 0.2 + (6.2 - 2 * np.pi - 0.2) / 2),
        (0.0, 1.0, 0.5),
        (-3.0, 3.0, -np.pi),
    ):
        half = glide(scene(np.zeros(4), old), scene(np.zeros(4), new), 0.5)
        assert np.allclose(half.layer("agents").columns["angle"], wanted, atol=1e-5)


def test_nothing_moves_where_only_numbers_change():
    here, there = scene(np.zeros(4)), scene(np.ones(4))
    assert moves(here, there)
    assert moves(here, scene(np.zeros(4), angle=1.0))
    assert not moves(here, scene(np.zeros(4), health=3.0))
    assert not moves(here._replace(picture=np.zeros((4, 4, 3), np.uint8)), there)
