"""The interface that turns boards to each player's corner, on our own games (specification 3.6; D2 and D26 to D29 of interfaces 9)."""

from __future__ import annotations

import numpy as np
import pytest

from interplay.interfaces.pommerman.rotation import ACTIONS, quarter_turns, turn
from interplay.registry import make_policy, make_world
from interplay.worlds.pommerman.config import VARIANTS
from interplay.worlds.pommerman.state import DOWN, LAY, LEFT, RIGHT, STOP, UP
from tests.worlds.pommerman.pair import as_action, draw
from tests.worlds.pommerman.scenes import crowd, lay, open_world, put_bomb

# The table of the specification: own-frame up, down, left, right -> the board's.
TABLE = {
    0: (UP, DOWN, LEFT, RIGHT),
    1: (LEFT, RIGHT, DOWN, UP),
    2: (DOWN, UP, RIGHT, LEFT),
    3: (RIGHT, LEFT, UP, DOWN),
}


def rows(fields: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """(W, A, ...) as the (B, ...) that interfaces take."""
    return {name: field.reshape(-1, *field.shape[2:]) for name, field in fields.items()}


def own_frame(observation: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """All observations, rotated."""
    turned = turn(rows(observation))
    return {name: turned[name].reshape(field.shape) for name, field in observation.items()}


def board_action(observation: dict[str, np.ndarray], action: np.ndarray) -> np.ndarray:
    """(W, A) choices in the own frames -> the board's."""
    turned: np.ndarray = ACTIONS[quarter_turns(rows(observation)), action.reshape(-1)].reshape(action.shape)
    return turned


@pytest.mark.parametrize("variant", VARIANTS)
def test_everybody_starts_top_left_and_is_the_first(variant):
    """D29: in every variant, two players included. D28: every key survives. D27: on every size of board."""
    world = make_world(f"pommerman/{variant}", 3, seed=1)
    world.reset()
    before = {name: field.copy() for name, field in world.timestep.observation.items()}
    seen = own_frame(world.timestep.observation)
    assert seen.keys() == before.keys()
    for name, field in seen.items():
        assert (field.shape, field.dtype) == (before[name].shape, before[name].dtype), name
        assert np.array_equal(world.timestep.observation[name], before[name]), name
    assert (seen["position"] == 1).all()
    assert (seen["board"][:, :, 1, 1] == 10).all()
    players = world.settings.players
    if world.settings.teams:
        assert (seen["teammate"] == 12).all()
        assert (seen["enemies"] == [11, 13, 9]).all()
    else:
        assert (seen["teammate"] == 9).all()
        assert (seen["enemies"] == ([11, 12, 13] if players == 4 else [11, 9, 9])).all()


def test_actions_are_turned_as_the_table_says():
    world = open_world(2)
    seen = world.timestep.observation
    for agent, ways in TABLE.items():
        for own, board in zip((UP, DOWN, LEFT, RIGHT), ways, strict=True):
            assert board_action(seen, np.full((2, 4), own))[0, agent] == board
        for other in (STOP, LAY):
            assert board_action(seen, np.full((2, 4), other))[0, agent] == other
    world = make_world("pommerman/1v1", 2)
    seen = world.reset().observation
    for own, board in zip((UP, DOWN, LEFT, RIGHT), TABLE[2], strict=True):
        assert board_action(seen, np.full((2, 2), own))[0].tolist() == [own, board]


def test_a_bomb_slides_on_the_turned_map_as_its_direction_says():
    """D28: directions are mapped, not only moved; a map of directions that is turned alone points elsewhere."""
    world = open_world()
    lay(world, [], p0=(0, 0), p1=(0, 10), p2=(10, 10), p3=(10, 0))
    put_bomb(world, 4, 3, direction=RIGHT)
    step = {UP: (-1, 0), DOWN: (1, 0), LEFT: (0, -1), RIGHT: (0, 1)}
    before = own_frame(world.timestep.observation)
    world.step(np.zeros((1, 4), np.int64))
    after = own_frame(world.timestep.observation)
    for a in range(4):
        (row,), (col,) = np.nonzero(before["bomb_life"][0, a])
        way = step[int(before["bomb_moving_direction"][0, a, row, col])]
        assert after["bomb_life"][0, a, row + way[0], col + way[1]] == 8


def test_what_is_chosen_in_the_own_frame_moves_one_there():
    world = open_world(4)
    lay(world, [], p0=(5, 5), p1=(3, 7), p2=(7, 3), p3=(2, 2))
    rng = np.random.default_rng(3)
    step = np.array([(0, 0), (-1, 0), (1, 0), (0, -1), (0, 1)])
    for _ in range(20):
        before = own_frame(world.timestep.observation)["position"].astype(int)
        choice = rng.integers(0, 5, (4, 4))
        moved = (
            world.step(board_action(world.timestep.observation, choice))
            and own_frame(world.timestep.observation)["position"] - before
        )
        stays = (moved == 0).all(axis=-1)
        assert (stays | (moved == step[choice]).all(axis=-1)).all()
        assert (~stays).sum() > 3


@pytest.mark.parametrize("variant", ["ffa", "team-fog"])
def test_a_scripted_player_plays_in_its_own_frame_as_well(variant):
    """It reads codes, places and maps alone, so if one of them were not turned it would die early."""
    lengths = []
    for turned in (False, True):
        world = make_world(f"pommerman/{variant}", 250, seed=4)
        player = make_policy(f"pommerman/{variant}", "simple")
        world.reset()
        player.start(world, 5)

        while not world.timestep.over.all():
            step = world.timestep
            if turned:
                world.step(
                    board_action(
                        step.observation, player.act(step._replace(observation=own_frame(step.observation)))
                    )
                )
            else:
                world.step(player.act(step))

        lengths.append(world.metrics["episode_length"].astype(float))
    error = np.sqrt(sum(one.var(ddof=1) / len(one) for one in lengths))
    assert abs(lengths[0].mean() - lengths[1].mean()) < 3.5 * error


def test_a_turned_observation_is_that_of_another_corner():
    """What player 1 sees of a board is what player 0 sees of the board turned by a quarter."""
    world = make_world("pommerman/radio", 32, seed=2)
    world.reset()
    rng = np.random.default_rng(1)
    crowd(world, rng)
    for _ in range(5):
        world.step(as_action(draw(rng, world.settings, 32), world.settings))
    seen, plain = own_frame(world.timestep.observation), world.timestep.observation
    for a in range(4):
        assert np.array_equal(seen["flame_life"][:, a], np.rot90(plain["flame_life"][:, a], -a, (1, 2)))
        row, col = seen["position"][:, a].T
        own = seen["board"][np.arange(32), a, row, col]
        alive = plain["alive"][:, a, a] > 0
        assert (own[alive] == 10).all()
        assert np.array_equal(seen["alive"][:, a, 0], plain["alive"][:, a, a])
        assert np.array_equal(seen["message"], plain["message"])
