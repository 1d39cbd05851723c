"""What agents see: fields, fog, words (specification 3.5; the faults D26, D27 and D29 of interfaces 9)."""

from __future__ import annotations

import numpy as np
import pytest

from interplay.registry import make_world
from interplay.worlds.pommerman.config import VARIANTS
from interplay.worlds.pommerman.state import BOMB, FOG, LEFT, RIGHT
from tests.worlds.pommerman.pair import draw
from tests.worlds.pommerman.scenes import at, lay, open_world, put_bomb, seen, still

KEYS = {
    *("board", "bomb_blast_strength", "bomb_life", "bomb_moving_direction", "flame_life", "position", "ammo"),
    *("blast_strength", "can_kick", "teammate", "enemies", "alive", "step_count", "game_type"),
}
CORNERS = [(1, 1), (9, 1), (9, 9), (1, 9)]


@pytest.mark.parametrize("variant", VARIANTS)
def test_everybody_sees_itself_its_mate_and_its_enemies(variant):
    """D26: whoever looks, in every variant, and not only in team games."""
    world = make_world(f"pommerman/{variant}", 2, seed=1)
    world.reset()
    view, players = world.timestep.observation, world.settings.players
    assert view.keys() == KEYS | ({"message"} if variant == "radio" else set())
    for a in range(players):
        row, col = view["position"][0, a]
        assert view["board"][0, a, row, col] == 10 + a
        assert view["alive"][0, a].tolist() == [1] * players
        enemies = [b for b in range(players) if b != a and (not world.settings.teams or (a + b) % 2)]
        assert view["enemies"][0, a].tolist() == [10 + b for b in enemies] + [9] * (3 - len(enemies))
        assert view["teammate"][0, a] == (10 + (a + 2) % 4 if world.settings.teams else 9)
    assert view["game_type"][0, 0] == {"ffa": 1, "ffa-collapse": 1, "radio": 3, "1v1": 4}.get(variant, 2)
    assert (view["board"] == FOG).any() == (world.settings.fog is not None)


def test_players_begin_in_the_corners_in_order():
    world = make_world("pommerman/ffa")
    world.reset()
    assert [at(world, a) for a in range(4)] == CORNERS
    world = make_world("pommerman/1v1")
    world.reset()
    assert [at(world, a) for a in range(2)] == [(1, 1), (6, 6)]


def test_planes_of_a_small_board_reach_to_its_far_edge():
    """D27: planes have the side of the board, whatever it is."""
    world = open_world(size=8, players=2, rigid=16, wood=16, items=10)
    put_bomb(world, 7, 7, life=5, blast=3, direction=RIGHT)
    assert all(seen(world, name).shape == (8, 8) for name in ("board", "bomb_life", "flame_life"))
    assert (seen(world, "bomb_life")[7, 7], seen(world, "bomb_blast_strength")[7, 7]) == (5, 3)
    assert (seen(world, "bomb_moving_direction")[7, 7], seen(world, "board")[7, 7]) == (RIGHT, BOMB)


def test_fog_is_a_square_of_nine_and_hides_bombs_and_flames():
    world = open_world(teams=True, fog=4)
    lay(world, [], p0=(2, 3), p1=(9, 9))
    put_bomb(world, 6, 3)  # at the rim of the view
    put_bomb(world, 7, 3, owner=1)  # behind it
    board = seen(world, "board")
    r, c = np.indices(board.shape)
    inside = np.maximum(abs(r - 2), abs(c - 3)) <= 4
    assert ((board == FOG) == ~inside).all()
    assert seen(world, "bomb_life")[6, 3] > 0
    assert seen(world, "bomb_life").astype(bool).sum() == 1


def test_the_dead_see_from_where_they_died():
    world = open_world(teams=True, fog=4)
    lay(world, [], p0=(2, 3), p1=(5, 9))
    put_bomb(world, 2, 3, life=1)
    world.step(still(world))
    before = seen(world, "board").copy()
    world.step(still(world, p1=LEFT))
    assert tuple(seen(world, "position")) == (2, 3)
    assert seen(world, "alive").tolist() == [0, 1, 1, 1]
    assert ((seen(world, "board") == FOG) == (before == FOG)).all()


def test_words_arrive_at_the_team_mate_in_the_next_observation():
    world = make_world("pommerman/radio", seed=3)
    world.reset()
    lay(world, [], p0=(1, 1))
    assert not world.timestep.observation["message"].any()
    action = np.zeros((1, 4, 3), np.int64)
    action[0, :, 1:] = [[1, 2], [3, 4], [5, 6], [7, 0]]
    world.step(action)
    assert world.timestep.observation["message"][0].tolist() == [[5, 6], [7, 0], [1, 2], [3, 4]]
    put_bomb(world, *at(world, 2), life=1)
    world.step(action)  # the third dies saying this
    assert world.timestep.observation["message"][0, 0].tolist() == [5, 6]
    world.step(action)
    assert world.timestep.observation["message"][0].tolist() == [[0, 0], [7, 0], [1, 2], [3, 4]]
    world.reset()
    assert not world.timestep.observation["message"].any()


def test_the_global_state_has_what_is_hidden():
    world = make_world("pommerman/team-fog", 2, seed=3)
    world.reset()
    rng = np.random.default_rng(0)
    for _ in range(12):
        world.step(draw(rng, world.settings, 2)[..., 0])
    rows = world.global_state()
    assert all(row in world.state_space for row in rows)
    maps = rows[:, : 6 * 121].reshape(2, 6, 11, 11)
    side = 13
    assert np.array_equal(maps[:, 1], world.state.item.reshape(2, side, side)[:, 1:-1, 1:-1])
    assert (maps[:, 3] > 0).sum() == world.state.room["bombs"].sum() > 0
    world.state.item[:] = 0
    world.refresh()
    assert not world.global_state()[:, 121:242].any()


def test_a_far_view_reaches_as_far_as_its_bombs():
    """With fog a blast grows to the view's 15 cells, beyond the 10 of a board without."""
    world = open_world(teams=True, fog=15, items=0)
    for a in range(4):
        world.state.agent[0, a]["blast"] = 15
    put_bomb(world, *at(world, 0), blast=15)
    world.refresh()
    view = {name: array[0, 0] for name, array in world.timestep.observation.items()}
    assert view["blast_strength"] == view["bomb_blast_strength"].max() == 15
    assert world.observation_space.contains(view)
    assert world.observation_space["bomb_blast_strength"].high.max() == 15
    assert open_world(teams=True, fog=4).observation_space["blast_strength"].high == 10
