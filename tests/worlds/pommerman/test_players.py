"""The scripted players: SimpleAgent's rules by hand, what it may see, its memory, and how long games last (specification 3.8)."""

from __future__ import annotations

import numpy as np
import pytest

from interplay.registry import list_policies, make_policy, make_world
from interplay.worlds.pommerman.state import DOWN, LAY, LEFT, RIGHT, RIGID, STOP, UP
from interplay.worlds.pommerman.world import PommermanWorld
from tests.worlds.pommerman.scenes import cell_at, crowd, lay, open_world, put_bomb, seen

COPIES = 200


def choices(world: PommermanWorld, agent: int = 0, turns: int = 1) -> set[int]:
    """What a SimpleAgent chooses at one sight: in all copies, which differ in their draws alone."""
    player = make_policy("pommerman/ffa", "simple")
    player.start(world, seed=1)
    return {int(choice) for _ in range(turns) for choice in player.act(world.timestep)[:, agent]}


def room(rows: list[str], first: tuple[int, int] = (3, 3), **options: object) -> PommermanWorld:
    """Many copies of a board; players that `rows` do not name stand far away."""
    world = open_world(COPIES, **options)
    lay(world, rows, first, p0=(0, 10), p1=(10, 0), p2=(10, 10), p3=(10, 9))
    named = {
        int(sign): (r, c)
        for r, row in enumerate(rows, first[0])
        for c, sign in enumerate(row, first[1])
        if sign.isdigit()
    }
    for a, (r, c) in named.items():
        world.state.agent["cell"][:, a] = cell_at(world, r, c)
    world.refresh()
    return world


def test_it_bombs_an_enemy_next_to_it():
    assert choices(room(["01"])) == {LAY}


def test_it_does_not_where_it_could_not_flee():
    assert LAY not in choices(room(["####", "#01#", "####"]))
    in_line, beyond, around = (
        room(["######", "#w0..#", "######"]),
        room(["#######", "#w0...#", "#######"]),
        room(["######", "#w0..#", "###.##", "######"]),
    )
    assert LAY not in choices(in_line)
    assert choices(beyond) == choices(around) == {LAY}


def test_without_ammo_it_goes_for_a_near_enemy_half_of_the_time_once_it_has():
    world = room(["0.1"])
    world.state.agent["ammo"][:, 0] = 0
    world.refresh()
    player = make_policy("pommerman/ffa", "simple")
    player.start(world, seed=1)
    assert set(player.act(world.timestep)[:, 0]) == {RIGHT}
    again = player.act(world.timestep)[:, 0]
    strolls = (again != RIGHT).mean()
    assert 0.25 < strolls < 0.55  # half, of which a quarter goes right again


def test_it_spares_its_team_mate():
    assert LAY not in choices(room(["02"], teams=True))
    assert LAY in choices(room(["01"], teams=True))


@pytest.mark.parametrize("item", "brk")
def test_it_goes_for_items_within_two_steps(item):
    assert choices(room([f"0.{item}"])) == {RIGHT}
    assert choices(room([f"0..{item}"])) >= {UP, DOWN, LEFT}


def test_it_bombs_wood_next_to_it_and_goes_to_wood_within_two_steps():
    assert choices(room(["0w"])) == {LAY}
    assert choices(room(["0.w"])) == {RIGHT}


def test_next_to_wood_without_ammo_it_waits():
    world = room(["0w"])
    world.state.agent["ammo"][:, 0] = 0
    world.refresh()
    assert choices(world) == {STOP}


def test_it_leaves_a_bomb_on_which_it_stands_but_not_into_a_dead_end():
    world = room(["#####", "##0.#", "##.##", "#...#", "#####"])
    put_bomb(world, 4, 5, owner=1, life=5, blast=3)
    assert choices(world) == {DOWN}


def test_it_leaves_the_line_of_a_bomb_that_it_could_walk_to():
    world = room(["0"])
    put_bomb(world, 3, 5, owner=1, blast=3)
    assert choices(world) == {UP, DOWN, LEFT}


def test_a_bomb_behind_a_wall_is_none_of_its_business():
    world = room(["###", "#0#", "###"])
    put_bomb(world, 4, 6, owner=1, blast=5)
    assert choices(world) == {STOP}


def test_it_does_not_return_to_where_it_had_nothing_to_do():
    world = room(["#####", "#0..#", "#####"], (3, 3))
    player = make_policy("pommerman/ffa", "simple")
    player.start(world, seed=1)
    assert set(player.act(world.timestep)[:, 0]) == {RIGHT}
    world.state.agent["cell"][:, 0] = cell_at(world, 4, 5)
    world.refresh()
    assert set(player.act(world.timestep)[:, 0]) == {RIGHT}


