"""Rules by hand: bombs, flames, kicks, collisions, rings (specification 3.3 and 3.4)."""

from __future__ import annotations

import numpy as np
import pytest

from interplay.worlds.pommerman.state import (
    BOMB,
    DOWN,
    EXTRA_BOMB,
    FLAMES,
    KICK,
    LAY,
    LEFT,
    PASSAGE,
    RIGHT,
    RIGID,
    UP,
)
from tests.worlds.pommerman.pair import as_action, draw
from tests.worlds.pommerman.scenes import at, cell_at, crowd, lay, open_world, put_bomb, seen, still


def test_a_bomb_is_seen_with_nine_steps_left_and_explodes_nine_steps_after():
    world = open_world()
    world.step(still(world, p0=LAY))
    assert (seen(world, "bomb_life")[1, 1], seen(world, "ammo")) == (9, 0)
    assert seen(world, "board")[1, 1] == 10  # the player hides it
    world.step(still(world, p0=DOWN))
    assert seen(world, "board")[1, 1] == BOMB
    for _ in range(7):
        world.step(still(world, p0=DOWN))
        assert not seen(world, "flame_life").any()
    world.step(still(world))
    burning = {(1, 1), (0, 1), (2, 1), (1, 0), (1, 2)}
    assert set(zip(*np.nonzero(seen(world, "flame_life")), strict=True)) == burning
    assert seen(world, "ammo") == 1


def test_flames_last_three_observations():
    world = open_world()
    put_bomb(world, 5, 5, life=1)
    for left in (3, 2, 1):
        world.step(still(world))
        assert set(seen(world, "flame_life")[seen(world, "flame_life") > 0]) == {left}
        assert seen(world, "board")[5, 5] == FLAMES
    world.step(still(world))
    assert not seen(world, "flame_life").any()
    assert seen(world, "board")[5, 5] == PASSAGE


@pytest.mark.parametrize("when", [1, 2, 3])
def test_flames_kill_in_all_three(when):
    world = open_world()
    lay(world, [], p0=(5, 3))
    put_bomb(world, 5, 5, owner=1, life=1)
    for _ in range(when - 1):
        world.step(still(world))
    assert world.state.agent["alive"].all()
    world.step(still(world, p0=RIGHT))
    assert world.state.agent["alive"][0].tolist() == [False, True, True, True]


def test_who_comes_when_flames_are_gone_lives():
    world = open_world()
    lay(world, [], p0=(5, 3))
    put_bomb(world, 5, 5, owner=1, life=1)
    for _ in range(3):
        world.step(still(world))
    world.step(still(world, p0=RIGHT))
    assert world.state.agent["alive"].all()


def test_chains_explode_in_one_step_and_wood_and_rigid_stop_fire():
    world = open_world()
    lay(world, [".......", "....w.w", "..#...."], first=(3, 0))
    put_bomb(world, 3, 1, life=1, blast=4)
    put_bomb(world, 3, 4, owner=1, life=9, blast=3)  # in reach of the first
    put_bomb(world, 4, 3, owner=2, life=9)  # out of all reach
    world.step(still(world))
    flames = seen(world, "flame_life") > 0
    assert flames[3, :7].all()
    assert not flames[3, 7:].any()
    assert flames[4, 4]  # wood burns
    assert not flames[5, 4]  # and stops
    assert not flames[4, 5:].any()
    assert seen(world, "board")[4, 3] == BOMB
    assert int(world.state.room["bombs"][0]) == 1


def test_fire_reaches_blast_minus_one():
    world = open_world()
    put_bomb(world, 5, 5, life=1, blast=4)
    world.step(still(world))
    flames = seen(world, "flame_life") > 0
    assert flames[5].tolist() == flames[:, 5].tolist() == [2 <= k <= 8 for k in range(11)]
    assert flames.sum() == 13


