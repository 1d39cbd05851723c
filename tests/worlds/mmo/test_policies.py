"""Scripted players of the persistent world: the search against a slow twin, each rule of specification 16.1 in a scene."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interplay.worlds.mmo.policies import POLICIES, Fighter, Fleer, Forager, Random, Uniform, decoding
from interplay.worlds.mmo.tiles import FOREST, GRASS, LAVA, STONE, WATER
from tests.worlds.mmo.hand_sight import GROUND, STEPS, Sight, choose, meadow, view

PASS, EAST, SOUTH, WEST, NORTH = range(5)
MELEE, RANGE, MAGE = range(3)
HUNGRY, THIRSTY = {"food": 10, "water": 20}, {"food": 20, "water": 10}
Cell = tuple[int, int]


# -- the slow twin -------------------------------------------------------------------------------------------


def walk(tiles: np.ndarray, start: Cell) -> dict[Cell, int]:
    """Steps from a tile to every ground tile that can be walked to, by layers."""
    steps, edge = {start: 0}, {start}
    while edge:
        edge = {
            (r, c)
            for row, col in edge
            for r, c in ((row + down, col + right) for down, right in STEPS[1:])
            if 0 <= r < len(tiles) and 0 <= c < len(tiles) and tiles[r, c] in GROUND and (r, c) not in steps
        }
        steps |= dict.fromkeys(edge, max(steps.values()) + 1)
    return steps


def drinks(tiles: np.ndarray, cell: Cell) -> bool:
    around = [(cell[0] + down, cell[1] + right) for down, right in STEPS[1:]]
    return any(tiles[r, c] == WATER for r, c in around if 0 <= r < len(tiles) and 0 <= c < len(tiles))


def first_step(tiles: np.ndarray, goal: Cell) -> int:
    """The earliest move with which a shortest path to the goal begins."""
    middle = (len(tiles) // 2, len(tiles) // 2)
    if goal == middle:
        return PASS
    far = walk(tiles, goal)
    for move, (down, right) in list(enumerate(STEPS))[1:]:
        beside = (middle[0] + down, middle[1] + right)
        if far.get(beside) == far[middle] - 1:
            return move
    raise AssertionError("no way")


def wished(tiles: np.ndarray, food: int, water: int, row: int, col: int, side: int) -> int | None:
    """The forager's move where it leaves nothing to chance; None: any legal step."""
    middle = (len(tiles) // 2, len(tiles) // 2)
    steps = walk(tiles, middle)
    if water < 30 and drinks(tiles, middle):
        return PASS
    goals = {
        "water": [cell for cell in steps if drinks(tiles, cell)],
        "food": [cell for cell in steps if tiles[cell] == FOREST],
    }
    for need in ("water", "food") if water <= food else ("food", "water"):
        if goals[need]:
            return first_step(tiles, min(goals[need], key=lambda cell: (steps[cell], cell)))
    last = len(tiles) - 1
    edge = [cell for cell in steps if 0 in cell or last in cell]
    if not edge:
        return None
    down, right = (side - 1) / 2 - row, (side - 1) / 2 - col
    away = {cell: (cell[0] - middle[0], cell[1] - middle[1]) for cell in edge}
    along = {e: (r * down + c * right) / np.sqrt(r * r + c * c) for e, (r, c) in away.items()}
    return first_step(tiles, min(edge, key=lambda e: (-along[e], e)))


CROPS = st.tuples(
    st.integers(1, 7),
    st.integers(0, 2**32 - 1),
    st.lists(st.floats(0, 1), min_size=6, max_size=6),
    st.integers(0, 32),
    st.integers(0, 32),
    st.integers(9, 70),
    st.integers(9, 70),
)


@given(CROPS, st.booleans())
@settings(max_examples=250, deadline=None)
def test_the_forager_does_what_a_slow_search_says(crop: Any, compact: bool) -> None:
    vision, seed, weights, food, water, row, col = crop
    rng = np.random.default_rng(seed)
    share = np.array(weights) + 0.01
    side = 2 * vision + 1
    tiles = rng.choice(6, size=(side, side), p=share / share.sum()).astype(np.uint8)
    tiles[vision, vision] = rng.choice(GROUND)
    wish = wished(tiles, food, water, row, col, side=80)
    done = choose(
        Forager, tiles, {"food": food, "water": water, "row": row, "col": col}, vision=vision, compact=compact
    )
    down, right = STEPS[done[0]]
    assert tiles[vision + down, vision + right] in GROUND
    exploring = not any(
        drinks(tiles, cell) or tiles[cell] == FOREST for cell in walk(tiles, (vision, vision))
    )
    if wish is not None and not exploring:
        assert done[0] == wish
    assert done[1] == MAGE


@given(CROPS)
@settings(max_examples=100, deadline=None)
def test_explorers_go_astray_one_time_in_ten(crop: Any) -> None:
    vision, seed, weights, _, _, row, col = crop
    rng = np.random.default_rng(seed)
    share = np.array([weights[0], weights[2] + 0.5, weights[3] + 0.5]) + 0.01
    tiles = rng.choice((LAVA, GRASS, STONE), size=(2 * vision + 1,) * 2, p=share / share.sum()).astype(
        np.uint8
    )
    tiles[vision, vision] = GRASS
    sight = Sight(64, 1, vision=vision)
    for w in range(64):
        sight.put(w, 0, tiles, {"row": row, "col": col})
    policy = Forager()
    policy.start(sight.world, seed)
    moves = np.concatenate([policy.act(sight.timestep())[:, 0, 0] for _ in range(20)])
    wish = wished(tiles, 20, 20, row, col, side=80)
    legal = [m for m in range(1, 5) if tiles[vision + STEPS[m][0], vision + STEPS[m][1]] in GROUND]
    counts = np.bincount(moves, minlength=5)
    assert set(np.flatnonzero(counts)) <= (set(legal) if legal else {PASS})
    if wish is not None:
        astray = 0.1 * (1 - 1 / len(legal))  # a random step may be the wished one
        assert abs((moves != wish).mean() - astray) < 5 * np.sqrt(astray / len(moves)) + 1e-9
    elif legal:  # no edge to walk to: every step at random
        assert abs(counts[legal] / len(moves) - 1 / len(legal)).max() < 0.08


# -- the forager, rule by rule -------------------------------------------------------------------------------

POND_EAST_FOREST_WEST = view(
    """.......
       .......
       .......
       .f...w.
       .......
       .......
       ......."""
)


@pytest.mark.parametrize(
    ("own", "move"),
    [(HUNGRY, WEST), (THIRSTY, EAST), ({"food": 15, "water": 15}, EAST), ({"food": 0, "water": 1}, WEST)],
)
def test_it_goes_for_what_it_has_less_of_and_water_where_they_are_equal(own: Any, move: int) -> None:
    assert choose(Forager, POND_EAST_FOREST_WEST, own) == [move, MAGE]


def test_it_takes_the_other_where_it_cannot_reach_what_it_needs() -> None:
    walled = view(
        """.......
           .......
           ....###
           ....#f#
           ....###
           .w.....
           ......."""
    )
    assert choose(Forager, walled, HUNGRY)[0] in (SOUTH, WEST)
    assert choose(Forager, walled, HUNGRY) == choose(Forager, walled, THIRSTY)


def test_equally_near_goals_are_taken_row_by_row() -> None:
    tiles = meadow(2)
    tiles[2, 4] = tiles[4, 2] = tiles[2, 0] = FOREST
    assert choose(Forager, tiles, HUNGRY)[0] == WEST  # (2, 0) comes before (2, 4) and (4, 2)
    tiles[0, 2] = FOREST
    assert choose(Forager, tiles, HUNGRY)[0] == NORTH


def test_among_shortest_paths_it_takes_the_one_that_begins_with_the_earliest_move() -> None:
    tiles = meadow(2)
    tiles[3, 3] = FOREST
    assert choose(Forager, tiles, HUNGRY)[0] == EAST
    tiles[2, 3] = STONE
    assert choose(Forager, tiles, HUNGRY)[0] == SOUTH


@pytest.mark.parametrize(("water", "stays"), [(0, True), (29, True), (30, False), (32, False)])
def test_a_drinker_stays_until_30_even_when_it_is_hungry(water: int, stays: bool) -> None:
    tiles = meadow(3)
    tiles[3, 4] = WATER
    tiles[3, 1] = FOREST
    assert choose(Forager, tiles, {"food": 1, "water": water})[0] == (PASS if stays else WEST)


def test_who_stands_on_forest_and_needs_food_stays() -> None:
    tiles = meadow(3)
    tiles[3, 3] = FOREST
    assert choose(Forager, tiles, HUNGRY)[0] == PASS


def test_it_walks_around_lava_even_where_that_is_longer() -> None:
    tiles = view(
        """.......
           .......
           ..LLL..
           ....Lf.
           ..LLL..
           .......
           ......."""
    )
    assert choose(Forager, tiles, HUNGRY)[0] == WEST
    tiles[3, 2] = LAVA
    assert choose(Forager, tiles, HUNGRY)[0] == PASS  # nowhere to go but lava


@pytest.mark.parametrize(
    ("row", "col", "move"), [(20, 39, SOUTH), (60, 39, NORTH), (39, 15, EAST), (40, 69, WEST)]
)
def test_without_food_or_water_in_sight_it_walks_towards_the_middle_of_the_map(
    row: int, col: int, move: int
) -> None:
    sight = Sight(200, 1)
    for w in range(200):
        sight.put(w, 0, meadow(), {"row": row, "col": col})
    policy = Forager()
    policy.start(sight.world, 0)
    moves = policy.act(sight.timestep())[:, 0, 0]
    share = (moves == move).mean()
    assert share > 0.85  # else astray


def test_who_is_frozen_passes_and_still_strikes() -> None:
    target = {"down": 1, "health": 3}
    assert choose(Forager, POND_EAST_FOREST_WEST, HUNGRY | {"freeze": 2}) == [PASS, MAGE]
    assert choose(Fighter, POND_EAST_FOREST_WEST, HUNGRY | {"freeze": 2}, target) == [PASS, MELEE]
    assert choose(Forager, POND_EAST_FOREST_WEST, HUNGRY | {"freeze": 1})[0] == WEST


@pytest.mark.parametrize("player", [Forager, Fleer, Fighter])
def test_with_no_attack_nobody_is_struck_without_a_reason(player: Any) -> None:
    assert choose(player, POND_EAST_FOREST_WEST, HUNGRY, no_attack=True) == [WEST, 0]


# -- the fighter ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("away", "style"), [(0, MELEE), (1, MELEE), (2, RANGE), (3, MAGE), (4, None)])
@pytest.mark.parametrize("no_attack", [False, True])
def test_a_fighter_takes_the_strongest_style_that_has_a_target(
    away: int, style: int | None, no_attack: bool
) -> None:
    chosen = choose(Fighter, meadow(), {}, {"down": away}, no_attack=no_attack)[1]
    if style is not None:
        assert chosen == style + no_attack
    elif no_attack:
        assert chosen == 0


def test_a_fighter_closes_in_on_the_weaker_and_the_frozen() -> None:
    weak, frozen, equal = {"health": 9}, {"health": 10, "freeze": 2}, {"health": 10, "freeze": 1}
    place = {"down": 0, "right": 3}
    assert choose(Fighter, POND_EAST_FOREST_WEST, HUNGRY, weak | place)[0] == EAST
    assert choose(Fighter, POND_EAST_FOREST_WEST, HUNGRY, frozen | place)[0] == EAST
    assert choose(Fighter, POND_EAST_FOREST_WEST, HUNGRY, equal | place)[0] == WEST  # goes on foraging


def test_a_fighter_closes_in_up_to_the_very_tile() -> None:
    assert choose(Fighter, POND_EAST_FOREST_WEST, HUNGRY, {"down": 1, "health": 1})[0] == SOUTH
    assert choose(Fighter, POND_EAST_FOREST_WEST, HUNGRY, {"health": 1})[0] == PASS


@pytest.mark.parametrize("short", ["food", "water"])
def test_a_fighter_never_chases_below_8(short: str) -> None:
    prey = {"down": 2, "health": 1}
    forage = {"food": WEST, "water": EAST}[short]
    assert choose(Fighter, POND_EAST_FOREST_WEST, {short: 8}, prey)[0] == SOUTH
    assert choose(Fighter, POND_EAST_FOREST_WEST, {short: 7}, prey)[0] == forage


def test_of_two_preys_a_fighter_takes_the_one_with_the_shorter_way_then_the_weaker() -> None:
    walled = meadow(3)
    walled[2, :] = STONE
    walled[2, 6] = GRASS
    near_as_the_crow_flies, by_foot = {"down": -2, "health": 1}, {"down": 3, "health": 5}
    assert choose(Fighter, walled, {}, near_as_the_crow_flies, by_foot)[0] == SOUTH
    assert choose(Fighter, meadow(), {}, {"right": 2, "health": 5}, {"right": -2, "health": 4})[0] == WEST


def test_who_cannot_be_hit_is_no_prey() -> None:
    prey = {"right": 3, "health": 1}
    scene = POND_EAST_FOREST_WEST
    assert choose(Fighter, scene, HUNGRY, prey | {"life": 14})[0] == WEST
    assert choose(Fighter, scene, HUNGRY, prey | {"life": 15})[0] == EAST
    assert choose(Fighter, scene, HUNGRY, prey | {"life": 3}, immunity="off")[0] == EAST
    assert choose(Fighter, scene, HUNGRY, prey | {"same": True})[0] == EAST
    assert choose(Fighter, scene, HUNGRY, prey | {"same": True}, friendly_fire=False)[0] == WEST
    assert choose(Fighter, scene, HUNGRY, prey, combat=False)[0] == WEST
    elders = {"immunity": "elders"}
    assert choose(Fighter, scene, HUNGRY | {"life": 21}, prey | {"life": 20}, **elders)[0] == WEST
    assert choose(Fighter, scene, HUNGRY | {"life": 20}, prey | {"life": 20}, **elders)[0] == EAST
    out_of_reach = {"right": 4, "health": 1}
    assert choose(Fighter, meadow(), HUNGRY | {"col": 70, "row": 40}, out_of_reach)[0] != EAST


@pytest.mark.parametrize(
    ("down", "right", "moves"),
    [(0, 2, {WEST}), (0, -1, {EAST}), (2, 0, {NORTH}), (-1, 0, {SOUTH}), (2, 2, {NORTH, WEST})],
)
def test_a_fighter_gives_way_to_the_stronger_within_2(down: int, right: int, moves: set[int]) -> None:
    threat = {"down": down, "right": right, "health": 9}
    assert choose(Fighter, meadow(), {"health": 8}, threat)[0] in moves


def test_a_fighter_that_gives_way_prefers_the_foragers_wish() -> None:
    threat = {"health": 9}  # on the same tile: every step leads one away
    assert choose(Fighter, POND_EAST_FOREST_WEST, HUNGRY | {"health": 8}, threat)[0] == WEST
    assert choose(Fighter, POND_EAST_FOREST_WEST, THIRSTY | {"health": 8}, threat)[0] == EAST


def test_a_fighter_goes_on_foraging_when_the_stronger_is_3_away() -> None:
    threat = {"right": -3, "health": 9}
    assert choose(Fighter, POND_EAST_FOREST_WEST, HUNGRY | {"health": 8}, threat)[0] == WEST


def test_learned_targets_are_the_weakest_rows_then_the_nearest_then_the_earliest() -> None:
    rows = [
        {"down": 3, "health": 2},
        {"down": 2, "health": 4},
        {"right": 1, "health": 6},
        {"right": -2, "health": 4},
        {"down": -1, "health": 6},
    ]
    chosen = choose(Fighter, meadow(), {}, *rows, targeting="learned")
    assert chosen[1:] == [MELEE, 3, 2, 1]
    assert choose(Forager, meadow(), {}, targeting="learned")[2:] == [0, 0, 0]
    nearer = [{"down": 3, "health": 2}, {"down": 2, "health": 2}]
    assert choose(Fighter, meadow(), {}, *nearer, targeting="learned")[2:] == [0, 2, 2]


# -- the fleer -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("down", "right", "move"), [(0, 4, WEST), (0, -3, EAST), (3, 1, NORTH), (-2, 1, SOUTH)]
)
def test_a_fleer_steps_away_from_whoever_could_hit_it(down: int, right: int, move: int) -> None:
    assert choose(Fleer, meadow(), {}, {"down": down, "right": right, "health": 1})[0] == move