def test_it_reads_what_it_may_see_and_nothing_else():
    world = make_world("pommerman/team-fog", COPIES, seed=9)
    world.reset()
    crowd(world, np.random.default_rng(1))
    player, other = (make_policy("pommerman/team-fog", "simple") for _ in range(2))
    player.start(world, seed=1)
    other.start(world, seed=1)
    acted = player.act(world.timestep)[:, 0]
    side = world.settings.size + 2
    row, col = np.indices((side, side)).reshape(2, -1)
    r, c = np.divmod(world.state.agent["cell"][:, 0].astype(int), side)
    hidden = np.maximum(abs(row - r[:, None]), abs(col - c[:, None])) > 4
    inner = (np.minimum(row, col) > 0) & (np.maximum(row, col) < side - 1)
    assert (hidden & inner).any(axis=1).all()
    world.state.ground[hidden & inner] = 0
    world.state.item[:] = 0
    behind = hidden & (world.state.flame > 0)
    world.state.flame[behind] = 0
    world.refresh()
    assert np.array_equal(other.act(world.timestep)[:, 0], acted)


def test_where_the_board_ends_is_no_way():
    world = room(["0"], (0, 0))
    put_bomb(world, 0, 0, owner=1, blast=2)
    assert choices(world) <= {RIGHT, DOWN}


@pytest.mark.parametrize("variant", ["ffa", "radio", "1v1"])
def test_all_players_play_and_a_game_goes_on_from_their_memory(variant):
    world_id = f"pommerman/{variant}"
    for name in list_policies(world_id):
        world, again = make_world(world_id, 8, seed=2), make_world(world_id, 8, seed=2)
        player, heir = make_policy(world_id, name), make_policy(world_id, name)
        world.reset()
        again.reset()
        player.start(world, 3)
        heir.start(again, 77)
        for _ in range(20):
            over = world.step(player.act(world.timestep)).over.copy()
            if over.any():
                world.reset(over)
                player.forget(over)
        again.load(world.save())
        heir.load(player.save())
        for _ in range(20):
            world.step(player.act(world.timestep))
            again.step(heir.act(again.timestep))
        assert world.hash().tolist() == again.hash().tolist(), name


def test_a_world_is_played_alike_wherever_it_is_in_the_batch():
    whole, part = (make_world("pommerman/ffa", n, seed=2, first_world=f) for n, f in ((6, 0), (2, 4)))
    hashes = []
    for world in (whole, part):
        world.reset()
        player = make_policy("pommerman/ffa", "simple")
        player.start(world, 3)
        for _ in range(60):
            world.step(player.act(world.timestep))
        hashes.append(world.hash()[-2:].tolist())
    assert hashes[0] == hashes[1]


def test_nobody_who_lays_no_bombs_dies():
    for name in ("still", "random_no_bomb"):
        world = make_world("pommerman/ffa", 4, limit=60)
        world.reset()
        player = make_policy("pommerman/ffa", name)
        player.start(world, 3)
        for _ in range(60):
            world.step(player.act(world.timestep))
        assert world.timestep.truncated.all()
        assert not world.metrics["bombs_laid"].any()
        moved = world.timestep.observation["position"] != [[1, 1], [9, 1], [9, 9], [1, 9]]
        assert moved.any() == (name != "still")


# Variant and player -> mean length of the playground's games and its standard error (docs/results/pommerman.md).
LENGTHS = {
    ("ffa", "random"): (23.9, 0.3),
    ("team-fog", "random"): (21.5, 0.3),
    ("ffa", "simple"): (394.2, 14.9),
    ("team-fog", "simple"): (315.7, 16.0),
}


def lengths(variant: str, name: str, games: int, worlds: int = 250, **options: object) -> np.ndarray:
    """Lengths of so many games, as many of each world, so that short ones are not preferred."""
    world_id = f"pommerman/{variant}"
    world = make_world(world_id, worlds, seed=1, classic_quirks=True, **options)
    player = make_policy(world_id, name)
    world.reset()
    player.start(world, 3)
    found: list[list[int]] = [[] for _ in range(worlds)]
    while min(map(len, found)) < games // worlds:
        over = world.step(player.act(world.timestep)).over.copy()
        if over.any():
            for w in np.flatnonzero(over):
                found[w].append(int(world.metrics["episode_length"][w]))
            world.reset(over)
            player.forget(over)
    return np.array([length for games_of in found for length in games_of[: games // worlds]], float)


@pytest.mark.parametrize(("variant", "name"), LENGTHS)
def test_games_last_as_long_as_in_the_playground(variant, name):
    theirs, their_error = LENGTHS[variant, name]
    ours = lengths(variant, name, 1000)
    error = np.hypot(ours.std(ddof=1) / np.sqrt(len(ours)), their_error)
    assert abs(ours.mean() - theirs) < 3 * error, (ours.mean(), error)


def test_a_rigid_board_holds_everybody():
    world = room(["###", "#0#", "###"])
    assert seen(world, "board")[3, 3] == RIGID
    assert choices(world) == {STOP}