def test_a_hidden_item_appears_after_the_flames_and_an_open_one_burns():
    world = open_world()
    lay(world, ["w.", ".k"], first=(4, 5))
    world.state.item[:, cell_at(world, 4, 5)] = EXTRA_BOMB
    put_bomb(world, 5, 5, life=1)
    world.step(still(world))
    assert seen(world, "board")[4, 5] == seen(world, "board")[5, 6] == FLAMES
    for _ in range(3):
        world.step(still(world))
    assert seen(world, "board")[4, 5] == EXTRA_BOMB
    assert seen(world, "board")[5, 6] == PASSAGE


@pytest.mark.parametrize(("quirks", "shown"), [(False, KICK), (True, PASSAGE)])
def test_an_item_under_two_flames_appears_with_the_last_or_is_lost(quirks, shown):
    world = open_world(classic_quirks=quirks)
    lay(world, [".w"], first=(5, 4))
    world.state.item[:, cell_at(world, 5, 5)] = KICK
    put_bomb(world, 5, 4, life=1)
    put_bomb(world, 5, 6, owner=1, life=2)
    for _ in range(4):
        world.step(still(world))
        assert seen(world, "board")[5, 5] == FLAMES
    world.step(still(world))
    assert seen(world, "board")[5, 5] == shown


def test_items_give_a_bomb_a_reach_and_kicks():
    world = open_world()
    lay(world, ["0brk"], first=(5, 2))
    world.step(still(world, p0=RIGHT))
    assert (seen(world, "ammo"), seen(world, "blast_strength"), seen(world, "can_kick")) == (2, 2, 0)
    world.step(still(world, p0=RIGHT))
    assert (seen(world, "ammo"), seen(world, "blast_strength"), seen(world, "can_kick")) == (2, 3, 0)
    world.step(still(world, p0=RIGHT))
    assert (seen(world, "ammo"), seen(world, "blast_strength"), seen(world, "can_kick")) == (2, 3, 1)
    assert (seen(world, "board")[5, 2:5] == PASSAGE).all()


@pytest.mark.parametrize(("fog", "most"), [(None, 10), (4, 4)])
def test_nobody_has_more_than_the_most(fog, most):
    world = open_world(fog=fog)
    lay(world, ["0br"], first=(5, 2))
    world.state.agent["ammo"], world.state.agent["blast"] = 10, most
    world.refresh()
    world.step(still(world, p0=RIGHT))
    world.step(still(world, p0=RIGHT))
    assert (seen(world, "ammo"), seen(world, "blast_strength")) == (10, most)


def test_walls_wood_and_the_edge_mean_stop():
    world = open_world()
    lay(world, ["0#", "w."])
    for choice in (UP, DOWN, LEFT, RIGHT):
        world.step(still(world, p0=choice))
        assert at(world, 0) == (0, 0)


def test_two_who_want_one_cell_stay_and_who_follows_them_too():
    world = open_world()
    lay(world, ["0.12"], first=(5, 2))
    world.step(still(world, p0=RIGHT, p1=LEFT, p2=LEFT))
    assert [at(world, a) for a in range(3)] == [(5, 2), (5, 4), (5, 5)]


def test_two_do_not_swap_but_a_row_walks_on():
    world = open_world()
    lay(world, ["01"], first=(5, 2))
    world.step(still(world, p0=RIGHT, p1=LEFT))
    assert [at(world, a) for a in range(2)] == [(5, 2), (5, 3)]
    world.step(still(world, p0=RIGHT, p1=RIGHT))
    assert [at(world, a) for a in range(2)] == [(5, 3), (5, 4)]


def kicking(rows: list[str], can_kick: bool = True) -> object:
    world = open_world()
    lay(world, rows, first=(5, 0))
    world.state.agent["kick"][:, 0] = can_kick
    put_bomb(world, 5, 1, owner=1)
    return world


def test_a_kicked_bomb_slides_until_something_stops_it():
    world = kicking(["0....#"])
    world.step(still(world, p0=RIGHT))
    assert at(world, 0) == (5, 1)
    assert seen(world, "bomb_life")[5, 2] == 8
    assert seen(world, "bomb_moving_direction")[5, 2] == RIGHT
    for col in (3, 4, 4):
        world.step(still(world))
        assert seen(world, "bomb_life")[5, col] > 0
    assert seen(world, "bomb_moving_direction")[5, 4] == 0