def test_a_fleer_minds_all_who_are_near() -> None:
    between = [{"right": 2}, {"right": -2}]
    assert choose(Fleer, POND_EAST_FOREST_WEST, HUNGRY, *between)[0] == PASS  # the first of three equals
    assert choose(Fleer, meadow(), {}, {"right": 3}, {"right": -3}, {"down": -1})[0] == SOUTH


def test_a_fleer_forages_where_nobody_can_hit_it() -> None:
    scene, east = POND_EAST_FOREST_WEST, {"right": -2}
    fled = EAST
    assert choose(Fleer, scene, HUNGRY, east)[0] == fled
    assert choose(Fleer, scene, HUNGRY | {"life": 13}, east)[0] == WEST  # still immune when the attack lands
    assert choose(Fleer, scene, HUNGRY | {"life": 14}, east)[0] == fled
    assert choose(Fleer, scene, HUNGRY, east, combat=False)[0] == WEST
    assert choose(Fleer, scene, HUNGRY, east | {"same": True}, friendly_fire=False)[0] == WEST
    assert choose(Fleer, scene, HUNGRY | {"life": 20}, east | {"life": 21}, immunity="elders")[0] == WEST
    assert choose(Fleer, scene, HUNGRY | {"life": 21}, east | {"life": 21}, immunity="elders")[0] == fled
    tiles = meadow()
    tiles[7, 1] = FOREST
    assert choose(Fleer, tiles, HUNGRY, {"right": -5})[0] == WEST  # five away: not yet


