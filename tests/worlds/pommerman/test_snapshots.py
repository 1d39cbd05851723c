"""Snapshots that cannot be of a game are refused, one law after the other; the checker plants wild numbers besides."""

from __future__ import annotations

import numpy as np
import pytest

from interplay.core.errors import UserError
from interplay.worlds.pommerman.state import RIGID, WOOD
from tests.worlds.pommerman.scenes import cell_at, lay, open_world, put_bomb

CELLS = 13 * 13


def rim(saved: dict[str, np.ndarray]) -> None:
    saved["ground"][0, 5] = 0


def bomb_in_a_wall(saved: dict[str, np.ndarray]) -> None:
    saved["ground"][0, saved["bomb.cell"][0, 0]] = WOOD


def spent_bomb(saved: dict[str, np.ndarray]) -> None:
    saved["bomb.life"][0, 0] = 0


def bomb_without_reach(saved: dict[str, np.ndarray]) -> None:
    saved["bomb.blast"][0, 0] = 0


def two_of_one_step(saved: dict[str, np.ndarray]) -> None:
    saved["bomb.life"][0, 1] = saved["bomb.life"][0, 0]
    saved["bomb.owner"][0, 1] = saved["bomb.owner"][0, 0]


def two_bombs_on_a_cell(saved: dict[str, np.ndarray]) -> None:
    saved["bomb.cell"][0, 1] = saved["bomb.cell"][0, 0]


def fire_in_a_wall(saved: dict[str, np.ndarray]) -> None:
    saved["flame"][0, 0] = 2


def life_in_a_wall(saved: dict[str, np.ndarray]) -> None:
    saved["ground"][0, saved["agent.cell"][0, 1]] = RIGID


def dead_outside(saved: dict[str, np.ndarray]) -> None:
    saved["agent.alive"][0, 0] = saved["acting"][0, 0] = False
    saved["agent.cell"][0, 0] = CELLS - 1


def two_on_a_cell(saved: dict[str, np.ndarray]) -> None:
    saved["agent.cell"][0, 0] = saved["agent.cell"][0, 1]


def dead_who_act(saved: dict[str, np.ndarray]) -> None:
    saved["agent.alive"][0, 2] = False


def living_who_ended(saved: dict[str, np.ndarray]) -> None:
    saved["agent.ended"][0, 2] = True


def beyond_the_limit(saved: dict[str, np.ndarray]) -> None:
    saved["room.steps"][0] = 800


def too_many_bombs(saved: dict[str, np.ndarray]) -> None:
    saved["room.bombs"][0] = 41


WRONG = [
    (rim, "ground.* is not rigid in the rim"),
    (bomb_in_a_wall, "bomb.life.* impossible bomb"),
    (spent_bomb, "bomb.life.* impossible bomb"),
    (bomb_without_reach, "bomb.life.* impossible bomb"),
    (two_of_one_step, "two bombs of one owner"),
    (two_bombs_on_a_cell, "bomb.cell.* has two bombs"),
    (fire_in_a_wall, "flame.* burns in a wall"),
    (life_in_a_wall, "agent.cell.* is no free cell"),
    (dead_outside, "agent.cell.* is no free cell"),
    (two_on_a_cell, "agent.cell.* has two agents"),
    (dead_who_act, "acting.* not alive"),
    (living_who_ended, "agent.ended.* alive in an unfinished game"),
    (beyond_the_limit, "room.steps.* is the limit"),
    (too_many_bombs, "room.bombs of world 0 = 41"),
]


@pytest.mark.parametrize(("damage", "says"), WRONG, ids=lambda value: getattr(value, "__name__", ""))
def test_what_cannot_be_is_refused(damage, says):
    world = open_world()
    lay(world, ["0.1"], first=(5, 5))
    put_bomb(world, 3, 3, life=5)
    put_bomb(world, 3, 5, owner=1, life=6)
    saved = world.save()
    assert saved["bomb.cell"][0, 0] == cell_at(world, 3, 3)
    world.load(saved)
    damage(saved)
    with pytest.raises(UserError, match=says):
        world.load(saved)