def test_without_kick_agent_and_bomb_stay():
    world = kicking(["0....#"], can_kick=False)
    world.step(still(world, p0=RIGHT))
    assert at(world, 0) == (5, 0)
    assert seen(world, "bomb_life")[5, 1] > 0


@pytest.mark.parametrize("beyond", ["#", "w", "k", "2"])
def test_what_stands_beyond_holds_a_kicked_bomb(beyond):
    world = kicking([f"0.{beyond}"])
    world.step(still(world, p0=RIGHT))
    assert at(world, 0) == (5, 0)
    assert seen(world, "bomb_life")[5, 1] > 0


@pytest.mark.parametrize("turned", [False, True])
def test_who_goes_back_after_all_undoes_its_kick(turned):
    """A player kicks the bomb that rolls into a cell, but the bomb that rolls out of it is stopped and stays there."""
    world = open_world()
    lay(world, [], p0=(4, 5), p1=(5, 6))
    world.state.agent["kick"][:, 0] = True
    bombs = [(5, 5, 1), (5, 4, 2)]
    for row, col, owner in bombs[::-1] if turned else bombs:
        put_bomb(world, row, col, owner=owner, direction=RIGHT)
    world.step(still(world, p0=DOWN))
    assert [at(world, a) for a in (0, 1)] == [(4, 5), (5, 6)]
    assert set(zip(*np.nonzero(seen(world, "bomb_life")), strict=True)) == {(5, 5), (5, 4)}
    assert not seen(world, "bomb_moving_direction").any()


@pytest.mark.parametrize("obstacle", ["#", "w", "r", "2", ""])
def test_sliding_bombs_stop_before_walls_items_players_and_the_edge(obstacle):
    world = open_world()
    lay(world, [obstacle], first=(5, 7))
    if not obstacle:
        world.state.ground[:, cell_at(world, 5, 7) : cell_at(world, 5, 10) + 1] = RIGID
    put_bomb(world, 5, 5, direction=RIGHT)
    for _ in range(3):
        world.step(still(world))
    assert seen(world, "bomb_life")[5, 6] > 0
    assert seen(world, "bomb_moving_direction")[5, 6] == 0


def test_a_bomb_that_slides_into_flames_explodes():
    world = open_world()
    put_bomb(world, 5, 3, direction=RIGHT, life=9)
    put_bomb(world, 5, 7, owner=1, life=1)
    for _ in range(3):
        world.step(still(world))
    assert int(world.state.room["bombs"][0]) == 0


def test_one_bomb_to_a_cell_and_none_without_ammo():
    world = open_world()
    world.state.agent["ammo"][:, 0] = 2
    world.step(still(world, p0=LAY))
    world.step(still(world, p0=LAY))
    assert (int(world.state.room["bombs"][0]), seen(world, "ammo")) == (1, 1)
    world.step(still(world, p0=DOWN))
    world.step(still(world, p0=LAY))
    assert (int(world.state.room["bombs"][0]), seen(world, "ammo")) == (2, 0)
    world.step(still(world, p0=DOWN))
    world.step(still(world, p0=LAY))
    assert int(world.state.room["bombs"][0]) == 2


@pytest.mark.parametrize("variant", [{}, {"teams": True, "fog": 4}, {"collapse": 20, "limit": 60}])
def test_ammo_and_live_bombs_are_what_somebody_can_lay(variant):
    """Conservation: a player with n picked up bombs has 1 + n in hand or on the board."""
    world, rng = open_world(8, **variant), np.random.default_rng(5)
    world.reset()
    crowd(world, rng)
    state = world.state

    def owned() -> np.ndarray:
        live = np.arange(world.settings.bombs) < state.room["bombs"][:, None]
        laid = [((state.bomb["owner"] == a) & live).sum(axis=1) for a in range(4)]
        return state.agent["ammo"] + np.stack(laid, axis=1)

    start = owned()
    for _ in range(300):
        over = world.step(as_action(draw(rng, world.settings), world.settings)).over.copy()
        found = start + state.agent["extra_bombs"]
        assert (owned() == found)[found < 10].all()
        if over.any():
            world.reset(over)
            crowd(world, rng, over)
            start[over] = owned()[over]