# -- all players ---------------------------------------------------------------------------------------------


def crowd(num_worlds: int, agents: int, seed: int = 0, **options: Any) -> Sight:
    """Random views of all sorts of tiles with up to nine others in them."""
    rng = np.random.default_rng(seed)
    sight = Sight(num_worlds, agents, **options)
    vision = sight.settings.vision
    for w in range(num_worlds):
        for a in range(agents):
            tiles = rng.choice(6, size=(2 * vision + 1,) * 2, p=(0.2, 0.1, 0.3, 0.1, 0.1, 0.2))
            tiles[vision, vision] = GRASS
            rows = []
            for k in range(rng.integers(1, 10)):
                place = rng.integers(-vision, vision + 1, 2) * (k > 0)
                numbers = {"life": rng.integers(60), "health": rng.integers(1, 11), "freeze": rng.integers(4)}
                stores = {"food": rng.integers(33), "water": rng.integers(33), "same": bool(rng.integers(2))}
                rows.append({**numbers, **stores, "down": place[0], "right": place[1]})
            rows[0] |= {"row": int(rng.integers(9, 70)), "col": int(rng.integers(9, 70))}
            sight.put(w, a, tiles.astype(np.uint8), *rows)
    return sight


@pytest.mark.parametrize("name", list(POLICIES))
@pytest.mark.parametrize(
    "options", [{}, {"targeting": "learned", "no_attack": True, "vision": 5, "compact": True}]
)
def test_choices_are_in_range_and_scripted_players_never_enter_lava(name: str, options: Any) -> None:
    sight = crowd(6, 40, **options)
    policy = POLICIES[name]()
    policy.start(sight.world, 3)
    for _ in range(5):
        action = policy.act(sight.timestep())
        assert sight.world.action_space.contains(action[0, 0])
        assert ((action >= 0) & (action < sight.heads)).all()
        if name not in ("random", "uniform"):
            vision = sight.settings.vision
            down, right = np.array(STEPS)[action[..., 0]].transpose(2, 0, 1)
            w, a = np.indices(down.shape)
            assert np.isin(sight.tiles[w, a, vision + down, vision + right], GROUND).all()


