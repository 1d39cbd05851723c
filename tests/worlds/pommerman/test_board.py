"""Boards: laws of every draw, chances, what cannot be drawn (specification 3.2)."""

from __future__ import annotations

import numpy as np
import pytest

from interplay.core.errors import UserError
from interplay.registry import make_world
from interplay.worlds.pommerman.config import VARIANTS, PommermanSettings
from interplay.worlds.pommerman.state import EXTRA_BOMB, KICK, PASSAGE, RIGID, WOOD
from interplay.worlds.pommerman.world import PommermanWorld

BOARDS = 2_000


def inner(world: PommermanWorld, cells: np.ndarray) -> np.ndarray:
    side = world.settings.size + 2
    return np.asarray(cells).reshape(-1, side, side)[:, 1:-1, 1:-1]


@pytest.fixture(scope="module")
def boards() -> tuple[np.ndarray, np.ndarray]:
    world = PommermanWorld(PommermanSettings(), BOARDS, seed=2)
    world.reset()
    return inner(world, world.state.ground), inner(world, world.state.item)


def test_counts_mirror_and_diagonal(boards):
    ground, item = boards
    assert set((ground == RIGID).sum(axis=(1, 2))) == {36}
    assert set((ground == WOOD).sum(axis=(1, 2))) == {36}
    assert set((item > 0).sum(axis=(1, 2))) == {20}
    assert (ground[item > 0] == WOOD).all()
    assert (ground == ground.swapaxes(1, 2)).all()
    assert (ground[:, range(11), range(11)] == PASSAGE).all()


def test_players_have_room_and_wood_between_them(boards):
    ground, _ = boards
    ring = ground[:, 1]
    assert (ring[:, [1, 2, 3, 7, 8, 9]] == PASSAGE).all()
    assert (ring[:, 4:7] == WOOD).all()
    for other in (ground[:, 9], ground[:, :, 1], ground[:, :, 9]):
        assert (other[:, 1:10] == ring[:, 1:10]).all()


def reached(ground: np.ndarray) -> np.ndarray:
    """Grows from the last player's corner until nothing is added; rigid cells alone in the way."""
    found = np.zeros((len(ground), *np.add(ground.shape[1:], 2)), bool)
    found[:, -3, -3] = True
    free = np.pad(ground != RIGID, ((0, 0), (1, 1), (1, 1)))
    while True:
        grown = found.copy()
        for axis in (1, 2):
            for step in (1, -1):
                grown |= np.roll(found, step, axis)
        grown &= free
        if (grown == found).all():
            return found[:, 1:-1, 1:-1]
        found = grown


@pytest.mark.parametrize("variant", ["ffa", "1v1"])
def test_at_most_four_passages_are_out_of_reach(variant):
    world = PommermanWorld(PommermanSettings(**VARIANTS[variant]), BOARDS, seed=4)
    world.reset()
    ground = inner(world, world.state.ground)
    cut_off = ((ground == PASSAGE) & ~reached(ground)).sum(axis=(1, 2))
    assert cut_off.max() <= 4
    assert (cut_off > 0).mean() > 0.05  # so the draw is not stricter than the rule


def test_kinds_and_places_of_items_are_uniform(boards):
    _, item = boards
    kinds = np.bincount(item[item > 0], minlength=KICK + 1)[EXTRA_BOMB:]
    number = kinds.sum()
    assert np.abs(kinds - number / 3).max() < 4 * np.sqrt(number * 2 / 9)
    bridges = (item[:, 1, 4:7] > 0).mean()  # of wood that is always there
    assert abs(bridges - 20 / 36) < 4 * np.sqrt(20 / 36 * 16 / 36 / (3 * BOARDS))


def test_two_players_stand_opposite_each_other():
    world = make_world("pommerman/1v1", 3, seed=1)
    world.reset()
    assert world.timestep.observation["position"][:, :, 0].tolist() == [[1, 6]] * 3
    ground = inner(world, world.state.ground)
    assert set((ground == RIGID).sum(axis=(1, 2))) == set((ground == WOOD).sum(axis=(1, 2))) == {16}


def test_no_two_episodes_have_one_board():
    world = make_world("pommerman/ffa", 50, seed=1)
    world.reset()
    first = world.state.ground.copy()
    world.reset()
    both = np.concatenate([first, world.state.ground])
    assert len(np.unique(both, axis=0)) == 100


def test_walls_that_leave_no_board_are_refused():
    world = make_world("pommerman/1v1", rigid=48, wood=0, items=0)
    with pytest.raises(UserError, match="rigid = 48"):
        world.reset()