def test_rings_close_at_500_575_650_and_725():
    world = open_world(collapse=500)
    lay(world, ["01", "23"], first=(5, 5))
    for step in range(1, 801):
        world.step(still(world))
        closed = (seen(world, "board") == RIGID).sum()
        rings = sum(step >= when for when in (500, 575, 650, 725))
        assert closed == 121 - (11 - 2 * rings) ** 2, step
    assert world.timestep.truncated.all()


def test_a_ring_kills_and_gives_ammo_back():
    world = open_world(collapse=1, limit=41)
    lay(world, [], p0=(0, 4), p1=(5, 5), p2=(1, 1), p3=(6, 6))
    put_bomb(world, 0, 7, owner=1)
    put_bomb(world, 4, 2, owner=1)
    world.state.agent["ammo"][:, 1] = 0
    world.state.flame[:, cell_at(world, 10, 3)] = 3
    world.state.item[:, cell_at(world, 10, 3)] = KICK
    world.refresh()
    step = world.step(still(world))
    assert world.state.agent["alive"][0].tolist() == [False, True, True, True]
    assert step.reward[0].tolist() == [-1, 0, 0, 0]
    assert (int(world.state.room["bombs"][0]), seen(world, "ammo", 1)) == (1, 1)
    assert not seen(world, "flame_life").any()
    assert (seen(world, "board")[[0, -1]] == RIGID).all()


def test_with_quirks_a_ring_is_seen_and_paid_a_step_later():
    world = open_world(collapse=1, limit=41, classic_quirks=True)
    lay(world, [], p0=(0, 4), p1=(5, 5), p2=(1, 1), p3=(6, 6))
    step = world.step(still(world))
    assert not (seen(world, "board") == RIGID).any()
    assert (step.reward[0] == 0).all()
    step = world.step(still(world, p0=DOWN))
    assert (seen(world, "board")[0] == RIGID).all()
    assert step.reward[0].tolist() == [-1, 0, 0, 0]


# Turns of the board: what becomes of a grid, and of each direction.
TURNS = {
    "a quarter clockwise": (lambda grid: np.rot90(grid, -1, (-2, -1)), {UP: RIGHT, RIGHT: DOWN, DOWN: LEFT, LEFT: UP}),
    "mirrored over the diagonal": (lambda grid: np.swapaxes(grid, -2, -1), {UP: LEFT, LEFT: UP, DOWN: RIGHT, RIGHT: DOWN}),
}  # fmt: skip


@pytest.mark.parametrize("turn", TURNS)
def test_a_turned_game_is_the_turn_of_the_game(turn):
    move, ways = TURNS[turn]
    table = np.array([ways.get(k, k) for k in range(6)])
    worlds = 64
    plain, turned = (open_world(worlds, teams=True) for _ in range(2))
    rng = np.random.default_rng(8)
    crowd(plain, rng)
    side = plain.settings.size + 2
    to = np.empty(side * side, np.int64)
    to[move(np.arange(side * side).reshape(side, side)).reshape(-1)] = np.arange(side * side)
    for name, array in plain.state._asdict().items():
        getattr(turned.state, name)[...] = array
    for name in ("ground", "item", "flame"):
        getattr(turned.state, name)[:, to] = getattr(plain.state, name)
    turned.state.agent["cell"] = to[plain.state.agent["cell"]]
    turned.state.bomb["cell"] = to[plain.state.bomb["cell"]]
    turned.state.bomb["direction"] = table[plain.state.bomb["direction"]]
    turned.refresh()
    for _ in range(30):
        drawn = draw(rng, plain.settings, worlds)[..., 0]
        one, other = plain.step(drawn), turned.step(table[drawn])
        for name in ("board", "bomb_life", "bomb_blast_strength", "flame_life"):
            assert np.array_equal(move(one.observation[name]), other.observation[name]), name
        directions = table[one.observation["bomb_moving_direction"]]
        assert np.array_equal(move(directions), other.observation["bomb_moving_direction"])
        assert np.array_equal(one.reward, other.reward)
    assert one.over.mean() > 0.3