@pytest.mark.parametrize("name", list(POLICIES))
def test_a_choice_depends_on_the_seed_the_tick_the_world_and_the_slot_alone(name: str) -> None:
    def play(sight: Sight, ticks: int = 6, seed: int = 5, first: int = 0) -> np.ndarray:
        sight.world.first_world = first
        policy = POLICIES[name]()
        policy.start(sight.world, seed)
        return np.stack([policy.act(sight.timestep()) for _ in range(ticks)])

    whole = crowd(5, 20)
    together = play(whole)
    assert (together == play(whole)).all()
    for w in range(5):
        alone = Sight(1, 20)
        for field in ("tiles", "entities", "count", "mask", "acting"):
            getattr(alone, field)[:] = getattr(whole, field)[w : w + 1]
        assert (play(alone, first=w)[:, 0] == together[:, w]).all()
    whole.acting[:, ::2] = False  # other acting agents do not matter
    assert (play(whole)[:, :, 1::2] == together[:, :, 1::2]).all()
    assert (play(whole)[:, :, ::2] == 0).all()
    if name in ("random", "uniform"):
        assert (play(whole, seed=6) != together).any()
        assert (together[0] != together[1]).any()


def test_a_restarted_world_draws_anew_and_the_others_go_on() -> None:
    sight = crowd(2, 50)
    told, plain = Random(), Random()
    for policy in (told, plain):
        policy.start(sight.world, 1)
        policy.act(sight.timestep())
    told.forget(np.array([True, False]))
    a, b = told.act(sight.timestep()), plain.act(sight.timestep())
    assert (a[1] == b[1]).all()
    assert (a[0] != b[0]).any()


def test_random_players_draw_every_legal_choice_equally_often() -> None:
    sight = Sight(1, 1)
    tiles = meadow()
    tiles[7, 8] = STONE
    sight.put(0, 0, tiles, {}, {"down": 2})  # east is closed; melee has no target
    counts = {}
    for player in (Random, Uniform):
        policy = player()
        policy.start(sight.world, 0)
        drawn = np.concatenate([policy.act(sight.timestep())[0] for _ in range(6000)])
        counts[player] = [np.bincount(drawn[:, head], minlength=n) for head, n in enumerate((5, 3))]
    assert (counts[Random][0][EAST], counts[Random][1][MELEE]) == (0, 0)
    for found, ways in ((counts[Random], (4, 2)), (counts[Uniform], (5, 3))):
        for head, n in zip(found, ways, strict=True):
            seen = head[head > 0]
            assert len(seen) == n
            assert ((seen - 6000 / n) ** 2 / (6000 / n)).sum() < 25


def test_where_a_head_has_no_legal_choice_random_players_take_any() -> None:
    sight = Sight(1, 400)
    policy = Random()
    policy.start(sight.world, 0)
    assert set(policy.act(sight.timestep())[0, :, 1].tolist()) == {MELEE, RANGE, MAGE}


def test_entity_rows_read_back_as_they_were_written() -> None:
    for compact in (False, True):
        sight = Sight(compact=compact)
        sight.put(
            0,
            0,
            meadow(),
            {"food": 3, "water": 31, "health": 1, "freeze": 3, "row": 9, "col": 70, "life": 48},
        )
        scale, offset = decoding(sight.settings)
        values = np.floor(sight.entities[0, 0, 0] * scale + offset + 0.5).astype(int)
        assert values[[0, 1, 2, 3, 4, 5, 10]].tolist() == [48, 1, 3, 31, 9, 70, 3]
